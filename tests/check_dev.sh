#!/usr/bin/env bash
# The door itself: what ./dev says and how it exits when it is asked for something that is not there, and from another
# folder. Nothing is installed or built here: stand-ins for the tools that would do so come first in PATH.
set -uo pipefail
dev=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/dev
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
printf '#!/bin/sh\nexit 0\n' >"$tools/cmake"
printf '#!/bin/sh\necho install ok installed\n' >"$tools/dpkg-query"
chmod +x "$tools"/*
export PATH=$tools:$PATH
bad=0

expect() { # exit code, text that must be said, arguments of ./dev
  local code=$1 text=$2 said got
  shift 2
  said=$(cd / && CI='' "$dev" "$@" 2>&1)
  got=$?
  [ "$got" = "$code" ] && [[ $said == *"$text"* ]] && return
  printf 'dev %s: exit %s instead of %s, or it does not say "%s":\n%s\n' "$*" "$got" "$code" "$text" "$said"
  bad=1
}

expect 0 './dev demo' help
expect 0 './dev demo'
expect 2 "unknown command 'typo'" typo
[ ! -d "${dev%/dev}/build/asan" ] || expect 8 'No tests were found' test no_such_test
[ ! -d "${dev%/dev}/build/asan" ] || expect 8 "No tests were found for 'no_such_test'" test test_error no_such_test
expect 2 "no bench 'typo'" bench typo
expect 2 "'typo' is none of them" fuzz typo
expect 2 "no fuzz target 'typo'" fuzz 1 typo
# CI fuzzes every target, on as many inputs as ci_runs says.
cd "${dev%/dev}/tests/fuzz" || exit 1
for target in fuzz_*.c; do
  name=${target#fuzz_}
  grep -qE "^${name%.c} [0-9]+$" ci_runs || { echo "tests/fuzz/ci_runs does not say how many inputs of ${name%.c} CI tries"; bad=1; }
done
exit $bad
