#!/usr/bin/env bash
# Memory does not grow with the number of operations.
# labels: unit slow
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
cat >m.yaml <<'Y'
rounds: 1
durability: none
variants: [{name: keeps-nothing, nodes: {backend: "null"}, binaries: {backend: "null"}}]
scenarios: [{name: n-binaries, n: N, size: 16B, threads: 2}]
Y
peak() {
	sed "s/N,/$1,/" m.yaml >"m$1.yaml"
	run run "m$1.yaml" --results "r$1.db"
	wants_status 0
	run show --results "r$1.db" --format json
	jq '.trials[0].metrics | if .operations.value == '"$1"' then ."memory.harness.peak".value else null end' <<<"$out"
}
few=$(peak 10000) many=$(peak 1000000)
[ "$((many - few))" -lt $((4 << 20)) ] || say "a million operations: $many bytes; ten thousand: $few bytes"
finish
