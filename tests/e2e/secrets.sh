#!/usr/bin/env bash
# A password given in any way, rightly or wrongly, is in no output and in no results file.
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
export BAKEOFF_BACKENDS=$build/tests/plugins/demo
hidden() { # in any of the ways in which it was written
	! grep -qaE "s3cret|s3cr.x65t|s3''cret|s3.?$" "$scratch/.out" "$scratch/.err" r.db* 2>/dev/null ||
		say "$ran: a secret is shown: $(grep -ahoE ".{0,80}(s3cret|s3cr.x65t|s3''cret|s3.?$).{0,20}" "$scratch/.out" "$scratch/.err" r.db* | head -3)"
}

# ways to write one in a matrix; mem has no such option, so each stands at a variant that does not run
for value in s3cret '"s3cr\x65t"' "'s3''cret'" $'"s3\\\n      cret"'; do
	for option in "password: $value" "url: demo://u:s3cret@h/d"; do
		rm -f r.db*
		cat >m.yaml <<Y
rounds: 1
durability: none
variants:
  - mem
  - {name: theirs, nodes: {backend: demo, $option}} # once it was s3cret
scenarios: [{name: n-uris, n: 5}]
Y
		[[ $value$option == *\"*password* || $option == *\'* || $option == *\"* ]] &&
			sed -i 's/ # once.*//' m.yaml
		run run m.yaml --variants mem --results r.db
		wants_status 0
		hidden
		run show --results r.db
		hidden
	done
done

rm -f r.db*
# on the command line, in the wrong place
printf 'variants: [mem]\nscenarios: [n-uris]\n' >m.yaml
url=demo://user:s3cret@host/d
for set in password=s3cret demo.password=s3cret mem.password=s3cret .password=s3cret s3cret; do
	run run m.yaml --set $set --results r.db
	wants_status 2
	hidden
	run inspect mem --set $set
	wants_status 2
	hidden
done
for command in run inspect\ --backend\ demo exec provision reset teardown backends conform scenarios \
	'runs --results' 'run m.yaml --data' 'exec mem --data' ''; do
	run $command $url </dev/null
	hidden
	run $command nosuch${url#demo}
	hidden
done
for text in "variants: [\"$url\"]" "variants: [{name: x, nodes: \"$url\"}]" \
	"variants: [{name: x, nodes: {backend: demo, pasword: s3cret}}]" \
	"variants: [{name: x, password: s3cret, nodes: demo}]"; do
	printf '%s\nscenarios: [n-uris]\n' "$text" >m.yaml
	run run m.yaml --results r.db
	wants_status 2
	hidden
done
finish
