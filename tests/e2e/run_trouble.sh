#!/usr/bin/env bash
# Stores that lie or fail, full disks, Ctrl-C: a cell ends with its cause, what was measured stays.
# timeout: 300
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
matrix() {
	cat >m.yaml
}

# a store that fails in the middle, and later on always: the other variant is not touched
matrix <<'Y'
rounds: 2
durability: none
variants:
  - mem
  - {name: breaks, nodes: {backend: "null", fail-from: 20}, binaries: {backend: "null", fail-from: 20}}
scenarios: [{name: n-binaries, n: 50, size: 10KB}]
Y
if "$bakeoff" backends null | grep -q fail-from; then
	run run m.yaml --results r.db
	wants_status 1
	wants_out 'breaks/n-binaries.*failed in 2 of 2 rounds'
	wants_err '2 trials ok, 2 failed'
else
	say 'null has no option fail-from'
fi

# a variant that cannot run at all says why once, not once a case
matrix <<'Y'
rounds: 1
durability: process
variants: [file-simple, mem]
scenarios: [{name: n-children, n: [10, 20, 30]}]
Y
run run m.yaml --results d.db
wants_status 1
wants_out "^mem/n-children\[n=10.*durability 'process' was asked for.*; so do 2 other cases of mem$"
[ "$(grep -c "durability 'process'" <<<"$out")" = 1 ] || say "one cause, told more than once: $out"

# Ctrl-C: ends cleanly, keeps what is measured, says how to see it
matrix <<'Y'
rounds: 50
durability: none
variants: [mem]
scenarios: [{name: n-children, n: [10, 20]}]
Y
"$bakeoff" run m.yaml --results i.db >int.out 2>int.err </dev/null &
pid=$!
for _ in $(seq 100); do
	grep -qs '^\[2/' int.err && break
	sleep 0.1
done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
[ "$status" = 130 ] || say "interrupted run: exit status $status"
grep -q 'what was measured is kept' int.err || say "interrupted run: $(cat int.err)"
grep -q 'next: .*bakeoff compare 1 --results i.db' int.err || say "interrupted run: $(cat int.err)"
[ ! -e bakeoff-data ] || say 'interrupted run: the data folder is left behind'
run runs --results i.db
wants_out 'interrupted'
run compare --results i.db
wants_status 0

# so does the end of whoever looked on: a terminal that closes, a pipe without a reader
for signal in HUP PIPE; do
	rm int.err # not that of the run before
	"$bakeoff" run m.yaml --results h.db >int.out 2>int.err </dev/null &
	pid=$!
	for _ in $(seq 100); do
		grep -qs '^\[2/' int.err && break
		sleep 0.1
	done
	kill "-$signal" "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 130 ] || say "run with SIG$signal: exit status $status"
	[ ! -e bakeoff-data ] || say "run with SIG$signal: the data folder is left behind"
	[ "$(echo h.db*)" = h.db ] || say "run with SIG$signal: $(echo h.db*)"
done
"$bakeoff" run m.yaml --results p.db 2>&1 </dev/null | head -2 >/dev/null || true
[ ! -e bakeoff-data ] || say 'run whose reader is gone: the data folder is left behind'
run runs --results p.db
wants_out 'interrupted'

# a limit on the size of files is an error of the store or of the results file, no signal
status=0
(
	ulimit -f 64
	exec "$bakeoff" run m.yaml --results f.db >int.out 2>int.err </dev/null
) || status=$?
[ "$status" = 1 ] || [ "$status" = 2 ] || say "limit on file sizes: exit status $status"
grep -q 'f.db' int.err || say "limit on file sizes: $(cat int.err)"
rm -rf bakeoff-data

# kill -9: what was recorded is there
rm int.err
"$bakeoff" run m.yaml --results k.db >int.out 2>int.err </dev/null &
pid=$!
for _ in $(seq 100); do
	grep -qs '^\[2/' int.err && break
	sleep 0.1
done
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
run compare --results k.db
wants_status 0
wants_out 'n-children'

# ... and the next run takes away its data, not that of a living run, of --keep, or of somebody else
left=$(echo bakeoff-data/run-*)
[ -d "$left" ] || say "a killed run left nothing: $left"
sed 's/^rounds: .*/rounds: 1/' m.yaml >short.yaml
run run short.yaml --results other.db --data kept --keep
mkdir -p bakeoff-data/run-of-mine "$scratch/elsewhere"
echo letter >bakeoff-data/run-of-mine/claim
exec 9<bakeoff-data/run-of-mine/claim
flock 9
mv kept/run-* bakeoff-data/run-kept
ln -s ../bakeoff-data/run-of-mine bakeoff-data/run-link
ln -s "$scratch/elsewhere" bakeoff-data/run-elsewhere
: >"$scratch/elsewhere/claim"
run run short.yaml --results k.db
wants_status 0
wants_err "removed .*/?$left, which a run that was killed had left"
[ ! -e "$left" ] || say "$ran: $left is there"
[ -d bakeoff-data/run-kept ] && [ -e bakeoff-data/run-of-mine/claim ] && [ -e "$scratch/elsewhere/claim" ] ||
	say "$ran: took what is not its own"
run runs --results k.db
wants_out '^ +1 .* killed '
wants_out '^ +2 .* done '
exec 9<&-
rm -r bakeoff-data

# several runs at once on one results file, which all of them find missing
for i in 1 2 3 4; do
	"$bakeoff" run m.yaml --rounds 1 --results s.db >/dev/null 2>"several.$i" </dev/null &
done
wait
run runs --results s.db
[ "$(grep -c ' done ' <<<"$out")" = 4 ] || say "runs at once: $out $(grep -h bakeoff: several.?)"
[ "$(echo s.db*)" = s.db ] || say "runs at once: $(echo s.db*)"

# the time guard ends a cell, not the run
matrix <<'Y'
rounds: 2
durability: none
guards: {time: 1500ms}
variants: [mem, {name: slow, nodes: {backend: "null", delay: 20ms}, binaries: {backend: "null", delay: 20ms}}]
scenarios: [{name: n-binaries, n: 500, size: 10KB}]
Y
run run m.yaml --results g.db
wants_status 1
wants_out 'slow/n-binaries.*guard in 2 of 2 rounds: time guard|slow/n-binaries.*guard'

# the disk guard
matrix <<'Y'
rounds: 1
durability: none
guards: {disk_free: 900TiB}
variants: [mem]
scenarios: [{name: n-uris, n: 10}]
Y
run run m.yaml --results d.db
wants_status 1
wants_out 'under the guard disk_free'

finish
