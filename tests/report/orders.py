"""One run in other orders: a device log has its rows by time (tt-metal's today), core by core (of 2024), or RISC by RISC, and an op
report may have been sorted in a spreadsheet. What decode, report, diff, causes and exports say of it is the same. Not for what
they say (inputs.py). Usage: orders.py BUILD; DEVLOG_TEST_SEED chooses other runs, DEVLOG_TEST_CASES more."""
import json
import os
import random
import subprocess
import sys
import tempfile

import shared
from runs import ORDERS, ops_of, rows_of, write_log, write_report
from shared import DEVLOG, bad, finish


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


def same_in_all(case, orders, write):
    """Several runs on each side, which are one run in different orders: its launches and ops are the same ones."""
    inputs = []
    for i, order in enumerate(orders):
        name = "run%d.csv" % i
        write(os.path.join(folder, name), order)
        inputs += ["--new" if i % 2 else "--old", name]
    status, answer = said("diff", "--exact", "--format", "json", *inputs) or (1, {"lines": []})
    compared.append("diff of several runs")
    other = [(line["kind"], line["name"], line.get("place"), line["verdict"]) for line in answer["lines"] if line["verdict"] not in ("same", "no time")]
    if status or other or not answer["lines"]:
        bad.append("case %d, several runs: status %d, %s" % (case, status, other[:3]))


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
        same_in_all(case, ORDERS, lambda path, order: write_log(path, whole["old.csv"], ORDERS[order]))
        ops, more = ops_of(random.Random(case)), ops_of(random.Random(case + 10**6))
        ways = {"as it ran": None, "backwards": lambda of: of[::-1], "by duration": lambda of: sorted(of, key=lambda o: -int(o["DEVICE KERNEL DURATION [ns]"] or 0)),
                "shuffled": lambda of: random.Random(case).sample(of, len(of))}
        compare(case, ways, lambda way: [write_report(os.path.join(folder, n), ways[way](of) if ways[way] else of) for n, of in (("old.csv", ops), ("new.csv", more))],
                REPORTS)
        same_in_all(case, ways, lambda path, way: write_report(path, ways[way](ops) if ways[way] else ops))
if len(compared) != cases * (2 + 3 * (2 * len(LOGS) + len(REPORTS))):
    bad.append("%d answers compared" % len(compared))
if __name__ == "__main__":
    shared.compared = len(compared)
    sys.exit(finish())
