# What the tests of services share: source it first.  $1: the program, $2: the build folder.
#
# Nobody else's servers are looked at: what counts as left behind is what was noted while it ran.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh" "$@"
chmod 755 "$scratch"
export BAKEOFF_BACKENDS=$build/backends:$build/tests/service/backends
# Templates are kept from test to test; lists of servers are each test's own.
export XDG_CACHE_HOME=$scratch/cache
mkdir -p "$XDG_CACHE_HOME/bakeoff"
templates=${TMPDIR:-/tmp}/bakeoff-tests-$(id -u)
mkdir -p -m 700 "$templates"
ln -s "$templates" "$XDG_CACHE_HOME/bakeoff/templates"
begun_s=$(date +%s) # memory that is older was made by an earlier process of that number
noted=$scratch/noted
: >"$noted"

# Those of the servers that this build can start.
servers=()
for name in rediskv postgresql mysql; do
	[ -e "$build/backends/bk-$name.so" ] || [ -e "$build/tests/service/backends/bk-$name.so" ] ||
		continue
	servers+=("$name")
done

tidy() {
	local pid start
	# only the very process that was noted
	while read -r _ pid start; do
		[ -n "$start" ] && [ "$(started "$pid")" = "$start" ] && kill "$pid" || true
	done < <(grep '^keeper' "$noted" || true)
	"$bakeoff" teardown >/dev/null 2>&1 || true
	rm -rf "$scratch"
}
trap tidy EXIT

# When a process began; nothing for one that is gone
started() {
	awk '$3 != "Z" {print $22}' "/proc/$1/stat" 2>/dev/null || true
}

# A process and all its descendants, by pid
tree() {
	local pid
	echo "$1"
	for pid in $(pgrep -P "$1" || true); do
		tree "$pid"
	done
}

# note: every server that runs now under this test's cache: keeper, processes, folders.  Fit to be
# called from the command of an exec.
note() {
	local link folder keeper pid
	for link in "$XDG_CACHE_HOME"/bakeoff/instances/*; do
		folder=$(readlink "$link") || continue
		[ -e "$folder/state.json" ] || continue
		keeper=$(jq .keeper.pid "$folder/state.json" 2>/dev/null) || continue
		echo "keeper $keeper $(started "$keeper")" >>"$noted"
		for pid in $(tree "$keeper"); do
			echo "process $pid $(started "$pid")" >>"$noted"
			{ grep -o '/dev/shm/[^/ ]*$' "/proc/$pid/maps" 2>/dev/null || true; } |
				sort -u | sed 's/^/folder /' >>"$noted"
		done
		echo "folder $folder" >>"$noted"
		echo "folder $(jq -r .run "$folder/state.json" 2>/dev/null)" >>"$noted"
	done
}
export -f note tree started
export noted

# The first noted pid of a kind; `server` is the process that the keeper started.
noted_keeper() {
	awk '$1 == "keeper" {print $2; exit}' "$noted"
}
noted_server() {
	awk -v k="$(noted_keeper)" '$1 == "process" && $2 != k {print $2; exit}' "$noted"
}

left() {
	local kind what start
	while read -r kind what start; do
		case $kind in
		process | keeper)
			if [ "$kind" = process ] && [ -n "$start" ] &&
				[ "$(started "$what")" = "$start" ]; then
				echo "process $what: $(tr '\0' ' ' <"/proc/$what/cmdline")"
			fi
			if [ "$kind" = process ] &&
				awk -v p="$what" -v t="$begun_s" 'NR > 1 && $5 == p && $14 >= t {f = 1} END {exit !f}' \
					/proc/sysvipc/shm; then
				echo "shared memory made by $what"
			fi
			;;
		folder) [ ! -e "$what" ] || echo "folder $what" ;;
		esac
	done < <(sort -u "$noted")
}

# wants_clean WHAT [SECONDS]: nothing noted is left, within that time; then forgets it
wants_clean() {
	local until=$((SECONDS + ${2:-0})) rest
	grep -q '^process' "$noted" || say "$1: the test noted no server"
	while rest=$(left); [ -n "$rest" ] && [ "$SECONDS" -lt "$until" ]; do
		sleep 0.1
	done
	[ -z "$rest" ] || say "$1: left behind: $rest"
	rest=$(ls -A "$XDG_CACHE_HOME/bakeoff/instances" 2>/dev/null || true)
	[ -z "$rest" ] || say "$1: still listed: $rest"
	: >"$noted"
}

# Processes gone within that time, whatever happens to the folders
wants_no_process() {
	local until=$((SECONDS + $2)) rest
	while rest=$(left | grep -v '^folder' || true); [ -n "$rest" ] && [ "$SECONDS" -lt "$until" ]; do
		sleep 0.1
	done
	[ -z "$rest" ] || say "$1: left behind: $rest"
}

# await FILE: until it is there
await() {
	local until=$((SECONDS + 60))
	until [ -s "$1" ]; do
		if [ "$SECONDS" -ge "$until" ]; then
			say "waited in vain for $1"
			return
		fi
		sleep 0.02
	done
}

# A shell command that asks the server one question; it prints 1
question() {
	case $1 in
	rediskv) echo 'if [ -n "${BAKEOFF_REDISKV_HOST-}" ]; then
		redis-cli --no-auth-warning -h "$BAKEOFF_REDISKV_HOST" -p "$BAKEOFF_REDISKV_PORT" EXISTS nothing
		else redis-cli -s "$BAKEOFF_REDISKV_SOCKET" EXISTS nothing; fi | tr 0 1' ;;
	postgresql) echo 'psql -XAtc "select 1"' ;;
	mysql) echo 'mariadb -BNe "select 1"' ;;
	esac
}

# In a mount namespace of its own: with_mounts COMMANDS ARGUMENT...: a shell runs COMMANDS, which
# mount things, then the program with the arguments; sets $status, $out, $err
with_mounts() {
	local mounts=$1 ns=(unshare -m)
	shift
	[ "$(id -u)" = 0 ] || ns=(unshare -m -U --map-current-user --keep-caps)
	status=0
	"${ns[@]}" bash -c "set -e; $mounts; "'exec "$@"' - "$bakeoff" "$@" \
		>"$scratch/.out" 2>"$scratch/.err" </dev/null || status=$?
	out=$(cat "$scratch/.out")
	err=$(cat "$scratch/.err")
	ran="$mounts; bakeoff $*"
}
