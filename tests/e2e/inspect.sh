#!/usr/bin/env bash
# `bakeoff inspect`: whose folder it is, text and JSON from one tree, and errors that say what to do.
. "$(dirname "$0")/lib.sh" "$@"
export BAKEOFF_BACKENDS=$build/tests/plugins/demo

# wants_json JQ-EXPRESSION: true on what came
wants_json() {
	jq -e "$1" >/dev/null <<<"$out" || say "$ran: not $1: $out"
}

data=$scratch/data
mkdir -p "$data/main" "$data/.hidden" "$scratch/foreign/main" "$scratch/empty"
printf '12345' >"$data/main/demo"
printf '123' >"$scratch/foreign/main/demo"
printf 'my-mark\ndemo\n' >"$data/main/.bakeoff"

# the store's own folder, and the one above it
for folder in "$data/main" "$data" "$data/"; do
	run inspect "$folder"
	wants_status 0
	wants_out '^backend demo 1, folder '
	wants_out '^  ! demo: this is no store$'
	wants_out 'storage.bytes +5 bytes, estimated'
	wants_out '^  mark +my-mark'
	wants_out '^  table node$'
	wants_out '^    fill +0.5$'
	run inspect --format=json "$folder"
	wants_status 0
	wants_json '.schema == 1 and .backend.name == "demo" and .space == "main"'
	wants_json '.store.values["storage.bytes"] == {value: 5, unit: "bytes", estimate: true}'
	wants_json '.store.flags == [{code: "demo", text: "this is no store"}]'
	wants_json '.store.items[0] | .kind == "table" and .values.huge.value > 1.8e19'
	wants_json '.features.native == ["nodes"]'
	wants_json '.store.values | has("latin1") or has("nan") or has("") | not'
done

# without a mark: known by trying
run inspect "$scratch/foreign"
wants_status 0
wants_out 'storage.bytes +3 bytes'
run inspect --backend demo "$scratch/foreign/main"
wants_status 0
wants_out 'storage.bytes +3 bytes'

# two stores in one folder: neither is guessed
mkdir "$data/other"
printf 'my-mark\ndemo\n' >"$data/other/.bakeoff"
run inspect "$data"
wants_usage 'holds 2 stores; name one of the folders inside'

# bad input
run inspect
wants_usage 'what\? bakeoff inspect'
run inspect "$scratch/empty"
wants_usage 'no backend knows it'
run inspect "$scratch/missing"
wants_usage 'missing is not a folder'
run inspect dem
wants_usage "did you mean 'demo'\?"
run inspect demo
wants_usage 'neither path nor url is set'
run inspect --format xml demo
wants_usage "--format is 'xml', expected text or json"
run inspect --set pth=x demo
wants_usage "did you mean 'path'\?"
run inspect --set other.path=x demo
wants_usage "names 'other', but the backend here is 'demo'"
run inspect --set path demo
wants_usage "written name=value"
run inspect --backend mem "$scratch/empty"
wants_usage "backend 'mem' keeps nothing in a folder"
run inspect nosuch://host/
wants_usage "no backend takes URLs of 'nosuch://'"
printf 'only one line' >"$scratch/empty/.bakeoff"
run inspect "$scratch/empty"
wants_status 1
wants_err 'not a mark of bakeoff'
printf 'my-mark\nwho\n' >"$scratch/empty/.bakeoff"
run inspect "$scratch/empty"
wants_usage "backend 'who' is unknown"
# a mark names a backend; a path in it would load a stranger's code
cp "$build/tests/plugins/demo/bk-demo.so" "$scratch/empty/evil.so"
for name in ./evil.so "$scratch/empty/evil.so" evil.so ../evil; do
	printf 'my-mark\n%s\n' "$name" >"$scratch/empty/.bakeoff"
	cd "$scratch/empty"
	run inspect .
	wants_usage 'is unknown'
	cd "$scratch"
done
rm "$scratch/empty/evil.so"
run inspect "$(printf 'two\nlines')"
wants_usage 'is unknown'

# a damaged LevelDB folder: an answer, and no waiting for a pipe
if [ -e "$build/backends/bk-leveldb.so" ]; then
	cd "$scratch"
	cat >m.yaml <<'Y'
rounds: 1
durability: process
variants: [{name: v, nodes: leveldb}]
scenarios: [{name: n-children, n: 10}]
Y
	run run m.yaml --keep
	wants_status 0
	store=$(echo "$scratch"/bakeoff-data/*/v/nodes/d*)
	run inspect "$store"
	wants_status 0
	echo 'nonsense' >"$store/db/CURRENT"
	run inspect "$store"
	wants_status 1
	wants_err 'CURRENT is damaged: it names no MANIFEST'
	rm "$store/db/CURRENT"
	mkfifo "$store/db/CURRENT"
	run inspect "$store"
	wants_status 1
	wants_err 'CURRENT is a pipe or a device'
	rm "$store/db/CURRENT"
	run inspect "$store"
	wants_usage 'there is no store'
fi

# servers, and no secret in what is printed
export DEMO_PASSWORD=s3cret
for target in demo://user:s3cret@host/db "--backend=demo --set=url=demo://user:s3cret@host/db" \
	"--set demo.url=demo://user:s3cret@host/db demo"; do
	run inspect --format json $target
	wants_status 0
	wants_json '.store.values["server.version"].value == "1.2"'
	# the URL's own password counts, not the environment's
	wants_json '.options.url == "demo://user:*@host/db" and .options.password == null'
	[[ $out$err != *s3cret* ]] || say "$ran: a secret is shown"
done
run inspect --format json demo://user@host/db
wants_json '.options.url == "demo://user@host/db" and .options.password == "(secret)"'
[[ $out$err != *s3cret* ]] || say "$ran: a secret is shown"
finish
