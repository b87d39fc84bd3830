#!/usr/bin/env bash
# The arrows of the house: which room's files may include which room's headers. Called by ./dev lint.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# room: rooms that it may include (besides itself, base, and include/devlog)
allowed() {
  case "$1" in
    base) ;;
    sim) echo transport/ttsim_abi.h ;;
    transport) echo sim/sim.h ;;
    device) echo transport/ sim/sim.h ;;
    program) echo device/ transport/ ;;
    decode) ;;
    report) echo decode/ ;;
    profiler) echo program/ device/ transport/ decode/ report/ ;;
    ops) echo decode/ report/ ;;
    cli) echo report/ ops/ program/ profiler/ decode/ device/ transport/ ;;
  esac
}

bad=0
for room in host/*/; do
  room=$(basename "$room")
  while IFS=: read -r file line text; do
    header=${text#*\"}
    header=${header%%\"*}
    [[ $header == */* ]] || continue
    ok=0
    for prefix in "$room/" base/ devlog/ $(allowed "$room"); do
      [[ $header == "$prefix"* ]] && ok=1
    done
    if [ $ok = 0 ]; then
      echo "$file:$line: room $room may not include \"$header\" (docs/architecture.md, who may include whom)"
      bad=1
    fi
  done < <(grep -nE '^#include "' "host/$room"/*.[ch] /dev/null)
done

# Device code knows nothing of the host.
while IFS=: read -r file line text; do
  echo "$file:$line: device code may not include $text"
  bad=1
done < <(grep -nE '#include .*(host/|devlog/devlog\.h)' firmware/*.[chS] firmware/kernels/*.[ch] include/devlog/profile*.h \
  include/devlog/kernel.h include/devlog/record.h || true)

exit $bad
