#!/usr/bin/env bash
# The nodes that one read names, against numbers worked out from the hierarchy alone: how many levels
# n random names fill, and what each scenario's procedure loads beside them.
# timeout: 300
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
cat >m.yaml <<'Y'
rounds: 1
durability: none
variants: [mem]
scenarios:
  - {name: n-children, n: [1000, 10000], cache_size: 1000000, hierarchy: [pairtree 4x2, flat]}
  - {name: n-members, n: [1000, 10000], cache_size: 1000000, hierarchy: [pairtree 4x2, flat]}
  - {name: n-memberof, n: [1000, 10000], cache_size: 1000000, hierarchy: [pairtree 4x2, flat]}
Y
run run m.yaml --results r.db
wants_status 0
"$bakeoff" export --results r.db --format json >run.json
python3 - <<'P' || say 'nodes touched are not what the hierarchy says'
import json, sys

def levels(n):  # expected number of distinct prefixes of 2, 4, 6, 8 hex digits among n random names
    return sum(b * (1 - (1 - 1 / b) ** n) for b in (2**8, 2**16, 2**24, 2**32))

def expected(scenario, n, flat):
    l = 0 if flat else levels(n)
    if scenario == 'n-children':  # parent, levels, children
        return 1 + l + n
    if scenario == 'n-members':   # collection, container, proxies and objects with levels, their root
        return 3 + 2 * (l + n)
    # collection, objects with levels and their root, a container each, a proxy each with its levels
    return 2 + l + n + n + n * (1 if flat else 5)

bad = 0
for t in json.load(open('run.json'))['trials']:
    p = t['params']
    want = expected(t['scenario'], p['n'], p['hierarchy'] == 'flat')
    got = t['metrics']['nodes.touched']['value']
    if abs(got / want - 1) > 0.01 or t['metrics']['triples']['value'] != p['n'] + 1:
        bad = 1
        print(t['case'], got, want)
sys.exit(bad)
P
finish
