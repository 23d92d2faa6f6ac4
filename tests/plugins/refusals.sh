#!/usr/bin/env bash
# Every backend of broken/ is refused, by path and in the list, with the message that its source
# announces; no two messages are alike; the good one beside them works.
#   refusals.sh BAKEOFF SOURCES BUILD
set -euo pipefail
bakeoff=$1 sources=$2 build=$3
failed=0

say() {
	printf 'FAILED: %s\n' "$*"
	failed=1
}

reasons=$(mktemp)
trap 'rm -f "$reasons"' EXIT

for source in "$sources"/broken/*.c; do
	name=$(basename "$source" .c)
	file=$build/broken/bk-$name.so
	expected=$(sed -n '1s,^/\* expect: \(.*\) \*/$,\1,p' "$source")
	[ -n "$expected" ] || say "$name: its source does not say what is expected"
	status=0
	message=$("$bakeoff" backends "$file" 2>&1 >/dev/null) || status=$?
	[ "$status" = 2 ] || say "$name: exit status $status, expected 2"
	[[ $message == "bakeoff: $file: "* ]] || say "$name: the file is not named: $message"
	[[ $message == *"$expected"* ]] || say "$name: '$expected' is not in: $message"
	[ "$(wc -l <<<"$message")" = 1 ] || say "$name: more than one line: $message"
	printf '%s\n' "${message#"bakeoff: $file: "}" >>"$reasons"
done

twice=$(sort "$reasons" | uniq -d)
[ -z "$twice" ] || say "the same message for two reasons: $twice"

list=$(BAKEOFF_BACKENDS=$build/broken:$build/good "$bakeoff" backends)
grep -q '^good 1  does nothing' <<<"$list" || say "the good one is missing from the list"
for source in "$sources"/broken/*.c; do
	name=$(basename "$source" .c)
	grep -q "^  $name: $build/broken/bk-$name.so: " <<<"$list" ||
		say "$name is not refused by name in the list"
done
exit "$failed"
