#!/usr/bin/env bash
# An out-of-tree backend built with pkg-config and one compiler command.
. "$(dirname "$0")/../e2e/lib.sh" "$@"
source_dir=$3 compiler=$4

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/log" 2>&1 ||
	say "install failed: $(cat "$scratch/log")"
# Moved after the install: nothing may have kept the prefix.
mv "$scratch/prefix" "$scratch/moved"
export PKG_CONFIG_PATH=$scratch/moved/lib/pkgconfig
cd "$scratch"
"$source_dir/scripts/new-backend" my-store --out "$scratch/my-store" >/dev/null
# shellcheck disable=SC2046
"$compiler" -std=c11 -Wall -Wextra -Werror -Wno-unused-parameter $(pkg-config --cflags bakeoff) \
	-o bk-my-store.so my-store/*.c $(pkg-config --libs bakeoff) || say "the backend does not build"
exported=$(nm -D --defined-only bk-my-store.so | awk '$2 ~ /[TDBR]/ {print $3}' | tr '\n' ' ')
[ "$exported" = "bk_backend " ] || say "it exports $exported"

bakeoff=$scratch/moved/bin/bakeoff
cd /
run conform "$scratch/bk-my-store.so"
wants_status 0
wants_out '^ok .* lifecycle.half-made'
cp "$scratch/bk-my-store.so" "$(pkg-config --variable=backenddir bakeoff)" ||
	say "backenddir is not where backends lie"
run backends my-store
wants_status 0
wants_out "^file: $scratch/moved/"
finish
