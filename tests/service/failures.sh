#!/usr/bin/env bash
# Servers that do not come up, users without a name, secrets.
. "$(dirname "$0")/lib.sh"

# A reset by way of a keeper that was stopped ends a little after its deadline of a minute: meanwhile
# the rest.
(
	export XDG_CACHE_HOME=$scratch/stopped
	eval "$("$bakeoff" provision rediskv)"
	keeper=$(jq .keeper.pid "$XDG_CACHE_HOME/bakeoff/instances/$BAKEOFF_REDISKV_ID/state.json")
	kill -STOP "$keeper"
	timeout 100 "$bakeoff" reset "$BAKEOFF_REDISKV_ID" || echo "status $?"
	kill -CONT "$keeper"
	"$bakeoff" teardown
) >"$scratch/stopped.out" 2>&1 &
stopped=$!

# A server that exits at once: its log's last lines, in under a second
for name in "${servers[@]}"; do
	run exec "$name" -- true # the template is there
	begun=$(date +%s%N)
	run exec "$name" -- true
	good_ms=$((($(date +%s%N) - begun) / 1000000)) # what this machine takes today
	case $name in
	rediskv) bad=maxmemory=junk said='wrong|invalid|must be|Bad directive' ;;
	postgresql) bad=shared-buffers=junk said='shared_buffers' ;;
	mysql) bad= ;;
	esac
	[ -n "$bad" ] || continue
	begun=$(date +%s%N)
	run exec --set "$bad" "$name" -- true
	took_ms=$((($(date +%s%N) - begun) / 1000000 - good_ms))
	wants_status 125
	wants_err "the server process .* ended with status [1-9].*before it was ready: .*($said)"
	[ "$took_ms" -lt 1000 ] || say "$ran: took $took_ms ms longer than a start"
	[ -z "$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")" ] || say "$ran: still listed"
done

