#!/usr/bin/env bash
# backend.h compiles alone as C11 and C++17, pedantic and without hidden padding; backend_util.h
# as both too.
#   header.sh CC CXX SOURCES
set -euo pipefail
cc=$1 cxx=$2 include=$3/include
common="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I$include"
for header in backend.h backend_util.h; do
	padded=-Wpadded
	[ "$header" = backend.h ] || padded=
	echo "#include <bakeoff/$header>" | "$cc" -std=c11 $common $padded -x c -
	echo "#include <bakeoff/$header>" | "$cxx" -std=c++17 $common $padded -x c++ -
	# a second time changes nothing, and order does not matter
	printf '#include <bakeoff/%s>\n' "$header" backend_util.h "$header" backend.h |
		"$cc" -std=c11 $common -x c -
done
