#!/usr/bin/env bash
# Databases on a server that exists: made, used, brought back, torn down; nothing else is touched.
. "$(dirname "$0")/lib.sh"

# sql NAME URL STATEMENT: as whoever the URL says
sql() {
	case $1 in
	postgresql) env -u PGPASSFILE psql -XAtq "$2" -c "$3" ;;
	mysql) my "$2" -BN -e "$3" ;;
	esac
}
my() {
	local url=$1 rest
	shift
	rest=${url#*://}
	MYSQL_PWD=$(sed 's/^[^:]*:\([^@]*\)@.*/\1/' <<<"$rest") mariadb --no-defaults \
		-u "${rest%%:*}" -h "$(sed 's/.*@\([^:/]*\).*/\1/' <<<"$rest")" \
		-P "$(sed 's/.*@[^:]*:\([0-9]*\).*/\1/' <<<"$rest")" \
		-D "$(sed 's|.*/\([^?]*\).*|\1|' <<<"$rest")" "$@"
}
databases() {
	case $1 in
	postgresql) sql "$1" "$2" 'select datname from pg_database union all select rolname from pg_roles order by 1' ;;
	mysql) sql "$1" "$2" 'select schema_name from information_schema.schemata union all select concat(user, "@", host) from mysql.global_priv order by 1' ;;
	esac
}

for name in "${servers[@]}"; do
	[ "$name" != rediskv ] || continue # no places
	upper=${name^^}
	run provision --tcp --format json "$name"
	wants_status 0
	note
	server=$(jq -r '.services[0].id' <<<"$out")
	admin=$(jq -r ".services[0].env.BAKEOFF_${upper}_URL" <<<"$out")
	if [ "$name" = mysql ]; then # its tests' user may not make databases; the keeper's may
		state=$XDG_CACHE_HOME/bakeoff/instances/$server/state.json
		admin=$(jq -r '"mysql://\(.admin.user):\(.admin.password)@\(.values.host):\(.values.port)/mysql"' "$state")
	fi
	before=$(databases "$name" "$admin")

	# Variables about another server do not get in the way of a URL.
	export PGHOST=/nowhere PGUSER=nobody PGDATABASE=nothing MYSQL_HOST=nowhere.invalid BAKEOFF_MYSQL_USER=nobody
	echo 'create table planted (seed integer); insert into planted values (1);' >"$scratch/schema"
	run provision --url "$admin" --schema "$scratch/schema" --format json
	wants_status 0
	id=$(jq -r '.services[0].id' <<<"$out")
	place=$(jq -r ".services[0].env.BAKEOFF_${upper}_URL" <<<"$out")
	database=$(jq -r ".services[0].env.BAKEOFF_${upper}_DATABASE" <<<"$out")
	[ "$(sql "$name" "$place" 'select seed from planted')" = 1 ] || say "$ran: the schema is not there"
	sql "$name" "$place" 'create table stray (i integer)' || say "$ran: it cannot be written to"
	run services
	wants_out "^$id .* placed "
	! grep -qF "$(sed 's/.*:\([^@]*\)@.*/\1/' <<<"$place")" <<<"$out" || say "$ran: a password: $out"
	run reset "$id"
	wants_status 0
	[ "$(sql "$name" "$place" 'select seed from planted')" = 1 ] || say "$ran: not as it was"
	! sql "$name" "$place" 'select * from stray' 2>/dev/null || say "$ran: a table outlived it"
	run inspect "$id"
	wants_status 0
	# who may not make databases is told so, and leaves nothing behind
	run provision --url "$place"
	wants_status 1
	wants_err "^bakeoff: provision: $name: [^:]*: .*someone who may create databases and users"

	# It is not ours any more: refused, and still there
	if [ "$name" = postgresql ]; then
		look="shobj_description((select oid from pg_database where datname = '$database'), 'pg_database')"
		marks=$(sql "$name" "$admin" "select $look")
		role="shobj_description((select oid from pg_authid where rolname = '$database'), 'pg_authid')"
		role_marks=$(sql "$name" "$admin" "select $role")
		sql "$name" "$admin" "comment on database $database is 'mine'; comment on role $database is 'mine'"
		run teardown "$id"
		wants_status 1
		wants_err "does not bear the mark"
		[ "$(sql "$name" "$place" 'select seed from planted')" = 1 ] || say "$ran: it is gone"
		sql "$name" "$admin" "comment on database $database is '$marks'; comment on role $database is '$role_marks'"
	fi
	run teardown "$id"
	wants_status 0
	after=$(databases "$name" "$admin")
	[ "$before" = "$after" ] || say "$name: not as before: $before; $after"
	run teardown "$id"
	wants_status 0

	# Time to live
	run provision --url "$admin" --ttl 1s
	wants_status 0
	sleep 2.5
	[ "$before" = "$(databases "$name" "$admin")" ] || say "$name: outlived its time"
	run services
	! grep -q placed <<<"$out" || say "$ran: $out"

	# What is wrong is said in a line, with the server's own words; and nothing is left of it.
	wrong=$(sed 's|:[^:@]*@|:wrong@|' <<<"$admin")
	run provision --url "$wrong"
	wants_status 1
	wants_err 'SQLSTATE|28000|28P01'
	! grep -q wrong@ <<<"$err" || say "$ran: a password: $err"
	case $name in
	postgresql) sql "$name" "$admin" "create role weak login password 'weak'" ;;
	mysql) sql "$name" "$admin" "create user weak@'%' identified by 'weak'" ;;
	esac
	run provision --url "$(sed 's|//[^@]*@|//weak:weak@|' <<<"$admin")"
	wants_status 1
	wants_err '42501|42000|denied'
	run provision --url "${name}://127.0.0.1:1/x"
	wants_status 1
	run provision --url "nothing://127.0.0.1:1/x"
	wants_status 2
	run services --format json
	[ "$(jq '.services | length' <<<"$out")" = 1 ] || say "failed ones are remembered: $out"

	# The server is gone for good
	run provision --url "$admin"
	run services
	id=$(awk '/ placed / {print $1}' <<<"$out")
	run teardown "$server"
	wants_status 0
	run teardown "$id"
	wants_status 1
	run teardown --forget "$id"
	wants_status 0
	unset PGHOST PGUSER PGDATABASE MYSQL_HOST BAKEOFF_MYSQL_USER
	wants_clean "$name: existing server"
done
finish