# One that says something and goes, one that says nothing and hangs
mkdir -p "$scratch/bin"
chmod 755 "$scratch/bin"
printf '#!/bin/sh\necho first; echo "the last line: no such luck" >&2; exit 3\n' >"$scratch/bin/redis-server"
printf '#!/bin/sh\nexit 0\n' >"$scratch/bin/redis-cli"
chmod 755 "$scratch"/bin/*
run exec --set bin-dir="$scratch/bin" rediskv -- true
wants_status 125
wants_err 'ended with status 3 before it was ready: .*the last line: no such luck'
printf '#!/bin/sh\nprintf "\\377\\376 caf\\303\\251 \\303"; exit 4\n' >"$scratch/bin/redis-server"
run exec --set bin-dir="$scratch/bin" rediskv -- true
wants_status 125
wants_err 'ended with status 4 before it was ready: .* café'
printf '#!/bin/sh\nexec sleep 600\n' >"$scratch/bin/redis-server"
begun=$SECONDS
run exec --timeout 1s --set bin-dir="$scratch/bin" rediskv -- true
wants_status 125
wants_err 'starting redis-server took too long'
[ $((SECONDS - begun)) -lt 6 ] || say "$ran: took $((SECONDS - begun)) s"
[ -z "$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")" ] || say "$ran: still listed"

# Few descriptors, small files: the cause is named, and nobody waits
for limit in '-n 7' '-n 9' '-n 12'; do
	status=0
	err=$(bash -c "ulimit $limit; exec timeout 20 '$bakeoff' exec rediskv -- true" 2>&1) || status=$?
	ran="bakeoff exec rediskv under ulimit $limit"
	wants_status 125
	wants_err 'Too many open files$'
	[ "$(wc -l <<<"$err")" = 1 ] || say "$ran: $err"
done
status=0
err=$(bash -c "ulimit -f 1; exec timeout 20 '$bakeoff' exec rediskv -- true" 2>&1) || status=$?
ran="bakeoff exec rediskv under ulimit -f 1"
wants_status 125
wants_err 'cannot write .*: File too large$'
[ -z "$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")" ] || say "$ran: still listed"

# A sign of life that another process left counts for nothing; neither does somebody else's
# NOTIFY_SOCKET.
rm -f "$scratch/notify"
socat -u "UNIX-RECV:$scratch/notify" "CREATE:$scratch/heard" 2>/dev/null &
listener=$!
for _ in $(seq 100); do [ -e "$scratch/notify" ] && break || sleep 0.05; done
chmod 777 "$scratch/notify"
for name in "${servers[@]}"; do
	NOTIFY_SOCKET=$scratch/notify run exec "$name" -- bash -c "note; $(question "$name")"
	wants_status 0
	wants_out '^1$'
	wants_clean "$ran"
done
kill "$listener"
[ ! -s "$scratch/heard" ] || say "a server wrote to the caller's NOTIFY_SOCKET: $(cat "$scratch/heard")"

# Secrets: on no command line, in no log, in no message; state and files for the owner alone
for name in "${servers[@]}"; do
	run exec --tcp "$name" -- bash -c '
		note
		password=$BAKEOFF_'"${name^^}"'_PASSWORD
		echo "password $password"
		for p in /proc/[0-9]*; do
			tr "\0" " " <"$p/cmdline" 2>/dev/null | grep -qF "$password" && echo "in $p: $(tr "\0" " " <"$p/cmdline")"
		done
		folder=$(grep -m1 ^folder "$noted" | cut -d" " -f2)
		grep -rlF "$password" "$folder/log" && echo "in a log"
		for file in $(grep -rlF "$password" "$folder"/run "$folder"/*.json); do
			stat -c "%a %n" "$file" | grep -v "^600 "
		done
		true'
	wants_status 0
	password=$(sed -n 's/^password //p' <<<"$out")
	[ -n "$password" ] || say "$ran: no password"
	[ "$(wc -l <<<"$out")" = 1 ] || say "$ran: $out"
	! grep -qF "$password" <<<"$err" || say "$ran: the password is in a message: $err"
	wants_clean "$ran"
done

# A uid without an entry in the user database: on a template, and making one
if [ "$(id -u)" = 0 ]; then
	. "$(dirname "$0")/reachable.sh"
	for name in "${servers[@]}"; do
		cache=$scratch/nobody-$name
		mkdir -m 700 "$cache"
		chown 61234:61234 "$cache"
		for i in 1 2; do
			status=0
			setpriv --reuid 61234 --regid 61234 --clear-groups env -u HOME XDG_CACHE_HOME="$cache" \
				BAKEOFF_BACKENDS="$build/backends:$build/tests/service/backends" \
				"$program" exec "$name" -- bash -c "$(question "$name")" \
				>"$scratch/.out" 2>"$scratch/.err" </dev/null || status=$?
			out=$(cat "$scratch/.out") err=$(cat "$scratch/.err")
			ran="$name as uid 61234, $i"
			wants_status 0
			wants_out '^1$'
		done
		rest=$(ls -A "$cache/bakeoff/instances")
		[ -z "$rest" ] || say "$ran: left behind: $rest"
	done
	# root where no other user can be had: a namespace in which nobody is root
	for name in "${servers[@]}"; do
		status=0
		unshare -U -r sh -c "mkdir -p '$scratch/ns' && XDG_CACHE_HOME='$scratch/ns' exec '$bakeoff' exec '$name' -- \
			bash -c '$(question "$name" | sed "s/'/\"/g")'" >"$scratch/.out" 2>"$scratch/.err" </dev/null || status=$?
		out=$(cat "$scratch/.out") err=$(cat "$scratch/.err")
		ran="$name as the root of a user namespace"
		wants_status 0
		wants_out '^1$'
	done
fi
wait "$stopped" || say "a keeper that was stopped: $(cat "$scratch/stopped.out")"
grep -q "did not answer in time" "$scratch/stopped.out" && grep -qx 'status 1' "$scratch/stopped.out" ||
	say "a reset by way of a keeper that was stopped: $(cat "$scratch/stopped.out")"
finish
