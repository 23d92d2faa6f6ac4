#!/usr/bin/env bash
# The private cluster, and places on a server that exists, from the command line; both S3 backends,
# and with them both libcurls, in one process.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$scratch/cache XDG_RUNTIME_DIR=$scratch
unset AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION

# exec: what CMD finds works, and nothing outlives it
AWS_SESSION_TOKEN=from-outside AWS_PROFILE=outside "$bakeoff" exec s3 -- bash -c "
	set -e
	[ -z \"\${AWS_SESSION_TOKEN:-}\${AWS_PROFILE:-}\" ]
	python3 $here/s3.py PUT /\$BAKEOFF_S3_BUCKET/k -d hello
	[ \"\$(python3 $here/s3.py GET /\$BAKEOFF_S3_BUCKET/k)\" = hello ]
	[ \$(python3 $here/s3.py GET \"/\$BAKEOFF_S3_BUCKET?list-type=2\" | grep -o '<Key>' | wc -l) = 1 ]
	echo \$AWS_ENDPOINT_URL >$scratch/url
" || say "exec s3: status $?"
! curl -s -o /dev/null --max-time 2 "$(cat "$scratch/url")" || say "the cluster outlives exec: $(cat "$scratch/url")"
! grep -rqa -- --gen-secret /proc/[0-9]*/cmdline 2>/dev/null || say 'radosgw-admin is left'

# both backends in one process: two libcurls, two clusters
cat >"$scratch/both.yaml" <<-YAML
	name: both
	rounds: 1
	seed: 1
	durability: none
	data: $scratch/data
	variants:
	  - {name: by-s3, nodes: {backend: mem}, binaries: {backend: s3}}
	  - {name: by-libs3, nodes: {backend: mem}, binaries: {backend: s3-libs3}}
	scenarios:
	  - {name: n-binaries, n: [10], size: [100000]}
YAML
"$bakeoff" run "$scratch/both.yaml" --results "$scratch/both.db" >"$scratch/said" 2>&1 || say "both in one run: $(tail -5 "$scratch/said")"
grep -q '2 trials ok, 0 failed' "$scratch/said" || say "both in one run: $(tail -8 "$scratch/said")"

# what is measured is on a disk: asked for `machine`, it is declared
sed 's/durability: none/durability: machine/; s/mem}/file}/; /by-libs3/d' "$scratch/both.yaml" >"$scratch/machine.yaml"
"$bakeoff" run "$scratch/machine.yaml" --results "$scratch/machine.db" >"$scratch/said" 2>&1 || say "machine: $(tail -5 "$scratch/said")"
[ ! -e "$scratch/data" ] || [ -z "$(ls -A "$scratch/data")" ] || say "left in the data folder: $(ls -A "$scratch/data")"

# on a server that exists: a bucket, and nothing else
cluster_start "$scratch/ceph"
"$bakeoff" provision --url "$AWS_ENDPOINT_URL" >"$scratch/env" || say "provision: status $?"
(
	. "$scratch/env"
	raw PUT "/$BAKEOFF_S3_BUCKET/theirs" -d x && raw GET "/$BAKEOFF_S3_BUCKET?tagging" >"$scratch/tags"
	echo "$BAKEOFF_S3_BUCKET" >"$scratch/bucket"
	[ "$AWS_ENDPOINT_URL/$BAKEOFF_S3_BUCKET" = "$BAKEOFF_S3_URL" ]
) || say "what provision prints does not work: $(cat "$scratch/env")"
grep -q bakeoff-mark "$scratch/tags" || say "the bucket is not tagged: $(cat "$scratch/tags")"
raw PUT /neighbour
# the keys are kept, for teardown needs them: where nobody else reads them, and no longer than that
[ -z "$(grep -rl -- "$AWS_SECRET_ACCESS_KEY" "$XDG_CACHE_HOME" | xargs -r stat -c %a | grep -v '^600$')" ] || say 'a key lies open'
"$bakeoff" teardown >"$scratch/said" 2>&1 || say "teardown: $(cat "$scratch/said")"
! grep -rq -- "$AWS_SECRET_ACCESS_KEY" "$XDG_CACHE_HOME" || say 'teardown leaves a key'
! raw HEAD "/$(cat "$scratch/bucket")" >/dev/null || say 'the bucket outlives teardown'
raw HEAD /neighbour >/dev/null || say "somebody else's bucket is gone"

"$bakeoff" inspect "$AWS_ENDPOINT_URL/neighbour" >"$scratch/said" 2>&1 || say "inspect by URL: $(cat "$scratch/said")"
grep -q 'bucket.versioning' "$scratch/said" || say "inspect by URL: $(cat "$scratch/said")"
finish
