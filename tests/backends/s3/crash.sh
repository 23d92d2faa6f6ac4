#!/usr/bin/env bash
# OSD and gateway killed by SIGKILL while binaries are written: what was acknowledged is there when
# they are back (bluestore), and the store goes on.
. "$(dirname "$0")/lib.sh"
cluster_start "$scratch/ceph" bluestore
cluster_crash_script "$scratch/crash"
"$bakeoff" conform s3 --run crash --set durability=machine --set bucket=crash --set retries=20 \
	--timeout 200s --crash-command "$scratch/crash" >"$scratch/tap" 2>&1 || say "conform: status $?"
grep -E '^not ok|message:' "$scratch/tap" || true
grep -E '^# ' "$scratch/tap" | tail -1
grep -qE '^# [1-9][0-9]* passed, 0 failed' "$scratch/tap" || say "$(grep -v '^ok' "$scratch/tap" | tail -20)"
finish
