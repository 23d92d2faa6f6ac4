#!/usr/bin/env bash
# The password appears nowhere: not in messages, lists of processes, results, inspections.
#   with-server.sh canary.sh BAKEOFF
set -euo pipefail
bakeoff=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
canary=cAnArYcAnArY77
sock=$MYSQL_TEST_FOLDER/sock
failures=0
MYSQL_PWD=admin-secret-Zq81 mariadb --no-defaults -S "$sock" -uadmin -e "
	create user bird@localhost identified by '$canary'; grant all on test.* to bird@localhost"
url="mysql://bird:$canary@localhost/test?socket=$sock"

look() { # WHAT FILE
	if grep -qF "$canary" "$2"; then
		echo "FAILED: $1: $(grep -F "$canary" "$2" | head -3)"
		failures=1
	fi
}
wants() { # STATUS WHAT COMMAND...
	local status=0 want=$1 what=$2
	shift 2
	"$@" >"$folder/out" 2>&1 || status=$?
	[ "$status" = "$want" ] || {
		echo "FAILED: $what: exit status $status, expected $want: $(cat "$folder/out")"
		failures=1
	}
	look "$what" "$folder/out"
}

wants 0 "inspect by URL" "$bakeoff" inspect "$url" --format json
wants 1 "inspect with another database" "$bakeoff" inspect "mysql://bird:$canary@localhost/none?socket=$sock"
wants 1 "inspect with a wrong password" "$bakeoff" inspect "mysql://bird:$canary.@localhost/test?socket=$sock"
wants 2 "inspect with a malformed URL" "$bakeoff" inspect "mysql://bird:$canary%zz@localhost/test?socket=$sock"
wants 2 "inspect with an unknown parameter" "$bakeoff" inspect "mysql://bird:$canary@localhost/test?$canary=1"
wants 0 "conform" env BAKEOFF_MYSQL_URL="$url" "$bakeoff" conform mysql --run node.round-trip --run lifecycle

# A matrix run, while the list of processes is looked at.
cat >"$folder/m.yaml" <<-YAML
	rounds: 1
	seed: 1
	durability: machine
	reference: sql
	data: $folder/data
	variants:
	  - name: sql
	    nodes: {backend: mysql, url: "$url"}
	    binaries: {backend: mysql, url: "$url"}
	scenarios:
	  - name: n-members
	    n: [20]
	    access: [document, native]
	    hierarchy: flat
YAML
"$bakeoff" run "$folder/m.yaml" --results "$folder/results.db" >"$folder/out" 2>&1 &
pid=$!
while kill -0 "$pid" 2>/dev/null; do
	ps -eo args >>"$folder/ps"
	sleep 0.1
done
wait "$pid" || {
	echo "FAILED: run: $(cat "$folder/out")"
	failures=1
}
look "run's output" "$folder/out"
look "the list of processes" "$folder/ps"
look "the results" "$folder/results.db"
wants 0 "show" "$bakeoff" show --results "$folder/results.db" --format json
look "the server's log" "$MYSQL_TEST_FOLDER/log"
exit "$failures"
