#!/usr/bin/env bash
# A real server that is busy, full, closed, stalled, killed, and connections that are cut: what is
# tried again is counted, what is not is an error with the server's own words; nothing half-done is
# seen, and nothing is left once the store is cleared.
. "$(dirname "$0")/lib.sh"
cluster_start "$scratch/ceph"
mib=1048576
uploads() { raw GET "/$1?uploads" | grep -o '<UploadId>' | wc -l; }
# the driver takes AWS_* out of its environment, as bakeoff does; what it runs gets them back
env | sed -n "s/^\(AWS_[A-Z_]*\)=\(.*\)/export \1='\2'/p" >"$scratch/env"
script() { printf "$@" >"$scratch/script"; }
begin='open\tmain\nmake\nsession\n'

# ---- cut in the middle of a body
broken_on="sh\ttouch $broken\n" broken_off="sh\trm -f $broken\n"
proxy cut-down 300000 1
script "${begin}put\ta\t1000000\n${broken_on}get\ta\ncounters\n${broken_off}get\ta\n"
run endpoint="$proxy" bucket=cut <"$scratch/script"
[ "$(grep -c '^get	OK	good size=1000000 got=1000000' <<<"$out")" = 2 ] || say "a cut download: $out"
[ "$(counter retries)" = 1 ] || say "a cut download: $(counter retries) retries are counted"
[ "$(counter reconnects)" -ge 1 ] || say "a cut download: no reconnect is counted"
proxy cut-down 300000 1
script "${begin}${broken_on}get\ta\n"
run endpoint="$proxy" bucket=cut retries=0 <"$scratch/script"
wants '^get	UNAVAILABLE	.* retry'
proxy cut-down 300000 100
run endpoint="$proxy" bucket=cut retries=2 <"$scratch/script"
wants '^get	UNAVAILABLE	.*after 2 tries more'
# ... and another object is there by then: not half of the one and half of the other
proxy cut-down 900000 1
script "${begin}${broken_on}ropen\ta\nread\t10000\nsh\t. %s; python3 %s/s3.py PUT /cut/main/a -d other\nread\t1000000\nrclose\nstat\ta\n" "$scratch/env" "$here"
run endpoint="$proxy" bucket=cut <"$scratch/script"
wants '^stat	OK	size=5$'
wants '^read	CONFLICT	http=412.*another one now'

proxy cut-up 300000 1
script "${begin}${broken_on}put\tb\t1000000\ncounters\nget\tb\n"
run endpoint="$proxy" bucket=cut <"$scratch/script"
wants '^put	OK'
wants '^get	OK	good size=1000000'
[ "$(counter retries)" = 1 ] || say "a cut upload: $(counter retries) retries are counted"
# a create that may have been done is not sent again
proxy cut-up 300000 1
script "${begin}${broken_on}put\tc\t1000000\tcreate\nstat\tc\nput\tc\t1000000\tcreate\ncounters\n"
run endpoint="$proxy" bucket=cut <"$scratch/script"
wants '^put	UNAVAILABLE	.* retry unknown'
wants '^stat	NOT_FOUND'
wants '^put	OK'
[ "$(counter retries)" = 0 ] || say "a cut create: $(counter retries) retries are counted"
# the answer to a completion is lost: it was done, once
proxy answer 12600000 1
script "${begin}${broken_on}put\td\t12582912\nget\td\ncounters\n"
run endpoint="$proxy" bucket=cut part-size=5MiB multipart-threshold=5MiB <"$scratch/script"
wants '^put	OK	size=12582912'
wants '^get	OK	good size=12582912'
[ "$(uploads cut)" = 0 ] || say 'a lost completion leaves an upload'
# stalled in the middle of a body
proxy stall-down 300000 1
script "open\tmain\nsession\t700\n${broken_on}get\tb\n${broken_off}get\tb\n"
run endpoint="$proxy" bucket=cut <"$scratch/script"
wants '^get	TIMEOUT	'
wants '^get	OK	good'

# ---- busy: two requests at once are too many
cluster_rgw_kill
sed -i 's/^rgw thread pool size.*/&\nrgw max concurrent requests = 2/' "$cluster/ceph.conf"
cluster_rgw_start
script "${begin}put\tbig\t62914560\ncounters\nget\tbig\nleave\nclear\n"
run bucket=busy part-size=5MiB multipart-threshold=5MiB part-concurrency=8 retries=30 <"$scratch/script"
wants '^put	OK'
wants '^get	OK	good'
[ "$(counter retries)" -ge 1 ] || say 'a busy server: no retry is counted'
script "open\tmain\nsession\nput\tbig\t62914560\nsh\tsleep 2\nstat\tbig\nput\tsmall\t10\nleave\n"
run bucket=busy part-size=5MiB multipart-threshold=5MiB part-concurrency=8 retries=0 <"$scratch/script"
wants '^put	IO	http=503 retry.*503 (SlowDown|ServiceUnavailable)'
wants '^stat	NOT_FOUND'
wants '^put	OK	size=10'
[ "$(uploads busy)" = 0 ] || say 'what a busy server refused leaves an upload'
cluster_rgw_kill
sed -i '/^rgw max concurrent requests/d' "$cluster/ceph.conf"
cluster_rgw_start

