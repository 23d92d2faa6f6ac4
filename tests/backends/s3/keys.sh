#!/usr/bin/env bash
# Every awkward key, at a server that verifies signatures; what the backend stores under a key is
# under that very key for an independent client, and the other way round.
. "$(dirname "$0")/lib.sh"
cluster_start "$scratch/ceph"

# Each as the drive takes it; %XX is a byte.
keys=(plain 'a%20b' 'a+b' '%26' '%25' '%2541' '%3F' '%23' ':' ';' '%40' '~' '(' ')' '*' '!' "'" '[' ']'
	'{' '}' '%5C' '%22' '%3C' '%3E' '|' '^' '`' '%C3%A9' '%E6%BC%A2%E5%AD%97' '%F0%9F%92%BE'
	'a//b' '//' '/' 'a/' '/a' 'a/./b' './a' 'a/../b' '../a' '..' '.' 'a/..' '.bakeoff' '.bakeoff/' '.bakeoff/x'
	'.bakeofficial' 'a=b' 'a,b' '$' '%01' '%1F' '%7F' 'a%0Ab' 'a%0Db' '%EF%BF%BE' '%EF%BF%BF' 'a%20' '%20a' '%20'
	'uploads' 'versioning' '%3Fuploads' 'a%26b=c%23d' 'x%2Fy' '%2B%20%2B')
{
	printf 'open\tmain\nmake\nsession\n'
	for i in "${!keys[@]}"; do printf 'put\t%s\t%d\n' "${keys[$i]}" $((100 + i)); done
	for i in "${!keys[@]}"; do printf 'get\t%s\nstat\t%s\n' "${keys[$i]}" "${keys[$i]}"; done
	printf 'list\n'
} >"$scratch/script"
for addressing in path virtual-host; do
	[ "$addressing" = path ] || export AWS_ENDPOINT_URL=http://s3.localhost:$cluster_port
	run addressing=$addressing bucket=keys <"$scratch/script"
	lacks 'AUTH|INVALID|NOT_FOUND|INTERNAL|WRONG'
	wants "count=${#keys[@]}\$"
	for i in "${!keys[@]}"; do
		size=$((100 + i))
		[ "$(grep -cE "^(get	OK	good size=$size got=$size|stat	OK	size=$size)\$" <<<"$out")" = 2 ] ||
			say "$addressing: key ${keys[$i]}: not got and stat'ed with $size bytes"
		[ "$(grep -cE "^  .* $size\$" <<<"$out")" = 1 ] || say "key ${keys[$i]} is not listed once"
	done
	export AWS_ENDPOINT_URL=http://127.0.0.1:$cluster_port
done
# the very keys, for somebody else
printf '%s\n' "${keys[@]}" | python3 -c '
import sys, urllib.parse as u
for line in sys.stdin:
    key = u.quote(u.unquote_to_bytes(line.rstrip("\n")), safe="/~-_.")
    print("/keys/main/" + (".bakeoff/" if key.startswith(".bakeoff") else "") + key)' |
	raw --lengths >"$scratch/lengths"
for i in "${!keys[@]}"; do
	grep -qE "^200 $((100 + i)) " "$scratch/lengths" || say "an independent client does not get ${keys[$i]}: $(sed -n "$((i + 1))p" "$scratch/lengths")"
done
printf 'open\tmain\nsession\n%sleave\nclear\nlist\nsession\nlist\nleave\nunmake\n' "$(printf 'remove\t%s\n' "${keys[@]:0:20}")"$'\n' |
	grep -v '^list$' >"$scratch/script2"
run bucket=keys <"$scratch/script2"
[ "$(grep -c '^remove	OK' <<<"$out")" = 20 ] || say "not all were removed: $out"
wants '^clear	OK'
wants '^unmake	OK'
! raw HEAD /keys >/dev/null || say 'the bucket is still there'

# listing past a page, and deleting past one
{
	printf 'open\tmain\nmake\nsession\n'
	for i in $(seq 25); do printf 'put\tk/%04d\t%d\n' "$i" "$i"; done
	printf 'list\nleave\nclear\nsession\nlist\nleave\nunmake\n'
} >"$scratch/script"
run page=7 bucket=pages <"$scratch/script"
wants '^list	OK	count=25$'
wants '^list	OK	count=0$'
finish
