"""docs/bottleneck.md on the network of 20 ops: each flaw that is planted in it in turn is what devlog report names first, by op, core
and line of source, and devlog diff shows the gain that was predicted when it is mended. Usage: bottleneck.py BUILD."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

import paths

BUILD = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BIN = os.path.join(BUILD, "bin")
LEAST, MOST = 0.9, 1.02  # what is gained of what was predicted, docs/bottleneck.md
bad = []


def run(*args, status=0, **more):
    r = subprocess.run(args, capture_output=True, text=True, env=dict(ENV, **more), cwd=FOLDER)
    if r.returncode != status:
        sys.exit("%s: status %d: %s%s" % (" ".join(args), r.returncode, r.stdout, r.stderr))
    return r.stdout


def line_of(file, text):
    with open(os.path.join(SOURCE, "examples/net20", file), encoding="utf-8") as f:
        return ["%s:%d" % (file, n) for n, line in enumerate(f, 1) if text in line]


def savings(folder):
    return json.loads(run("devlog", "report", "--format", "json", folder))["sections"]["savings"]["rows"]


def check(what, good, *shown):
    if not good:
        bad.append("%s: %s" % (what, " ".join(map(str, shown))))


# version: kind, op, number of the op, core, line; by what line of diff the gain is read
ANY = re.compile(r"0: [0-3]-[0-2]")
FLAWS = {
    1: ("core_imbalance", "Up", 13, re.compile("0: 3-2"), line_of("math.c", '"math"'), "op"),
    2: ("path", "Key", 4, ANY, line_of("reader.c", '"prepare table"'), "op"),
    3: ("path", "Context", 9, ANY, line_of("reader.c", '"read page"'), "op"),
    4: ("gaps", "Project", 10, None, None, "total"),
    5: ("buffer", "Gelu", 14, ANY, line_of("reader.c", '"read page"'), "op"),
}


# The host's accesses take time, or the gap of version 4 would take none: what it is compared with does that, too.
SLOW_HOST = {"DEVLOG_SIM": "latency=5"}
MENDED = {4: "v0_slow_host"}


def record(version, folder, **more):
    run("devlog", "run", "--once", "--waits", "--recording", "stream", "-o", folder, "--", "net20", str(version), **more)


def gained(version, kind, op):
    diff = json.loads(run("devlog", "diff", "--exact", "--format", "json", "v%d" % version, MENDED.get(version, "v0")))
    for line in diff["lines"]:
        if line["kind"] == kind and (line["name"].split()[0] == op if kind == "op" else line["name"] == "gaps on the device"):
            check("version %d: diff" % version, line["verdict"] == "faster", line["verdict"])
            return line["old"]["mean"] * line["old"]["count"] - line["new"]["mean"] * line["new"]["count"]
    check("version %d" % version, False, "diff has no line of it")
    return 0


def check_flaws():
    for version in range(6):
        record(version, "v%d" % version, **SLOW_HOST if version in MENDED else {})
    record(0, MENDED[4], **SLOW_HOST)
    # What 20 launches take between them is in every version; it is told behind what the flaws are.
    worst = max((s["saving"] for s in savings("v0") if s["kind"] != "small_gaps"), default=0)
    for version in range(4):
        last = savings("v%d" % version)[-1]
        check("version %d: small gaps" % version, last["kind"] == "small_gaps" and last["evidence"][:7] in ("18 gaps", "19 gaps"), last)
    for version, (kind, op, number, core, line, of) in FLAWS.items():
        first = savings("v%d" % version)[0]
        name = "version %d" % version
        check(name, first["kind"] == kind, "its first saving is", first)
        check(name, first["op"] == op and first["op_id"] == number, "it names", first["op"], first["op_id"])
        check(name, core.fullmatch(first["core"] or "") if core else first["core"] is None, "it names core", first["core"])
        check(name, first["line"] in line if line else first["line"] is None, "it names line", first["line"], "not", line)
        check(name, first["saving"] > 3 * worst, "saves", first["saving"], "without a flaw", worst)
        gain = gained(version, of, op)
        ratio = gain / first["saving"]
        check(name, LEAST <= ratio <= MOST, "predicted", first["saving"], "gained", gain)
        print("%s: %s of %s, at most %.0f ns; gained %.0f ns, %.1f %%" % (name, kind, op, first["saving"], gain, 100 * ratio))


def check_noc():
    """Barriers, from how the network reads: 12 cores, 8 pages of 256 bytes in each op, one of 20 ops in pieces of 16."""
    for folder, wanted in (("v0", [(256, 20 * 12 * 8)]), ("v3", [(16, 12 * 8 * 16), (256, 19 * 12 * 8)])):
        rows = json.loads(run("devlog", "causes", "--format", "json", folder))["sections"]["noc"]["rows"]
        found = sorted((int(r["by"].split()[2]), r["barriers"]) for r in rows)
        check("barriers of " + folder, found == wanted, found, "not", wanted)
        for r in rows:
            check("barriers of " + folder, r["risc"] == "BRISC" and r["zone"] == "read page" and r["transfers"] == r["barriers"] and
                  r["bytes"] == r["transfers"] * int(r["by"].split()[2]) and r["by"].startswith("read"), r)


def check_waits(folder):
    """WAITS from the lines of the log: a want says what is waited for, the wait's zone how long, and who gave that number is its end."""
    why = {"DEVLOG-WAIT-FULL": "buffer full", "DEVLOG-WAIT-EMPTY": "buffer empty"}
    wants, waits, gives = {}, [], {}
    with open(os.path.join(FOLDER, folder, "logs", "profile_log_device.csv"), newline="", encoding="utf-8") as f:
        next(f)
        next(f)
        for row in csv.reader(f):
            x, y, risc, time, data, launch, zone, kind = row[1], row[2], row[3], int(row[5]), int(row[6]), row[7], row[10], row[11]
            lane = (launch, x, y, risc)
            if zone == "DEVLOG-WANTS":
                wants[lane] = data
            elif zone == "DEVLOG-GIVES":
                gives[launch, x, y, data] = risc
            elif zone in why and kind == "ZONE_START":
                waits.append([lane, zone, wants[lane], time, None])
            elif zone in why:
                [w for w in waits[-200:] if w[0] == lane][-1][4] = time
    wanted = {}
    for lane, zone, data, start, end in waits:
        key = (lane[3], why[zone], "0x%x" % (data & 0xFFFFFFFF), gives[lane[:3] + (data,)])
        count, cycles, longest = wanted.get(key, (0, 0, 0))
        wanted[key] = (count + 1, cycles + end - start, max(longest, end - start))
    rows = json.loads(run("devlog", "causes", "--format", "json", folder))["sections"]["waits"]["rows"]
    found = {(r["risc"], r["why"], r["address"], r["by"]): (r["count"], r["cycles"], r["longest"]) for r in rows}
    check("waits of " + folder, found == wanted and len(found) >= 3, found, "by hand", wanted)


