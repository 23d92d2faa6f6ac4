#!/usr/bin/env bash
# The suite catches a planted fault in exactly the cases that are listed for it; of the sound
# backend, which the faulty ones are made of, the list is empty.
#   faulty.sh PROGRAM FILE.so FILE.fails
# A line `? group.case` (or a glob) stands for a case that may fail or pass, for it depends on a
# race.  A line `# options: ...` is passed on to the program.
set -euo pipefail
program=$1 plugin=$2 list=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

: >"$work/none.expect"
options=$(sed -n 's/^# options: //p' "$list")
status=0
# shellcheck disable=SC2086
"$program" conform "$plugin" --expect "$work/none.expect" $options >"$work/tap" || status=$?
if [ "$status" -gt 1 ]; then
	echo "the suite did not run: status $status"
	exit 1
fi
sed -n 's/^? //p' "$list" | sed 's/\./\\./g; s/\*/.*/g' >"$work/either"
sed -n 's/^not ok [0-9]* - //p' "$work/tap" | grep -vxf "$work/either" | sort >"$work/found" || true
grep -v '^[#?]' "$list" | sort >"$work/wanted" || true
if ! diff -u --label "should fail" --label "fails" "$work/wanted" "$work/found"; then
	echo "The failures, in full:"
	sed -n '/^not ok/,/^  \.\.\./p' "$work/tap" | head -200
	exit 1
fi
echo "$(wc -l <"$work/found") cases fail, as they should"
