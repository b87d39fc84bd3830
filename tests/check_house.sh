#!/usr/bin/env bash
# The arrows of the house: which room's files may include which room's headers; and that no file is what a build or a run has left, by its
# size. Called by ./dev lint.
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
    pack) ;;
    outlets) ;;
    zones) echo decode/capture/ outlets/ ;;
    decode) echo pack/unpack.h pack/rows.h pack/frame.h pack/index.h sim/timing.h sim/rv32.h ;;
    report) echo decode/ ;;
    profiler) echo program/ device/ transport/ decode/ ops/op_log_write.h outlets/tracy.h ;;
    answers) echo decode/ report/ ops/ tt_metal/ profiler/profiler.h ;;
    ops) echo decode/ report/ profiler/profiler.h ;;
    tt_metal) echo decode/ report/ ops/ ;;
    ranks) echo answers/ ops/ decode/input.h decode/capture/capture.h ;;
    archive) echo answers/ report/sqlite_library.h report/page_history.h ;;
    cli) echo archive/ answers/ ranks/ pack/ report/ ops/ tt_metal/ program/ profiler/ decode/ device/ transport/ outlets/ ;;
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
  done < <(find "host/$room" -name '*.[ch]' -exec grep -nE '^#include "' /dev/null {} +)
done

# The rooms inside decode: what each may include of the others. All of them include the files at the top that
# include no room themselves; the door (decode.h) is for those who come after pairing.
within_decode() {
  case "$1" in
    log | clock | pair) ;;
    capture) echo decode/clock/ decode/price/ ;;
    price) echo decode/capture/records.h ;;
    analysis) echo decode/pair/ decode/decode.h ;;
    parts) echo decode/ ;;
  esac
}

for room in host/decode/*/; do
  room=$(basename "$room")
  while IFS=: read -r file line text; do
    header=${text#*\"}
    header=${header%%\"*}
    [[ $header == decode/* ]] || continue
    ok=0
    for prefix in "decode/$room/" $(within_decode "$room"); do
      [[ $header == "$prefix"* ]] && ok=1
    done
    [[ $header != decode/*/* ]] && ! grep -qE '^#include "decode/[a-z]+/' "host/$header" && ok=1
    if [ $ok = 0 ]; then
      echo "$file:$line: room decode/$room may not include \"$header\" (docs/architecture.md, who may include whom)"
      bad=1
    fi
  done < <(grep -nE '^#include "' "host/decode/$room"/*.[ch] /dev/null)
done

# The greatest file that belongs here is a picture of 235 KiB.
if git rev-parse --git-dir > /dev/null 2>&1; then
  while IFS= read -r -d '' file; do
    [[ -f $file && $(stat -c %s -- "./$file") -gt 524288 ]] || continue
    echo "$file: more than 512 KiB: data that was made is not committed"
    bad=1
  done < <(git ls-files -z)
fi

# Device code knows nothing of the host.
while IFS=: read -r file line text; do
  echo "$file:$line: device code may not include $text"
  bad=1
done < <(grep -nE '#include .*(host/|devlog/devlog\.h)' firmware/*.[chS] firmware/kernels/*.[ch] include/devlog/profile*.h \
  include/devlog/kernel.h include/devlog/record.h || true)

exit $bad
