#!/usr/bin/env bash
# A matrix on private servers and on one that exists: equal answers, the cost of a trial, bad news
# from a server in the middle of a run.
. "$(dirname "$0")/lib.sh"
cd "$scratch"
mkdir -m 777 data # the servers of an ordinary user live in it

sql_stores=()
for name in postgresql mysql; do
	[[ " ${servers[*]} " != *" $name "* ]] || sql_stores+=("$name")
done

# ---- private servers, one a variant: everybody says the same, and what it cost is known
{
	echo 'rounds: 2'
	echo 'durability: machine'
	echo "data: $scratch/data"
	echo 'variants:'
	echo '  - {name: oracle, nodes: {backend: mem}, binaries: {backend: mem}}'
	for name in "${sql_stores[@]}"; do
		echo "  - {name: $name, nodes: {backend: $name}, binaries: {backend: $name}}"
		echo "  - {name: $name-document, nodes: {backend: $name, layout: document}}"
	done
	cat <<-'Y'
		scenarios:
		  - {name: n-members, n: 60, access: [document, batched, native], readers: [1, 3], cache_size: 0}
		  - {name: n-memberof, n: 60, access: native, cache_size: 0}
		  - {name: n-properties, n: 60, load: single, cache_size: 0}
		  - {name: n-binaries, n: 4, size: 300KB, ingest_protocol: [direct, staged]}
		exclude:
	Y
	for name in "${sql_stores[@]}"; do
		echo "  - {variant: $name-document, scenario: n-binaries}"
	done
	echo '  - {variant: oracle, scenario: n-binaries}'
} >m.yaml
run run m.yaml --results r.db --set oracle.pretend-durable=yes
wants_status 0
wants_err ' 0 failed; results in r.db'
run compare --results r.db --format json \
	--metrics 'triples,time_to_last,log.written,cpu.server,memory.server,requests,written,write_amplification,cpu.harness'
wants_status 0
jq -e '[.rows[] | select(.metric == "triples") | [.variants[].by_round[]] | unique | length] |
	length > 0 and all(. == 1)' <<<"$out" >/dev/null || say "other answers: $(jq -c '.rows[] | select(.metric == "triples")' <<<"$out" | head -c 2000)"
run show --results r.db --format json
for name in "${sql_stores[@]}"; do
	# written to: log; asked: requests, processor time of the server
	jq -e --arg v "$name" '[.trials[] | select(.variant == $v and .scenario == "n-binaries") | .metrics |
		(."log.written".value > 1000000 and .written.value > 1000000 and .requests.value > 4 and
		."memory.server".value > 1000000 and .write_amplification.value > 1)] | length > 0 and all' \
		<<<"$out" >/dev/null ||
		say "$name: the cost of a trial: $(jq -c --arg v "$name" '[.trials[] | select(.variant == $v and .scenario == "n-binaries") | .metrics]' <<<"$out" | head -c 2500)"
	jq -e --arg v "$name" '[.trials[] | select(.variant | startswith($v)) | .metrics |
		has("cpu.server") and .requests.value > 0] | length > 0 and all' <<<"$out" >/dev/null ||
		say "$name: no processor time of the server, or no requests"
	# one statement for the whole walk, and few more; a document apiece, and few more
	jq -e --arg v "$name" '[.trials[] | select(.variant == $v and .scenario == "n-members" and
		(.case | test("native"))) | .metrics.requests.value] | length > 0 and all(. > 1 and . < 12)' \
		<<<"$out" >/dev/null || say "$name: requests of a native read: $(jq -c --arg v "$name" '[.trials[] |
			select(.variant == $v) | [.case, .metrics.requests.value, .metrics.round_trips.value]]' <<<"$out")"
done
[ ! -e data ] || say "left behind: $(ls -A data)"

