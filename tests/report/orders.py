"""One run in other orders: a device log has its rows by time (tt-metal's today), core by core (of 2024), or RISC by RISC, and an op
report may have been sorted in a spreadsheet. What decode, report, diff, causes and exports say of it is the same. Not for what
they say (inputs.py). Usage: orders.py BUILD; DEVLOG_TEST_SEED chooses other runs, DEVLOG_TEST_CASES more."""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import shared
from shared import DEVLOG, bad, finish

HEAD = ("ARCH: wormhole_b0, CHIP_FREQ[MHz]: %d\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
        "trace id, trace id counter, zone name, type, source line, source file, meta data\n")
RISCS = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")
ORDERS = {
    "by time": lambda row: row[0],
    "core by core": lambda row: row[1:5],
    "RISC by RISC": lambda row: (row[4], row[1], -row[2], row[3]),
    "launch by launch": lambda row: (row[6], row[1:5]),
}


def rows_of(r, slow):
    """Rows as (time, chip, x, y, RISC, number, launch, text). Zones in zones, sums, values, events; in each launch some RISCs of some cores."""
    rows = []
    shape = random.Random(r.random())
    for chip in range(r.choice((1, 2, 3))):
        now = r.randrange(10**6, 10**12)
        for launch in range(1, r.randrange(4, 12)):
            kind, end, ends = r.randrange(3), now, set()  # no two RISCs end at once: either would be the path's
            for x in range(1, 4):
                for y in range(1, 3):
                    for risc in r.sample(RISCS, r.randrange(2, 6)) if r.random() < 0.9 else ():
                        at = now + r.randrange(200)

                        def row(name, what, line, data=0, meta="", file="k%d.cc" % kind):
                            rows.append((at, chip, x, y, RISCS.index(risc), len(rows), launch, "%d,%d,%d,%s,%d,%d,%d,%d,,,%s,%s,%d,%s,%s" % (
                                chip, x, y, risc, line, at, data, launch, name, what, line, file, meta)))

                        family = risc.split("_")[0]
                        row(family + "-FW", "ZONE_START", 1, file="fw.cc")
                        at += r.randrange(5, 50)
                        row(family + "-KERNEL", "ZONE_START", 2)
                        for _ in range(r.randrange(6)):
                            at += r.randrange(1, 40)
                            row("outer", "ZONE_START", 10)
                            at += r.randrange(1, 40)
                            row("inner", "ZONE_START", 12)
                            at += int(r.randrange(20, 900) * (slow if kind == 1 else 1)) + shape.randrange(3)
                            row("inner", "ZONE_END", 12)
                            at += 3
                            row("outer", "ZONE_END", 10)
                            at += 2
                            row("value", "TS_DATA", 20, r.randrange(1000))
                        at += 5
                        row("sum", "ZONE_TOTAL", 30, r.randrange(5000), '{"count":%d;"min":%d;"max":%d}' % (r.randrange(1, 9), r.randrange(9), 99))
                        row("event", "TS_EVENT", 21)
                        at += 2
                        row(family + "-KERNEL", "ZONE_END", 2)
                        at += r.randrange(5, 90)
                        while at in ends:
                            at += 1
                        ends.add(at)
                        row(family + "-FW", "ZONE_END", 1, file="fw.cc")
                        end = max(end, at)
            now = end + r.randrange(100, 9000)
    return rows


def write_log(path, rows, order):
    with open(path, "w", encoding="utf-8") as f:
        f.write(HEAD % 1350)
        f.writelines(row[-1] + "\n" for row in sorted(rows, key=lambda row: (order(row), row[5])))


def write_report(path, ops):
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, list(ops[0]), lineterminator="\n")
        w.writeheader()
        w.writerows(ops)


def ops_of(r):
    """An op report of two chips, with ops that were captured and replayed."""
    ops, at, host = [], [10**6, 10**9], 1000
    gaps, times = r.sample(range(20000), 200), r.sample(range(100, 50000), 200)  # of equal ones either would be the longest
    for i in range(1, r.randrange(8, 30)):
        traced = r.random() < 0.2
        for chip in (0, 1):
            host += r.randrange(100, 9000)
            op = {"OP CODE": r.choice(("Matmul", "Add", "Softmax")) if chip == 0 else ops[-1]["OP CODE"], "OP TYPE": "tt_dnn_device",
                  "GLOBAL CALL COUNT": i << 10 | chip, "DEVICE ID": chip, "METAL TRACE ID": "", "METAL TRACE REPLAY SESSION ID": "", "HOST START TS": host,
                  "HOST END TS": host + 900, "HOST DURATION [ns]": 900, "CORE COUNT": r.choice((8, 16, 32, 64)), "AVAILABLE WORKER CORE COUNT": 64,
                  "CompileProgram_TT_HOST_FUNC [ns]": r.choice(("", 500)), "OP TO OP LATENCY [ns]": "", "DEVICE FW START CYCLE": "",
                  "DEVICE FW END CYCLE": "", "DEVICE FW DURATION [ns]": "", "DEVICE KERNEL DURATION [ns]": ""}
            if traced or r.random() < 0.1:
                ops.append(op)
            for session in range(1, r.randrange(2, 4)) if traced else [0] if ops[-1:] != [op] else []:
                gap, took = gaps.pop(), times.pop()
                at[chip] += gap
                ops.append(dict(op, **{"METAL TRACE ID": "" if not session else 1, "METAL TRACE REPLAY SESSION ID": session or "",
                                       "OP TO OP LATENCY [ns]": gap, "DEVICE FW START CYCLE": at[chip], "DEVICE FW END CYCLE": at[chip] + took + 10,
                                       "DEVICE FW DURATION [ns]": took + 10, "DEVICE KERNEL DURATION [ns]": took}))
                at[chip] += took + 10
    return ops


