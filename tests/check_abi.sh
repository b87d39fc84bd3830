#!/usr/bin/env bash
# The binary interface of libdevlog.so is that which its version has in tests/abi/libdevlog-VERSION.abi: symbols with their
# versions, signatures, and every struct and enum of the public headers. A change needs a new DEVLOG_VERSION_MINOR in
# include/devlog/version.h, and one that breaks programs a new SOVERSION too; `./dev abi` writes the file of a version that is not
# out yet. That the check shuts is checked as well: on changed copies of the headers.
# Called by ctest: check_abi.sh BUILD; check_abi.sh BUILD write writes the file. Exit status 77: abigail-tools are missing.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
library=$1/lib/libdevlog.so
headers=$source/include/devlog

fail() { printf '%s\n' "$*" >&2; exit 1; }

command -v abidw >/dev/null && command -v abidiff >/dev/null || { echo "SKIPPED: abidw and abidiff (Debian: abigail-tools) are not installed"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "SKIPPED: tests/abi is of x86_64"; exit 77; }
number() { sed -n "s/^#define DEVLOG_VERSION_$1 *//p" "$headers/version.h"; }
version=$(number MAJOR).$(number MINOR)
kept=$source/tests/abi/libdevlog-$version.abi
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

soname() { objdump -p "$library" | awk '/SONAME/ { print $2 }'; }
interface() { # library, folder of its headers: what of it is public
  abidw --headers-dir "$2" --drop-private-types --exported-interfaces-only --no-comp-dir-path --no-corpus-path --no-show-locs \
    --no-elf-needed --no-write-default-sizes "$1"
}
differs() { # file of an interface, library, folder of its headers: the exit status is abidiff's, what it says is in $here/said
  interface "$2" "$3" >"$here/new.abi"
  abidiff --harmless --no-show-locs "$1" "$here/new.abi" >"$here/said" 2>&1
}

if [ "${2:-}" = write ]; then
  [ -z "$(git -C "$source" tag -l "v$version" "v$version.*")" ] ||
    fail "version $version is out, and its interface stays what it is: raise DEVLOG_VERSION_MINOR in include/devlog/version.h"
  interface "$library" "$headers" >"$kept"
  exit
fi
[ -s "$kept" ] || fail "there is no $kept: ./dev abi writes the interface of a new version"

status=0
differs "$kept" "$library" "$headers" || status=$?
[ $status = 0 ] || {
  cat "$here/said"
  fail "the interface of $library is not that of version $version. If it is meant, raise DEVLOG_VERSION_MINOR in include/devlog/version.h
(and SOVERSION in host/CMakeLists.txt when programs have to be built again), give what is new a node in host/libdevlog.map, and run ./dev abi"
}
# Programs that were built with an older version of the same soname run with this one: abidiff's 8 is what cannot.
for old in "$source"/tests/abi/libdevlog-*.abi; do
  status=0
  differs "$old" "$library" "$headers" || status=$?
  ((status & 8)) && grep -q "soname='$(soname)'" "$old" &&
    fail "$(cat "$here/said")"$'\n'"programs of $old break, and the soname is the same"
done

# A library of these headers: every function and variable that they declare, and nothing in it.
stub() { # folder of headers, version script, output
  printf '#include "%s"\n' "$1"/{version,devlog,decode,results,budget,answers,host}.h >"$here/all.c"
  { cat "$here/all.c"
    cc -E -P "-I$1/.." "$here/all.c" | grep -v '^#' | tr '\n' ' ' | sed 's/[;{}]/&\n/g' | grep -E '\bdevlog_[a-z_0-9]+\(' |
      sed 's/;$/ { __builtin_trap(); }/'
    grep -ohE '^extern int devlog_[a-z_]+;' "$1"/*.h | sed 's/^extern //'
  } >"$here/stub.c"
  cc -g -shared -fPIC -fvisibility=hidden -I"$1/.." "$here/stub.c" -o "$3" -Wl,-soname,"$(soname)" -Wl,--version-script="$2"
}
map=$source/host/libdevlog.map
stub "$headers" "$map" "$here/same.so"
differs "$kept" "$here/same.so" "$headers" || fail "a library made of the headers alone differs: $(cat "$here/said")"

shuts() { # what is done; sed program for a header; header; sed program for libdevlog.map
  rm -rf "$here/include" && mkdir "$here/include" && cp -r "$headers" "$here/include"
  sed -i "$2" "$here/include/devlog/$3"
  sed "$4" "$map" >"$here/map"
  cmp -s "$here/include/devlog/$3" "$headers/$3" && cmp -s "$here/map" "$map" && fail "nothing was changed: $1"
  stub "$here/include/devlog" "$here/map" "$here/changed.so"
  if differs "$kept" "$here/changed.so" "$here/include/devlog"; then fail "the check does not see: $1"; fi
}
shuts "a member that is new at the end" 's/^} devlog_chip;/    double more; &/' decode.h ''
shuts "a member of another type" 's/uint64_t count, min, max;/uint32_t count, min, max;/' decode.h ''
shuts "members that changed places" 's/uint32_t x, y;/uint32_t y, x;/' devlog.h ''
shuts "an option that is new" 's/^} devlog_ops_options;/    bool more; int most; &/' devlog.h ''
shuts "a constant that is new in the middle" 's/^    DEVLOG_ERR_MEMORY,/    DEVLOG_ERR_NEW, &/' devlog.h ''
shuts "a constant that is gone" '/^    DEVLOG_RECORD_STREAM,/d' devlog.h ''
shuts "an argument of another type" 's/devlog_device \*device, uint32_t mask,/devlog_device *device, uint64_t mask,/' devlog.h ''
shuts "a result of another type" 's/^size_t devlog_log_zones(/uint32_t devlog_log_zones(/' decode.h ''
shuts "a function that is gone" '' devlog.h '/devlog_freeze;/d'
shuts "a symbol of another version" '' devlog.h 's/DEVLOG_0\.2/DEVLOG_0.9/'
shuts "a function that is new" 's/^devlog_status devlog_log_finish/int devlog_log_news(void);\n&/' decode.h 's/devlog_log_next;/& devlog_log_news;/'
