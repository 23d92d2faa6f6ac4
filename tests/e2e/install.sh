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
# the matrices that came with it are found, and named to whom types what the README says
run
first=$(sed -n 's/^  bakeoff run \(.*smoke.yaml\) .*/\1/p' <<<"$out")
[ "$first" = "$scratch/prefix/share/bakeoff/matrix/smoke.yaml" ] || say "what to try first: '$first'"
run run "$first" --dry-run
wants_status 0
run run matrix/smoke.yaml
wants_usage "matrix/smoke.yaml: no such file; did you mean .*/share/bakeoff/matrix/smoke.yaml"
for file in share/doc/bakeoff/matrix.md include/bakeoff/backend.h share/man/man1/bakeoff.1 share/man/man1/bakeoff-inspect.1; do
	[ -e "$scratch/prefix/$file" ] || say "$file was not installed"
done
! find "$scratch/prefix" -name 'bk-*.so' | grep -qE 'bk-(good|demo|magic)\.so' ||
	say "a test's backend was installed"
finish
