#!/usr/bin/env bash
# tests/bench/run: names, one line a measure, exit status.  Not what it measures: this machine is busy.
. "$(dirname "$0")/lib.sh" "$@"
run_bench=$(dirname "$0")/../bench/run
export BAKEOFF_BUILD=$build BENCH_DIR=$scratch/data

"$run_bench" --list >"$scratch/names" || say "--list failed"
grep -qx layers_null_ns "$scratch/names" || say "layers_null_ns is not listed"
status=0
out=$("$run_bench" layers_null_ns 2>&1) || status=$?
[ "$status" -le 1 ] || say "exit status $status: $out"
grep -qE '^layers_null_ns -?[0-9.e+-]+ <=10 (ok|short)$' <<<"$out" || say "not one line: $out"
status=0
out=$("$run_bench" no_such_measure 2>&1) || status=$?
[ "$status" = 2 ] || say "an unknown name: exit status $status"
grep -q "no measure 'no_such_measure'" <<<"$out" || say "an unknown name: $out"
finish
