#!/usr/bin/env bash
# A MariaDB of our own for tests that need more than `bakeoff exec` gives: an administrator, to be
# killed and frozen, options of any kind.
#   server.sh start FOLDER [--OPTION...]   makes and starts one in FOLDER; its socket is FOLDER/sock
#   server.sh crash FOLDER                 SIGKILL, then start again on the same data
#   server.sh stop FOLDER
# Account `admin`, password `admin-secret-Zq81`, may do everything; database `test`.
# The process is known by the pid file of FOLDER alone.
set -euo pipefail
verb=$1
folder=$2
shift 2
as=()
[ "$(id -u)" != 0 ] || as=(setpriv --reuid mysql --regid mysql --clear-groups)
server=$(PATH=$PATH:/usr/sbin:/usr/libexec command -v mariadbd)

launch() {
	local options=()
	mapfile -t options <"$folder/options"
	rm -f "$folder/pid"
	"${as[@]}" "$server" --no-defaults --datadir="$folder/data" --socket="$folder/sock" \
		--pid-file="$folder/pid" --init-file="$folder/init.sql" --skip-networking \
		--innodb-buffer-pool-size=64M --skip-name-resolve --max-connections=60 \
		"${options[@]}" </dev/null >>"$folder/log" 2>&1 &
	pid=$!
	for _ in $(seq 600); do
		! grep -q "ready for connections" "$folder/log" || return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	tail -5 "$folder/log" >&2
	return 1
}

case $verb in
start)
	mkdir "$folder/data"
	: >"$folder/log"
	printf '%s\n' --character-set-server=utf8mb4 "$@" >"$folder/options"
	cat >"$folder/init.sql" <<-'SQL'
		CREATE DATABASE IF NOT EXISTS test;
		CREATE USER IF NOT EXISTS 'admin'@'localhost' IDENTIFIED BY 'admin-secret-Zq81';
		GRANT ALL ON *.* TO 'admin'@'localhost' WITH GRANT OPTION;
	SQL
	[ ${#as[@]} = 0 ] || chown -R mysql "$folder"
	"${as[@]}" mariadb-install-db --no-defaults --datadir="$folder/data" \
		--auth-root-authentication-method=socket --skip-test-db >"$folder/install" 2>&1
	launch
	;;
crash)
	pid=$(cat "$folder/pid")
	kill -KILL "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
	: >"$folder/log"
	launch
	;;
stop)
	pid=$(cat "$folder/pid")
	kill -CONT "$pid"
	kill -TERM "$pid"
	for _ in $(seq 200); do
		kill -0 "$pid" 2>/dev/null || exit 0
		sleep 0.05
	done
	kill -KILL "$pid"
	;;
esac
