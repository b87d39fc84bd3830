"""What report and diff say of zones, sums, launches and gaps of random device logs, held against a plain reference: a stack per RISC,
and sums by hand. Usage: truth.py BUILD; DEVLOG_TEST_SEED chooses other runs, DEVLOG_TEST_CASES more."""
import collections
import csv
import io
import json
import os
import random
import sys
import tempfile

from runs import MHZ, ORDERS, RISCS, rows_of, write_log
from shared import bad, finish, run, same

NS = 1000 / MHZ


class Zone:
    def __init__(self, of, where, start, end, own, times):
        (self.chip, self.x, self.y, risc), self.name, self.launch = of[0], where[0], of[1]
        self.key = (RISCS[risc], where[0], where[1])
        self.start, self.end, self.own, self.total, self.times = start, end, own, end - start, times


def zones_of(rows):
    """Zones as a stack pairs them; sums as zones of so many passes, at no time."""
    zones, streams = [], collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: (row[0], row[5])):
        at, stream, launch, cells = row[0], row[1:5], row[6], row[7].split(",")
        name, kind, where = cells[10], cells[11], "%s:%s" % (cells[13], cells[12])
        if kind == "ZONE_START":
            streams[stream].append([at, 0])
        elif kind == "ZONE_END":
            start, inside = streams[stream].pop()
            zones.append(Zone((stream, launch), (name, where), start, at, at - start - inside, 1))
            if streams[stream]:
                streams[stream][-1][1] += at - start
        elif kind == "ZONE_TOTAL":
            passes = json.loads(",".join(cells[14:]).replace(";", ","))["count"]
            zones.append(Zone((stream, launch), (name, where), 0, int(cells[6]), int(cells[6]), passes))
    return zones


def by_zone(zones):
    of = collections.defaultdict(list)
    for z in zones:
        of[z.key].append(z)
    return of


def launches_of(zones):
    """Chip to its launches, by their firmware: from the first start to the last end, in their order."""
    spans = collections.defaultdict(lambda: [float("inf"), 0])
    for z in zones:
        if z.name.endswith("-FW"):
            span = spans[z.chip, z.launch]
            span[:] = min(span[0], z.start), max(span[1], z.end)
    chips = collections.defaultdict(list)
    for (chip, _), span in spans.items():
        chips[chip].append(span)
    return [sorted(spans) for spans in chips.values()]


def check_report(what, zones):
    rows = json.loads(run("report", "--format", "json", "--tables", "zones", path("old.csv")))["sections"]["zones"]["rows"]
    found = {(r["risc"], r["zone"], r["where"]): r for r in rows}
    wanted = {k: of for k, of in by_zone(zones).items() if not k[1].endswith("-FW")}  # the report leaves firmware out
    same(what + ": zones of the report", sorted(found), sorted(wanted))
    for key, of in wanted.items():
        row = found.get(key, {})
        same("%s: %s: count" % (what, key), row.get("count"), sum(z.times for z in of))
        same("%s: %s: total" % (what, key), row.get("total"), sum(z.total for z in of) * NS)
        same("%s: %s: own" % (what, key), row.get("own"), sum(z.own for z in of) * NS)


def check_diff(what, old, new):
    lines = list(csv.DictReader(io.StringIO(run("diff", "--exact", "--format", "csv", path("old.csv"), path("new.csv")))))
    for side, zones in (("old", old), ("new", new)):
        real = lambda line, name: float(line["%s_%s" % (side, name)] or "nan")
        wanted = by_zone(zones)
        of_kind = lambda kind: {(r["risc"], r["name"], r["where"]): r for r in lines if r["kind"] == kind and real(r, "count")}
        for kind in ("zone", "cause"):
            same("%s: %s, %s" % (what, kind, side), sorted(of_kind(kind)), sorted(wanted))
        for key, line in of_kind("zone").items():
            of = wanted.get(key, [])
            same("%s: %s, %s: count" % (what, key, side), real(line, "count"), sum(z.times for z in of))
            same("%s: %s, %s: mean" % (what, key, side), real(line, "mean"), sum(z.total for z in of) / max(1, sum(z.times for z in of)) * NS)
        for key, line in of_kind("cause").items():
            launches = collections.defaultdict(list)
            for z in wanted.get(key, []):
                launches[z.chip, z.launch].append(z)
            each = [sum(z.own for z in of) / len({(z.x, z.y) for z in of}) for of in launches.values()]
            same("%s: %s in a launch, %s" % (what, key, side), real(line, "mean"), sum(each) / max(1, len(each)) * NS)
        chips = launches_of(zones)
        totals = {r["name"]: r for r in lines if r["kind"] == "total"}
        same("%s: device, %s" % (what, side), real(totals["time on the device"], "mean"), sum(e - s for spans in chips for s, e in spans) * NS)
        gaps = 0
        for spans in chips:
            end = spans[0][0]
            for s, e in spans:
                gaps += max(0, s - end)
                end = max(end, e)
        if any(len(spans) > 1 for spans in chips):
            same("%s: gaps, %s" % (what, side), real(totals["gaps on the device"], "mean"), gaps * NS)


def path(name):
    return os.path.join(folder, name)


first_seed, cases = int(os.environ.get("DEVLOG_TEST_SEED", "1")), int(os.environ.get("DEVLOG_TEST_CASES", "4"))
with tempfile.TemporaryDirectory() as folder:
    for case in range(first_seed, first_seed + cases):
        old, new = rows_of(random.Random(case), 1), rows_of(random.Random(case), 1.3)
        for order, key in ORDERS.items():
            write_log(path("old.csv"), old, key)
            write_log(path("new.csv"), new, key)
            check_report("case %d, %s" % (case, order), zones_of(old))
            check_diff("case %d, %s" % (case, order), zones_of(old), zones_of(new))
if __name__ == "__main__":
    sys.exit(finish())
