#!/usr/bin/env bash
# Each backend of the build exports one symbol.
#   exports.sh BUILD
set -euo pipefail
failed=0 seen=0
for file in "$1"/backends/bk-*.so; do
	[ -e "$file" ] || continue
	seen=$((seen + 1))
	symbols=$(nm -D --defined-only "$file" | awk '{ print $3 }' | sort)
	# the sanitizers add symbols of their own
	symbols=$(grep -vE '^(__asan_|__ubsan_|__tsan_|__sanitizer_|__odr_asan)' <<<"$symbols" || true)
	if [ "$symbols" != bk_backend ]; then
		echo "$file exports: $(tr '\n' ' ' <<<"$symbols"), expected bk_backend alone"
		failed=1
	fi
done
[ "$seen" -gt 0 ] || { echo "no backends in $1/backends"; exit 1; }
exit "$failed"
