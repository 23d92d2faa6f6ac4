#!/usr/bin/env bash
# Who may and who may not: keys, session tokens, payload hashes, TLS with a CA of one's own; and no
# secret in anything that is printed.
. "$(dirname "$0")/lib.sh"
cluster_start "$scratch/ceph"
work='open\tmain\nmake\nsession\nput\ta\t5000\nget\ta\nleave\nunmake\nclose\n'
canary=canary/5f3759df+secret

# none, wrong, unknown
printf 'open\tmain\n' >"$scratch/open"
run access-key= secret-key= <"$scratch/open"
wants '^open	INVALID	.*no keys; set access-key and secret-key'
run secret-key=$canary <"$scratch/open"
wants '^open	AUTH	http=403.*SignatureDoesNotMatch.*is the secret key right'
lacks canary
run access-key=canaryCANARY secret-key=$canary <"$scratch/open"
wants '^open	AUTH	http=403.*InvalidAccessKeyId.*is the access key right'
lacks canary
run secret-key='with blank' <"$scratch/open"
wants '^open	INVALID	.*holds a blank'
run endpoint=http://key:$canary@127.0.0.1:1 <"$scratch/open"
wants '^open	INVALID	.*carries a user'
lacks canary
run addressing=virtual-host bucket=Not_aHost <"$scratch/open"
wants "^open	INVALID	.*'Not_aHost' cannot stand in a host name.*addressing=path"
if [ -e "$BAKEOFF_BACKENDS/bk-s3-libs3.so" ]; then
	backend=s3-libs3
	run secret-key=$canary <"$scratch/open"
	wants '^open	AUTH	.*SignatureDoesNotMatch'
	lacks canary
	run access-key="canary blank" <"$scratch/open"
	wants '^open	INVALID	.*access key holds a blank'
	lacks canary
	backend=s3
fi
# the canary in whatever the program says
for args in "inspect s3 --set endpoint=$AWS_ENDPOINT_URL --set secret-key=$canary" \
	"inspect $AWS_ENDPOINT_URL/bucket --set session-token=$canary" \
	"inspect s3 --set endpoint=http://127.0.0.1:1 --set secret-key=$canary --set access-key=$canary" \
	"conform s3 --run options --set secret-key=$canary" "backends s3"; do
	"$bakeoff" $args >"$scratch/said" 2>&1 || true
	! grep -q canary "$scratch/said" || say "bakeoff ${args%%--set*}... tells a secret: $(grep canary "$scratch/said" | head -1)"
done

# ... and in what a run writes, whether it comes to its end or is refused
for keys in '' ", secret-key: $canary, access-key: $canary"; do
	cat >"$scratch/run.yaml" <<-YAML
		rounds: 1
		seed: 1
		durability: none
		data: $scratch/data
		reference: by-s3
		variants:
		  - name: by-s3
		    nodes: {backend: mem}
		    binaries: {backend: s3, endpoint: "$AWS_ENDPOINT_URL/by-run"$keys}
		scenarios:
		  - {name: n-binaries, n: [3], size: [1000]}
	YAML
	"$bakeoff" run "$scratch/run.yaml" --results "$scratch/run.db" >"$scratch/said" 2>&1 && status=0 || status=$?
	[ -n "$keys" ] || [ "$status" = 0 ] || say "a run: $(tail -5 "$scratch/said")"
	"$bakeoff" show --results "$scratch/run.db" >>"$scratch/said" 2>&1 || true
	"$bakeoff" compare --results "$scratch/run.db" >>"$scratch/said" 2>&1 || true
	for secret in "$canary" "$AWS_SECRET_ACCESS_KEY" "$AWS_ACCESS_KEY_ID"; do
		! grep -qaF -- "$secret" "$scratch/said" "$scratch/run.db" || say "a run ($keys) tells a secret: $(grep -aF -- "$secret" "$scratch/said" | head -2)"
	done
done

# temporary keys of a role; with them radosgw names no reasons any more, so this comes after
cluster_rgw_kill
printf 'rgw s3 auth use sts = true\nrgw sts key = abcdefghijklmnop\n' >>"$cluster/ceph.conf"
cluster_rgw_start
policy='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam:::user/tester"]},"Action":["sts:AssumeRole"]}]}'
cluster_admin caps add --uid=tester --caps='roles=*' >/dev/null
cluster_admin role create --role-name=worker --path=/ --assume-role-policy-doc="$policy" >/dev/null
cluster_admin role-policy put --role-name=worker --policy-name=all \
	--policy-doc='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*"],"Resource":"arn:aws:s3:::*"}]}' >/dev/null
