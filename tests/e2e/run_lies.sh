#!/usr/bin/env bash
# Stores that lie are caught: the trial fails as `wrong` (or as what its absence leads to), the run
# goes on, and the honest store beside it is unharmed.
# timeout: 300
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
export BAKEOFF_BACKENDS=$build/tests/plugins/liar:$build/backends

# lies LIE SCENARIO REGEX: the liar's cell fails with that, mem's does not
lies() {
	cat >m.yaml <<Y
rounds: 1
durability: none
variants: [mem, liar-$1]
scenarios: [$2]
Y
	run run m.yaml --results r.db
	wants_status 1
	wants_out "liar-$1/.*: (wrong|failed) in 1 of 1 rounds: .*$3"
	wants_err '1 trials ok, 1 failed'
}

lies drops-write '{name: n-children, n: 50, hierarchy: flat, access: native}' 'wrong answer: 50 triples where 51'
lies corrupts-byte '{name: n-properties, n: 50}' 'wrong answer: 50 triples, but not those'
lies loses-link '{name: n-memberof, n: 30, access: native}' 'wrong answer: 1 triples where 31'
lies loses-link '{name: n-memberof, n: 30, access: document}' 'wrong answer: 1 triples where 31'
lies corrupts-binary '{name: n-binaries, n: 5, size: 10KB}' 'wrong answer: binary .* differs'
lies loses-hit '{name: n-members, n: 30, access: native, membership: direct}' 'wrong answer: 30 triples where 31'
finish
