#!/usr/bin/env bash
# Objects, small and in parts: ranges, sizes told and untold, create-if-absent, abort; what is left
# behind when something is given up; buckets that are ours, lent, or somebody else's.
. "$(dirname "$0")/lib.sh"
cluster_start "$scratch/ceph"
mib=1048576

uploads() { raw GET "/$1?uploads" | grep -o '<UploadId>' | wc -l; }
etag() { raw HEAD "$1" -v | tr -d '\r' | sed -n 's/^etag: "\(.*\)"/\1/Ip'; }

# in parts, one and four at a time, signed and not, told and untold
for options in 'part-concurrency=1' 'part-concurrency=4' 'payload-signing=no part-concurrency=3'; do
	{
		printf 'open\tmain\nmake\nsession\n'
		for size in 0 1 $((5 * mib - 1)) $((5 * mib)) $((5 * mib + 1)) $((10 * mib)) $((23 * mib + 7)); do
			printf 'put\tk%s\t%s\nget\tk%s\n' $size $size $size
			printf 'put\tu%s\t%s\tunknown\nget\tu%s\n' $size $size $size
			printf 'put\tc%s\t%s\tcreate\nput\tc%s\t%s\tcreate\nget\tc%s\n' $size $size $size $size $size
		done
		printf 'get\tk%s\t%s\t%s\nget\tk%s\t%s\nget\tk%s\t%s\nget\tk%s\t%s\n' $((23 * mib + 7)) $((5 * mib - 3)) $((5 * mib + 9)) \
			$((23 * mib + 7)) $((23 * mib)) $((23 * mib + 7)) $((23 * mib + 7)) $((23 * mib + 7)) $((23 * mib + 8))
		printf 'leave\n'
	} >"$scratch/script"
	run bucket=parts part-size=5MiB multipart-threshold=5MiB verify=yes $options <"$scratch/script"
	lacks 'WRONG|CORRUPT|INTERNAL|UNAVAILABLE'
	[ "$(grep -c '^put	EXISTS' <<<"$out")" = 7 ] || say "$options: create of what is there: $out"
	wants "^get	OK	good size=$((23 * mib + 7)) got=$((5 * mib + 9))\$"
	wants "^get	OK	good size=$((23 * mib + 7)) got=7\$"
	wants "^get	OK	good size=$((23 * mib + 7)) got=0\$"
	wants '^get	INVALID'
	case $(etag /parts/main/k$((23 * mib + 7))) in *-5) ;; *) say "not five parts: $(etag /parts/main/k$((23 * mib + 7)))" ;; esac
	case $(etag /parts/main/k$((5 * mib))) in *-*) say 'the threshold itself is not one request' ;; esac
	[ "$(uploads parts)" = 0 ] || say "$options: uploads are left"
	printf 'open\tmain\nunmake\n' >"$scratch/script"
	run bucket=parts <"$scratch/script"
	wants '^unmake	OK'
done

# given up: nothing appears, nothing is left; another count than told: the same
{
	printf 'open\tmain\nmake\nsession\nput\told\t100\n'
	printf 'wopen\told\t%s\nwrite\t%s\nabort\nget\told\n' $((20 * mib)) $((12 * mib))
	printf 'wopen\tnew\t%s\nwrite\t%s\nfinish\nstat\tnew\n' $((20 * mib)) $((12 * mib))
	printf 'wopen\tnew\t%s\nwrite\t%s\nfinish\nstat\tnew\nleave\n' $((12 * mib)) $((20 * mib))
} >"$scratch/script"
run bucket=aborts part-size=5MiB multipart-threshold=5MiB <"$scratch/script"
wants '^get	OK	good size=100 got=100'
[ "$(grep -c '^finish	INVALID' <<<"$out")" = 2 ] || say "$out"
[ "$(grep -c '^stat	NOT_FOUND' <<<"$out")" = 2 ] || say "$out"
[ "$(uploads aborts)" = 0 ] || say 'uploads are left'

# a process that dies in the middle of an upload: clear() finds what it left, and only ours
raw POST '/aborts/theirs?uploads' >/dev/null
{
	printf 'open\tmain\nsession\nwopen\tnew\t%s\nwrite\t%s\n' $((20 * mib)) $((12 * mib))
	printf 'sh\tkill -9 $PPID\n'
} >"$scratch/script"
"$drive" s3 bucket=aborts part-size=5MiB multipart-threshold=5MiB <"$scratch/script" >/dev/null 2>&1 || true
[ "$(uploads aborts)" = 2 ] || say "expected two uploads, there are $(uploads aborts)"
raw PUT /aborts/main-beside -d theirs
raw PUT /aborts/foreign -d theirs
printf 'open\tmain\ninspect\nclear\nunmake\n' >"$scratch/script"
run bucket=aborts <"$scratch/script"
wants '^  uploads.unfinished=1$'
wants '^  binaries.count=1$'
wants '^unmake	OK'
[ "$(uploads aborts)" = 1 ] || say "of two uploads somebody else's one should be left, there are $(uploads aborts)"
[ "$(raw GET /aborts/foreign)" = theirs ] || say "a foreign object beside our prefix is gone"
[ "$(raw GET /aborts/main-beside)" = theirs ] || say "an object whose key begins like our prefix is gone"
[ "$(raw GET '/aborts?list-type=2' | grep -o '<Key>' | wc -l)" = 3 ] || say "the bucket should hold its mark and two: $(raw GET '/aborts?list-type=2')"

