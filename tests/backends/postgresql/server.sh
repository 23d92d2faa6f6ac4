#!/usr/bin/env bash
# A PostgreSQL of our own for tests that need more than `bakeoff exec` gives: durable, to be killed.
#   server.sh start FOLDER    makes and starts one in FOLDER/data; its socket is in FOLDER
#   server.sh crash FOLDER    SIGKILL to all of it, then start again on the same data
#   server.sh stop FOLDER
# Processes are known by the pid file of FOLDER alone.
set -euo pipefail
folder=$2
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid postgres --regid postgres --init-groups)

launch() {
	"${as[@]}" "$bin/postgres" -D "$folder/data" -c unix_socket_directories="$folder" \
		-c listen_addresses= -c log_min_error_statement=panic \
		</dev/null >>"$folder/log" 2>&1 &
	for _ in $(seq 600); do
		"$bin/pg_isready" -q -h "$folder" -U postgres && return 0
		sleep 0.1
	done
	tail -5 "$folder/log" >&2
	return 1
}

# The postmaster and its children, which leave its shared memory only when they are gone.
pids() {
	local main
	main=$(head -1 "$folder/data/postmaster.pid")
	echo "$main" "$(cat "/proc/$main/task/$main/children")"
}

case $1 in
start)
	if [ ${#as[@]} != 0 ]; then
		chown postgres "$folder"
	fi
	"${as[@]}" "$bin/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 \
		--no-sync >"$folder/log" 2>&1
	launch
	;;
crash)
	all=$(pids)
	# shellcheck disable=SC2086
	kill -KILL $all 2>/dev/null || true
	for pid in $all; do
		while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
	done
	launch
	;;
stop)
	main=$(head -1 "$folder/data/postmaster.pid")
	kill -INT "$main"
	while kill -0 "$main" 2>/dev/null; do sleep 0.05; done
	;;
esac
