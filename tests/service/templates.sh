#!/usr/bin/env bash
# The cache of templates: half built, not shut down, of another version, built by two at once.
. "$(dirname "$0")/lib.sh"
rm "$XDG_CACHE_HOME/bakeoff/templates" # a cache of this test's own

template_of() {
	local found
	for found in "$XDG_CACHE_HOME"/bakeoff/templates/"$1"-*/template.json; do
		dirname "$found"
		return
	done
}

declare -A base
mkdir -p "$XDG_CACHE_HOME/bakeoff/templates"/forgotten{,-not}-0123.new
touch -d '40 days ago' "$XDG_CACHE_HOME/bakeoff/templates/forgotten-0123.new"
for name in "${servers[@]}"; do
	# Built by four at once: once
	pids=()
	for i in 1 2 3 4; do
		"$bakeoff" exec "$name" -- true 2>"$scratch/four.$i" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || say "$name: four at once with an empty cache: status $?"
	done
	[ "$(cat "$scratch"/four.[1-4] | grep -c 'making the template')" = 1 ] ||
		say "$name: not built once: $(cat "$scratch"/four.[1-4])"
	template=$(template_of "$name")
	base[$name]=$template # that of the schema comes later
	[ ! -e "${template%/*}/forgotten-0123.new" ] || say "$name: half a template of long ago stays"
	[ -e "${template%/*}/forgotten-not-0123.new" ] || say "$name: half a template of today went"
	run exec "$name" -- true
	wants_status 0
	[ -z "$err" ] || say "$ran: with a template: $err"

	# Half built: killed while it was being made
	seen=0
	for after in 0.1 0.2 0.3 0.4 0.6; do
		rm -rf "$template"
		"$bakeoff" exec "$name" -- true >/dev/null 2>&1 &
		pid=$!
		sleep "$after"
		note # commands that make the data have memory of their own
		kill -9 "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
		sleep 1
		grep -q '^process' "$noted" || continue # it was quicker
		seen=1
		wants_clean "$name: killed $after s into building" 3
	done
	[ "$name" = rediskv ] || [ "$seen" = 1 ] || say "$name: never killed while building"
	[ -z "$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")" ] || say "$name: killed while building: still listed"
	run exec "$name" -- bash -c "note; $(question "$name")"
	wants_status 0
	wants_out '^1$'
	wants_clean "$ran"

	# No file, or of another pack: refused and made anew, and nobody waits for a FIFO
	for damage in "rm '$template/data.pack'; mkfifo '$template/data.pack'" \
		"rm '$template/template.json'; mkfifo '$template/template.json'" \
		"rm '$template/data.pack'; ln -s /dev/zero '$template/data.pack'" \
		"echo '{\"bytes\": 9223372036854775807}' >'$template/template.json'"; do
		eval "$damage"
		status=0
		err=$(timeout 30 "$bakeoff" exec "$name" -- true 2>&1) || status=$?
		ran="bakeoff exec $name after $damage"
		wants_status 0
		wants_err 'making the template'
		[ -f "$template/data.pack" ] && [ -f "$template/template.json" ] || say "$ran: not made anew"
	done

	# Half built: no description, leftovers beside it
	rm "$template/template.json"
	mkdir -p "$template.new/junk"
	run exec "$name" -- bash -c "note; $(question "$name")"
	wants_status 0
	wants_err 'making the template'
	[ -e "$template/template.json" ] && [ ! -e "$template.new" ] || say "$ran: not made anew"
	wants_clean "$ran"

	# Schema files: loaded once, a template of its own
	case $name in
	rediskv) echo 'SET planted seed' >"$scratch/schema" ;;
	*) echo 'create table planted (seed integer); insert into planted values (1);' >"$scratch/schema" ;;
	esac
	case $name in
	rediskv) look='redis-cli -s "$BAKEOFF_REDISKV_SOCKET" EXISTS planted' ;;
	postgresql) look='psql -XAtc "select seed from planted"' ;;
	mysql) look='mariadb -BNe "select seed from planted"' ;;
	esac
	for i in 1 2; do
		run exec --schema "$scratch/schema" "$name" -- sh -c "$look"
		wants_status 0
		wants_out '^1$'
		[ "$i" = 1 ] || [ -z "$err" ] || say "$ran: loaded again: $err"
	done
	if [ "$name" != rediskv ]; then # redis-cli reports no errors of what it reads
		echo 'this is no schema (' >"$scratch/schema"
		run exec --schema "$scratch/schema" "$name" -- true
		wants_status 125
		wants_err "schema file $scratch/schema: .* ended with status"
	fi

	# A spare copy is taken and made again.
	run exec --spare "$name" -- sleep 0.3
	wants_status 0
	spare=$(ls -d /dev/shm/bakeoff.spare-"$(id -u)"-*"${template: -24}" 2>/dev/null || true)
	[ -n "$spare" ] && [ -e "$spare/data" ] || say "$ran: no spare"
	this=$(stat -c %i "$spare/data") # the keeper of that exec may yet make another
	run exec "$name" -- bash -c "note; $(question "$name")"
	wants_out '^1$'
	[ "$(stat -c %i "$spare/data" 2>/dev/null)" != "$this" ] || say "$ran: the spare was not taken"
	rm -rf "$spare"
	wants_clean "$ran"
