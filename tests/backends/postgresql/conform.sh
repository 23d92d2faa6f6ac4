#!/usr/bin/env bash
# The conformance suite on a durable server, with one choice of options; the crash group kills the
# server itself.   conform.sh BAKEOFF BACKEND.so [OPTION=VALUE...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bakeoff=$1
backend=$2
shift 2
folder=$(mktemp -d)
chmod 755 "$folder"
trap '"$here/server.sh" stop "$folder"; rm -rf "$folder"' EXIT
"$here/server.sh" start "$folder"

options=(--set "host=$folder" --set user=postgres)
for option; do
	options+=(--set "$option")
done
"$bakeoff" conform "$backend" "${options[@]}" --timeout 120s \
	--crash-command "$here/server.sh crash $folder"
