#!/usr/bin/env bash
# Answers that a server gives rarely: each put in front of a real one, once or for as long as it takes.
# What is tried again is counted, and what an earlier try may have done is told.
. "$(dirname "$0")/lib.sh"
cluster_start "$scratch/ceph"
script() { printf "$@" >"$scratch/script"; }
uploads() { raw GET "/$1?uploads" | grep -o '<UploadId>' | wc -l; }
gone() { ! raw HEAD "/$1" >/dev/null || say "$ran: the bucket $1 is there"; }
begin='open\tmain\nmake\nsession\nput\ta\t1000\n'
on="sh\ttouch $broken\n" off="sh\trm -f $broken\n"

# both: busy, broken, without an error document (HEAD), at the very beginning
for backend in s3 s3-libs3; do
	[ -e "$BAKEOFF_BACKENDS/bk-$backend.so" ] || continue
	bucket=busy-$backend
	answers 'GET:prefix=:1:say=503,SlowDown'
	touch "$broken"
	script "${begin}leave\n"
	run endpoint="$proxy" bucket=$bucket <"$scratch/script"
	wants '^put	OK'
	answers 'PUT:/main/b:2:say=503,SlowDown' 'HEAD:/main/a:1:say=503,' 'HEAD:/main/a:1:say=408,' \
		'GET:/main/a:1:say=500,InternalError'
	script "open\tmain\nsession\n${on}put\tb\t1000\nstat\ta\nget\ta\nput\tb\t1000\ncounters\n"
	run endpoint="$proxy" bucket=$bucket <"$scratch/script"
	[ "$(grep -c '^put	OK' <<<"$out")" = 2 ] || say "$ran: $out"
	wants '^stat	OK	size=1000$'
	wants '^get	OK	good size=1000 got=1000$'
	[ "$(counter retries)" = 5 ] || say "$ran: $(counter retries) retries are counted, not 5"
	[ "$(counter requests)" = 10 ] || say "$ran: $(counter requests) requests are counted, not 10"
	answers 'PUT:/main/c:9:say=503,SlowDown' 'PUT:/main/d:1:say=500,InternalError' 'PUT:/main/d:9:say=503,SlowDown'
	script "open\tmain\nsession\n${on}put\tc\t10\nput\td\t10\n"
	run endpoint="$proxy" bucket=$bucket retries=2 <"$scratch/script"
	wants '^put	IO	http=[0-9]* retry ms=.*SlowDown.*after 2 tries more'
	wants '^put	IO	http=[0-9]* retry unknown ms=.*SlowDown.*after 2 tries more'

	# a proxy's page in the server's place
	answers 'PUT:/main/e:1:page=502' 'PUT:/main/f:9:page=502' 'GET:/main/e:1:page=503'
	script "open\tmain\nsession\n${on}put\te\t1000\nget\te\nput\tf\t10\n"
	run endpoint="$proxy" bucket=$bucket retries=1 <"$scratch/script"
	wants '^put	OK	size=1000$'
	wants '^get	OK	good size=1000 got=1000$'
	wants '^put	(IO|CORRUPT)	http=[0-9]* retry unknown ms=.*after 1 tries more'

	# buckets: ours already, made but not told, not to be made
	answers "PUT:^/owned-$backend/?\$:1:did=409,BucketAlreadyOwnedByYou" \
		"PUT:^/lost-$backend/?\$:9:did=500,InternalError" "PUT:^/full-$backend/?\$:9:say=400,TooManyBuckets" \
		"PUT:^/abort-$backend/?\$:9:say=409,OperationAborted"
	touch "$broken"
	script 'open\tmain\nmake\nunmake\n'
	run endpoint="$proxy" bucket=owned-$backend <"$scratch/script"
	wants '^make	OK'
	wants '^unmake	OK'
	gone owned-$backend
	run endpoint="$proxy" bucket=full-$backend retries=0 <"$scratch/script"
	wants '^make	NO_SPACE'
	gone full-$backend-claim
	run endpoint="$proxy" bucket=abort-$backend retries=0 <"$scratch/script"
	wants '^make	CONFLICT	.* retry'
	gone abort-$backend-claim
	script "open\tmain\nmake\n${off}make\nunmake\n"
	run endpoint="$proxy" bucket=lost-$backend retries=1 <"$scratch/script"
	wants '^make	IO	http=[0-9]* retry unknown'
	wants '^make	OK'
	wants '^unmake	OK'
	gone lost-$backend
	gone lost-$backend-claim

	# no length: not taken for an empty one; moved: not followed; quoted: not told
	answers 'GET:/main/a:1:chunked' 'HEAD:/main/a:9:say=301,' "DELETE:/main/b:1:say=403,$AWS_ACCESS_KEY_ID"
	script "open\tmain\nsession\n${on}get\ta\nstat\ta\nremove\tb\nget\ta\n"
	run endpoint="$proxy" bucket=$bucket <"$scratch/script"
	wants '^get	CORRUPT	.*does not say the size'
	wants '^get	OK	good size=1000'
	wants '^stat	INVALID'
	wants '^remove	AUTH|^remove	IO'
	lacks "$AWS_ACCESS_KEY_ID"
done

# a place that cannot be made leaves no claim
backend=s3
answers 'PUT:^/team-two$:9:say=400,TooManyBuckets'
script "open\tmain\n${on}place\tteam_two\tmark a\n"
run endpoint="$proxy" <"$scratch/script"
wants '^place	NO_SPACE'
gone team-two-claim

# other bytes than were asked for
answers 'GET:/main/a:1:header=content-range,bytes 0-9/1000'
script "open\tmain\nsession\n${on}get\ta\t10\t10\nget\ta\t10\t10\n"
run endpoint="$proxy" bucket=busy-s3 <"$scratch/script"
wants '^get	CORRUPT	.*other ones'
wants '^get	OK	good size=1000 got=10$'

# completions: an error within a 200, tried again or not; done, not told, and then found to be there
parts='part-size=5MiB multipart-threshold=5MiB'
answers 'POST:/x.uploadId:1:say=200,InternalError' 'POST:/y.uploadId:9:say=200,AccessDenied' \
	'POST:/z.uploadId:1:did=500,InternalError' 'POST:/z.uploadId:1:say=412,PreconditionFailed'
script "open\tmain\nsession\n${on}put\tx\t12582912\nput\ty\t12582912\nput\tz\t12582912\tcreate\nget\tx\nstat\ty\nget\tz\ncounters\n"
run endpoint="$proxy" bucket=busy-s3 $parts <"$scratch/script"
[ "$(grep -c '^put	OK	size=12582912' <<<"$out")" = 2 ] || say "$ran: $out"
[ "$(grep -c '^get	OK	good size=12582912' <<<"$out")" = 2 ] || say "$ran: $out"
wants '^put	AUTH	http=200.*AccessDenied'
wants '^stat	NOT_FOUND'
[ "$(counter retries)" = 2 ] || say "$ran: $(counter retries) retries are counted, not 2"
[ "$(uploads busy-s3)" = 0 ] || say 'a completion leaves an upload'

# an abort that is refused is not forgotten
answers 'DELETE:uploadId:9:say=503,SlowDown'
script "open\tmain\nsession\n${on}wopen\tleft\t31457280\nwrite\t12582912\nabort\nleave\n${off}clear\n"
run endpoint="$proxy" bucket=busy-s3 $parts <"$scratch/script"
grep -q '1 unfinished uploads could not be aborted' "$scratch/err" || say "nobody says that an upload is left: $(cat "$scratch/err")"
wants '^clear	OK'
[ "$(uploads busy-s3)" = 0 ] || say 'clear leaves an upload'
finish
