#!/usr/bin/env bash
# scripts/new-backend in the tree: a folder, one line, and a backend that builds and passes.
. "$(dirname "$0")/../e2e/lib.sh" "$@"
source_dir=$3 compiler=$4

# In a copy: the tree itself stays as it is.
mkdir "$scratch/tree"
(cd "$source_dir" && tar cf - --exclude=./build --exclude=./.git .) | tar xf - -C "$scratch/tree"
tool=$scratch/tree/scripts/new-backend

# refused STATUS PATTERN ARGUMENT...
refused() {
	local pattern=$1
	shift
	status=0
	err=$("$tool" "$@" 2>&1 >/dev/null) || status=$?
	ran="new-backend $*"
	wants_status 2
	wants_err "$pattern"
}

before=$(cat "$scratch/tree/backends/CMakeLists.txt")
refused 'usage: new-backend NAME'
refused "'Mine' is not a letter" Mine
refused "'9lives' is not a letter" 9lives
refused "'a/b' is not a letter" a/b
refused "'../x' is not a letter" ../x
refused 'backends/mem exists already' mem
refused 'exists already' mine --out "$scratch"
refused 'no such option: --frobnicate' --frobnicate
refused 'one name only' a b
[ "$before" = "$(cat "$scratch/tree/backends/CMakeLists.txt")" ] || say "a refusal changed the list"

"$tool" fresh-one >"$scratch/out" || say "new-backend failed"
added=$(diff <(echo "$before") "$scratch/tree/backends/CMakeLists.txt" | grep '^[<>]') ||
	true
[ "$added" = "> add_subdirectory(fresh-one)" ] || say "the list has changed by: $added"
cmake -S "$scratch/tree" -B "$scratch/build" -DBAKEOFF_TESTS=OFF -DBAKEOFF_WERROR=ON \
	-DCMAKE_C_COMPILER="$compiler" >"$scratch/log" 2>&1 || say "configure: $(cat "$scratch/log")"
cmake --build "$scratch/build" --target bk-fresh-one >"$scratch/log" 2>&1 ||
	say "build: $(cat "$scratch/log")"
run conform "$scratch/build/backends/bk-fresh-one.so"
wants_status 0
wants_out '^ok .* lifecycle.mark-of-another'
finish
