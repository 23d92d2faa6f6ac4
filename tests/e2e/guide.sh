#!/usr/bin/env bash
# The backend that the guide begins with is complete: it compiles with the command that the guide
# gives and keeps the contract.
# timeout: 300
. "$(dirname "$0")/lib.sh" "$@"

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$scratch"
sed -n '/^```c$/,/^```$/p' "$top/docs/backend-guide.md" | sed '/^```/d' >kv.c
cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I "$top/include" \
	kv.c -o bk-kv.so

# the matrix that docs/matrix.md shows is one, and runs where nothing but bakeoff is installed
sed -n '/^```yaml$/,/^```$/p' "$top/docs/matrix.md" | sed '/^```/d' >shown.yaml
run run shown.yaml --dry-run
wants_status 0
wants_out '^big-cache/n-members'

if grep -qi 'BAKEOFF_SANITIZE:STRING=..*' "$build/CMakeCache.txt"; then
	finish # the program is instrumented and the example is not: dev and release tell enough
fi
run conform ./bk-kv.so
wants_status 0
wants_out '^# [0-9]+ passed, 0 failed'
finish
