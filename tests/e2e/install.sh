#!/usr/bin/env bash
# What `cmake --install` lays down works from where it lies: backends found, headers, manual pages.
. "$(dirname "$0")/lib.sh" "$@"

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/log" 2>&1 ||
	say "install failed: $(cat "$scratch/log")"
"$bakeoff" backends >"$scratch/built"
bakeoff=$scratch/prefix/bin/bakeoff
cd /
run backends
wants_status 0
[ "$out" = "$(cat "$scratch/built")" ] || say "other backends than in the build tree: $out"
run backends mem
wants_out "^file: $scratch/prefix/"
for file in include/bakeoff/backend.h share/man/man1/bakeoff.1 share/man/man1/bakeoff-inspect.1; do
	[ -e "$scratch/prefix/$file" ] || say "$file was not installed"
done
! find "$scratch/prefix" -name 'bk-*.so' | grep -qE 'bk-(good|demo|magic)\.so' ||
	say "a test's backend was installed"
finish
