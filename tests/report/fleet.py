#!/usr/bin/env python3
"""devlog ranks, held against a generated fleet whose times are known: ranks of three versions of tt-metal (columns, ids and
shapes as real reports of 2024, 2025 and 2026 have them), each chip with a clock of its own that lies elsewhere, runs at its own pace and wanders,
one that jumps; ranks that are gone, empty, cut, or without device data; ops that were lost; stragglers, all the time and for a
while. The same for one seed. Not for what few ranks say in detail: that is ranks.py.
Usage: fleet.py BUILD [RANKS [LAYERS]]; with RANKS it prints how long each command took and what it needed."""
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

from shared import DEVLOG, bad, finish, same

RANKS = int(sys.argv[2]) if len(sys.argv) > 2 else 24
MEASURE = len(sys.argv) > 2
LAYERS = int(sys.argv[3]) if len(sys.argv) > 3 else 16
CHIPS, SEED = 2, 20261123

# name, cores, ns, shapes of inputs and output: (stored, logical) of the last two dimensions
LAYER = [("LayerNorm", 64, 9000, [((32, 4096), (30, 4096))], ((32, 4096), (30, 4096))),
         ("Matmul", 64, 42000, [((32, 4096), (30, 4096)), ((4096, 1024), (4096, 1024))], ((32, 1024), (30, 1024))),
         ("AllGatherAsync", 8, 8000, [((32, 1024), (30, 1024))], ((32, 4096), (30, 4096))),
         ("Softmax", 64, 9000, [((32, 4096), (30, 4096))], ((32, 4096), (30, 4096))),
         ("Matmul", 64, 55000, [((32, 4096), (30, 4096)), ((4096, 4096), (4096, 4096))], ((32, 4096), (30, 4096))),
         ("ReduceScatterMinimalAsync", 8, 9000, [((32, 4096), (30, 4096))], ((32, 1024), (30, 1024))),
         ("Gelu", 56, 7000, [((32, 1024), (30, 1024))], ((32, 1024), (30, 1024)))]

RISCS = ["BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2", "ERISC"]
CORES = ["DEVICE KERNEL DURATION DM START [ns]", "DEVICE KERNEL DURATION PER CORE MIN [ns]", "DEVICE KERNEL DURATION PER CORE MAX [ns]",
         "DEVICE KERNEL DURATION PER CORE AVG [ns]", "DEVICE KERNEL FIRST TO LAST START [ns]"]
SIZES = ["TENSIX DM 0", "TENSIX DM 1", "TENSIX COMPUTE 0", "TENSIX COMPUTE 1", "TENSIX COMPUTE 2", "ACTIVE ETH DM 0", "ACTIVE ETH DM 1", "IDLE ETH DM 0",
         "IDLE ETH DM 1"]


def tensors(inputs, dims):
    return [t + "_" + d for t in ["INPUT_%d" % i for i in range(inputs)] + ["OUTPUT_0"] for d in dims + ["LAYOUT", "DATATYPE", "MEMORY"]]


