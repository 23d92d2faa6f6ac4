#!/usr/bin/env bash
# An out-of-tree backend built with the CMake package.
. "$(dirname "$0")/../e2e/lib.sh" "$@"
source_dir=$3 compiler=$4

# build WHAT ARGUMENT...: cmake, and its output when it fails
build() {
	local what=$1
	shift
	cmake "$@" >"$scratch/log" 2>&1 || say "$what failed: $(cat "$scratch/log")"
}

build install --install "$build" --prefix "$scratch/prefix"
mv "$scratch/prefix" "$scratch/moved"
"$source_dir/scripts/new-backend" my-store --out "$scratch/my-store" >/dev/null
build configure -S "$scratch/my-store" -B "$scratch/build" -DCMAKE_C_COMPILER="$compiler" \
	-DCMAKE_PREFIX_PATH="$scratch/moved" -DCMAKE_C_FLAGS="-Wall -Wextra -Wno-unused-parameter -Werror"
build build --build "$scratch/build"

bakeoff=$scratch/moved/bin/bakeoff
cd /
run conform "$scratch/build/bk-my-store.so" --run abi --run options --run lifecycle
wants_status 0
build "install of the backend" --install "$scratch/build"
run conform my-store --run binary
wants_status 0

# The matrix of docs/backend-guide.md, and what it leaves is known by its mark.
cd "$scratch"
sed -n '/^    # my.yaml$/,/^$/s/^    //p' "$source_dir/docs/backend-guide.md" |
	sed 's/nodes: {backend: NAME}/nodes: {backend: mem}/; s/NAME/my-store/' >my.yaml
run run my.yaml --keep
wants_status 0
wants_out '^mine = mem .* [+] my-store'
for mark in bakeoff-data/*/mine/*/*/.bakeoff; do
	run inspect "$(dirname "$mark")"
	wants_status 0
	wants_out '^backend my-store .*, space '
done
cd /

# Another minor is another contract while the major is 0.
sed -i 's/find_package(Bakeoff 0.1 /find_package(Bakeoff 0.2 /' "$scratch/my-store/CMakeLists.txt"
if cmake -S "$scratch/my-store" -B "$scratch/other" -DCMAKE_PREFIX_PATH="$scratch/moved" \
	>"$scratch/log" 2>&1; then
	say "a package of version 0.1 is taken for 0.2"
fi
finish
