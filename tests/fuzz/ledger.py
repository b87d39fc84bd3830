#!/usr/bin/env python3
"""Adds up the processor time that each fuzz target has had on the code as it is: tests/fuzz/ledger.csv.

  ledger.py add BUILD TARGET SECONDS RUNS    after a run that found nothing: one line more
  ledger.py table BUILD                      seconds of each target of BUILD/bin on its present code, and on any code

Not a part of any test. The code of a target is what it links (compile units in the binary's debug information) and
the headers that these include (ninja's record), each by its contents, so that a folder's path or another target's code
makes no difference. The simulator is linked into every program and counts only where a transport calls it.
"""
import csv, hashlib, os, re, subprocess, sys

LEDGER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ledger.csv")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLUMNS = ["target", "code", "cpu_seconds", "runs"]


def inside(build, path):
    """The path from the project's root, or None for a file of the system or of the build."""
    path = os.path.relpath(os.path.join(build, path), ROOT)
    return None if path.startswith(("..", "build/")) else path


def headers(build):
    """Of each source file: the project's files that its compilation read."""
    read, files = {}, None
    for line in subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout.splitlines():
        if not line.startswith(" "):
            files = set()
        elif path := inside(build, line.strip()):
            if path.endswith(".c"):
                read.setdefault(path, files)
            files.add(path)
    return read


def code(build, target, read):
    info = subprocess.run(["readelf", "--debug-dump=info", "--dwarf-depth=1", f"{build}/bin/fuzz_{target}"],
                          capture_output=True, text=True, check=True).stdout
    units = {inside(build, m) for m in re.findall(r"DW_AT_name .*?: (?:\(.*?\): )?(\S+\.c)$", info, re.M)} - {None}
    if not any(unit.startswith("host/transport/sim") for unit in units):
        units = {unit for unit in units if not unit.startswith("host/sim/")}
    digest = hashlib.sha256()
    for path in sorted(set().union(units, *(read.get(unit, ()) for unit in units))):
        with open(os.path.join(ROOT, path), "rb") as file:
            digest.update(path.encode() + b"\0" + hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:16]


def rows():
    if not os.path.exists(LEDGER):
        return []
    with open(LEDGER, newline="") as file:
        return list(csv.DictReader(file))


def main(argv):
    if len(argv) == 5 and argv[0] == "add":
        build, target = os.path.abspath(argv[1]), argv[2]
        line = ",".join([target, code(build, target, headers(build)), str(round(float(argv[3]))), argv[4]]) + "\n"
        with open(LEDGER, "a") as file:  # one write: two targets may end at once
            file.write(line if file.tell() else ",".join(COLUMNS) + "\n" + line)
        return 0
    if len(argv) == 2 and argv[0] == "table":
        build = os.path.abspath(argv[1])
        names = sorted(name[5:] for name in os.listdir(f"{build}/bin") if name.startswith("fuzz_"))
        read, past = headers(build), rows()
        print(f"{'target':<14} {'on this code':>12} {'on any code':>12} {'runs, on this code':>19}")
        for name in names:
            all_of = [row for row in past if row["target"] == name]
            now = code(build, name, read)
            same = [row for row in all_of if row["code"] == now]
            seconds = [sum(int(row["cpu_seconds"]) for row in some) for some in (same, all_of)]
            print(f"{name:<14} {seconds[0]:>10} s {seconds[1]:>10} s {sum(int(row['runs']) for row in same):>19,}")
        return 0
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main(sys.argv[1:]))
