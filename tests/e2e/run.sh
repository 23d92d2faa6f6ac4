#!/usr/bin/env bash
# A matrix from file to comparison on the embedded backends, and what the results file keeps.
# timeout: 300
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
cat >m.yaml <<'Y'
name: all
rounds: 2
durability: none
variants:
  - mem
  - name: files
    nodes: {backend: file}
    binaries: {backend: file}
scenarios:
  - {name: n-children, n: 30, access: [document, batched, native]}
  - {name: n-children, n: 30, access: document, readers: 3}
  - {name: n-members, n: 20, access: native, membership: [direct, indirect]}
  - {name: n-memberof, n: 20, access: native}
  - {name: n-uris, n: 20, load: [bulk, single]}
  - {name: n-binaries, n: 5, size: [1KB, 100KB], ingest_protocol: [direct, staged], threads: 2}
  - {name: child-reads, n: 30}
exclude:
  - {variant: files, scenario: n-children, readers: 3}
Y
run run m.yaml --results r.db --note 'a note' --only '*n-members*native*' --rounds 1
wants_status 0
wants_out '^mem = mem'
wants_out '^n-members\[n=20,access=native,membership=direct\]'
run run m.yaml --dry-run --results r.db
wants_status 0
wants_out '2 variants, [0-9]+ cells, 2 rounds'
wants_out 'mem/n-members\[n=20,access=native\] .*[0-9]\.[0-9]'
wants_out 'mem/n-uris\[n=20\] .*not known yet'
run run m.yaml --results r.db --seed 7
wants_status 0
wants_err '0 failed; results in r.db'
[ ! -e bakeoff-data ] || say 'the data folder is left behind'

# two runs side by side in the file; the last one is the default
run runs --results r.db
wants_out '^ +1 .*a note'
wants_out '^ +2 .* done '
run compare --results r.db --format json
wants_status 0
jq -e '.run == 2 and .reference == "mem" and ([.rows[].case] | unique | length) == 14' <<<"$out" >/dev/null ||
	say "the comparison: $(jq -c '[.run, .reference, ([.rows[].case] | unique)]' <<<"$out")"
# every access mode and number of readers gives the same triples
run compare --results r.db --metrics triples --format json
jq -e '[.rows[] | select(.case | startswith("n-children")) | .variants[].by_round[]] | unique == [31]' \
	<<<"$out" >/dev/null || say 'n-children gives other triples somewhere'
run compare --results r.db --format csv
wants_out '^case,metric,unit,variant,rounds_ok'
run compare --results r.db --format md
wants_out '^\| case'
run compare --results r.db --reference files
wants_out 'files = .*\(reference\)'
run compare 9 --results r.db
wants_usage 'run 9 is not in'
run compare --results r.db --reference memm
wants_usage "did you mean 'mem'"
run compare --results r.db --metrics nosuch
wants_usage "run 2 has no metric 'nosuch'"
for list in triples,nosuch nosuch,triples triples, ,triples ''; do
	run compare --results r.db --metrics "$list"
	wants_usage "run 2 has no metric '(nosuch)?'"
done
run compare --results r.db --format xml
wants_usage 'table, md, csv or json'

# what is kept of a run: order, seed, host, options, features, raw figures
run show --results r.db --format json
wants_status 0
grep -qE '"(run|rounds?|position)": [0-9]+,?$' <<<"$out" && ! grep -qE '": -?[0-9]+\.0,?$' <<<"$out" ||
	say "show writes counts as fractions: $(grep -m3 -E '": -?[0-9]+\.0,?$' <<<"$out")"
jq -e '.seed == "7" and .host.cores_allowed > 0 and .host.data.filesystem != null and
	.host.wakeup_ns.free > 0 and .host.pinning == "none" and
	(.variants[1].nodes.options.path | length) > 0 and (.variants[1].nodes.looped | index("walk")) != null and
	([.trials[].position] | . == (sort)) and
	([.trials[] | select(.scenario == "n-binaries") | .histograms.latency | startswith("h1 ")] | all) and
	([.trials[] | select(.case | test("load=single")) | .metrics."load.objects_per_s".value > 0] | all)' \
	<<<"$out" >/dev/null || say "show lacks something: $(head -c 600 <<<"$out")"
run show --results r.db
wants_out 'looped .*walk'
run export --results r.db
wants_out '^run,variant,case'
# both variants get each case in both orders: AB and BA
order=$("$bakeoff" export --results r.db --format json |
	jq -c '[.trials[] | select(.case == "n-memberof[n=20,access=native]") | .variant]')
