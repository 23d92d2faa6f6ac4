#!/usr/bin/env bash
# Results files that lie, are damaged, or come from a stranger: refused in one line or read safely,
# and never does a byte of them command the terminal.
. "$(dirname "$0")/lib.sh" "$@"

cd "$scratch"
cat >m.yaml <<'Y'
rounds: 1
durability: none
variants: [mem]
scenarios: [{name: n-children, n: 10}]
Y
esc=$(printf '\033')
run run m.yaml --results good.db --note "a${esc}[2J
b"
wants_status 0
[[ $out != *$esc* ]] || say "$ran: the note's escape is shown"

# at rest it is one file: readable where nothing can be written
run runs --results good.db
wants_status 0
[ "$(echo good.db*)" = good.db ] || say "more than one file: $(echo good.db*)"

# altered SQL...: a copy of it, x.db
altered() {
	rm -f x.db*
	cp good.db x.db
	python3 - "$@" <<'P'
import sqlite3, sys
c = sqlite3.connect('x.db')
c.execute('PRAGMA writable_schema = ON')
for sql in sys.argv[1:]:
    c.execute(sql)
c.commit()
P
}
clean() {
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$scratch/.out" "$scratch/.err" ||
		say "$ran: a control character is shown"
}

# rounds sizes a list; compare must not believe it
for rounds in 0 -1 4294967295 1000000000 "'abc'"; do
	altered "UPDATE run SET rounds = $rounds"
	run compare --results x.db
	wants_usage 'run 1 is damaged: it says to have .* rounds'
done
altered 'UPDATE trial SET round = 77'
run compare --results x.db
wants_status 0

# another table where ours should be: its columns may be empty
altered "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')"
for command in runs show compare export; do
	run $command --results x.db
	wants_usage 'its tables are not those of schema 1'
done
# what a user adds does no harm
altered 'CREATE VIEW mine AS SELECT * FROM run' 'CREATE INDEX fast ON metric(name)'
run compare --results x.db
wants_status 0

# texts of a stranger
altered "UPDATE run SET matrix = char(27) || '[2J', note = char(155) || '2J', host = char(7)" \
	"UPDATE cell SET variant = char(27) || '[2J', kase = char(8)" \
	"UPDATE trial SET note = char(27), error = char(127)" \
	"UPDATE variant SET name = char(27) || '[2J', nodes = '[1]'"
for command in runs show compare 'compare --format md' 'show --format json' 'export --format json'; do
	run $command --results x.db
	wants_status 0
	[[ $command == *json ]] || clean
done

# bits that tip over, and files that end early: an answer or one line, never a crash
python3 - <<'P'
import random
good = open('good.db', 'rb').read()
random.seed(7)
for i in range(24):
    b = bytearray(good[:len(good) - 4096 * (i % 4)])
    for _ in range((1, 5, 50)[i % 3]):
        b[random.randrange(100, len(b))] ^= 1 << random.randrange(8)
    open(f'flip{i}.db', 'wb').write(b)
P
sum=$(cat flip*.db | cksum)
for file in flip*.db; do
	for command in show compare 'export --format json'; do
		run $command --results "$file"
		case $status in
		0) ;;
		1 | 2) [ "$(wc -l <<<"$err")" = 1 ] || say "$ran: more than one line: $err" ;;
		*) say "$ran: exit status $status: $err" ;;
		esac
		[[ $command == *json ]] || clean
	done
done
[ "$(cat flip*.db | cksum)" = "$sum" ] || say 'reading changed a damaged file'
head -c 20000 good.db >short.db
run run m.yaml --results short.db
wants_usage 'short.db'
[ "$(stat -c %s short.db)" = 20000 ] || say 'a damaged file was written to'

# a name is shown as one line of text
name=$(printf 'x\033[2J\n\377\302\2332J.db')
run run m.yaml --results "$name"
wants_status 0
clean
[ -f "$name" ] || say "$ran: no such file"
run runs --results "no-$name"
wants_usage 'has anything been run'
clean
run inspect "$name"
wants_usage 'is unknown|is not a folder'
clean
export HOME=$name XDG_CACHE_HOME=$name BAKEOFF_BACKENDS=$name
run doctor --data "$name"
clean
run backends
clean
finish
