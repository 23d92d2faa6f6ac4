#!/usr/bin/env bash
# provision, services, reset, teardown: private servers.
. "$(dirname "$0")/lib.sh"

for name in "${servers[@]}"; do
	upper=${name^^}
	for tcp in '' --tcp; do
		run provision $tcp "$name"
		wants_status 0
		note
		id=$(sed -n "s/^export BAKEOFF_${upper}_ID='\(.*\)'$/\1/p" <<<"$out")
		[ -n "$id" ] || say "$ran: no id: $out"
		answer=$(env -u PGHOST bash -c "$out"$'\n'"$(question "$name")") || true
		[ "$answer" = 1 ] || say "$ran: the printed variables lead nowhere: $answer"
		run services
		wants_out "^$id .* running "
		run services --format json
		jq -e ".services[] | select(.id == \"$id\" and .alive and .detached)" <<<"$out" >/dev/null ||
			say "$ran: $out"
		run teardown "$id"
		wants_status 0
		wants_clean "teardown of $name $tcp"
		run teardown "$id"
		wants_status 0
		wants_err "nothing runs as '$id'"
	done

	# Nothing that it starts holds the caller's pipes.
	timeout 60 bash -c 'eval "$("$1" provision --tcp "$2")"' - "$bakeoff" "$name" </dev/null ||
		say "provision $name in \$( ): hangs"
	note
	run teardown
	wants_status 0
	wants_clean 'teardown of all'

	# Killed servers are noticed, by name, and gone.
	run provision "$name"
	note
	kill -9 "$(noted_server)"
	wants_clean "$name provisioned, its server killed" 2

	# A time to live
	run provision --ttl 5s "$name"
	note
	run services
	wants_out " running "
	wants_clean "$name with a time to live" 8
done

# Formats: each gives the same values back
for name in "${servers[@]}"; do
	run provision --format json --tcp "$name"
	note
	id=$(jq -r '.services[0].id' <<<"$out")
	url=$(jq -r ".services[0].env.BAKEOFF_${name^^}_URL" <<<"$out")
	[ -n "$url" ] && [ "$url" != null ] || say "$ran: no URL: $out"
	run teardown "$id"
	run provision --format dotenv "$name"
	note
	grep -q "^BAKEOFF_${name^^}_SOCKET=" <<<"$out" || say "$ran: $out"
	! grep -q '^export\|^unset' <<<"$out" || say "$ran: $out"
	run teardown
	wants_clean "$ran"
done
run provision --format jsn rediskv
wants_status 2
wants_err "did you mean 'json'"
run provision
wants_status 2
run provision --ttl 0s rediskv
wants_status 2

# reset: as it was at first, under the same address; and a schema is there again
for name in "${servers[@]}"; do
	case $name in
	rediskv)
		echo 'SET planted seed' >"$scratch/schema"
		change='redis-cli -s "$BAKEOFF_REDISKV_SOCKET" DEL planted; redis-cli -s "$BAKEOFF_REDISKV_SOCKET" SET stray 1'
		look='redis-cli -s "$BAKEOFF_REDISKV_SOCKET" EXISTS planted; redis-cli -s "$BAKEOFF_REDISKV_SOCKET" EXISTS stray'
		;;
	postgresql)
		echo 'create table planted (seed integer); insert into planted values (1);' >"$scratch/schema"
		change='psql -XAtqc "delete from planted; create table stray (i integer)"'
		look='psql -XAtqc "select count(*) from planted; select count(*) from pg_tables where tablename = '"'stray'"'"'
		;;
	mysql)
		echo 'create table planted (seed integer); insert into planted values (1);' >"$scratch/schema"
		change='mariadb -e "delete from planted; create table stray (i integer)"'
		look='mariadb -BNe "select count(*) from planted; select count(*) from information_schema.tables where table_name = '"'stray'"'"'
		;;
	esac
	run provision --schema "$scratch/schema" "$name"
	wants_status 0
	note
	variables=$out
	id=$(sed -n "s/^export BAKEOFF_${name^^}_ID='\(.*\)'$/\1/p" <<<"$variables")
	bash -c "$variables"$'\n'"$change" >/dev/null || say "$name: change failed"
	run reset "$id"
	wants_status 0
	answer=$(bash -c "$variables"$'\n'"$look" | tr '\n' ' ')
	[ "$answer" = '1 0 ' ] || say "$name after reset: planted and stray are $answer"
	run teardown "$id"
	wants_clean "$ran"
done
run reset no-such-id
wants_status 2
wants_err "nothing runs as 'no-such-id'"

# Within an exec too; and teardown without an id leaves a running exec alone
run exec rediskv -- bash -c 'note; redis-cli -s "$BAKEOFF_REDISKV_SOCKET" SET stray 1
	"$0" reset "$BAKEOFF_REDISKV_ID" && "$0" teardown && redis-cli -s "$BAKEOFF_REDISKV_SOCKET" EXISTS stray' "$bakeoff"
wants_status 0
wants_out '^0$'
wants_clean "$ran"
finish
