#!/usr/bin/env bash
# `bakeoff conform` from outside: exit status, TAP, patterns, expected failures, time-outs, what it
# leaves behind.  What the suite catches is for tests/plugins/faulty to show.
# timeout: 300
. "$(dirname "$0")/lib.sh" "$@"
export TMPDIR=$scratch/tmp
mkdir -p "$TMPDIR"
faulty=$build/tests/conform/faulty
: >"$scratch/none.expect"

left_behind() {
	[ -z "$(ls -A "$TMPDIR")" ] || say "$ran: left behind in TMPDIR: $(ls -A "$TMPDIR")"
}

# ---- what can be asked for
run conform --list
wants_status 0
[ "$(wc -l <<<"$out")" -ge 120 ] || say "only $(wc -l <<<"$out") cases"
wants_out '^node\.round-trip +a node comes back as it was put \[needs nodes\]$'
[ -z "$(cut -d' ' -f1 <<<"$out" | sort | uniq -d)" ] || say "a case is there twice"
run conform --list --run walk --run 'txn.roll*'
wants_status 0
[ -z "$(grep -vE '^(walk\.|txn\.rollback )' <<<"$out")" ] || say "--run selects too much: $out"

run conform mem --run abi.head --run node.round-trip
wants_status 0
wants_out '^TAP version 14$'
wants_out '^1\.\.2$'
wants_out '^# seed 1$'
wants_out '^ok 1 - abi\.head$'
wants_out '^ok 2 - node\.round-trip$'
wants_out '^# 2 passed, 0 failed, 0 expected failures, 0 skipped$'
left_behind
run conform "$build/backends/bk-mem.so" --run abi.absent-chill --run lifecycle.chill-keeps
wants_status 0
wants_out '^ok 2 - lifecycle\.chill-keeps # SKIP needs chill$'

# ---- bad input: one line, status 2
run conform
wants_usage 'which backend'
run conform mem --run node.round-tripp
wants_usage "no case matches 'node.round-tripp'; did you mean 'node.round-trip'\?"
run conform mem --run nodes
wants_usage "did you mean 'node'\?"
run conform mem --seed 1x
wants_usage "--seed: '1x' is not a whole number"
run conform mem --timeout 5parsecs
wants_usage '5parsecs'
run conform mem --timeout 0s
wants_usage 'more than 0'
run conform mem --set pretend-durabel=yes
wants_usage "did you mean 'pretend-durable'\?"
run conform mem --expect "$scratch/nowhere"
wants_usage 'nowhere'
run conform no-such-backend
wants_usage 'no-such-backend'
run conform "$scratch/bk-none.so"
wants_usage 'bk-none.so'
: >"$scratch/bk-empty.so"
run conform "$scratch/bk-empty.so"
wants_usage 'bk-empty.so'

# ---- expected failures
plugin=$faulty/bk-bad-no-message.so
run conform "$plugin" --run node.remove-missing --run node.remove --seed 77
wants_status 1
wants_out '^ok 1 - node\.remove$'
wants_out '^not ok 2 - node\.remove-missing$'
wants_out '^  message: "remove: .*INTERNAL'
wants_out '^  at: src/conform/group_node\.c:[0-9]+$'
wants_out '^  seed: 77$'
wants_out '^# 1 passed, 1 failed, 0 expected failures, 0 skipped$'
left_behind
printf '# a comment\n\nnode.remove-missing:  says nothing # yet\n' >"$scratch/one.expect"
run conform "$plugin" --run node.remove-missing --run node.remove --expect "$scratch/one.expect"
wants_status 0
wants_out '^not ok 2 - node\.remove-missing # TODO says nothing / yet$'
wants_out '^# 1 passed, 0 failed, 1 expected failures, 0 skipped$'
run conform mem --run node.remove-missing --expect "$scratch/one.expect"
wants_status 1
wants_out '^not ok 1 - node\.remove-missing$'
wants_out 'one\.expect:3 expects it to fail'
printf 'node.remove-misssing: typing error\n' >"$scratch/bad.expect"
run conform mem --expect "$scratch/bad.expect"
wants_usage "bad\.expect:1: case 'node.remove-misssing' is unknown; did you mean 'node.remove-missing'\?"
printf 'node.remove:\n' >"$scratch/bad.expect"
run conform mem --expect "$scratch/bad.expect"
wants_usage "bad\.expect:1: case 'node.remove' has no reason"
printf 'node.remove: a\nnode.remove: b\n' >"$scratch/bad.expect"
run conform mem --expect "$scratch/bad.expect"
wants_usage "bad\.expect:2: case 'node.remove' stands here twice"
printf 'just words\n' >"$scratch/bad.expect"
run conform mem --expect "$scratch/bad.expect"
wants_usage "bad\.expect:1: want 'group.case: reason'"

# beside the backend, where the build puts it
cp "$plugin" "$scratch/"
cp "$scratch/one.expect" "$scratch/bk-bad-no-message.expect"
run conform "$scratch/bk-bad-no-message.so" --run node.remove-missing
wants_status 0
wants_out '# TODO says nothing'

# ---- a backend that crashes, one that hangs
run conform "$faulty/bk-bad-crashes.so" --run node.remove-missing --run node.remove-parent
wants_status 1
wants_out '^not ok [0-9] - node\.remove-missing$'
wants_out '^ok [0-9] - node\.remove-parent$'
wants_out 'ended (by signal 11|with exit status [1-9])' # a sanitizer exits, each with its own
left_behind
run conform "$faulty/bk-bad-hangs.so" --run lifecycle.settle-keeps --timeout 2s
wants_status 1
wants_out 'no end after 2 s'
left_behind

# ---- a failing seed replays, made small
run conform "$faulty/bk-bad-drops-link.so" --run model.autocommit --seed 5
wants_status 1
first=$(grep -v took_ms <<<"$out")
wants_out 'seed 5; [0-9]+ operations, made of'
wants_out '^  notes: \|$'
[ "$(sed -n '/notes:/,/\.\.\./p' <<<"$out" | wc -l)" -le 12 ] || say "not made small: $out"
run conform "$faulty/bk-bad-drops-link.so" --run model.autocommit --seed 5
[ "$first" = "$(grep -v took_ms <<<"$out")" ] || say "seed 5 does not replay"

# ---- a folder of one's own is used and kept
mkdir "$scratch/mine"
printf 'letter' >"$scratch/mine/letter"
run conform "$faulty/bk-sound.so" --set "path=$scratch/mine" --run node.round-trip --run lifecycle
wants_out '^ok [0-9]+ - node\.round-trip$'
[ "$(ls -A "$scratch/mine")" = letter ] || say "$ran: changed my folder: $(ls -A "$scratch/mine")"

# ---- interrupted: what was started is gone
"$bakeoff" conform "$faulty/bk-bad-hangs.so" --run lifecycle.settle-keeps >"$scratch/cut" &
pid=$!
for _ in $(seq 100); do
	[ -n "$(ls -A "$TMPDIR")" ] && grep -q '^# seed' "$scratch/cut" && break
	sleep 0.1
done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
ran='bakeoff conform, interrupted'
wants_status 1
grep -q '^Bail out! interrupted' "$scratch/cut" || say "no word of the interruption"
left_behind
finish
