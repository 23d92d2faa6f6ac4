#!/usr/bin/env bash
# Whoever is killed, and when: bakeoff, the server, the command, the keeper.
. "$(dirname "$0")/lib.sh"

# under_way NAME [FLAG...]: an exec in the background whose command sleeps; sets $bakeoff_pid
under_way() {
	local name=$1
	shift
	rm -f "$scratch/up"
	"$bakeoff" exec "$@" "$name" -- bash -c "note; echo \$\$ >'$scratch/up'; exec sleep 60" \
		>/dev/null 2>"$scratch/.err" &
	bakeoff_pid=$!
	ran="bakeoff exec $* $name, $what"
	await "$scratch/up"
	echo "process $(cat "$scratch/up") $(started "$(cat "$scratch/up")")" >>"$noted"
}

ended() {
	status=0
	wait "$bakeoff_pid" || status=$?
	err=$(cat "$scratch/.err")
}

# At any moment of a start, be it copying or coming up
starts=$scratch/starts
mkdir -m 755 "$starts"
rests() {
	ls -A "$starts" "$XDG_CACHE_HOME/bakeoff/instances" | grep -v ':$'
	pgrep -f "$starts/"
}
for name in "${servers[@]}"; do
	run exec "$name" -- true # the template is there
	for ms in 005 010 015 020 025 030 040 050 070; do
		"$bakeoff" exec --data "$starts" "$name" -- sleep 60 >/dev/null 2>&1 &
		bakeoff_pid=$!
		sleep "0.$ms"
		kill -9 "$bakeoff_pid"
		wait "$bakeoff_pid" 2>/dev/null || true
		for _ in $(seq 100); do
			[ -n "$(rests)" ] && sleep 0.05 || break
		done
		[ -z "$(rests)" ] || say "$name: bakeoff killed after $ms ms: there is still $(rests)"
	done
done

for name in "${servers[@]}"; do
	what='bakeoff killed'
	under_way "$name"
	kill -9 "$bakeoff_pid"
	ended 2>/dev/null
	wants_clean "$ran" 2

	what='the command killed'
	under_way "$name"
	kill -9 "$(cat "$scratch/up")"
	ended
	wants_status 137
	wants_clean "$ran"

	what='the server killed'
	under_way "$name"
	kill -9 "$(noted_server)"
	sleep 0.2
	kill "$(cat "$scratch/up")"
	ended
	wants_status 143
	wants_err "$name: while the command ran: the server process .* ended with signal 9"
	wants_clean "$ran"

	what='the keeper killed'
	under_way "$name"
	kill -9 "$(noted_keeper)"
	# the command goes on
	grep -v "^process $(cat "$scratch/up") " "$noted" >"$scratch/rest"
	cp "$scratch/rest" "$noted"
	wants_no_process "$ran" 2
	kill "$(cat "$scratch/up")"
	ended
	wants_status 143
	run services # any start sweeps
	wants_out 'nothing runs'
	# Another test's sweep may have been quicker, which does not know our list.
	for _ in $(seq 20); do
		[ -n "$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")" ] || break
		sleep 0.1
		run services
	done
	wants_clean "$ran"

	what='SIGTERM to bakeoff'
	under_way "$name"
	kill "$bakeoff_pid"
	ended
	wants_status 143
	wants_clean "$ran"

	what='SIGINT to its group, as Ctrl-C'
	rm -f "$scratch/up"
	setsid -w "$bakeoff" exec "$name" -- \
		bash -c "note; echo \$\$ >'$scratch/up'; exec sleep 60" 2>"$scratch/.err" &
	bakeoff_pid=$!
	await "$scratch/up"
	kill -INT -- "-$(ps -o pgid= -p "$(cat "$scratch/up")" | tr -d ' ')"
	ended
	[ "$status" = 130 ] || say "$ran: exit status $status"
	wants_clean "$ran"
done