def said(*args):
    r = subprocess.run([DEVLOG, *args], cwd=folder, capture_output=True, text=True)
    if r.returncode not in (0, 3):
        bad.append("%s: status %d: %s" % (" ".join(args), r.returncode, r.stderr.strip()))
        return None
    return r.returncode, json.loads(r.stdout) if r.stdout.lstrip().startswith("{") else r.stdout


def in_any_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def settle(command, of):
    """What depends on the order, and may: how launches are counted, and rows that are those of the log."""
    if of is None or isinstance(of[1], str):
        return of
    if command == "decode":
        for table in of[1].values():
            for row in table if isinstance(table, list) else ():
                if isinstance(row, dict):
                    row.pop("launch", None)
        of[1]["losses"].pop("details")  # lines of the file
        for name in ("chips", "zones", "launches"):
            of[1][name] = in_any_order(of[1].get(name) or [])
    if command in ("report", "causes"):
        for row in of[1]["sections"].get("losses", {}).get("rows", ()):
            row.pop("first")
    if command == "diff":  # lines that differ by as much up to the order of sums
        of[1]["lines"] = sorted(of[1]["lines"], key=lambda line: [str(line.get(k)) for k in ("kind", "name", "risc", "where", "place")])
        for line in of[1]["lines"]:
            line["causes"] = sorted(line.get("causes") or [], key=lambda c: [str(c.get(k)) for k in ("name", "risc", "where")])
    if command == "causes":
        zones = of[1]["sections"].get("path_zones", {"rows": []})["rows"]
        cycles = [row["cycles"] for row in zones]
        for row in zones:  # of so many zones it is worked out what they save: of equal ones either
            if cycles.count(row["cycles"]) > 1:
                row.update(saves=None, saves_share=None)
        for name, table in of[1]["sections"].items():
            if "rows" in table and name != "path":
                table["rows"] = in_any_order(table["rows"])
    return of


def differ(a, b, where=""):
    """Where two answers differ by more than the order of sums; None: nowhere."""
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return "%s: %s" % (where, sorted(a.keys() ^ b.keys()))
        return next((d for d in (differ(a[k], b[k], "%s.%s" % (where, k)) for k in a) if d), None)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            return "%s: %d rows and %d" % (where, len(a), len(b))
        return next((d for d in (differ(x, y, "%s[%d]" % (where, i)) for i, (x, y) in enumerate(zip(a, b))) if d), None)
    if isinstance(a, float) or isinstance(b, float):
        same = isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    else:
        same = a == b
    return None if same else "%s: %s and %s" % (where, str(a)[:200], str(b)[:200])


def compare(case, orders, write, commands):
    first = {}
    for order in orders:
        write(order)
        for command in commands:
            now = settle(command.split()[0], said(*command.split()))
            if command not in first:
                first[command] = now
                continue
            where = differ(first[command], now)
            compared.append(command)
            if where:
                bad.append("case %d, devlog %s, %s: %s" % (case, command, order, where))


LOGS = ("decode -f json --no-files old.csv", "report --format json old.csv", "diff --exact --format json old.csv new.csv", "diff --format json old.csv new.csv",
        "causes --format json old.csv", "export -f collapsed -o - old.csv", "export -f csv -o - old.csv")
REPORTS = ("report --format json old.csv", "ops-summary --format json old.csv", "diff --exact --format json old.csv new.csv")
compared = []
first_seed, cases = int(os.environ.get("DEVLOG_TEST_SEED", "22")), int(os.environ.get("DEVLOG_TEST_CASES", "4"))
with tempfile.TemporaryDirectory() as folder:
    for case in range(first_seed, first_seed + cases):
        whole = {"old.csv": rows_of(random.Random(case), 1), "new.csv": rows_of(random.Random(case), 1.3)}
        r = random.Random(case)
        less = {n: [row for row in rows if r.random() > 0.03] for n, rows in whole.items()}  # and some that come twice
        less["old.csv"] += [row for row in less["old.csv"] if r.random() < 0.01]
        for pair in (whole, less):
            compare(case, ORDERS, lambda order: [write_log(os.path.join(folder, n), rows, ORDERS[order]) for n, rows in pair.items()], LOGS)
        ops, more = ops_of(random.Random(case)), ops_of(random.Random(case + 10**6))
        ways = {"as it ran": None, "backwards": lambda of: of[::-1], "by duration": lambda of: sorted(of, key=lambda o: -int(o["DEVICE KERNEL DURATION [ns]"] or 0)),
                "shuffled": lambda of: random.Random(case).sample(of, len(of))}
        compare(case, ways, lambda way: [write_report(os.path.join(folder, n), ways[way](of) if ways[way] else of) for n, of in (("old.csv", ops), ("new.csv", more))],
                REPORTS)
if len(compared) != cases * 3 * (2 * len(LOGS) + len(REPORTS)):
    bad.append("%d answers compared" % len(compared))
if __name__ == "__main__":
    shared.compared = len(compared)
    sys.exit(finish())