case $order in
'["mem","files","files","mem"]' | '["files","mem","mem","files"]') ;;
*) say "the order of a case over two rounds is $order" ;;
esac

# cold: the state reached is said
cat >cold.yaml <<'Y'
rounds: 1
durability: none
variants: [{name: files, nodes: file, binaries: file}]
scenarios: [{name: n-children, n: 10, temperature: cold}]
Y
run run cold.yaml --results r.db
wants_status 0
wants_out 'cold: .*page cache'
run run cold.yaml --results r.db --quiet
wants_status 0
[ -z "$err" ] || say "--quiet says: $err"

# --keep leaves the data; a second look finds it
run run cold.yaml --results r.db --keep
wants_status 0
kept=$(sed -n 's/^data kept in //p' <<<"$err")
[ -d "$kept/files/nodes" ] || say "--keep kept nothing in '$kept'"
grep -q "^to look at it: .*bakeoff inspect $kept/VARIANT/nodes$" <<<"$err" || say "--keep does not say how to look: $err"
run inspect "$kept/files/nodes"
wants_status 0

# a pattern may name a parameter that is at its default, which names leave out
cat >names.yaml <<'Y'
durability: none
rounds: 1
variants: [mem, {name: a-variant-with-a-long-name, nodes: file, binaries: file}]
scenarios: [{name: n-binaries, n: 4, size: 10KB, threads: [1, 4], ingest_protocol: [direct, staged]}]
Y
run run names.yaml --dry-run --only '*threads=1,ingest_protocol=staged*'
wants_status 0
wants_out '2 variants, 2 cells'
wants_out '^mem/n-binaries\[n=4,size=10000,ingest_protocol=staged\] '
# columns stand under each other however long a name is
run run names.yaml --dry-run --results names.db
[ "$(grep -E 'known yet$' <<<"$out" | awk '{print length}' | sort -u | wc -l)" = 2 ] ||
	say "$ran: ragged: $out" # the cells, and the sum below them
# where both go to one place, what comes next stands below the comparison
"$bakeoff" run names.yaml --results names.db >both 2>&1 || say "run into one file: $?"
tail -n 1 both | grep -q '^next: .*bakeoff compare 1' || say "after the comparison: $(tail -n 3 both)"
run show --results names.db
[ "$(grep -E ' round 1 .* ok ' <<<"$out" | awk '{print length}' | sort -u | wc -l)" = 1 ] ||
	say "$ran: ragged: $out"
run compare --results names.db --metrics stored
wants_out ' [0-9.]+ [kM]?B( |$)'
! grep -qE '[0-9][kM] B' <<<"$out" || say "$ran: bytes are written badly: $out"

# variants on one backend are told apart by what was chosen; half a figure is never shown
cat >chosen.yaml <<'Y'
durability: none
rounds: 2
variants: [file, {name: flushless, nodes: {backend: file, flush: no}, binaries: file}]
scenarios: [{name: n-children, n: 20, cache_size: 10, access: [document, batched]}]
Y
if command -v script >/dev/null; then
	script -qec "stty cols 80; TERM=xterm '$bakeoff' run chosen.yaml --results chosen.db" /dev/null |
		tr '\r' '\n' | sed 's/\x1b\[[0-9]*[mK]//g' >live
	grep -q 'measuring' live || say "no live line: $(head -c 600 live)"
	! grep -E 'left' live | grep -vqE 'left about [0-9]+:[0-9]{2}$' ||
		say "a clipped time: $(grep left live | grep -vE '[0-9]:[0-9]{2}$' | head -n 2)"
	! awk 'match($0, /measuring [0-9]+\/[0-9]+/) {
		split(substr($0, RSTART + 10, RLENGTH - 10), n, "/"); if (n[1] + 0 > n[2] + 0) bad = 1 }
		END {exit !bad}' live || say 'more was measured than there is'
	[ "$(grep -c '^case ' live)" = 2 ] || say "80 columns: $(grep '^case ' live)"
else
	run run chosen.yaml --results chosen.db
fi
run compare --results chosen.db
wants_out '^flushless = file \(.*\) with flush=no \+ file'
[ "$(grep -c '^case ' <<<"$out")" = 1 ] || say "$ran: a pipe got the table in pieces"

# nobody has run anything
run compare --results none.db
wants_usage 'none.db'
run scenarios
wants_out '^n-children '
run scenarios n-binaries
wants_out 'ingest_protocol'
run scenarios n-binary
wants_usage "did you mean 'n-binaries'"
finish