def check_paths(folder):
    """ON THE PATHS by hand of the same log: what is on them, in how many pieces, and what each zone would save."""
    log = os.path.join(FOLDER, folder, "logs", "profile_log_device.csv")
    rows = json.loads(run("devlog", "causes", "--format", "json", log))["sections"]["path_zones"]["rows"]
    found, wanted = paths.shown(rows), paths.on_the_paths(log)
    check("on the paths of " + folder, found == wanted, [f for f in found if f not in wanted], "by hand", [w for w in wanted if w not in found])
    check("on the paths of " + folder, len({r[0] for r in found}) == 3 and sum(r[5] is not None for r in found) >= 7, found)
    check("on the paths of " + folder, paths.shares_add_up(rows), "shares")


def check_run():
    """The path of a run and of one op, from the report's own cycles."""
    with open(os.path.join(FOLDER, "v0", "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
        ops = list(csv.DictReader(f))
    start, end = [int(ops[0]["DEVICE FW START CYCLE"])], [int(r["DEVICE FW END CYCLE"]) for r in ops]
    answer = json.loads(run("devlog", "causes", "--format", "json", "v0"))["sections"]
    facts = {k: v["value"] for k, v in answer["run"]["facts"].items()}
    check("run", abs(facts["whole"] - (end[-1] - start[0])) <= 0.002 * facts["whole"], facts, end[-1] - start[0])
    check("run: its parts", abs(sum(v for k, v in facts.items() if k != "whole") - facts["whole"]) < 1, facts)
    rows = answer["run_path"]["rows"]
    check("run", len(rows) == 20 and all(r["path"] == "yes" and r["slack"] == 0 for r in rows), rows)
    check("run: gaps", abs(sum(r["gap"] + r["time"] for r in rows[1:]) + rows[0]["time"] - facts["whole"]) < 1)
    check("run: parts of gaps", all(abs(r["back"] + r["pull"] + r["host"] + r["dispatch"] - r["gap"]) < 1 for r in rows[1:]))
    one = json.loads(run("devlog", "causes", "--op", "Gelu", "--format", "json", "v0"))["sections"]
    check("run of an op", len(one["run_path"]["rows"]) == 1 and one["run"]["facts"]["whole"]["value"] == one["run_path"]["rows"][0]["time"], one["run"])


def is_said(shown, said):
    """Word by word; numbers within 2 %, per cent of the wall time more: firmware may become shorter. Cores of a launch are alike."""
    def close(a, b):
        if re.fullmatch(r"\d+-\d+;?", a):
            return re.fullmatch(r"\d+-\d+;?", b) is not None
        try:
            x, y = float(a.replace(",", "")), float(b.replace(",", ""))
        except ValueError:
            return a == b
        return abs(x - y) <= max(0.02 * abs(x), 0.2 if abs(x) < 10 else 0)
    a, b = shown.split(), said.split()
    return any(all(close(x, y) for x, y in zip(a, b[k:])) for k in range(len(b) - len(a) + 1))


def check_guide():
    """What the guide shows of the answers is what they say."""
    with open(os.path.join(SOURCE, "docs/bottleneck.md"), encoding="utf-8") as f:
        text = f.read()
    said = run("devlog", "report", "--tables", "savings", "v3") + "\n" + run("devlog", "diff", "--exact", "--top", "1", "v3", "v0")
    shown = re.findall(r"```text\n(.*?)```", text, re.S)
    check("docs/bottleneck.md", len(shown) == 2, "shows", len(shown), "answers")
    for block in shown:
        check("docs/bottleneck.md", is_said(block, said), "shows what is not said:", block, said)
    for block in re.findall(r"```c\n(.*?)```", text, re.S):
        code = "".join(open(os.path.join(SOURCE, "examples/net20", f), encoding="utf-8").read() for f in ("reader.c", "net20.c"))
        check("docs/bottleneck.md", block in code, "shows code that is not there:", block)
    for line in line_of("reader.c", '"read page"'):
        check("docs/bottleneck.md", "Line %s begins" % line.split(":")[1] in text, "names another line than", line)


with tempfile.TemporaryDirectory() as FOLDER:
    ENV = {k: v for k, v in os.environ.items() if not k.startswith(("DEVLOG_", "TT_METAL_"))}
    # A chip of 12 cores, so that a run takes a second.
    ENV.update(DEVLOG_HOME=SOURCE, DEVLOG_CACHE=os.path.join(BUILD, "cache"), DEVLOG_GRID="columns=1-4,rows=1-3",
               PATH=BIN + ":" + os.environ["PATH"])
    check_flaws()
    check_noc()
    check_run()
    check_waits("v3")
    check_waits("v5")
    for folder in ("v0", "v2", "v3", "v5"):
        check_paths(folder)
    check_guide()
for b in bad:
    print(b)
sys.exit(1 if bad else 0)
