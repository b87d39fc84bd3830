#!/usr/bin/env bash
# The installed library as others use it: the programs and the kernel of docs/getting-started.md and docs/library.md, taken out
# of the documents and built outside of the source tree by CMake, by pkg-config and by plain flags, in C and in C++, shared and static, and run;
# and the symbols that the shared library shows are those that the public headers declare.
# Called by ctest: check_library.sh BUILD [FLAG...], with the flags that the library itself was built with (sanitizers).
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
shift
flags="$*"
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

fail() { printf '%s\n' "$*" >&2; exit 1; }

cmake --install "$build" --prefix "$here/prefix" >/dev/null
mkdir "$here/mine" && cd "$here/mine"
# Each fenced block whose first line names a file is that file.
awk '/^```/ { inside = !inside; first = inside; next }
     inside && first { file = ""; first = 0; if (match($0, /[A-Za-z]+\.(c|txt)/)) file = substr($0, RSTART, RLENGTH) }
     inside && file != "" { print > file }' "$source/docs/getting-started.md" "$source/docs/library.md" "$source/docs/host.md"
for file in kernel.c host.c CMakeLists.txt zones.c worth.c frames.c; do [ -s "$file" ] || fail "no document has $file"; done
sed 's/LANGUAGES C)/LANGUAGES CXX)/; s/host\.c/host.cpp/' CMakeLists.txt >cpp.txt
cp host.c host.cpp
cp zones.c zones.cpp
cp worth.c worth.cpp

lib=$here/prefix/lib
[ -e "$lib/pkgconfig/devlog.pc" ] || lib=$(dirname "$(dirname "$(find "$here/prefix" -name devlog.pc)")")
export PKG_CONFIG_PATH=$lib/pkgconfig
rpath=-Wl,-rpath,$lib
# shellcheck disable=SC2046,SC2086
{
  cc -Wall -Werror $flags host.c -o by_pkg_config $(pkg-config --cflags --libs devlog) "$rpath"
  g++ -Wall -Werror $flags host.cpp -o by_pkg_config_cpp $(pkg-config --cflags --libs devlog) "$rpath"
  cc -Wall -Werror $flags zones.c -o zones $(pkg-config --cflags --libs devlog) "$rpath"
  g++ -Wall -Werror $flags zones.cpp -o zones_cpp $(pkg-config --cflags --libs devlog) "$rpath"
  cc -Wall -Werror $flags worth.c -o worth $(pkg-config --cflags --libs devlog) "$rpath"
  g++ -Wall -Werror $flags worth.cpp -o worth_cpp $(pkg-config --cflags --libs devlog) "$rpath"
  cc $flags host.c -o by_flags -I"$here/prefix/include" -L"$lib" -ldevlog "$rpath"
  g++ $flags host.cpp -o by_flags_cpp -I"$here/prefix/include" -L"$lib" -ldevlog "$rpath"
  cc $flags host.c -o static $(pkg-config --cflags --libs devlog-static)
}
echo 'devlog_add_kernel(kernel SOURCE kernel.c RISC NCRISC)' >>CMakeLists.txt
printf '%s\n' 'enable_testing()' 'devlog_add_budget_test(room_enough enough.txt COMMAND host)' \
  'devlog_add_budget_test(no_room none.txt COMMAND $<TARGET_FILE:host>)' >>CMakeLists.txt
printf '%s\n' '# of the zone in kernel.c' '100000 NCRISC add' >enough.txt
printf '%s\n' '1 * add' >none.txt
cmake -G Ninja -S . -B c -DCMAKE_PREFIX_PATH="$here/prefix" -DCMAKE_C_FLAGS="$flags" >/dev/null && cmake --build c >/dev/null
mkdir cxx_source && cp cpp.txt cxx_source/CMakeLists.txt && cp host.cpp cxx_source
cmake -G Ninja -S cxx_source -B cxx -DCMAKE_PREFIX_PATH="$here/prefix" -DCMAKE_CXX_FLAGS="$flags" >/dev/null && cmake --build cxx >/dev/null

# Boards, firmware and linker scripts are found from the library's place alone.
unset DEVLOG_HOME
export TT_METAL_DEVICE_PROFILER=1
for program in ./by_pkg_config ./by_pkg_config_cpp ./by_flags ./by_flags_cpp ./c/host ./cxx/host; do
  rm -rf generated
  said=$("$program") || fail "$program fails"
  [ "$said" = $'core 0,0: 42\ncore 1,0: 43' ] || fail "$program: $said"
  "$here/prefix/bin/devlog" decode --no-files generated/profiler/logs/profile_log_device.csv | grep -q 'NCRISC *add ' ||
    fail "$program: its zone is not in the log"
