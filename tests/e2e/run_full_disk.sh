#!/usr/bin/env bash
# A full data disk fails the cell and not the run; a full results disk ends the run and says so, and
# what was written before is there.
# timeout: 300
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
mkdir -p small
cat >m.yaml <<Y
rounds: 1
durability: none
data: $scratch/small/data
guards: {disk_free: 0}
variants: [mem, {name: files, nodes: file, binaries: file}]
scenarios: [{name: n-binaries, n: 30, size: 1MB}]
Y
# mounted COMMAND...: with 8 MiB of its own at small/, in a namespace that nobody else sees
namespace=(unshare -m)
[ "$(id -u)" = 0 ] || namespace=(unshare -rm)
mounted() {
	"${namespace[@]}" bash -c 'mount -t tmpfs -o size=8m none "$1"; shift; "$@"' - "$scratch/small" "$@"
}

status=0
mounted "$bakeoff" run m.yaml --results r.db >out 2>err || status=$?
[ "$status" = 1 ] || say "full data disk: status $status: $(cat err)"
grep -qE 'files/n-binaries.*failed in 1 of 1 rounds: .*(No space left|full)' out || say "full data disk: $(cat out)"
grep -q '1 trials ok, 1 failed' err || say "full data disk: $(cat err)"

cat >m.yaml <<'Y'
rounds: 200
durability: none
variants: [mem]
scenarios: [{name: n-binaries, n: 3, size: 1KB, threads: [1, 2, 3, 4, 5, 6, 7, 8]}]
Y
# 1.5 MiB is enough for a few hundred trials, not for 1600
status=0
mounted bash -c 'fallocate -l 6500k "$1/small/filler"; "$2" run -q m.yaml --data "$1/data" --results "$1/small/r.db" >out 2>err
	status=$?; "$2" compare --results "$1/small/r.db" >compared 2>&1; exit $status' - "$scratch" "$bakeoff" || status=$?
[ "$status" = 1 ] || say "full results disk: status $status: $(cat err)"
grep -q 'the run ends: .*results file' err || say "full results disk: $(cat err)"
grep -q '^n-binaries' compared || say "full results disk: nothing is left: $(cat compared)"
finish
