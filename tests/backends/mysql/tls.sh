#!/usr/bin/env bash
# TLS: encrypted when asked for, checked when asked for, refused where it is not to be had.
#   tls.sh BAKEOFF
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bakeoff=$1
failures=0
folder=$(mktemp -d)
plain=$(mktemp -d)
chmod 755 "$folder" "$plain"
trap 'for f in "$folder" "$plain"; do
	[ ! -e "$f/pid" ] || "$here/server.sh" stop "$f"; rm -rf "$f"; done' EXIT
export MYSQL_PWD=admin-secret-Zq81

certificate() { # NAME COMMON-NAME
	openssl req -newkey rsa:2048 -nodes -keyout "$folder/$1.key" -subj "/CN=$2" \
		-out "$folder/$1.csr" 2>/dev/null
	openssl x509 -req -in "$folder/$1.csr" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" \
		-CAcreateserial -days 2 -out "$folder/$1.pem" 2>/dev/null
	chmod 644 "$folder/$1.key"
}
authority() { # NAME
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$folder/$1.key" -subj "/CN=$1" -days 2 \
		-out "$folder/$1.pem" 2>/dev/null
}
authority ca
authority other
certificate good localhost
"$here/server.sh" start "$folder" --ssl-ca="$folder/ca.pem" --ssl-cert="$folder/good.pem" \
	--ssl-key="$folder/good.key"
"$here/server.sh" start "$plain" --skip-ssl

try() { # WANTED-STATUS PATTERN URL
	local status=0 out
	out=$("$bakeoff" inspect "$3" 2>&1) || status=$?
	if [ "$status" != "$1" ]; then
		echo "FAILED: $3: exit status $status, expected $1: $out"
		failures=1
	elif ! grep -qE -- "$2" <<<"$out"; then
		echo "FAILED: $3: lacks /$2/: $out"
		failures=1
	fi
	if grep -qF "$MYSQL_PWD" <<<"$out"; then
		echo "FAILED: $3: the password: $out"
		failures=1
	fi
}
url="mysql://admin:$MYSQL_PWD@localhost/test?socket="
try 0 'connection.tls.*off' "$url$folder/sock"
try 0 'connection.tls.*TLS' "$url$folder/sock&tls=on"
try 0 'connection.tls.*TLS' "$url$folder/sock&tls=verify&tls-ca=$folder/ca.pem"
try 1 'certificate|SSL|TLS' "$url$folder/sock&tls=verify&tls-ca=$folder/other.pem"
try 1 'certificate|SSL|TLS' "$url$folder/sock&tls=verify"
try 0 'connection.tls.*off' "$url$plain/sock"
try 1 'TLS|SSL' "$url$plain/sock&tls=on"
try 1 'TLS|SSL' "$url$plain/sock&tls=verify&tls-ca=$folder/ca.pem"

# The work itself over TLS.
status=0
"$bakeoff" conform mysql --set "url=$url$folder/sock&tls=on" --run node.round-trip \
	--run txn.defer --run binary.sizes-declared >"$folder/out" 2>&1 || status=$?
[ "$status" = 0 ] || {
	echo "FAILED: conform over TLS: $(cat "$folder/out")"
	failures=1
}
exit "$failures"
