#!/usr/bin/env bash
# Where the data lives: a full disk, long paths, no room for sockets, eight at once.
. "$(dirname "$0")/lib.sh"

small=$scratch/small
mkdir -p "$small"
tmpfs="mount -t tmpfs -o mode=1777"

for name in "${servers[@]}"; do
	run exec "$name" -- true # the template is there from now on
	wants_status 0

	# Full during the copy.  Redis's folder is all but empty: it fills no disk and is left out.
	if [ "$name" != rediskv ]; then
		with_mounts "$tmpfs,size=4m none $small" exec --data "$small" "$name" -- true
		wants_status 125
		wants_err "$name: copying the template .* MiB.*No space left on device"
		[ -z "$(ls -A "$XDG_CACHE_HOME/bakeoff/instances")" ] || say "$ran: still listed"
		# The disk is not mounted any more: look at it while it is.
		with_mounts "$tmpfs,size=4m none $small; ! '$bakeoff' exec --data '$small' $name -- true; ls -A '$small'" services
		wants_out '^nothing runs'
		[ "$(wc -l <<<"$out")" = 1 ] || say "$ran: left behind: $out"
	fi

	# tmpfs without room is not used, and that is no failure.
	mkdir -p "$scratch/tmp"
	chmod 755 "$scratch/tmp"
	with_mounts "$tmpfs,size=16m none /dev/shm; export TMPDIR='$scratch/tmp'" \
		exec "$name" -- bash -c "note; $(question "$name"); echo \$BAKEOFF_${name^^}_SOCKET"
	wants_status 0
	wants_out '^1$'
	wants_out "^$scratch/tmp/bakeoff"
	wants_clean "$ran"

	# A path far too long for a socket: a short folder of its own, gone as well
	long=$scratch/$(printf 'long-%.0s' {1..40})
	mkdir -p -m 755 "$long"
	run exec --data "$long" "$name" -- bash -c "note; $(question "$name"); echo \$BAKEOFF_${name^^}_SOCKET"
	wants_status 0
	wants_out '^1$'
	! grep -q long- <<<"$out" || say "$ran: the socket is in the long folder: $out"
	wants_clean "$ran"
	with_mounts "$tmpfs,size=16m none /dev/shm; export TMPDIR='$long'" \
		exec "$name" -- bash -c "note; $(question "$name"); echo \$BAKEOFF_${name^^}_SOCKET"
	wants_status 0
	wants_out '^1$'
	wants_clean "$ran"

	# ... which a sweep that knows nothing of its owner, or cannot see it, leaves alone, however old
	# it is
	ns='unshare -m'
	[ "$(id -u)" = 0 ] || ns='unshare -m -U --map-current-user --keep-caps'
	run exec --data "$long" "$name" -- bash -c "note; folder=\$BAKEOFF_${name^^}_SOCKET
		[ -d \$folder ] || folder=\$(dirname \$folder)
		touch -d '1 hour ago' \$folder
		XDG_CACHE_HOME='$scratch/elsewhere' '$bakeoff' services
		$ns sh -c \"mount -t tmpfs none '$long' && XDG_CACHE_HOME='$scratch/elsewhere' '$bakeoff' services\"
		$(question "$name")"
	wants_status 0
	wants_out '^1$'
	[ "$(grep -c 'nothing runs' <<<"$out")" = 2 ] || say "$ran: not two sweeps: $out"
	wants_clean "$ran"

	# ... and where no short one can be made: an error that says so
	deep=$scratch/deep
	mkdir -p "$deep/cache/bakeoff/templates" "$deep/$(printf 'long-%.0s' {1..40})" "$deep/program" \
		"$scratch/taken"
	program=$bakeoff bakeoff=/mnt/program/bakeoff # the build may lie below a folder that is hidden
	# A plugin at another path has a template of its own, which is made while there is room.
	with_mounts "mount --bind '$deep' /mnt; mount --bind '$build' /mnt/program
		export BAKEOFF_BACKENDS=/mnt/program/backends:/mnt/program/tests/service/backends
		mount --bind '$templates' /mnt/cache/bakeoff/templates
		XDG_CACHE_HOME=/mnt/cache '$bakeoff' exec '$name' -- true
		mount --bind -o ro '$scratch/taken' /dev/shm
		mount --bind -o ro '$scratch/taken' /var/tmp; mount --bind -o ro '$scratch/taken' /tmp
		unset XDG_RUNTIME_DIR TMPDIR; export XDG_CACHE_HOME=/mnt/cache" \
		exec --data "/mnt/$(printf 'long-%.0s' {1..40})" "$name" -- true
	wants_status 125
	wants_err 'no folder for sockets'
	bakeoff=$program
	[ -z "$(ls -A "$deep/$(printf 'long-%.0s' {1..40})")" ] || say "$ran: left behind"
done

# Eight at once, each on its own
for name in "${servers[@]}"; do
	pids=()
	for i in 1 2 3 4 5 6 7 8; do
		"$bakeoff" exec "$name" -- bash -c "note; $(question "$name"); echo \$BAKEOFF_${name^^}_SOCKET" \
			>"$scratch/eight.$i" 2>"$scratch/eight.err.$i" &
		pids+=($!)
	done
	for i in 1 2 3 4 5 6 7 8; do
		status=0
		wait "${pids[i - 1]}" || status=$?
		[ "$status" = 0 ] && [ "$(head -1 "$scratch/eight.$i")" = 1 ] ||
			say "$name, eight at once: number $i: status $status: $(cat "$scratch/eight.err.$i")"
	done
	[ "$(cat "$scratch"/eight.[1-8] | grep -c '^/')" = 8 ] || say "$name, eight at once: not eight"
	[ "$(cat "$scratch"/eight.[1-8] | grep '^/' | sort -u | wc -l)" = 8 ] ||
		say "$name, eight at once: two on one socket"
	wants_clean "$name, eight at once"
done
finish
