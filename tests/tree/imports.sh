#!/usr/bin/env bash
# Imports in src/ point one way, and backends include nothing of src/.
#   imports.sh SOURCES
set -euo pipefail
cd "$1"
failed=0

# Folders by height; a file may include from its own folder and from lower ones only.
declare -A height=(
	[util]=0
	[plugin]=1 [host]=1 [stats]=1
	# layer beneath its neighbours: what drives a store drives a layered one
	[layer]=2 [service]=3 [repo]=3 [load]=3 [results]=3
	[conform]=4 [scenario]=4 [matrix]=5 [run]=6 [report]=7 [cmd]=8
)

for file in src/*/*.[ch]; do
	folder=$(basename "$(dirname "$file")")
	if [ -z "${height[$folder]+x}" ]; then
		echo "$file: src/$folder has no place in the order of imports"
		failed=1
		continue
	fi
	while read -r include; do
		other=${include%%/*}
		if [ "$other" = "$include" ]; then
			echo "$file: \"$include\": headers of src/ are included as folder/name.h"
			failed=1
		elif [ -z "${height[$other]+x}" ]; then
			echo "$file: \"$include\": src/$other is not known"
			failed=1
		elif [ "$other" != "$folder" ] && ((height[$other] >= height[$folder])); then
			echo "$file: \"$include\": src/$folder must not know of src/$other"
			failed=1
		fi
	done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\.h\)".*/\1/p' "$file")
done

# backends/NAME-common belongs to the backends NAME and NAME-*, which are built with its sources.
for file in backends/*/*.[ch]; do
	[ -e "$file" ] || continue
	folder=$(basename "$(dirname "$file")")
	while read -r include; do
		case $include in
		"${folder%%-*}-common"/*) [ -e "backends/$include" ] && continue
			echo "$file: \"$include\" is not there" ;;
		*/*) echo "$file: \"$include\": a backend includes its own folder and <bakeoff/...>" ;;
		*) [ -e "$(dirname "$file")/$include" ] && continue
			echo "$file: \"$include\" is not in its folder" ;;
		esac
		failed=1
	done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$file")
done
exit "$failed"
