#!/usr/bin/env bash
# `bakeoff doctor`: each planted problem is named, with what to do about it.
. "$(dirname "$0")/lib.sh" "$@"

# wants_problem REGEX: a PROBLEM line, followed by advice
wants_problem() {
	wants_status 1
	grep -A1 -E "^  PROBLEM +$1" <<<"$out" | grep -q '^ *-> .' ||
		say "$ran: no problem /$1/ with advice: $out"
}

run doctor --data "$scratch"
wants_out '^  ok +mem: '
wants_out '^  ok +user: '
[[ $out != *"PROBLEM  mem"* ]] || say "$ran: mem is a problem"

run doctor --data "$scratch/missing"
wants_problem 'disk: .*missing: No such file'

export BAKEOFF_BACKENDS=$build/tests/plugins/broken
run doctor --data "$scratch"
wants_problem 'major: .*its ABI major is 7'
wants_out '^  ok +mem: '
unset BAKEOFF_BACKENDS

ulimit -S -n 256
run doctor --data "$scratch"
wants_problem 'descriptors: 256 open files allowed'

if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ]; then
	run doctor --data /dev/shm
	wants_problem 'disk: /dev/shm lies in memory'
fi

export AWS_SECRET_ACCESS_KEY=s3cret
run doctor --data "$scratch"
wants_out 'AWS_SECRET_ACCESS_KEY is hidden'
[[ $out != *s3cret* ]] || say "$ran: a secret is shown"
finish
