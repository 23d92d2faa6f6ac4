#!/usr/bin/env bash
# A service of three processes with commands in between, keys that a command prints, and no Unix
# socket: a small Ceph cluster behind S3.
. "$(dirname "$0")/lib.sh"
[ -e "$build/backends/bk-s3.so" ] || {
	echo "the backend s3 is not built"
	exit 0
}
ask='curl -s -o /dev/null -w "%{http_code}\n" "$AWS_ENDPOINT_URL"'

run exec s3 -- bash -c "note; $ask; env | grep ^AWS_ >'$scratch/env'"
wants_status 0
wants_out '^200$'
wants_clean "$ran"
for name in AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION; do
	grep -q "^$name=." "$scratch/env" || say "$ran: no $name"
done

# Nobody logs in with a user and a password: they are not told, and do not look like keys.
run exec s3 -- sh -c 'echo "${BAKEOFF_S3_USER-none} ${BAKEOFF_S3_PASSWORD-none} $BAKEOFF_S3_DATABASE"'
wants_out '^none none bakeoff$'

# What an outer environment says of another account is gone.
export AWS_PROFILE=mine AWS_SESSION_TOKEN=mine
run exec s3 -- sh -c 'echo "${AWS_PROFILE-none} ${AWS_SESSION_TOKEN-none}"'
wants_out '^none none$'
unset AWS_PROFILE AWS_SESSION_TOKEN

# Two at once, each on its own ports
"$bakeoff" exec s3 -- bash -c "note; $ask; echo \$AWS_ENDPOINT_URL" >"$scratch/one" 2>&1 &
pid=$!
"$bakeoff" exec s3 -- bash -c "note; $ask; echo \$AWS_ENDPOINT_URL" >"$scratch/two" 2>&1 || say "one of two: $?"
wait "$pid" || say "the other of two: $?"
[ "$(cat "$scratch/one" "$scratch/two" | grep -c '^200$')" = 2 ] || say "two at once: $(cat "$scratch/one" "$scratch/two")"
[ "$(cat "$scratch/one" "$scratch/two" | grep '^http' | sort -u | wc -l)" = 2 ] || say "two on one address"
wants_clean 'two at once'

# Killed, and with each of its processes killed: nothing is left
"$bakeoff" exec s3 -- bash -c "note; echo up >'$scratch/up'; exec sleep 60" >/dev/null 2>&1 &
pid=$!
await "$scratch/up"
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
wants_clean 'bakeoff killed' 4
run provision s3
wants_status 0
note
server=$(noted_server)
[ "$(grep -c '^process' "$noted")" -ge 4 ] || say "$ran: not three processes and a keeper"
kill -9 "$server"
wants_clean 'its monitor killed' 4

# The secret is on no command line.
run exec s3 -- bash -c 'note
	for p in /proc/[0-9]*; do
		tr "\0" " " <"$p/cmdline" 2>/dev/null | grep -qF "$AWS_SECRET_ACCESS_KEY" && echo "in $p"
	done
	true'
wants_status 0
[ -z "$out" ] || say "$ran: $out"
wants_clean "$ran"

# reset: an empty bucket again
run exec s3 -- bash -c '"$0" reset "$BAKEOFF_S3_ID"' "$bakeoff"
wants_status 0
finish