# The process that copies what can wait: killed or stopped, it is named, in time.  It is the keeper's
# first child and lives for some hundredths of a second.
copier_of() {
	local keeper= first= others= comm= until=$((SECONDS + 5))
	copier=
	while [ "$SECONDS" -lt "$until" ] && [ -z "$others" ]; do
		read -r keeper _ <"/proc/$1/task/$1/children" || true
		read -r first others <"/proc/$keeper/task/$keeper/children" || true
		read -r comm <"/proc/$first/comm" || continue
		[ "$comm" = bakeoff-keeper ] && copier=$first && return
	done 2>/dev/null
}
if [[ " ${servers[*]} " == *" postgresql "* ]]; then
	for signal in KILL STOP; do
		for _ in $(seq 40); do
			"$bakeoff" exec --timeout 3s postgresql -- true 2>"$scratch/.err" &
			bakeoff_pid=$!
			copier_of "$bakeoff_pid"
			[ -z "$copier" ] || kill "-$signal" "$copier" 2>/dev/null || true
			begun=$SECONDS
			ended
			[ "$status" = 0 ] || break # else it had ended
		done
		ran="bakeoff exec postgresql, its copier gets $signal"
		wants_status 125
		case $signal in
		KILL) wants_err 'copying the template .*data.pack .* to .*: the process that did it was killed' ;;
		STOP) wants_err 'postgresql: copying the template took too long' ;;
		esac
		[ $((SECONDS - begun)) -lt 8 ] || say "$ran: took $((SECONDS - begun)) s"
		rest=$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")
		[ -z "$rest" ] || say "$ran: left behind: $rest"
	done
fi

# The keeper killed while it removes the folder, state.json first: the next start removes the rest.
eval "$("$bakeoff" provision rediskv)"
folder=$(readlink "$XDG_CACHE_HOME/bakeoff/instances/$BAKEOFF_REDISKV_ID")
note
kill -9 "$(noted_keeper)"
wants_no_process 'a keeper killed while it removes' 2
rm -f "$folder/state.json"
run services
[ ! -e "$folder" ] || say "a keeper killed while it removes: $folder stays"
wants_clean 'a keeper killed while it removes' 2

# A server that does not come up after a reset: said so in time, and nothing of it runs on.
eval "$("$bakeoff" provision --timeout 2s rediskv)"
note
keeper=$(noted_keeper)
for _ in $(seq 40); do
	before=$(pgrep -P "$keeper")
	"$bakeoff" reset "$BAKEOFF_REDISKV_ID" >"$scratch/.err" 2>&1 &
	bakeoff_pid=$!
	while read -r server _ <"/proc/$keeper/task/$keeper/children" || true; do
		[ -n "$server" ] && [ "$server" != "$before" ] && break
	done
	until [ "$(cat "/proc/$server/comm")" = redis-server ]; do :; done
	kill -STOP "$server"
	ended
	[ "$status" = 0 ] || break # else it was up already
	kill -CONT "$server"
done
ran="bakeoff reset of a server that does not come up"
wants_status 1
wants_err 'took too long'
[ -z "$(pgrep -P "$keeper")" ] || say "$ran: it runs on"
run reset "$BAKEOFF_REDISKV_ID"
wants_status 0
run teardown
wants_clean "$ran" 2

# Killed at any moment of a start: nothing is left, and the next start works.
for name in "${servers[@]}"; do
	for after in 0.004 0.01 0.02 0.04 0.07 0.1; do
		"$bakeoff" exec "$name" -- true >/dev/null 2>&1 &
		pid=$!
		sleep "$after"
		kill -9 "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	sleep 2
	rest=$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")
	[ -z "$rest" ] || say "$name: killed while starting: left behind: $rest"
	run exec "$name" -- true
	wants_status 0
done

# Ctrl-C during a start is answered at once, with everything gone.
name=${servers[-1]}
"$bakeoff" exec "$name" -- sleep 60 2>/dev/null &
pid=$!
sleep 0.03
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
[ "$status" = 143 ] || say "SIGTERM while $name starts: exit status $status"
rest=$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")
[ -z "$rest" ] || say "SIGTERM while $name starts: left behind: $rest"
finish
