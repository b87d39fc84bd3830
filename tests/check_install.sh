#!/usr/bin/env bash
# The packages that check_packages has left are installed by apt on a clean system, which debootstrap makes in a folder for it, and the demo
# and the Python of docs/python.md run there, by a user and from nothing but the packages. SKIPPED where that cannot be done: not in CI
# (unless DEVLOG_CHECK_INSTALL is set: it takes a minute and fetches 150 MB), not root, no debootstrap, no mirror, nothing may be mounted.
# Called by ctest: check_install.sh PACKAGES SOURCE.
set -euo pipefail
packages=$1 source=$2
fail() { printf '%s\n' "$*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }
[ "${CI:-}" = true ] || [ -n "${DEVLOG_CHECK_INSTALL:-}" ] || skip "neither CI=true nor DEVLOG_CHECK_INSTALL=1"
[ "$(id -u)" = 0 ] || skip "not root"
command -v debootstrap >/dev/null || skip "no debootstrap"
compgen -G "$packages/devlog_*.deb" >/dev/null || skip "check_packages has left no packages"
built=$(mktemp)
dpkg-deb --fsys-tarfile "$packages"/devlog_*.deb | tar -xO ./usr/bin/devlog >"$built" && chmod +x "$built"
commit=$("$built" --version | sed -n 's/^commit: //p')
rm "$built"
[ "$commit" = "$(git -C "$source" rev-parse HEAD)" ] || skip "the packages that check_packages has left are of another commit, $commit"
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true; } |
  awk '$1 == "URIs:" { print $2 } $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z+]+:\/\//) { print $i; break } }' |
  grep '/debian/*$' | head -1) || skip "no Debian mirror among the sources of apt"
unset LD_PRELOAD
here=$(mktemp -d)
root=$here/root
cleanup() {
  ! mountpoint -q "$root/proc" || umount "$root/proc" || umount -l "$root/proc"
  mountpoint -q "$root/proc" || rm -rf --one-file-system "$here"
}
trap cleanup EXIT
debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >"$here/said" 2>&1 || skip "debootstrap: $(tail -1 "$here/said")"
mount -t proc proc "$root/proc" 2>"$here/said" || skip "nothing may be mounted here: $(cat "$here/said")"
rm -f "$root/etc/apt/sources.list"
cp -a /etc/apt/. "$root/etc/apt/"
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
cp -a /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null || true
mapfile -t proxies < <(env | grep -iE '^(https?_proxy|no_proxy|ssl_cert_file)=' || true)
inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "${proxies[@]}" "$@"; }
inside update-ca-certificates >/dev/null 2>&1 || true
inside apt-get update -qq >"$here/said" 2>&1 || skip "apt-get update: $(tail -1 "$here/said")"
mkdir "$root/packages"
cp "$packages"/devlog_*.deb "$packages"/python3-devlog_*.deb "$root/packages"
mkdir "$root/packages/mpi"
cp "$packages"/devlog-mpi_*.deb "$packages"/libdevlog1_*.deb "$root/packages/mpi"
cd "$root/packages"
wanted=(-y -qq -o Dpkg::Options::=--force-unsafe-io ./*.deb)
in_packages() { inside sh -c 'cd /packages && exec "$@"' sh "$@"; }
# What cannot be satisfied is a fault of the packages; what cannot be fetched is not.
in_packages apt-get install --simulate "${wanted[@]}" >"$here/said" 2>&1 || fail "apt does not take the packages: $(tail -20 "$here/said")"
# devlog-mpi draws in all of Open MPI: it is only asked whether apt would.
in_packages apt-get install --simulate -qq ./mpi/*.deb ./*.deb >"$here/said" 2>&1 || fail "apt does not take devlog-mpi: $(tail -20 "$here/said")"
in_packages apt-get install --download-only "${wanted[@]}" >"$here/said" 2>&1 || skip "apt-get install: $(tail -1 "$here/said")"
in_packages apt-get install "${wanted[@]}" >"$here/said" 2>&1 || fail "apt does not install them: $(tail -20 "$here/said")"

# A user, without a word of where anything is but the demo's kernels.
inside useradd --create-home user
cp "$source/docs/python.md" "$root/home/user/python.md"
as_user() { inside su user -s /bin/sh -c "cd && export DEVLOG_HOME=/usr/share/devlog && $1"; }
as_user 'TT_METAL_DEVICE_PROFILER=1 /usr/lib/devlog/demo >demo.txt' || fail "the demo fails"
as_user 'devlog decode generated/profiler/logs/profile_log_device.csv >decode.txt' || fail "the demo's log is not decoded"
grep -q 'add block' "$root/home/user/decode.txt" || fail "the demo's zones are not there: $(head -20 "$root/home/user/decode.txt")"
[ -s "$root/home/user/generated/profiler/logs/device_perf.html" ] || [ -n "$(find "$root/home/user" -name 'device_perf.html')" ] || fail "no page"
# The Python of docs/python.md, but for what wants pandas, which is only suggested.
as_user "python3 - <<'END'
import re, subprocess, sys
blocks = re.findall(r'\`\`\`python\n(.*?)\`\`\`', open('python.md').read(), re.S)
assert len(blocks) == 5, len(blocks)
for i, block in enumerate(blocks):
    if 'to_pandas' in block:
        continue
    open('program.py', 'w').write(block)
    command = ['devlog', 'run', '--host-only', '-o', 'report', '--'] if 'devlog.op' in block else []
    said = subprocess.run([*command, sys.executable, 'program.py'], check=True, capture_output=True, text=True).stdout
    if i == 0:
        print(said.splitlines()[0])
END" >"$here/python" || fail "the Python of docs/python.md fails"
grep -q '<devlog.Log: .* zones' "$here/python" || fail "Python says $(cat "$here/python")"
grep -q '^Matmul,' "$root/home/user/report/"*.csv || fail "no report of the ops of Python"
as_user 'devlog --version' | grep -qx "commit: $commit" || fail "another devlog is installed"
inside apt-get remove -y -qq devlog python3-devlog >"$here/said" 2>&1 || fail "they are not removed: $(tail -20 "$here/said")"
[ ! -e "$root/usr/share/devlog" ] && [ ! -e "$root/usr/lib/devlog" ] || fail "what is removed leaves files: $(find "$root/usr/share/devlog" "$root/usr/lib/devlog" 2>/dev/null | head)"
