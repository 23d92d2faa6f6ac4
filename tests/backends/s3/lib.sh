# What the scripts of this folder share: source it first.  $1: bakeoff, $2: drive, $3: backends, $4:
# the backend (s3 unless given).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bakeoff=$1 drive=$2
export BAKEOFF_BACKENDS=$3
backend=${4:-s3}
scratch=$(mktemp -d)
failures=0
cluster=''
proxy_pids=''
broken=$scratch/broken
. "$here/cluster.sh"
unset AWS_SESSION_TOKEN AWS_CA_BUNDLE BAKEOFF_S3_BUCKET
trap 'status=$?; for pid in $proxy_pids; do kill "$pid" 2>/dev/null || true; done
	[ -z "$cluster" ] || cluster_stop; rm -rf "$scratch"; exit $status' EXIT

say() {
	printf 'FAILED: %s\n' "$*"
	failures=$((failures + 1))
}
finish() {
	[ "$failures" = 0 ] || exit 1
}
# raw ARGUMENT...: one request by the independent signer
raw() { python3 "$here/s3.py" "$@"; }

# run OPTION=VALUE... : drive with the script on standard input; what it prints is in $out
run() {
	ran="drive $backend $*"
	timeout "${run_limit:-280}" "$drive" "$backend" "$@" >"$scratch/out" 2>"$scratch/err" || say "$ran: ended with $?: $(tail -3 "$scratch/err")"
	out=$(cat "$scratch/out")
}
wants() {
	grep -qE -- "$1" <<<"$out" || say "$ran: lacks /$1/:"$'\n'"$out"
}
lacks() {
	! grep -qE -- "$1" <<<"$out" || say "$ran: has /$1/:"$'\n'"$out"
}
# counter NAME: its last value in $out
counter() { grep -oE "^  $1=[0-9]+" <<<"$out" | tail -1 | cut -d= -f2; }
# in_front PROGRAM ARGUMENT...: a proxy before the cluster; $proxy is its URL, the file $broken arms it
in_front() {
	rm -f "$broken" "$scratch/port"
	python3 "$here/$1" "$cluster_port" "${@:2}" >"$scratch/port" &
	proxy_pids="$proxy_pids $!"
	until [ -s "$scratch/port" ]; do sleep 0.02; done
	proxy=http://127.0.0.1:$(cat "$scratch/port")
}
# proxy HOW AT TIMES: connections break
proxy() { in_front proxy.py "$1" "$2" "$3" "$broken"; }
# answers RULE...: requests are answered in the server's place
answers() { in_front answers.py "$broken" "$@"; }
