#!/usr/bin/env bash
# with-server.sh COMMAND...: a server of our own, its folder in MYSQL_TEST_FOLDER, for as long as
# COMMAND runs.  OPTIONS in the environment: options of the server.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
chmod 755 "$folder"
trap '"$here/server.sh" stop "$folder"; rm -rf "$folder"' EXIT
# shellcheck disable=SC2086
"$here/server.sh" start "$folder" ${OPTIONS-}
export MYSQL_TEST_FOLDER=$folder
"$@"
