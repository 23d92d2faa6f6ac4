#!/usr/bin/env bash
# The same as an ordinary user: what basics.sh, kills.sh and others show, and that root's are not touched.
set -euo pipefail
if [ "$(id -u)" != 0 ]; then
	exit 0 # they have been run as one already
fi
. "$(dirname "$0")/reachable.sh"
# Debian has this user on every machine, for nothing in particular.
as_user=(setpriv --reuid=games --regid=games --clear-groups env -u XDG_RUNTIME_DIR -u XDG_CACHE_HOME HOME=/)
cd / # where everybody may be
failed=0
for script in basics kills provision where; do
	"${as_user[@]}" "$scripts/$script.sh" "$program" "$build" || {
		echo "FAILED: $script.sh as user games"
		failed=1
	}
done

# An ordinary user's sweep and teardown do not see root's servers.
export BAKEOFF_BACKENDS=$build/backends:$build/tests/service/backends XDG_CACHE_HOME
XDG_CACHE_HOME=$(mktemp -d)
trap '"$program" teardown >/dev/null 2>&1 || true; rm -rf "$XDG_CACHE_HOME" ${reachable_copy:+"$reachable_copy"}' EXIT
variables=$("$program" provision rediskv 2>/dev/null)
eval "$variables"
"${as_user[@]}" "$program" teardown
[ "$("${as_user[@]}" "$program" services)" = 'nothing runs' ] || {
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
"$program" teardown
exit "$failed"
