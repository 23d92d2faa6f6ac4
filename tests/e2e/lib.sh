# What the scripts of this folder share: source it first.  $1: the program, $2: the build folder.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh" "$@"

# Bad input: exit status 2, one line, on standard error only
wants_usage() {
	wants_status 2
	wants_err "$1"
	[ "$(wc -l <<<"$err")" = 1 ] || say "$ran: more than one line: $err"
	[ -z "$out" ] || say "$ran: standard output is not empty: $out"
}