def columns(year):
    """As the reports of each year have them."""
    padded = [d if year == 2024 else d + "_PAD[LOGICAL]" for d in "WZYX"]
    out = ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID"] + ["DEVICE ARCH"] * (year == 2026) + ["ATTRIBUTES", "MATH FIDELITY", "CORE COUNT"]
    out += ["AVAILABLE WORKER CORE COUNT"] * (year == 2026) + ["PARALLELIZATION STRATEGY", "HOST START TS", "HOST END TS", "HOST DURATION [ns]"]
    out += ["DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "OP TO OP LATENCY [ns]"] + ["OP TO OP LATENCY BR/NRISC START [ns]"] * (year > 2024)
    out += ["DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]"] + CORES * (year > 2024)
    out += ["DEVICE %s KERNEL DURATION [ns]" % r for r in RISCS] + ["DEVICE COMPUTE CB WAIT FRONT [ns]", "DEVICE COMPUTE CB RESERVE BACK [ns]"]
    out += ["DISPATCH TOTAL CQ CMD OP TIME [ns]", "DISPATCH GO SEND WAIT TIME [ns]"] * (year > 2024)
    out += tensors({2024: 3, 2025: 4, 2026: 5}[year], padded) + ["METAL TRACE ID", "METAL TRACE REPLAY SESSION ID"] * (year > 2024)
    out += ["COMPUTE KERNEL SOURCE", "COMPUTE KERNEL HASH", "DATA MOVEMENT KERNEL SOURCE", "DATA MOVEMENT KERNEL HASH"]
    out += ["%s MAX KERNEL SIZE [B]" % s for s in SIZES] * (year > 2024) + ["PM IDEAL [ns]", "PM COMPUTE [ns]", "PM BANDWIDTH [ns]", "PM REQ I BW", "PM REQ O BW"]
    if year == 2024:
        return out + ["CompileProgram_TT_HOST_FUNC [ns]", "HWCommandQueue_write_buffer_TT_HOST_FUNC [ns]"]
    out += ["PM FPU UTIL (%)", "NOC UTIL (%)", "DRAM BW UTIL (%)", "NPE CONG IMPACT (%)"]
    return out + ["%s Util %s (%%)" % (u, s) for u in ("SFPU", "FPU", "MATH") for s in ("Min", "Median", "Max")] * (year == 2026)


# What differs from row to row; all else of a row is the same for an op and a version.
LIVE = ["GLOBAL CALL COUNT", "DEVICE ID", "HOST START TS", "HOST END TS", "HOST DURATION [ns]", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE",
        "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]"]


def pattern(year, op):
    """A row of an op as a format; its cells that stay empty without device data are among LIVE."""
    name, cores, _, inputs, output = op
    fixed = {"OP CODE": name, "OP TYPE": "tt_dnn_device", "DEVICE ARCH": "wormhole_b0", "MATH FIDELITY": "HiFi2", "CORE COUNT": str(cores),
             "AVAILABLE WORKER CORE COUNT": "64", "COMPUTE KERNEL SOURCE": "['kernels/compute/a.cpp'; 'kernels/compute/b.cpp']",
             "ATTRIBUTES": "{'dim': '3'; 'num_links': '1'; 'memory_config': 'MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED;buffer_type=BufferType::L1)'}",
             "PM IDEAL [ns]": "4000", "PM COMPUTE [ns]": "3000", "PM BANDWIDTH [ns]": "4000", "PM REQ I BW": "[1.25; 2.5]", "PM REQ O BW": "[3.5]"}
    for tensor, (stored, logical) in zip(["INPUT_%d_" % i for i in range(len(inputs))] + ["OUTPUT_0_"], inputs + [output]):
        for dim, a, b in zip("WZYX", (1, 1, *stored), (1, 1, *logical)):
            fixed[tensor + dim] = str(a)
            fixed[tensor + dim + "_PAD[LOGICAL]"] = "%d[%d]" % (a, b)
        fixed.update({tensor + "LAYOUT": "TILE", tensor + "DATATYPE": "BFLOAT16", tensor + "MEMORY": "DEV_0_L1_INTERLEAVED"})
    return ",".join("%s" if c in LIVE else fixed.get(c, "").replace("%", "%%") for c in columns(year)) + "\n"


class Chip:
    """Its clock: cycles of MHz that it says, which lies somewhere, runs up to 40 ppm off, and wanders by up to 60 ns. `jump`: ns by
    which it is set back (below 0: forward) within the run."""

    def __init__(self, rank, chip, dice):
        self.rank, self.chip = rank, chip
        self.epoch, self.ppm = dice.uniform(0, 1e12), dice.uniform(-40, 40)
        self.wander, self.phase = dice.uniform(0, 60), dice.uniform(0, 6)
        self.mhz = dice.choice((1000, 1000, 1350))
        self.jump, self.jumps_at = 0, 0
        self.now = dice.uniform(0, 4e4)
        self.rows = []  # (op, number, start, end), None: a signpost; with end None: lost

    def cycles(self, t):
        ns = self.epoch + t * (1 + self.ppm * 1e-6) + self.wander * math.sin(t / 3e7 + self.phase)
        return round((ns - (self.jump if t >= self.jumps_at else 0)) * self.mhz / 1000)


class Fleet:
    """`first_jumps`: of the ranks that are read it is the first, beside whose clock all others would be laid. `ring`: by how many ns at most a
    chip ends collective ops later than another, each time by as much, which looks like another clock."""

    def __init__(self, seed, first_jumps=False, ring=0):
        dice = random.Random(seed)
        fate = list(range(RANKS - 1))  # that the last one is gone no file says
        dice.shuffle(fate)
        some = max(1, RANKS // 64)
        take = lambda n: sorted(fate.pop() for _ in range(n))
        self.gone, self.empty, self.headers, self.blind, self.cut = take(some + 1), take(some), take(some), take(some), take(some)
        self.slow, self.late, self.sometimes, self.jumping = fate.pop(), fate.pop(), fate.pop(), fate.pop()
        if first_jumps:
            fate.append(self.jumping)
            self.jumping = min(set(fate) - {self.slow, self.late, self.sometimes})
        self.silent = sorted(self.empty + self.headers + self.blind)
        self.year = {r: dice.choice((2024, 2025, 2025, 2026)) for r in range(RANKS)}
        self.chips = [Chip(r, c, dice) for r in range(RANKS) for c in range(CHIPS)]
        self.ring = ring
        self.after = {c: dice.uniform(0, ring) for c in self.chips}
        self.meetings = []  # (name, number, {chip: (start, end)}) of chips whose data came
        self.never = set()  # (chip, number) of rows that a report has lost
        self.lost = {r: 0 for r in range(RANKS)}
        jump, jumps_at = dice.choice((-1, 1)) * 10 ** dice.uniform(5.5, 9), LAYERS * 1.18e6 * dice.choice((0.2, 0.4, 0.6, 0.8))
        for chip in self.chips:
            if chip.rank == self.jumping:
                chip.jump, chip.jumps_at = jump, jumps_at
        for layer in range(LAYERS):
            for chip in self.chips:
                if layer % 8 == 0:
                    chip.rows.append(None)
                chip.now += 1e6
            for k, op in enumerate(LAYER):
                self.one(layer, k, op, dice)

    def one(self, layer, k, op, dice):
        name, starts = op[0], {}
        for chip in self.chips:
            gap = dice.uniform(200, 900)
            if chip.rank == self.late and k == 2:
                gap += 30000
            starts[chip] = chip.now + gap
        collective = k in (2, 5)
        done = max(starts.values()) + op[2] + 400 * (layer % 3)
        there = {}
        for chip in self.chips:
            start = starts[chip]
            took = op[2] * dice.uniform(1, 1.02)
            if name == "Softmax" and chip.rank == self.slow:
                took *= 3
            if k == 4 and chip.rank == self.sometimes and LAYERS // 2 <= layer < LAYERS * 3 // 4:
                took *= 2
            end = done + self.after[chip] + dice.uniform(0, 150) if collective else start + took
            chip.now = end
            gone = dice.random() < 0.002
            self.lost[chip.rank] += gone
            chip.rows.append((k, layer * len(LAYER) + k + 1, start, None if gone else end))
            if collective and not gone:
                there[chip] = (start, end)
        if collective:
            self.meetings.append((name, layer * len(LAYER) + k + 1, there))

    def lines(self, rank):
        """A report; old versions write chip by chip, and their ids are plain and count what ran on the host, too."""
        year = self.year[rank]
        formats = [pattern(year, op) for op in LAYER]
        self.rows = {}
        names = columns(year)
        chips = [c for c in self.chips if c.rank == rank]
        out = [",".join(names) + "\n"]
        if year == 2024:
            out.append(",".join({"OP CODE": "(torch) contiguous", "OP TYPE": "python_fallback", "GLOBAL CALL COUNT": "1"}.get(c, "") for c in names) + "\n")

        def row(chip, step, entry):
            if entry is None:
                return "layers of part %d,signpost%s\n" % (step, "," * (len(names) - 2))
            k, number, start, end = entry
            ident = (number + 1) * CHIPS + chip.chip if year == 2024 else number << 10 | chip.chip
            host = round(start) + 10**12
            if end is None or rank in self.blind:
                cells = [ident, chip.chip, host, host + 5000, 5000, "", "", "", ""]
            else:
                a, b = chip.cycles(start), chip.cycles(end)
                ns = round((b - a) * 1000 / chip.mhz)
                cells = [ident, chip.chip, host, host + 5000, 5000, a, b, ns, ns - 300]
            order = dict(zip(LIVE, cells))
            return formats[k] % tuple(order[c] for c in names if c in order)

        steps = [0] * len(chips)
        orders = ([(i, e) for i, c in enumerate(chips) for e in c.rows] if year == 2024 else
                  [(i, es[i]) for es in zip(*(c.rows for c in chips)) for i in range(len(chips))])
        for i, entry in orders:
            if entry is None:
                steps[i] += 1
                if i:
                    continue
            out.append(row(chips[i], steps[i], entry))
            self.rows[len(out)] = chips[i], entry
        return out

    def write(self, folder):
        for rank in range(RANKS):
            if rank in self.gone:
                continue
            inner = os.path.join(folder, "rank%d" % rank, "reports", "2026_11_23_12_00_%02d" % (rank % 60))
            os.makedirs(inner)
            lines = [] if rank in self.empty else self.lines(rank)
            if rank in self.headers:
                lines = lines[:1]
            text = "".join(lines)
            if rank in self.cut:
                text = text[:len(text) * 3 // 4]
                for at, (chip, entry) in self.rows.items():  # a row that is torn is as good as gone
                    if at > text.count("\n"):
                        self.never.add((chip, entry[1]) if entry else None)
            with open(os.path.join(inner, "ops_perf_results_2026_11_23_12_00_%02d.csv" % (rank % 60)), "w", encoding="utf-8") as f:
                f.write(text)


def timed(what, *args):
    """What a command says, and where it is asked for, what it took."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen([DEVLOG, *args], stdout=out, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if MEASURE:
            print("  %-14s %6.2f s, processor %6.2f s, memory %4d MiB" % (what, time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024))
        return subprocess.CompletedProcess(args, child.returncode, out.read(), err.read())


def table(said, name):
    return said["sections"][name]["rows"]


def fact(said, name):
    return said["sections"]["verdict"]["facts"].get(name, {"value": None, "note": ""})


def check(good, what):
    same(what, bool(good), True)


def numbers(which):
    """As devlog names them: "ranks 1, 3-5 and 9"."""
    parts = []
    for n in which:
        if len(parts) and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    parts = [t for a, b in parts for t in (["%d-%d" % (a, b)] if b - a > 1 else map(str, sorted({a, b})))]
    return "rank%s %s" % ("s" * (len(which) > 1), " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))))


def hold(fleet, said):
    """Every collective op against the truth, within what is stated; who is not there, who was late, and who was slow."""
    away = set(fleet.gone + fleet.silent)
    there = [r for r in range(RANKS) if r not in away]
    residuals = {r["rank"]: r["residual"] for r in table(said, "ranks")}
    check(all(residuals[r] is not None and residuals[r] < 1000 for r in there), "a clock is not known: %s" % sorted(str(residuals[r]) for r in there)[-1])
    bound = fact(said, "bound")["value"]
    check(bound >= max(residuals[r] or 0 for r in there), "in any case they are known to %s" % bound)
    within = 2 * (bound if fleet.ring else max(residuals[r] or 0 for r in there)) + 2
    same("known to", fact(said, "residual")["value"], max(residuals[r] or 0 for r in there))
    same("ranks", [r["rank"] for r in table(said, "ranks")], [r for r in range(RANKS) if r not in fleet.gone])
    same("lost ops", {r["rank"]: r["lost"] for r in table(said, "ranks") if r["rank"] not in fleet.cut + fleet.silent},
         {r: n for r, n in fleet.lost.items() if r not in fleet.cut and r not in away})

    each, worst, sums, most = table(said, "each"), [0, 0], {}, {}
    same("collective ops", len(each), len(fleet.meetings))
    for row, (name, number, times) in zip(each, fleet.meetings):
        times = {c: t for c, t in times.items() if c.rank not in away and (c, number) not in fleet.never}
        jumpers = {c for c in times if c.jump and (times[c][0] < c.jumps_at) == (c.jumps_at < LAYERS * 0.59e6)}  # the shorter part
        times = {c: t for c, t in times.items() if c not in jumpers}
        last, end = max(s for s, _ in times.values()), max(e for _, e in times.values())
        skew = sum(last - s for s, _ in times.values()) / len(times)
        order = sorted(times, key=lambda c: times[c][0])
        who, late = order[-1], times[order[-1]][0] - times[order[-2]][0]
        same("%s, op %d: chips" % (name, number), (row["op"], row["chips"]), (name, len(times)))
        worst = [max(worst[0], abs(row["transfer"] - (end - last))), max(worst[1], abs(row["skew"] - skew))]
        check(abs(row["transfer"] - (end - last)) <= within, "%s, op %d: transfer %s, not %s" % (name, number, row["transfer"], end - last))
        check(abs(row["skew"] - skew) <= within, "%s, op %d: skew %s, not %s" % (name, number, row["skew"], skew))
        check(late <= within or row["last"] == "rank %d chip %d" % (who.rank, who.chip), "op %d: %s came last, not %d" % (number, row["last"], who.rank))
        sums[name] = sums.get(name, 0) + skew
        most[who.rank] = most.get(who.rank, 0) + 1
    for row in table(said, "collectives"):
        check(abs(row["skew"] - sums[row["op"]]) <= within * row["n"], "%s: skew %s, not %s" % (row["op"], row["skew"], sums[row["op"]]))

    same("missing", (fact(said, "missing")["value"], fact(said, "missing")["note"].split(":")[0]), (len(fleet.gone), numbers(fleet.gone)))
    same("silent", (fact(said, "silent")["value"], fact(said, "silent")["note"].split(";")[0]), (len(fleet.silent), numbers(fleet.silent)))
    same("jumped", (fact(said, "jumped")["value"], fact(said, "jumped")["note"].split(":")[0]), (CHIPS, "of rank %d" % fleet.jumping))
    if fleet.ring:
        return worst, within
    late = {r["rank"]: r["why"] or "" for r in reversed(table(said, "late"))}
    first = sorted({r["rank"] for r in table(said, "late")[:8]} & {fleet.slow, fleet.late, fleet.sometimes})
    same("who kept the others", first, sorted((fleet.slow, fleet.late, fleet.sometimes)))
    for rank, why in ((fleet.slow, "Softmax takes longer"), (fleet.late, "its host"), (fleet.sometimes, "Matmul takes longer")):
        check(why in late.get(rank, ""), "rank %d was kept by %s, not %r" % (rank, why, late.get(rank)))
    slow = {r["op"]: r["slow_rank"] for r in table(said, "imbalance") if r["slow_rank"]}
    same("slow ranks", slow, {"Softmax": str(fleet.slow), "Matmul": str(fleet.sometimes)})
    return worst, within


def try_one(fleet):
    with tempfile.TemporaryDirectory(prefix="devlog-fleet.") as folder:
        start = time.monotonic()
        at = os.path.join(folder, "ttrun")
        fleet.write(at)
        size = sum(os.path.getsize(os.path.join(p, f)) for p, _, fs in os.walk(at) for f in fs)
        rows = sum(len(c.rows) for c in fleet.chips)
        if MEASURE:
            print("%d ranks of %d chips, %d rows, %.0f MB, written in %.0f s" % (RANKS, CHIPS, rows, size / 1e6, time.monotonic() - start))
        told = timed("report, JSON", "ranks", "--format", "json", at)
        same("exit status", told.returncode, 3)
        same("a line for each silent rank", sorted(int(line.split()[3]) for line in told.stderr.splitlines()), fleet.silent)
        worst, within = hold(fleet, json.loads(told.stdout))
        print("%d ranks: transfer is at most %.0f ns off the truth, skew %.0f ns; %.0f ns are stated" % (RANKS, *worst, within))
        text = timed("report, text", "ranks", at)
        check("WHO WAITED FOR WHOM" in text.stdout and "clocks that jump" in text.stdout, "text: %s" % text.stdout[:500])
        merged = os.path.join(folder, "all.csv")
        timed("one CSV", "ranks", "--merge", merged, "-o", os.devnull, at)
        with open(merged, newline="", encoding="utf-8") as f:
            found = csv.DictReader(f)
            counts = {}
            for row in found:
                if row["OP TYPE"] == "tt_dnn_device":
                    counts[int(row["RANK"])] = counts.get(int(row["RANK"]), 0) + 1
        ops = LAYERS * len(LAYER) * CHIPS
        same("rows of one CSV", {r: n for r, n in counts.items() if r not in fleet.cut},
             {r: ops for r in range(RANKS) if r not in fleet.gone + fleet.empty + fleet.headers + fleet.cut})
        same("columns of one CSV", set(found.fieldnames), set(sum((columns(y) for y in set(fleet.year.values())), [])) | {"RANK", "HOST"})
        timed("one time line", "ranks", "--trace", os.path.join(folder, "all.json"), "-o", os.devnull, at)
        with open(os.path.join(folder, "all.json"), encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        same("ranks in the time line", {e["pid"] - 1 for e in events if e["ph"] == "X"}, set(range(RANKS)) - set(fleet.gone + fleet.silent))


def main():
    try_one(Fleet(SEED))
    if not MEASURE:
        try_one(Fleet(SEED + 1, first_jumps=True))
        try_one(Fleet(SEED + 2, ring=3000))
    return finish()


sys.exit(main())
