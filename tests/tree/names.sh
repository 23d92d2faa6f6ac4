#!/usr/bin/env bash
# src/ names no backend: what it needs to know of one stands in the backend's descriptor.
#   names.sh SOURCES
set -euo pipefail
cd "$1"
failed=0

# environment.c lists the prefixes of the variables that it takes away from every client library.
for folder in backends/*/; do
	name=$(basename "$folder")
	case $name in
	# everyday words: only where a backend is looked up by them
	null | file) pattern="(bk_plugin_|backend)[a-z_]*\(.*\"$name\"" ;;
	# the one that the model tests compare with; the line has to say so
	mem) pattern="\"$name\"" ;;
	# a word of its own; "%s3" is none
	*) pattern="(^|[^%[:alnum:]_])$name\\b" ;;
	esac
	if grep -rniE -- "$pattern" src |
		grep -viE '"mem".*oracle|oracle.*"mem"|^src/plugin/environment\.c:'; then
		echo "src/ names the backend '$name'"
		failed=1
	fi
done
# Products, under names that no folder has.
if grep -rniE 'postgres|mysql|mariadb|leveldb|rocksdb|radosgw|libpq|minio' src |
	grep -vE '^src/plugin/environment\.c:'; then
	echo "src/ names a product"
	failed=1
fi
exit "$failed"