done
# No zone of two equal launches is far from the median, and nothing is lost; of a log cut short something is.
[ -z "$(./zones)" ] && [ -z "$(./zones_cpp generated/profiler/logs/capture.devlog)" ] || fail "zones: $(./zones)"
head -c -40 generated/profiler/logs/profile_log_device.csv >cut.csv
./zones cut.csv | grep -q 'something was lost' || fail "zones does not say that a log was cut"
# What took the time, and what has changed: rules, tables and boards are found from the library's place.
for program in ./worth ./worth_cpp; do
  said=$("$program") || fail "$program fails"
  grep -q '^the device was busy for [0-9.]* percent of the time$' <<<"$said" && ! grep -q 'lost\|slower' <<<"$said" || fail "$program: $said"
  said=$("$program" generated/profiler/logs cut.csv) && ! grep -q slower <<<"$said" || fail "$program: $said"
  "$program" cut.csv | grep 'something was lost' >/dev/null || fail "$program does not say that a log was cut"
  said=$("$program" no-such-file 2>&1) && fail "$program takes a file that is not there"
  grep -q '^worth: .*no-such-file' <<<"$said" || fail "$program does not say that there is no file"
done
# Zones of host code: nothing without the flag, and with it what docs/host.md shows.
# shellcheck disable=SC2046,SC2086
{
  cp frames.c frames.cpp
  cc -Wall -Wextra -Werror $flags -DPROFILE_HOST frames.c -o frames $(pkg-config --cflags --libs devlog) "$rpath"
  g++ -Wall -Wextra -Werror $flags -DPROFILE_HOST frames.cpp -o frames_cpp $(pkg-config --cflags --libs devlog) "$rpath"
  cc -Wall -Wextra -Werror $flags frames.c -o frames_off -I"$here/prefix/include"
}
for program in ./frames ./frames_cpp; do
  rm -rf host_logs && "$program" && [ ! -e host_logs ] && DEVLOG_HOST=1 DEVLOG_LOG_FOLDER=host_logs "$program" || fail "$program fails"
  "$here/prefix/bin/devlog" export -f csv -o frames.csv host_logs/host_*.devlog >/dev/null || fail "$program: something was lost"
  for name in prepare copy queue prepared; do grep -q "$name" frames.csv || fail "$program: no $name in its log"; done
done
# A mutex of C++ that says who waits for it and who holds it, and a block that is allocated as long as its scope.
cat >guarded.cpp <<'PROGRAM'
#include <devlog/host.h>
#include <mutex>
static DEVLOG_HOST_MUTEX(std::mutex, jobs, "jobs");
int main()
{
    {
        std::lock_guard<DEVLOG_HOST_MUTEX_TYPE(std::mutex)> hold(jobs);
        char block[16];
        DEVLOG_HOST_BLOCK(block, sizeof block, "blocks");
    }
    if (!jobs.try_lock()) return 1;
    jobs.unlock();
}
PROGRAM
# shellcheck disable=SC2046,SC2086
{
  g++ -Wall -Wextra -Werror -Wpedantic $flags -DPROFILE_HOST guarded.cpp -o guarded $(pkg-config --cflags --libs devlog) "$rpath"
  g++ -Wall -Wextra -Werror -Wpedantic $flags guarded.cpp -o guarded_off -I"$here/prefix/include"
}
rm -rf host_logs && ./guarded && ./guarded_off && [ ! -e host_logs ] && DEVLOG_HOST=1 DEVLOG_LOG_FOLDER=host_logs ./guarded || fail "guarded fails"
"$here/prefix/bin/devlog" export -f csv -o guarded.csv host_logs/host_*.devlog >/dev/null || fail "guarded: something was lost"
[ "$(grep -c 'hold jobs' guarded.csv)" -ge 2 ] && grep -q 'wait jobs' guarded.csv || fail "guarded: no locks in its log"
[ "$(grep -c 'blocks' guarded.csv)" -eq 2 ] || fail "guarded: not what its pool held, in its log"
# A program that loads the library, and unloads it before a thread ends that has recorded a zone.
cat >loads.c <<'PROGRAM'
#include <devlog/host.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static void *library;
static sem_t recorded, unloaded;
static void *record(void *nothing)
{
    static devlog_host_site site = {"of a plugin", "record", "loads.c", 1, 0};
    devlog_host_zone zone;
    void (*begin)(devlog_host_zone *, devlog_host_site *), (*end)(devlog_host_zone *);
    *(void **)&begin = dlsym(library, "devlog_host_begin");
    *(void **)&end = dlsym(library, "devlog_host_end");
    begin(&zone, &site);
    end(&zone);
    sem_post(&recorded);
    sem_wait(&unloaded);
    return nothing;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 2 || !(library = dlopen(argv[1], RTLD_NOW))) return fprintf(stderr, "%s\n", dlerror()), 1;
    sem_init(&recorded, 0, 0);
    sem_init(&unloaded, 0, 0);
    if (pthread_create(&thread, NULL, record, NULL)) return 2;
    sem_wait(&recorded);
    if (dlclose(library)) return 3;
    sem_post(&unloaded);
    return pthread_join(thread, NULL);
}
PROGRAM
# shellcheck disable=SC2086
cc -Wall -Wextra -Werror $flags loads.c -o loads -I"$here/prefix/include"
rm -rf host_logs && DEVLOG_HOST=1 DEVLOG_LOG_FOLDER=host_logs ./loads "$lib/libdevlog.so" || fail "a program that unloads the library fails"
"$here/prefix/bin/devlog" decode --no-files host_logs/host_*.devlog | grep -q 'of a plugin' || fail "a zone of a library that was unloaded is not in its file"
DEVLOG_HOME=$here/prefix/share/devlog ./static >/dev/null || fail "static fails"

