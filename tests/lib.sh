# What the scripts of all kinds share: source it first.  $1: the program, $2: the build folder.
#
# Each check prints what it wanted and what came; the script goes on and fails at the end.
set -euo pipefail
bakeoff=$1
build=$2
failures=0
scratch=$(mktemp -d)
out='' err='' status=0 ran=''
trap 'rm -rf "$scratch"' EXIT

say() {
	printf 'FAILED: %s\n' "$*"
	failures=$((failures + 1))
}

# run ARGUMENT...: the program; sets $status, $out, $err
run() {
	status=0
	"$bakeoff" "$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null || status=$?
	out=$(cat "$scratch/.out")
	err=$(cat "$scratch/.err")
	ran="bakeoff $*"
}

wants_status() {
	[ "$status" = "$1" ] || say "$ran: exit status $status, expected $1: $err"
}

wants_out() {
	grep -qE -- "$1" <<<"$out" || say "$ran: standard output lacks /$1/: $out"
}

wants_err() {
	grep -qE -- "$1" <<<"$err" || say "$ran: standard error lacks /$1/: $err"
}

finish() {
	[ "$failures" = 0 ] || exit 1
}