# ---- a server that exists, and bad news from it: the cell ends with the server's words, the others
# go on, and the results file keeps what was measured
trouble() {
	cat >t.yaml <<-Y
		rounds: $1
		durability: none
		guards: {disk_free: 1MiB}
		variants:
		  - {name: oracle, nodes: {backend: mem}, binaries: {backend: mem}}
		  - {name: there, nodes: {backend: $name}, binaries: {backend: $name}}
		scenarios:
		  - {name: n-binaries, n: $2, size: 500KB, threads: $3}
	Y
}
for name in "${sql_stores[@]}"; do
	run provision --tcp --format json "$name"
	wants_status 0
	note
	upper=${name^^}
	server=$(jq -r '.services[0].id' <<<"$out")
	url=$(jq -r ".services[0].env.BAKEOFF_${upper}_URL" <<<"$out")
	at=$(sed 's/^[^@]*@//' <<<"$url")
	PGPASSWORD=$(sed 's/^[^:]*:[^:]*:\([^@]*\)@.*/\1/' <<<"$url")
	MYSQL_PWD=$PGPASSWORD
	export PGPASSWORD MYSQL_PWD
	user=$(sed 's|^[^:]*://\([^:]*\):.*|\1|' <<<"$url")

	trouble 1 3 1
	run run t.yaml --results "$name.db" --set "there.url=$name://$user@$at"
	wants_status 0
	run show --results "$name.db"
	! grep -qF "$PGPASSWORD" <<<"$out$err" || say "$ran: a password"

	# wrong password
	run run t.yaml --results "$name.db" --set "there.url=$name://$user:wrong@$at"
	wants_status 1
	wants_out 'there/n-binaries.*(28P01|28000)'
	wants_out "^there = $name"
	! grep -q 'SQLSTATE.*SQLSTATE' <<<"$out" || say "$ran: SQLSTATE twice: $out"
	wants_err '1 trials? ok, 1 failed'
	! grep -qF wrong@ <<<"$out$err" || say "$ran: a password: $out$err"

	# too many connections
	case $name in
	postgresql) ;; # as many as it comes with
	mysql)
		state=$XDG_CACHE_HOME/bakeoff/instances/$server/state.json
		MYSQL_PWD=$(jq -r .admin.password "$state") mariadb --no-defaults -u "$(jq -r .admin.user "$state")" \
			-h "$(jq -r .values.host "$state")" -P "$(jq -r .values.port "$state")" \
			-e 'set global max_connections = 10'
		;;
	esac
	trouble 1 3 130
	run run t.yaml --results "$name.db" --set "there.url=$name://$user@$at"
	wants_status 1
	wants_out 'there/n-binaries.*([Tt]oo many (connections|clients)|limit)'
	wants_err '1 trials? ok, 1 failed'

	# gone in the middle
	trouble 3 4000 1
	"$bakeoff" run t.yaml --results "$name.db" --set "there.url=$name://$user@$at" \
		>gone.out 2>gone.err </dev/null &
	pid=$!
	for _ in $(seq 600); do
		grep -q '^\[[2-6]/6\]' gone.err && break
		sleep 0.05
	done
	sleep 0.3
	server_pid=$(noted_server)
	kill -KILL "$server_pid"
	status=0
	wait "$pid" || status=$?
	ran="run, the server killed"
	out=$(cat gone.out) err=$(cat gone.err)
	wants_status 1
	wants_out 'there/n-binaries'
	grep -q '3 trials ok\|[45] trials ok' <<<"$err" || say "$ran: $err"
	[ "$(grep -c . <<<"$out")" -lt 30 ] || say "$ran: too many words: $out"
	run runs --results "$name.db"
	[ "$(grep -c ' done ' <<<"$out")" = 4 ] || say "$ran: $out"
	run teardown "$server"
	run teardown --forget "$server"
	unset PGPASSWORD MYSQL_PWD
	wants_clean "$name: a matrix on a server that exists" 20
done

# ---- no room on the server's disk, in the middle
for name in "${sql_stores[@]}"; do
	mkdir -p full
	trouble 1 400 1
	with_mounts "mount -t tmpfs -o mode=1777,size=150m none '$scratch/full'" \
		run t.yaml --results full.db --data "$scratch/full"
	wants_status 1
	wants_out 'there/n-binaries.*([Nn]o space|full|53100|1114|1021|IO Error: 28|PANIC|FATAL)'
	wants_err '1 trials? ok, 1 failed'
done
finish
