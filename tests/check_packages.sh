#!/usr/bin/env bash
# The Debian packages: they are built of what is committed, hold what they should, and work from where they are unpacked: the
# program with its boards and pages, a host program by pkg-config, Python, completion; the wheel the same. Without debhelper: SKIPPED. They are
# made without debug symbols here, and the wheel is not optimised, for that takes twice as long; the Debian packages are, as the tests around this
# one are not: what they print is compared with what the program of the tests prints. Called by ctest: check_packages.sh [FOLDER], where they are left for check_install.sh.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$source"
fail() { printf '%s\n' "$*" >&2; exit 1; }
for tool in dh dh_python3 dpkg-buildpackage pyproject-build mpirun mpicc; do
  command -v $tool >/dev/null || { echo "SKIPPED: no $tool"; exit 77; }
done
git rev-parse HEAD >/dev/null 2>&1 || { echo "SKIPPED: not a clone"; exit 77; }
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
packages=${1:-$here/packages}
unset LD_PRELOAD DEVLOG_HOME
DEB_BUILD_OPTIONS="noopt noautodbgsym parallel=2" DEB_CFLAGS_MAINT_APPEND="-g0 -O2" DPKG_DEB_COMPRESSOR_TYPE=gzip WHEEL_BUILD_TYPE=None PACKAGES_FOLDER=$packages ./dev package --no-lint >"$here/said" 2>&1 || fail "$(tail -30 "$here/said")"
root=$here/root
for name in devlog libdevlog1 libdevlog-dev devlog-mpi python3-devlog devlog-doc; do
  dpkg-deb -x "$packages/${name}"_*.deb "$root" || fail "no package $name"
done
devlog=$root/usr/bin/devlog
[ "$("$devlog" --version | head -1)" = "devlog $(sed -n 's/#define DEVLOG_VERSION  *"\(.*\)"/\1/p' include/devlog/version.h)" ] || fail "another version"
[ "$("$devlog" --version | sed -n 's/^commit: //p')" = "$(git rev-parse HEAD)" ] || fail "--version says another commit"
"$devlog" --version | grep -qx 'USDT probes: yes' || fail "built without USDT probes"
"$devlog" boards | grep -q wormhole_b0 || fail "boards are not found beside the program"
log=$source/tests/golden/reference/log.csv
"$devlog" decode --no-files --format csv "$log" >"$here/program.csv"
[ -s "$here/program.csv" ] || fail "nothing is decoded"
mpi=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2)
"$devlog" decode --no-files "$log" >"$here/program.txt"
"${mpi[@]}" "$root/usr/bin/devlog-mpi" decode "$log" >"$here/ranks.txt" || fail "devlog-mpi does not run"
cmp "$here/ranks.txt" "$here/program.txt" || fail "devlog-mpi prints something else"
for page in devlog devlog-decode devlog-mpi-decode; do [ -s "$root/usr/share/man/man1/$page.1.gz" ] || fail "no page $page(1)"; done
[ -s "$root/usr/share/man/man7/devlog-environment.7.gz" ] || fail "no page devlog-environment(7)"
grep -q decode "$root/usr/share/bash-completion/completions/devlog" || fail "no completion for bash"
[ -s "$root/usr/share/zsh/vendor-completions/_devlog" ] || fail "no completion for zsh"
zones=$(PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 -c "import devlog, sys; print(len(devlog.decode(sys.argv[1]).zones))" "$log")
[ "$zones" -gt 0 ] || fail "Python finds no zones"
[ "$(DEVLOG_HOME=$root/usr/share/devlog DEVLOG_CACHE=$here/cache "$root/usr/lib/devlog/demo" 1 1 1 | tail -1 | cut -c1-8)" != "" ] || fail "the demo does not run"
# What an optimiser makes of it: the same figures, and chips behind a probe start.
if [ $# -gt 0 ]; then
  tested=$(dirname "$packages")/bin
  compared=0
  same() { # INPUT, what to do with it
    local status=(0 0)
    "$devlog" "${@:2}" "$1" >"$here/one" 2>"$here/one.said" || status[0]=$?
    "$tested/devlog" "${@:2}" "$1" >"$here/two" 2>"$here/two.said" || status[1]=$?
    [ "${status[0]}" = "${status[1]}" ] && cmp "$here/one" "$here/two" && cmp "$here/one.said" "$here/two.said" || fail "devlog ${*:2} $1: optimised, it says something else"
    [ ! -s "$here/one" ] || compared=$((compared + 1))
  }
  for input in tests/golden/*/log.csv; do
    same "$input" decode --no-files -f json
    same "$input" causes -f json
    same "$input" report -f json
    same "$input" export -f json -o -
  done
  for input in $(find tests/fuzz/corpus/device_log tests/fuzz/corpus/capture tests/fuzz/corpus/pack -type f | sort | awk 'NR % 60 == 1'); do
    same "$input" decode --no-files -f json
  done
  [ "$compared" -gt 12 ] || fail "only $compared outputs were compared"
  for board in usb_tile fe310 gd32vf103; do
    DEVLOG_HOME=$root/usr/share/devlog DEVLOG_CACHE=$here/cache DEVLOG_LOG_FOLDER=$here/logs DEVLOG_BOARD=$board TT_METAL_DEVICE_PROFILER=1 \
      "$tested/usb_model" --board $board "$root/usr/lib/devlog/demo" --device usb 2 1 1 >"$here/usb.said" 2>&1 || fail "the demo does not run on $board over USB: $(tail -1 "$here/usb.said")"
  done
fi
library=$(dirname "$(find "$root" -name libdevlog.so)")
printf '#include <devlog/version.h>\n#include <stdio.h>\nint main(void) { return puts(devlog_version()) < 0; }\n' >"$here/main.c"
PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$library/pkgconfig pkg-config --cflags --libs devlog >"$here/flags" || fail "pkg-config does not find devlog"
# shellcheck disable=SC2046
cc "$here/main.c" -o "$here/main" -I"$root/usr/include" -L"$library" $(cat "$here/flags") -Wl,-rpath,"$library"
[ "devlog $("$here/main")" = "$("$devlog" --version | head -1)" ] || fail "the library is of another version"
# The wheel, in an environment of its own and without network: package, program and what both read.
/usr/bin/python3 -m venv "$here/venv"
"$here/venv/bin/pip" install --quiet --no-index "$packages"/devlog-*.whl
found=$(cd "$here" && env -u PYTHONPATH "$here/venv/bin/python" -c "import devlog, sys; print(len(devlog.decode(sys.argv[1]).zones))" "$log")
[ "$found" = "$zones" ] || fail "the wheel's package finds $found zones, not $zones"
"$here/venv/bin/devlog" decode --no-files --format csv "$log" | cmp - "$here/program.csv" || fail "the wheel's program prints something else"
[ "$("$here/venv/bin/devlog" boards)" = "$("$devlog" boards)" ] || fail "the wheel's program has other boards"
