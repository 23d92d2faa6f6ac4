#!/usr/bin/env bash
# Files that are no whole shared object for this machine: each is refused by name with its reason,
# nothing crashes, and the good backend in the same folder still works.
#   files.sh BAKEOFF BUILD
set -euo pipefail
bakeoff=$1 build=$2
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
good=$build/good/bk-good.so
cp "$good" "$folder/"

say() {
	printf 'FAILED: %s\n' "$*"
	failed=1
}

# refused NAME EXPECTED: bk-NAME.so of the folder
refused() {
	local status=0 message
	message=$("$bakeoff" backends "$folder/bk-$1.so" 2>&1 >/dev/null) || status=$?
	[ "$status" = 2 ] || say "$1: exit status $status, expected 2"
	[[ $message == "bakeoff: $folder/bk-$1.so: "*"$2"* ]] || say "$1: '$2' is not in: $message"
}

# patched NAME OFFSET BYTES: a copy of the good one with other bytes (printf notation)
patched() {
	cp "$good" "$folder/bk-$1.so"
	printf "$3" | dd of="$folder/bk-$1.so" bs=1 seek="$2" conv=notrunc status=none
}

# little-endian number at OFFSET of SIZE bytes
number() {
	od -An -t "u$2" -j "$1" -N "$2" "$good" | tr -d ' '
}

size=$(stat -c %s "$good")
for i in $(seq 0 19); do
	head -c $((size * i / 20)) "$good" >"$folder/bk-cut$i.so"
	if [ "$i" = 0 ]; then
		refused cut0 "not a shared object"
	else
		refused "cut$i" "truncated: "
	fi
done
head -c $((size - 1)) "$good" >"$folder/bk-cut-last.so"
refused cut-last "truncated: the section header table"

: >"$folder/bk-empty.so"
refused empty "does not begin with the ELF magic"
echo "#!/bin/sh" >"$folder/bk-text.so"
refused text "does not begin with the ELF magic"
mkdir "$folder/bk-folder.so"
refused folder "not a regular file"
mkfifo "$folder/bk-pipe.so"
refused pipe "not a regular file"
ln -s nowhere "$folder/bk-dangling.so"
refused dangling "cannot be opened: No such file"
cp "$build/files/bk-no-entry.so" "$folder/"
refused no-entry "not a backend: it exports no symbol bk_backend"
cp "$build/files/bk-undefined-symbol.so" "$folder/"
refused undefined-symbol "cannot be loaded: undefined symbol: nobody_defines_this"
cp "$good" "$folder/bk-renamed.so"
refused renamed "the file's name is expected to be bk-good.so"

# offsets of the ELF header, 64 bit: e_type 16, e_machine 18, e_phoff 32, e_phentsize 54, e_phnum 56
patched class 4 '\001'
refused class "built for another word size"
patched machine 18 '\377\177'
refused machine "built for another machine"
patched type 16 '\002\000'
refused type "ELF type 2, expected 3"
patched no-segments 56 '\000\000'
refused no-segments "not loadable: 0 program headers"
patched segment-size 54 '\001\000'
refused segment-size "program headers of 1 bytes"
patched segment-table 32 '\377\377\377\377\377\377\377\377'
refused segment-table "truncated: the program header table"
patched segment $(($(number 32 8) + 32 + 4)) '\377'
refused segment "truncated: segment 0"
patched sections 58 '\001\000'
refused sections "section headers of 1 bytes"

list=$(BAKEOFF_BACKENDS=$folder "$bakeoff" backends)
grep -q '^good 1  does nothing' <<<"$list" || say "the good one is missing from the list"
for file in "$folder"/bk-*.so; do
	name=$(basename "$file" .so)
	name=${name#bk-}
	[ "$name" = good ] || grep -q "^  $name: $file: " <<<"$list" ||
		say "$name is not refused by name in the list"
done
exit "$failed"
