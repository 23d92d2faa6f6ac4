#!/usr/bin/env bash
# Bad matrices: one clear line with its place, exit status 2, and no results file.
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
good='variants: [mem]
scenarios:
  - {name: n-children, n: 10}
'

# refuses REGEX TEXT: a matrix of that text
refuses() {
	printf '%b' "$2" >m.yaml
	run run m.yaml --results r.db
	wants_usage "$1"
	[ ! -e r.db ] || say "$ran: made a results file"
	[ ! -e bakeoff-data ] || say "$ran: made a data folder"
	rm -rf r.db bakeoff-data
}

refuses '^bakeoff: m.yaml:3:1: a tab' 'variants: [mem]\nscenarios:\n\t- {name: n-children}\n'
refuses "m.yaml:3:1: key 'variants' is there already, on line 1" 'variants: [mem]\nscenarios: [n-uris]\nvariants: [mem]\n'
refuses "m.yaml:1:1: key 'varaints' is unknown; did you mean 'variants'" 'varaints: [mem]\n'
refuses "m.yaml:4:11: scenario 'n-chidren' is unknown; did you mean 'n-children'" 'variants:\n  - mem\nscenarios:\n  - name: n-chidren\n'
refuses "m.yaml:5:5: scenario 'n-children' has no parameter 'acess'; did you mean 'access'" 'variants: [mem]\nscenarios:\n  - name: n-children\n    n: 10\n    acess: native\n'
refuses "m.yaml:2:35: n: .*-5" 'variants: [mem]\nscenarios: [{name: n-children, n: -5}]\n'
refuses "m.yaml:2:35: n: 0 is out of range" 'variants: [mem]\nscenarios: [{name: n-children, n: 0}]\n'
refuses "m.yaml:2:35: the list of 'n' is empty" 'variants: [mem]\nscenarios: [{name: n-children, n: []}]\n'
refuses "m.yaml:1:11: the list of variants is empty" 'variants: []\nscenarios: [n-uris]\n'
refuses "m.yaml:2:12: the list of scenarios is empty" 'variants: [mem]\nscenarios: []\n'
refuses "m.yaml:1:12: variant 'zebra' is unknown; .*BAKEOFF_BACKENDS adds folders" 'variants: [zebra]\nscenarios: [n-uris]\n'
refuses "an anchor" 'variants: &v [mem]\nscenarios: [n-uris]\n'
refuses "an alias" 'variants: [mem]\nscenarios: *v\n'
refuses "a merge|an alias" 'variants: [mem]\n<<: {rounds: 2}\nscenarios: [n-uris]\n'
refuses "a tag" 'variants: !!seq [mem]\nscenarios: [n-uris]\n'
refuses "second document" 'variants: [mem]\nscenarios: [n-uris]\n---\na: b\n'
refuses "m.yaml: the file is empty" ''
refuses "m.yaml: the file is empty" '# nothing\n'
refuses "a matrix is a mapping" '- mem\n'
refuses "NUL byte" 'variants: [mem]\0\n'
refuses "not a text file in UTF-8" 'variants: [\xff\xfe]\n'
refuses "m.yaml:1:12: variant 'lveldb-none' is unknown" 'variants: [lveldb-none]\nscenarios: [n-uris]\n'
refuses "variant 'mem' is in the matrix twice" 'variants: [mem, mem]\nscenarios: [n-uris]\n'
refuses "case n-uris\[n=1000\] is in the matrix twice" 'variants: [mem]\nscenarios: [n-uris, n-uris]\n'
refuses "m.yaml:1:9: rounds: 0 is out of range" "rounds: 0\n$good"
refuses "m.yaml:1:9: rounds: " "rounds: three\n$good"
refuses "m.yaml:1:13: durability 'maschine' is unknown; did you mean 'machine'" "durability: maschine\n$good"
refuses "m.yaml:1:12: reference variant 'nem' is unknown; did you mean 'mem'" "reference: nem\n$good"
refuses "m.yaml:1:10: guard 'tiem' is unknown; did you mean 'time'" "guards: {tiem: 1s}\n$good"
refuses "m.yaml:4:[0-9]+: variant 'file' is not in this matrix" "${good}exclude: [{variant: file}]\n"
refuses "every cell is excluded" "${good}exclude: [{variant: mem}]\n"
refuses "parameter 'access' without a scenario" "${good}exclude: [{access: native}]\n"
refuses "hierarchy 'pairtree 40x2' is none" 'variants: [mem]\nscenarios: [{name: n-children, hierarchy: pairtree 40x2}]\n'
refuses "has no store of binaries" 'variants: [{name: x, nodes: mem}]\nscenarios: [n-binaries]\n'
refuses "option 'pretend-durble'|pretend-durable" 'variants: [{name: x, nodes: {backend: mem, pretend-durble: yes}}]\nscenarios: [n-uris]\n'
refuses "m.yaml:1:[0-9]+: .*no-such" 'variants: [{name: x, nodes: {backend: no-such}}]\nscenarios: [n-uris]\n'
refuses "m.yaml:1:[0-9]+: .*" 'variants: [{name: x, nodes: {backend: ./bk-evil.so}}]\nscenarios: [n-uris]\n'