run session-token=$canary <"$scratch/open"
wants '^open	(AUTH|INVALID)	http=40[03]'
lacks canary
raw POST / -H 'content-type: application/x-www-form-urlencoded' \
	-d 'Action=AssumeRole&RoleArn=arn:aws:iam:::role/worker&RoleSessionName=testing&Version=2011-06-15' >"$scratch/sts"
part() { sed "s/.*<$1>//;s/<.*//" "$scratch/sts"; }
printf "$work" >"$scratch/work"
run access-key="$(part AccessKeyId)" secret-key="$(part SecretAccessKey)" session-token="$(part SessionToken)" bucket=by-role <"$scratch/work"
[ "$(grep -c '	OK	' <<<"$out")" = 8 ] || say "with a session token: $out"
run access-key="$(part AccessKeyId)" secret-key="$(part SecretAccessKey)" bucket=by-role <"$scratch/open"
wants '^open	AUTH'

# what arrives is not what was sent: the signed hash shows it, and without it the ETag does
for options in payload-signing=yes 'payload-signing=no verify=yes'; do
	proxy flip-up 30000 1
	printf 'open\tmain\nmake\nsession\nsh\ttouch %s\nput\ta\t50000\nstat\ta\nsh\trm %s\nput\ta\t50000\nget\ta\nleave\nunmake\n' "$broken" "$broken" >"$scratch/flip"
	run endpoint="$proxy" bucket=flipped $options <"$scratch/flip"
	wants '^put	CORRUPT'
	[ "$options" != payload-signing=yes ] || wants '^put	CORRUPT	http=400.*XAmzContentSHA256Mismatch'
	[ "$options" != payload-signing=yes ] || wants '^stat	NOT_FOUND'
	wants '^get	OK	good size=50000 got=50000'
done
proxy flip-down 30000 1
printf 'open\tmain\nmake\nsession\nput\ta\t50000\nsh\ttouch %s\nget\ta\nleave\nunmake\n' "$broken" >"$scratch/flip"
run endpoint="$proxy" bucket=flipped verify=yes <"$scratch/flip"
wants '^get	CORRUPT	.*MD5'

# TLS: refused without the CA, fine with it, in both styles, by host name too
run endpoint="$cluster_tls_url" <"$scratch/open"
wants '^open	AUTH	.*ca-file'
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=other \
	-keyout "$scratch/other.key" -out "$scratch/other.pem" 2>/dev/null
run endpoint="$cluster_tls_url" ca-file="$scratch/nothing.pem" <"$scratch/open"
wants '^open	INVALID'
# ... the system's certificates are not asked beside it
strace -f -qq -e trace=%file -o "$scratch/files" "$drive" s3 endpoint="$cluster_tls_url" ca-file="$scratch/other.pem" \
	<"$scratch/open" >"$scratch/out" 2>&1 || true
out=$(cat "$scratch/out") ran='drive with another CA'
wants '^open	AUTH	'
! grep -E '"(/etc/ssl|/usr/lib/ssl)/certs/' "$scratch/files" >"$scratch/asked" || say "the system's certificates are asked: $(head -2 "$scratch/asked")"
tls_port=${cluster_tls_url##*:}
for style in "$cluster_tls_url path" "https://s3.localhost:$tls_port path" "https://s3.localhost:$tls_port virtual-host"; do
	run endpoint="${style% *}" addressing="${style#* }" ca-file="$cluster_ca" bucket=by-tls <"$scratch/work"
	[ "$(grep -c '	OK	' <<<"$out")" = 8 ] || say "$style: $out"
done
AWS_CA_BUNDLE=$cluster_ca run endpoint="$cluster_tls_url" bucket=by-tls <"$scratch/work"
[ "$(grep -c '	OK	' <<<"$out")" = 8 ] || say "AWS_CA_BUNDLE: $out"

# libs3 checks no certificate: https only where that is said
if [ -e "$BAKEOFF_BACKENDS/bk-s3-libs3.so" ]; then
	backend=s3-libs3
	run endpoint="$cluster_tls_url" <"$scratch/open"
	wants '^open	INVALID	.*https is refused.*insecure-tls=yes'
	run endpoint="$cluster_tls_url" insecure-tls=yes bucket=by-libs3 <"$scratch/work"
	[ "$(grep -c '	OK	' <<<"$out")" = 8 ] || say "insecure-tls: $out"
fi
finish