# ---- killed in the middle of an upload, and back
restart="kill -9 \$(cat $cluster/rgw.pid); (radosgw -c $cluster/ceph.conf -n client.rgw.a -f >>$cluster/log 2>\&1 \& echo \$! >$cluster/rgw.pid); sleep 0.1"
script "${begin}wopen\tbig\t31457280\nwrite\t12582912\nsh\t${restart}\nwrite\t18874368\nfinish\nget\tbig\ncounters\n"
sed -i 's/\\&/\&/g' "$scratch/script"
run bucket=killed part-size=5MiB multipart-threshold=5MiB retries=12 <"$scratch/script"
wants '^finish	OK	size=31457280'
wants '^get	OK	good size=31457280'
[ $(($(counter retries) + $(counter reconnects))) -ge 1 ] || say 'a server that was killed: neither a retry nor a reconnect is counted'
# not back: an error, no object; once it is, clear() takes the parts away
script "open\tmain\nsession\nwopen\thalf\t31457280\nwrite\t12582912\nsh\tkill -9 \$(cat $cluster/rgw.pid)\nwrite\t18874368\nabort\nleave\n"
run bucket=killed part-size=5MiB multipart-threshold=5MiB retries=1 <"$scratch/script"
wants '^write	UNAVAILABLE	.* retry'
grep -q 'unfinished uploads could not be aborted' "$scratch/err" || say "nobody says that an upload is left: $(cat "$scratch/err")"
cluster_rgw_start
! raw HEAD /killed/main/half >/dev/null || say 'half an object is seen'
[ "$(uploads killed)" = 1 ] || say "expected one upload, there are $(uploads killed)"
script 'open\tmain\nclear\nunmake\n'
run bucket=killed <"$scratch/script"
wants '^clear	OK'
wants '^unmake	OK'
! raw HEAD /killed >/dev/null || say 'the bucket is still there'
script 'open\tmain\n'
run endpoint=http://127.0.0.1:9 <"$scratch/script"
wants '^open	UNAVAILABLE	'

# ---- full, closed
script "$begin"
run bucket=quota <"$scratch/script"
cluster_admin quota set --quota-scope=user --uid=tester --max-size=1M >/dev/null
cluster_admin quota enable --quota-scope=user --uid=tester >/dev/null
script "open\tmain\nsession\nput\ta\t3000000\n"
run bucket=quota <"$scratch/script"
wants '^put	NO_SPACE	http=403.*QuotaExceeded'
cluster_admin quota disable --quota-scope=user --uid=tester >/dev/null
cluster_admin user suspend --uid=tester >/dev/null
script 'open\tmain\n'
run bucket=quota <"$scratch/script"
wants '^open	AUTH	http=403.*UserSuspended'
cluster_admin user enable --uid=tester >/dev/null

# ---- the disk stands still
for name in s3 s3-libs3; do
	[ -e "$BAKEOFF_BACKENDS/bk-$name.so" ] || continue
	backend=$name
	script "${begin}put\ta\t1000\nput\tb\t1000000\nleave\nsession\t800\nsh\tkill -STOP $cluster_osd_pid\nput\ta\t2000\nget\tb\ncancel\t300\nput\tb\t5\nsh\tkill -CONT $cluster_osd_pid\nsh\tsleep 0.5\nget\tb\nleave\nunmake\n"
	run bucket=stalled-$name <"$scratch/script"
	wants '^put	TIMEOUT	.* retry unknown ms=(8|9|1[0-9])[0-9][0-9]?	'
	wants '^put	CANCELLED	.*ms=[3-7][0-9][0-9]	'
	wants '^unmake	OK'
	script "open\tmain\nmake\nsession\nput\ta\t1000\nsh\tkill -STOP $cluster_osd_pid\nput\ta\t2000\nsh\tkill -CONT $cluster_osd_pid\nleave\nunmake\n"
	run bucket=stalled-$name timeout=1s <"$scratch/script"
	wants '^put	TIMEOUT	.*option timeout'
done

# ---- libs3 takes a cut body for a whole one; the backend does not
if [ -e "$BAKEOFF_BACKENDS/bk-s3-libs3.so" ]; then
	backend=s3-libs3
	proxy cut-down 300000 1
	script "${begin}put\ta\t1000000\n${broken_on}get\ta\ncounters\n"
	run endpoint="$proxy" bucket=cut-libs3 <"$scratch/script"
	wants '^get	OK	good size=1000000 got=1000000'
	[ "$(counter retries)" = 1 ] || say "libs3: a cut download: $(counter retries) retries are counted"
	proxy cut-down 300000 100
	script "open\tmain\nsession\n${broken_on}get\ta\n"
	run endpoint="$proxy" bucket=cut-libs3 retries=1 <"$scratch/script"
	wants '^get	UNAVAILABLE	'
	proxy cut-up 300000 1
	script "open\tmain\nsession\n${broken_on}put\tb\t1000000\nget\tb\ncounters\n"
	run endpoint="$proxy" bucket=cut-libs3 <"$scratch/script"
	wants '^put	OK'
	[ "$(counter retries)" = 1 ] || say "libs3: a cut upload: $(counter retries) retries are counted"
fi
finish
