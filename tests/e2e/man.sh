#!/usr/bin/env bash
# The manual pages of the build: one for each command, well-formed, and as the program says now.
. "$(dirname "$0")/lib.sh" "$@"

for page in bakeoff $("$bakeoff" --commands | sed 's/^/bakeoff-/'); do
	file=$build/man/$page.1
	if [ ! -e "$file" ]; then
		say "$page.1 was not made"
		continue
	fi
	command=${page#bakeoff}
	run --man ${command#-}
	[ "$out" = "$(cat "$file")" ] || say "$page.1 is not what the program says"
	if command -v mandoc >/dev/null; then
		lint=$(mandoc -T lint -W warning "$file" || true)
		[ -z "$lint" ] || say "$page.1: $lint"
	fi
done
finish