done

# The templates may go at any time, also those of servers that run and are reset.
eval "$("$bakeoff" provision rediskv)"
note
redis-cli -s "$BAKEOFF_REDISKV_SOCKET" SET planted seed >"$scratch/.out"
rm -rf "$XDG_CACHE_HOME"/bakeoff/templates/rediskv-*
for i in 1 2; do
	run reset "$BAKEOFF_REDISKV_ID"
	wants_status 0
	[ "$(redis-cli -s "$BAKEOFF_REDISKV_SOCKET" EXISTS planted)" = 0 ] || say "$ran: not as it was at first"
done
run teardown
wants_status 0
wants_clean "$ran"

# Whatever the umask is, what is made under it can be used later.
for mask in 0 0777; do
	rm -rf "$scratch/masked"
	(umask "$mask" && XDG_CACHE_HOME=$scratch/masked "$bakeoff" exec rediskv -- sh -c umask >"$scratch/.out" 2>&1) ||
		say "umask $mask: $(cat "$scratch/.out")"
	grep -qx "0*${mask#0}" "$scratch/.out" || say "umask $mask: the command has $(cat "$scratch/.out")"
	rest=$(find "$scratch/masked" \( -type d ! -perm 700 -o -type f ! -perm 600 \) -printf '%m %P\n')
	[ -z "$rest" ] || say "umask $mask: $rest"
done

name=postgresql
if [[ " ${servers[*]} " == *" $name "* ]]; then
	template=${base[$name]}
	pack=$template/data.pack

	# Cut short, or not a template at all: refused and made anew
	for damage in "truncate -s -1 '$pack'" "truncate -s 10 '$pack'" "rm '$pack'" \
		"printf nonsense | dd of='$pack' conv=notrunc status=none"; do
		eval "$damage"
		run exec "$name" -- bash -c "note; $(question "$name")"
		wants_status 0
		wants_out '^1$'
		wants_err 'making the template'
		wants_clean "$ran after $damage"
	done

	# Data of another major version: the server says so, in under a second
	begun=$(date +%s%N)
	run exec "$name" -- true
	good_ms=$((($(date +%s%N) - begun) / 1000000))
	perl -0777 -pi -e 's/(?<!\d)\d\d\n/11\n/g' "$pack" # PG_VERSION holds two digits
	begun=$(date +%s%N)
	run exec "$name" -- true
	took_ms=$((($(date +%s%N) - begun) / 1000000 - good_ms))
	wants_status 125
	wants_err 'incompatible with server'
	wants_err "$template"
	[ "$took_ms" -lt 1000 ] || say "$ran: took $took_ms ms longer than a start"
	rm -rf "$template"
fi
finish
