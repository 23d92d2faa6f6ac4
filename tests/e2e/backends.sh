#!/usr/bin/env bash
# `bakeoff backends`: what the build made is listed, and each can be asked about.
. "$(dirname "$0")/lib.sh" "$@"

run backends
wants_status 0
[[ $out != *refused:* ]] || say "a backend of the build is refused: $out"
for file in "$build"/backends/bk-*.so; do
	name=$(basename "$file" .so)
	name=${name#bk-}
	run backends
	wants_out "^$name [^ ]+  ."
	run backends "$name"
	wants_status 0
	wants_out "^file: .*/bk-$name.so$"
	wants_out '^(options|no options)'
	first=$out
	run backends "$file"
	[ "$(grep -v ^file: <<<"$out")" = "$(grep -v ^file: <<<"$first")" ] ||
		say "$ran: by path it says something else than by name"
done

run backends no-such-backend
wants_usage "backend 'no-such-backend' is unknown; .*BAKEOFF_BACKENDS adds folders"
run backends ../mem
wants_usage 'cannot be opened'
export BAKEOFF_BACKENDS=$build/tests/plugins/broken
run backends major
wants_usage 'its ABI major is 7'
run backends
wants_status 0
wants_out '^refused:$'
export BAKEOFF_BACKENDS=/nonexistent
cp "$bakeoff" "$scratch/bakeoff"
bakeoff=$scratch/bakeoff
run backends
wants_status 0
wants_out 'no backends were found'
run backends mem
wants_usage 'no backend was found at all'
finish