# devlog_add_budget_test: a zone within its budget, and one that is not, whose lines are shown.
(
  cp kernel.c c && cd c && unset TT_METAL_DEVICE_PROFILER
  ctest -R room_enough --output-on-failure >ctest.out 2>&1 || { cat ctest.out; fail "devlog_add_budget_test: a budget of 100000 cycles is not kept"; }
  ctest -R no_room --output-on-failure >ctest.out 2>&1 && fail "devlog_add_budget_test: a budget of 1 cycle is kept"
  grep -q "zone 'add' on any RISC: [0-9,]* cycles, [0-9,]* more than its budget of 1, on NCRISC" ctest.out && grep -q 'kernel.c:[0-9]' ctest.out ||
    { cat ctest.out; fail "devlog_add_budget_test does not say where the cycles went"; }
)

# devlog_add_kernel made the object file of the kernel, whose markers have names.
runs_object() { # folder with kernel.o, program that runs "kernel.o" beside it
  (cd "$1" && rm -rf generated && "$2" >/dev/null &&
    "$here/prefix/bin/devlog" decode --no-files generated/profiler/logs/profile_log_device.csv | grep -q 'NCRISC *add ') ||
    fail "$2: the kernel of devlog_add_kernel does not run in $1"
}
sed 's/"kernel\.c"/"kernel.o"/' host.c >object.c
# shellcheck disable=SC2046,SC2086
cc $flags object.c -o by_object $(pkg-config --cflags --libs devlog) "$rpath"
runs_object c "$PWD/by_object"

# The same as a part of another project, whose folder has a blank: the library and what it needs are built, and no flag, target or
# variable of the cache is left in that project but by devlog's names.
sub="$here/a part"
mkdir "$sub" && cp kernel.c "$sub" && cp object.c "$sub/host.c"
cat >"$sub/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES C)
add_subdirectory("$source" devlog)
add_executable(demo host.c) # a name that devlog has, too
target_link_libraries(demo PRIVATE devlog::devlog)
devlog_add_kernel(kernel SOURCE kernel.c RISC NCRISC)
CMAKE
cmake -G Ninja -S "$sub" -B "$sub/b" >/dev/null && cmake --build "$sub/b" >/dev/null || fail "add_subdirectory does not build"
runs_object "$sub/b" "$sub/b/demo"
cp "$sub/b/kernel.o" before.o
sed -i 's/"add"/"plus"/' "$sub/kernel.c" && cmake --build "$sub/b" >/dev/null
cmp -s before.o "$sub/b/kernel.o" && fail "a kernel that has changed is not compiled again"
ls "$sub/b/devlog/bin" | grep -vx devlog && fail "programs that nobody asked for are built in another project"
own=$(ninja -C "$sub/b" -t commands demo | grep -- '-c .*part/host\.c') || fail "the other project's own file is not compiled"
grep -E 'Wshadow|_GNU_SOURCE|std=|/host( |$)' <<<"$own" && fail "flags of devlog are those of another project"
mkdir empty && printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(mine LANGUAGES C)' 'find_package(PkgConfig)' 'find_package(Threads)' >empty/CMakeLists.txt
cmake -G Ninja -S empty -B empty/b >/dev/null
names() { sed -n 's/^\([^#/][^:]*\):.*/\1/p' "$1/CMakeCache.txt" | sort; }
comm -13 <(names empty/b) <(names "$sub/b") | grep -vE '^_*(devlog|DEVLOG|(__pkg_config_\w+|pkgcfg_lib)_DEVLOG)_|^prefix_result$|^CMAKE_PROJECT_VERSION' &&
  fail "these variables of the cache are not named for devlog"

nm -D --defined-only "$lib/libdevlog.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >shown
cat "$here"/prefix/include/devlog/{version,decode,devlog,results,budget,answers,host}.h | cc -fpreprocessed -dD -E -P - 2>/dev/null | sed '/^namespace devlog/,/^}/d; /class devlog_/,/^};/d' |
  grep -v "^#define" | grep -oE '\bdevlog_[a-z_0-9]+\(' | tr -d '(' | sort -u >declared
diff declared shown || fail "declared in the public headers (<) and shown by libdevlog.so (>) differ; host/libdevlog.map lists what is shown"

# Each of them is documented where it is declared, and some test or example calls it.
for header in version decode devlog results budget answers host; do
  awk -v RS= '/\ndevlog_[a-z_0-9]+\(|^[a-z].* \**devlog_[a-z_0-9]+\(/ && !/^(\/\*|#|class|namespace)/ { print; bad = 1 } END { exit bad }' \
    "$source/include/devlog/$header.h" || fail "$header.h: no comment says what these do"
done
while read -r function; do
  grep -rqw --include='*.c' "$function" "$source/tests" "$source/examples" || fail "$function is called by no test"
done <declared
