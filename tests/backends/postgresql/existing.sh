#!/usr/bin/env bash
# A server that exists, reached by URL: a database on it is made, used, brought back, removed, and
# nothing else is touched.  The server logs every statement: no password is ever in one.
#   existing.sh BAKEOFF
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bakeoff=$1
folder=$(mktemp -d)
chmod 755 "$folder"
trap '"$here/server.sh" stop "$folder"; rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
"$here/server.sh" start "$folder"
url="postgresql://postgres@/postgres?host=$folder"

fail() {
	echo "FAILED: $*"
	exit 1
}
super() { env -u PGUSER -u PGDATABASE -u PGPASSFILE psql -XAtq "$url" -c "$1"; }
wants() { [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"; }

super "ALTER SYSTEM SET log_statement = 'all'" && super "SELECT pg_reload_conf()" >/dev/null
super "CREATE DATABASE theirs" && super "CREATE ROLE their_role LOGIN"
before=$(super "SELECT datname FROM pg_database ORDER BY 1")
echo "CREATE TABLE fruit (name text); INSERT INTO fruit VALUES ('Birne'), ('Äpfel');" \
	>"$folder/schema.sql"

variables=$("$bakeoff" provision --url "$url" --schema "$folder/schema.sql")
eval "$variables"
[[ $BAKEOFF_POSTGRESQL_PASSWORD =~ ^[A-Za-z0-9]{16,}$ ]] || fail "no random password"
wants "who" "$(psql -XAtc 'SELECT current_user')" "$BAKEOFF_POSTGRESQL_USER"
wants "by URL" "$(psql -XAt "$DATABASE_URL" -c 'SELECT count(*) FROM fruit')" 2
psql -XAtqc "DELETE FROM fruit"
psql -XAtqc "CREATE TABLE more ()"
"$bakeoff" reset "$BAKEOFF_POSTGRESQL_ID"
wants "reset" "$(psql -XAtc 'SELECT count(*) FROM fruit')" 2
wants "its own comment" \
	"$(super "SELECT count(*) FROM pg_database WHERE
		shobj_description(oid, 'pg_database') LIKE 'bakeoff place%'")" 2
# Nothing of ours without its mark: a copy of the name that lost it stays.
super "COMMENT ON DATABASE theirs IS 'bakeoff'"
"$bakeoff" teardown "$BAKEOFF_POSTGRESQL_ID"
"$bakeoff" teardown "$BAKEOFF_POSTGRESQL_ID" 2>/dev/null || true
wants "databases" "$(super "SELECT datname FROM pg_database ORDER BY 1")" "$before"
wants "roles" "$(super "SELECT rolname FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1")" \
	$'postgres\ntheir_role'

grep -q "CREATE ROLE" "$folder/log" || fail "the server has not logged statements"
! grep -F "$BAKEOFF_POSTGRESQL_PASSWORD" "$folder/log" || fail "the password is in the server's log"

# One line each when it cannot be: with the server's words.
refused() {
	local text
	text=$("$bakeoff" provision --url "$1" 2>&1) && fail "$1 was not refused"
	wants "lines of '$text'" "$(wc -l <<<"$text")" 1
	grep -q "$2" <<<"$text" || fail "'$text' lacks '$2'"
}
refused "postgresql://nobody@/postgres?host=$folder" 28000
refused "postgresql://postgres@/nothing?host=$folder" 3D000
refused "postgresql://their_role@/postgres?host=$folder" 42501