refuses 'm.yaml:1:7: a value holds a line end, a tab or another control character' 'name: "a\\e[2Jb"\n'"$good"
refuses 'm.yaml:1:7: a value holds .* control' 'name: "a\\x9b2Jb"\n'"$good"
refuses 'm.yaml:1:7: a value holds a line end' 'name: |\n  a\n'"$good"

# Windows: a byte order mark and CRLF
printf '\xef\xbb\xbfrounds: 2\r\nvariants: [mem]\r\nscenarios: [n-uris]\r\n' >m.yaml
run run m.yaml --dry-run
wants_status 0
printf '\xef\xbb\xbfvarants: [mem]\n' >m.yaml
run run m.yaml
wants_usage "m.yaml:1:1: key 'varants'"

# a list of a million values
{ printf 'variants: [mem]\nscenarios: [{name: n-children, n: ['; seq -s, 1000000; printf ']}]\n'; } >m.yaml
run run m.yaml --results r.db
wants_usage 'm.yaml'
{ printf 'variants: [mem]\nscenarios: [{name: n-children, n: ['; seq -s, 2000; printf ']}]\n'; } >m.yaml
run run m.yaml --results r.db
wants_usage 'more than 1000 entries'
head -c 100000 /dev/urandom >m.yaml
run run m.yaml --results r.db
wants_usage 'm.yaml'
run run missing.yaml --results r.db
wants_usage 'missing.yaml: No such file'
run run . --results r.db
wants_usage 'this is a folder'
run run
wants_usage 'FILE'
[ ! -e r.db ] || say 'a results file was made'

printf '%b' "$good" >m.yaml
run run m.yaml --only 'mem/n-chidren*' --results r.db
wants_usage "matches none of 1 cells; they are called like mem/n-children\[n=10,access=document\]"
run run m.yaml --variants zebra --results r.db
wants_usage "'zebra' is not in this matrix; add it to the file's .variants."
run run m.yaml --rounds 0 --results r.db
wants_usage -- '--rounds: 0 is out of range'
run run m.yaml --set nosuch.x=1 --results r.db
wants_usage "called 'nosuch'"
run run m.yaml --set mem.nosuch=1 --results r.db
wants_usage 'nosuch'
run run m.yaml --set x --results r.db
wants_usage 'option=value'
run run m.yaml --set pretend-durble=yes --results r.db
wants_usage "no backend of this run has an option 'pretend-durble'"
run run m.yaml --set pretend-durable=yes --dry-run
wants_status 0

# the place of the data is looked at before the results file is made
for data in m.yaml m.yaml/x '' /dev/null; do
	run run m.yaml --data "$data" --results r.db
	wants_usage 'data folder'
	[ ! -e r.db ] || say "$ran: made a results file"
	rm -f r.db
done

# what only looks like a file's name would lose the results, or write to a device
mkfifo pipe
for path in '' /dev/null /dev/zero pipe; do
	run run m.yaml --results "$path"
	wants_usage 'not a results file'
done
sed -i '1i durability: none' m.yaml
for path in :memory: 'file:x?mode=memory'; do
	run run m.yaml --rounds 1 --results "$path"
	wants_status 0
	run runs --results "$path"
	wants_out ' done '
	[ -f "./$path" ] || say "$ran: no such file"
done
printf '%b' "$good" >m.yaml
run run m.yaml --results .
wants_usage 'is a folder, not a results file'
echo 'hello, I am somebody else' >other.db
run run m.yaml --results other.db
wants_usage 'is not a results file'
[ "$(cat other.db)" = 'hello, I am somebody else' ] || say 'a foreign file was touched'
finish
