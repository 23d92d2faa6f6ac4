# Source it first, with the arguments of a test, where other users run the program.  A checkout may
# lie where only its owner gets in, as a home folder does: they get a copy then.
#   $program $build $scripts   the program, the build folder, this folder, or copies of them
program=$1 build=$2 scripts=$(dirname "$0")
if [ "$(id -u)" = 0 ] && ! setpriv --reuid 61234 --regid 61234 --clear-groups test -x "$program" -a -x "$0"; then
	reachable_copy=$(mktemp -d -p "${scratch:-${TMPDIR:-/tmp}}")
	chmod 755 "$reachable_copy"
	mkdir -p "$reachable_copy"/{tests/service,build/tests/service}
	cp "$program" "$reachable_copy/build/"
	cp -rL "$build/backends" "$build/matrix" "$reachable_copy/build/"
	cp -r "$build/tests/service/backends" "$reachable_copy/build/tests/service/"
	cp "$scripts"/*.sh "$reachable_copy/tests/service/"
	cp "$scripts/../lib.sh" "$reachable_copy/tests/"
	chmod -R go+rX "$reachable_copy"
	build=$reachable_copy/build program=$reachable_copy/build/$(basename "$program")
	scripts=$reachable_copy/tests/service
fi
