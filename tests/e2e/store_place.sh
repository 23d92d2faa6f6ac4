#!/usr/bin/env bash
# What may stand where a store is to be: it ends the cell in one line, is not touched, and nothing is
# waited for.
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
cat >file.yaml <<'Y'
rounds: 1
durability: process
variants: [file]
scenarios: [{name: n-binaries, n: 5, size: 1kB}]
Y
cat >leveldb.yaml <<'Y'
rounds: 1
durability: process
variants: [{name: leveldb, nodes: leveldb}]
scenarios: [{name: n-children, n: 5}]
Y
# The space that each of them uses; its name does not depend on the place.
for backend in file leveldb; do
	run run $backend.yaml --data space.$backend --keep --results r.db
	wants_status 0
done

picture() {
	find S T ! -name lock -printf '%p %y %s %m %T@ %l\n' | sort
}

place() { # a kind, the space
	rm -rf S T
	mkdir -p S T
	echo precious >T/keep
	case $1 in
	foreign) mkdir "S/$2" && echo mine >"S/$2/mine" ;;
	file) rmdir S && echo mine >S ;;
	device) rmdir S && ln -s /dev/null S ;;
	pipe) rmdir S && mkfifo S ;;
	space-file) echo mine >"S/$2" ;;
	space-pipe) mkfifo "S/$2" ;;
	space-link) ln -s ../T "S/$2" ;;
	mark-folder) mkdir -p "S/$2/.bakeoff" ;;
	mark-pipe) mkdir "S/$2" && mkfifo "S/$2/.bakeoff" ;;
	mark-link) mkdir "S/$2" && ln -s /etc/passwd "S/$2/.bakeoff" ;;
	mark-huge) mkdir "S/$2" && head -c 1000000 /dev/zero >"S/$2/.bakeoff" ;;
	mark-theirs) mkdir "S/$2" && printf 'somebody\n\033[2Jfile\n' >"S/$2/.bakeoff" ;;
	esac
}

for backend in file leveldb; do
	space=$(basename "$(dirname "$(find space.$backend -name .bakeoff | head -1)")")
	for kind in foreign file device pipe space-file space-pipe space-link mark-folder mark-pipe \
		mark-link mark-huge mark-theirs; do
		place $kind "$space"
		before=$(picture)
		status=0
		timeout -s KILL 30 "$bakeoff" run $backend.yaml --set path="$PWD/S" --results r.db \
			>"$scratch/.out" 2>"$scratch/.err" </dev/null || status=$?
		ran="$backend in place of $kind" out=$(cat "$scratch/.out") err=$(cat "$scratch/.err")
		wants_status 1
		wants_err "$backend/.*failed: cannot|$backend/.*failed: .*nothing was touched"
		[ "$(picture)" = "$before" ] || say "$ran: it was touched: $(diff <(echo "$before") <(picture))"
		! LC_ALL=C grep -q $'\033' "$scratch/.out" "$scratch/.err" || say "$ran: an escape is shown"
	done
done
finish
