#!/usr/bin/env bash
# exec: a server, a client that reaches it, an exit status, nothing left.
. "$(dirname "$0")/lib.sh"

for name in "${servers[@]}"; do
	ask=$(question "$name")
	upper=${name^^}
	for tcp in '' --tcp; do
		run exec $tcp "$name" -- bash -c "note; $ask; env >'$scratch/env'"
		wants_status 0
		wants_out '^1$'
		wants_clean "$ran"
		grep -q "^BAKEOFF_${upper}_SOCKET=/" "$scratch/env" || say "$ran: no _SOCKET"
		grep -q "^BAKEOFF_${upper}_PASSWORD=." "$scratch/env" || say "$ran: no _PASSWORD"
		grep -q "^BAKEOFF_${upper}_DATABASE=." "$scratch/env" || say "$ran: no _DATABASE"
		if [ -n "$tcp" ]; then
			grep -q "^BAKEOFF_${upper}_HOST=127\." "$scratch/env" || say "$ran: no _HOST"
			grep -q "^BAKEOFF_${upper}_PORT=[0-9]" "$scratch/env" || say "$ran: no _PORT"
		else
			! grep -q "^BAKEOFF_${upper}_HOST=" "$scratch/env" || say "$ran: a _HOST"
			! grep -q "^BAKEOFF_${upper}_PORT=" "$scratch/env" || say "$ran: a _PORT"
		fi
	done
done

# What an outer environment says of another server is gone.
export BAKEOFF_REDISKV_HOST=elsewhere
run exec rediskv -- sh -c 'echo "${BAKEOFF_REDISKV_HOST-none}"'
wants_out '^none$'
unset BAKEOFF_REDISKV_HOST
for name in "${servers[@]}"; do
	[ "$name" = mysql ] || continue
	export MYSQL_HOST=nowhere.invalid MYSQL_TCP_PORT=1 MYSQL_PWD=other MYSQL_DATABASE=theirs
	run exec mysql -- sh -c 'echo "${MYSQL_HOST-none} ${MYSQL_PWD-none} ${MYSQL_DATABASE-none}"; '"$(question mysql)"
	wants_status 0
	wants_out '^none none none$'
	wants_out '^1$'
	unset MYSQL_HOST MYSQL_TCP_PORT MYSQL_PWD MYSQL_DATABASE
done

# Until when: what has no time of its own ends with who started it.
run exec rediskv -- "$bakeoff" services
wants_out '^rediskv-.* its starter ends +running '

# Exit statuses: the command's, or as env(1)
run exec rediskv -- sh -c 'exit 7'
wants_status 7
run exec rediskv -- sh -c 'kill -9 $$'
wants_status 137
run exec rediskv -- "$scratch/not-there"
wants_status 127
wants_err 'cannot run .*not-there: No such file'
: >"$scratch/not-executable"
run exec rediskv -- "$scratch/not-executable"
wants_status 126
run exec --set bin-dir=/nowhere rediskv -- true
wants_status 125
wants_err "'redis-server' is not in /nowhere"
run exec rediskv
wants_status 2
run exec no-such-backend -- true
wants_status 2
run exec rediskv rediskv -- true
wants_status 2
run exec jdbc-postgresq -- true
wants_status 2
wants_err "did you mean 'jdbc-postgresql'"
run exec null -- true
wants_status 125
wants_err 'no server'
run exec --set maxmemor=1 rediskv -- true
wants_status 2
wants_err "did you mean 'maxmemory'"
mkfifo "$scratch/pipe"
for schema in "$scratch/no-file" "$scratch" "$scratch/pipe" /dev/zero ''; do
	run exec --schema "$schema" rediskv -- true
	wants_status 2
	wants_err '--schema: cannot read the schema file'
done
run exec --schema /dev/null/x rediskv -- true
wants_status 2
: >"$scratch/nothing"
run exec --schema "$scratch/nothing" leveldb -- true
wants_status 2
wants_err "'leveldb' has no server that could load one"

# where a store is cannot be said here; it would be overruled without a word
mkdir "$scratch/theirs"
run exec --set path="$scratch/theirs" leveldb -- true
wants_status 2
wants_err '--set path: says where a store is'
run exec --set postgresql.url=postgresql://u:s3cret@h/d postgresql leveldb -- true
wants_status 2
wants_err '--set url: says where a store is'
[[ $err != *s3cret* ]] || say "$ran: a secret is shown"

# names that are none
for name in '' - "a'b" 'a;b' 'levldb' "$(printf 'a\033[2J')" "$(printf '%300s' x)"; do
	run exec -- "$name" -- true
	wants_status 2
	run exec "x$name" -- true
	wants_status 2
	[ "$(wc -l <<<"$err")" = 1 ] || say "$ran: more than one line: $err"
done

# The command's own input and output, and only those: a server holds none of them open.
printf 'in\n' | "$bakeoff" exec rediskv -- cat >"$scratch/.out"
[ "$(cat "$scratch/.out")" = in ] || say "exec: the command's input did not come through"
[ "$(timeout 20 "$bakeoff" exec rediskv -- echo done)" = done ] || say "exec: a pipe stayed open"

# Variables that bakeoff hides from its own libraries are the command's all the same.
export http_proxy=http://proxy.invalid:3128 NOTIFY_SOCKET=@not-for-you
run exec rediskv -- sh -c 'echo "$http_proxy ${NOTIFY_SOCKET-none}"'
wants_out '^http://proxy.invalid:3128 none$'
unset http_proxy NOTIFY_SOCKET

# Several at once
if [ "${#servers[@]}" -gt 1 ]; then
	script=note
	for name in "${servers[@]}"; do
		script="$script; $(question "$name")"
	done
	run exec "${servers[@]}" -- bash -c "$script"
	wants_status 0
	[ "$(grep -c '^1$' <<<"$out")" = "${#servers[@]}" ] || say "$ran: $out"
	wants_clean "$ran"
fi

# A variant: all that it needs, once
if [[ " ${servers[*]} " == *" postgresql "* ]]; then
	run exec jdbc-postgresql clustered-postgresql -- \
		bash -c 'note; psql -XAtc "select 1"; test -d "$BAKEOFF_FILE_PATH"'
	wants_status 0
	wants_out '^1$'
	wants_clean "$ran"
fi

# Stores without a server: a folder
for name in leveldb file; do
	[ -e "$build/backends/bk-$name.so" ] || continue
	run exec "$name" -- sh -c "note; echo hello >\"\$BAKEOFF_${name^^}_PATH/file\" && echo \"\$BAKEOFF_${name^^}_PATH\""
	wants_status 0
	[ -n "$out" ] && [ ! -e "$out" ] || say "$ran: left $out"
done
finish
