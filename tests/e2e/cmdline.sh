#!/usr/bin/env bash
# The command line as such: help everywhere, one clear line and exit status 2 for bad usage.
. "$(dirname "$0")/lib.sh" "$@"

run
wants_status 0
wants_out '^usage: bakeoff COMMAND'
wants_out '^try first:'
run --version
wants_status 0
wants_out '^bakeoff [0-9]+\.[0-9]+\.[0-9]+ \(backend ABI [0-9]+\.[0-9]+\)$'

for command in $("$bakeoff" --commands); do
	run "$command" --help
	wants_status 0
	wants_out "^usage: bakeoff $command"
	wants_out '-h, --help'
	first=$out
	run help "$command"
	[ "$out" = "$first" ] || say "help $command and $command --help differ"
	run "$command" -h
	[ "$out" = "$first" ] || say "$command -h and $command --help differ"
	run --man "$command"
	wants_status 0
	wants_out "^\.TH \"BAKEOFF-"
	run "$command" --no-such-flag=s3cret
	wants_usage '--no-such-flag is unknown'
	[[ $err != *s3cret* ]] || say "$ran: the value is shown"
	run "$command" --hepl
	wants_usage 'did you mean --help\?'
	run "$command" -%
	wants_usage '-% is unknown'
	longest=$(awk '{ if (length > n) n = length } END { print n }' <<<"$first")
	[ "$longest" -le 120 ] || say "$command --help has a line of $longest columns"
done

run backend
wants_usage "command 'backend' is unknown; did you mean 'backends'\?"
run frobnicate
wants_usage "command 'frobnicate' is unknown"
run help frobnicate
wants_usage "command 'frobnicate' is unknown"
run --versoin
wants_usage 'did you mean --version\?'
run ''
wants_usage "command '' is unknown"
run $'two\nlines'
wants_usage 'is unknown'
run backends one two
wants_usage "'two' is one too many"

# a report cut off by a full disk is no report
status=0
"$bakeoff" --help >/dev/full 2>"$scratch/full" || status=$?
[ "$status" = 1 ] || say "writing to a full disk: exit status $status, expected 1"
grep -q 'cannot write standard output: No space' "$scratch/full" ||
	say "writing to a full disk: $(cat "$scratch/full")"
# What is printed about scenarios fits a terminal.
for name in $("$bakeoff" scenarios | awk '/^[a-z-]+ / {print $1}'); do
	run scenarios "$name"
	wants_status 0
	! grep -qE '^.{101}| $' <<<"$out" || say "$ran: too long, or blanks at an end: $(grep -E '^.{101}| $' <<<"$out")"
done
finish
