#!/usr/bin/env bash
# The conformance suite on a durable server, with one choice of options; the crash group kills the
# server itself.   with-server.sh conform.sh BAKEOFF BACKEND.so [OPTION=VALUE...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bakeoff=$1
backend=$2
shift 2
options=(--set "socket=$MYSQL_TEST_FOLDER/sock" --set user=admin --set database=test)
for option; do
	options+=(--set "$option")
done
export MYSQL_PWD=admin-secret-Zq81
"$bakeoff" conform "$backend" "${options[@]}" --timeout 120s \
	--crash-command "$here/server.sh crash $MYSQL_TEST_FOLDER"
