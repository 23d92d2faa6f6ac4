#!/usr/bin/env bash
# The same as an ordinary user: what basics.sh and kills.sh show, and that root's are not touched.
set -euo pipefail
here=$(dirname "$0")
if [ "$(id -u)" != 0 ]; then
	exit 0 # basics.sh and kills.sh have been run as one already
fi
# Debian has this user on every machine, for nothing in particular.
as_user=(setpriv --reuid=games --regid=games --clear-groups env -u XDG_RUNTIME_DIR -u XDG_CACHE_HOME HOME=/)
"${as_user[@]}" test -x "$1" || {
	echo "FAILED: user games cannot reach $1: the build folder must be open to others"
	exit 1
}
failed=0
for script in basics kills provision; do
	"${as_user[@]}" "$here/$script.sh" "$@" || {
		echo "FAILED: $script.sh as user games"
		failed=1
	}
done

# An ordinary user's sweep and teardown do not see root's servers.
export BAKEOFF_BACKENDS=$2/backends:$2/tests/service/backends XDG_CACHE_HOME
XDG_CACHE_HOME=$(mktemp -d)
trap '"$1" teardown >/dev/null 2>&1 || true; rm -rf "$XDG_CACHE_HOME"' EXIT
variables=$("$1" provision rediskv 2>/dev/null)
eval "$variables"
"${as_user[@]}" "$1" teardown
[ "$("${as_user[@]}" "$1" services)" = 'nothing runs' ] || {
	echo 'FAILED: user games sees servers of root'
	failed=1
}
[ "$(redis-cli -s "$BAKEOFF_REDISKV_SOCKET" PING)" = PONG ] || {
	echo 'FAILED: a teardown by user games ended a server of root'
	failed=1
}
# ... and have no way in
! "${as_user[@]}" redis-cli -s "$BAKEOFF_REDISKV_SOCKET" PING 2>/dev/null | grep -q PONG || {
	echo 'FAILED: user games reaches a server of root'
	failed=1
}
"$1" teardown
exit "$failed"
