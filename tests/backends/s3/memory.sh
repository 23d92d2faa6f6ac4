#!/usr/bin/env bash
# An object of 5 GiB in and out: memory stays flat, and what is there is whole.  Needs 12 GiB of disk
# (bluestore holds it; a memstore is too small) and some minutes.
. "$(dirname "$0")/lib.sh"
[ "$(df -k --output=avail "$scratch" | tail -1)" -gt $((12 * 1048576)) ] || {
	echo "FAILED: less than 12 GiB of disk are free in $scratch"
	exit 1
}
cluster_start "$scratch/ceph" bluestore
size=5368709120
printf 'open\tmain\nmake\nsession\nput\tsmall\t1000000\nget\tsmall\nmemory\nput\tbig\t%s\nmemory\nget\tbig\nmemory\ncounters\nremove\tbig\nleave\nunmake\n' $size >"$scratch/script"
run_limit=1700 run bucket=memory part-size=16MiB verify=no <"$scratch/script"
grep -E 'VmHWM|^put|^get|requests|retries' <<<"$out"
wants "^put	OK	size=$size"
wants "^get	OK	good size=$size got=$size"
peak=$(grep -oE 'VmHWM:[[:space:]]+[0-9]+' <<<"$out" | tail -1 | grep -oE '[0-9]+$')
[ "$peak" -lt $((64 * 1024)) ] || say "the process held $peak KiB"
finish