# a bucket that exists: refused, whatever is in it; lent with a mark; ours below a prefix
printf 'open\tmain\nmake\nclear\nunmake\n' >"$scratch/script"
raw PUT /strange-empty
raw PUT /strange-full
raw PUT /strange-full/main/x -d theirs
for bucket in strange-empty strange-full; do
	run bucket=$bucket <"$scratch/script"
	[ "$(grep -c '	FOREIGN	' <<<"$out")" = 3 ] || say "$bucket: $out"
done
raw PUT /strange-full/lent/.bakeoff -d ''
run bucket=strange-full prefix=lent <"$scratch/script"
[ "$(grep -c '	OK	' <<<"$out")" = 4 ] || say "lent: $out"
run bucket=strange-full <"$scratch/script"
[ "$(grep -c '	FOREIGN	' <<<"$out")" = 3 ] || say "beside what is lent: $out"
[ "$(raw GET /strange-full/main/x)" = theirs ] || say 'theirs is gone'
raw HEAD /strange-full/lent/.bakeoff >/dev/null || say 'the mark that its owner put there is gone'
printf 'open\tmain\ninspect\n' >"$scratch/script"
run bucket=strange-full <"$scratch/script"
wants '^inspect	OK'
wants '^  bucket.versioning=off$'
wants '^  server.product=Ceph radosgw$'

# two stores in a bucket: it goes with the last
printf 'open\ta\nmake\nclose\nopen\tb\nmake\nclose\nopen\ta\nunmake\nclose\nopen\tb\nsession\nleave\nunmake\n' >"$scratch/script"
run bucket=shared <"$scratch/script"
[ "$(grep -c '	OK	' <<<"$out")" = 13 ] || say "shared: $out"
! raw HEAD /shared >/dev/null || say 'the bucket that was made is still there'
! raw HEAD /shared-claim >/dev/null || say 'a claim is left'

# versions: what was overwritten goes too
raw PUT /versions
raw PUT '/versions?versioning' -d '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
raw PUT /versions/.bakeoff -d ''
printf 'open\tmain\nmake\nsession\nput\ta\t10\nput\ta\t20\nput\tb\t30\nremove\tb\nleave\nclear\nunmake\n' >"$scratch/script"
run bucket=versions <"$scratch/script"
wants '^unmake	OK'
[ "$(raw GET '/versions?versions&prefix=main/' | grep -oE '<(Version|DeleteMarker)>' | wc -l)" = 0 ] || say "versions are left: $(raw GET '/versions?versions')"

# places
env | sed -n "s/^\(AWS_[A-Z_]*\)=\(.*\)/export \1='\2'/p" >"$scratch/env" # the driver takes them out of its environment
printf 'open\tmain\nplace\tteam_one\tmark a\nplace\tteam_one\tmark b\nplaces\ndrop\tteam_one\tmark b\nsh\t. %s; python3 %s/s3.py PUT /team-one/k -d x\ndrop\tteam_one\tmark a\ndrop\tteam_one\tmark a\ndrop\tstrange-empty\tmark a\nplace\tstrange-empty\tmark a\n' "$scratch/env" "$here" >"$scratch/script"
run <"$scratch/script"
wants '^sh	OK	status=0$'
wants '^  team_one: mark a$'
wants '^place	EXISTS'
[ "$(grep -c '^drop	FOREIGN' <<<"$out")" = 2 ] || say "$out"
[ "$(grep -c '^drop	OK' <<<"$out")" = 1 ] || say "$out"
wants '^drop	NOT_FOUND'
! raw HEAD /team-one >/dev/null || say 'a place that was dropped is still there'
raw HEAD /strange-empty >/dev/null || say "somebody else's bucket is gone"

# the same safety through libs3, and stores of the two are not mistaken for each other
if [ -e "$BAKEOFF_BACKENDS/bk-s3-libs3.so" ]; then
	printf 'open\tmain\nmake\nsession\nput\ta+b c\t70000\nput\ta b+c\t70001\nget\ta+b c\nget\ta b+c\t10\t20\nlist\nleave\n' >"$scratch/script"
	backend=s3-libs3
	run bucket=by-libs3 <"$scratch/script"
	wants '^list	OK	count=2'
	wants '^get	OK	good size=70000 got=70000'
	wants '^get	OK	good size=70001 got=20'
	raw PUT /by-libs3/foreign -d theirs
	printf 'open\tmain\nmake\nclear\nunmake\n' >"$scratch/script"
	backend=s3
	run bucket=by-libs3 <"$scratch/script"
	[ "$(grep -c "	FOREIGN	.*its mark names the backend 's3-libs3'" <<<"$out")" = 3 ] || say "$out"
	backend=s3-libs3
	for bucket in strange-empty strange-full; do
		run bucket=$bucket <"$scratch/script"
		[ "$(grep -c '	FOREIGN	' <<<"$out")" = 3 ] || say "libs3: $bucket: $out"
	done
	run bucket=by-libs3 <"$scratch/script"
	wants '^unmake	OK'
	[ "$(raw GET /by-libs3/foreign)" = theirs ] || say 'libs3: a foreign object is gone'
fi
finish
