#!/usr/bin/env python3
"""devlog ranks, held against generated programs whose times are known: ranks with clocks of their own that lie and run apart, ops
that are lost, ranks that are missing, slow ops and hosts. DEVLOG_TEST_RANKS=N: N ranks in the largest, by hand.
Usage: ranks.py BUILD"""
import csv
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import time

from captures import read_exchanges
from shared import DEVLOG, NN, SOURCE, bad, finish, on_terminal, same

HEADER = ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "CORE COUNT", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE",
          "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES"]
LAYER = ["LayerNorm", "Matmul", "AllGatherAsync", "Softmax", "Matmul", "ReduceScatterMinimalAsync", "Gelu"]


def check(good, what):
    same(what, bool(good), True)


class Lane:
    def __init__(self, rank, chip, dice, drifts):
        self.rank, self.chip = rank, chip
        self.epoch = dice.uniform(-1e10, 1e10)  # ns
        self.rate = 1 + (dice.uniform(-5e-5, 5e-5) if drifts else 0)
        self.now = dice.uniform(0, 5e4)
        self.rows = []

    def cycles(self, t):  # a clock of 1 GHz, by what the report takes it for
        return round((t - self.epoch) * self.rate + 2e10)


class Run:
    """A program: every op of every lane with its true times, written as reports."""

    def __init__(self, seed, ranks, chips, layers, drifts=True, slow=None, late_host=None, by_ids=True, lost=0.0, extra=None, pause=0):
        dice = random.Random(seed)
        self.lanes = [Lane(r, c, dice, drifts) for r in range(ranks) for c in range(chips)]
        self.meetings = []  # of each collective op: (name, {lane: (start, end)})
        self.lost = {r: 0 for r in range(ranks)}
        self.ops = 0
        base = {r: 1 if by_ids else dice.randrange(1, 5000) for r in range(ranks)}
        for layer in range(layers):
            for lane in self.lanes:
                lane.now += pause
            for name in LAYER:
                self.ops += 1
                self.one(name, layer, dice, slow, late_host, base, lost)
            if extra == layer:
                for lane in self.lanes:
                    if lane.rank == 1:
                        start = lane.now + 100
                        lane.now = start + 2000
                        self.row(lane, "Tilize", 900000 if by_ids else base[1], start, lane.now)
                base[1] += not by_ids

    def one(self, name, layer, dice, slow, late_host, base, lost):
        starts = {}
        for lane in self.lanes:
            gap = dice.uniform(200, 900)
            if late_host is not None and lane.rank == late_host and name == "ReduceScatterMinimalAsync":
                gap += 30000
            starts[lane] = lane.now + gap
        collective = "All" in name or "Reduce" in name
        done = max(starts.values()) + 8000 + 500 * (layer % 3)
        for lane in self.lanes:
            if collective:
                end = done + dice.uniform(0, 150)
            else:
                end = starts[lane] + dice.uniform(9000, 9400) * (1.5 if slow == lane.rank and name == "Softmax" else 1)
            lane.now = end
            gone = not collective and dice.random() < lost
            self.lost[lane.rank] += gone
            self.row(lane, name, base[lane.rank], starts[lane], end, gone)
        if collective:
            self.meetings.append((name, {l: (starts[l], l.now) for l in self.lanes}))
        for rank in base:
            base[rank] += 1

    @staticmethod
    def row(lane, name, number, start, end, gone=False):
        a, b = lane.cycles(start), lane.cycles(end)
        device = ["", "", "", ""] if gone else [a, b, b - a, b - a - 300]
        lane.rows.append([name, "tt_dnn_device", number << 10 | lane.chip, lane.chip, 64, *device, 'a, "b"\nc'])

    def write(self, folder, but=(), layout="rank%d"):
        for rank in sorted({l.rank for l in self.lanes} - set(but)):
            inner = os.path.join(folder, layout % rank)
            os.makedirs(inner)
            lanes = [l for l in self.lanes if l.rank == rank]
            with open(os.path.join(inner, "ops_perf_results_x.csv"), "w", newline="", encoding="utf-8") as f:
                out = csv.writer(f)
                out.writerow(HEADER)
                for rows in zip(*(l.rows for l in lanes)):
                    out.writerows(rows)


def ranks(*args, ok=(0,)):
    done = subprocess.run([DEVLOG, "ranks", *args], capture_output=True, text=True)
    check(done.returncode in ok, "devlog ranks %s: exit %d, %s" % (" ".join(args), done.returncode, done.stderr[-300:]))
    return done


def table(said, name):
    return said["sections"][name]["rows"]


def fact(said, name):
    return said["sections"]["verdict"]["facts"][name]["value"]


def hold(what, run, folder, ok=(0,)):
    """Every figure about collective ops, against the truth, within what is stated."""
    said = json.loads(ranks("--format", "json", folder, ok=ok).stdout or "{}")
    if not said:
        return said
    residual = fact(said, "residual")
    each = table(said, "each")
    check(residual is not None and residual < 1000, "%s: clocks known to %s ns" % (what, residual))
    check(len(each) == len(run.meetings), "%s: %d collective ops of %d" % (what, len(each), len(run.meetings)))
    within = 2 * residual + 3  # of two clocks, and cycles that are rounded
    names = len({l.chip for l in run.lanes}) > 1
    skews = {}
    for row, (name, times) in zip(each, run.meetings):
        last, end = max(s for s, _ in times.values()), max(e for _, e in times.values())
        skew = sum(last - s for s, _ in times.values()) / len(times)
        order = sorted(times, key=lambda l: times[l][0])
        late = times[order[-1]][0] - times[order[-2]][0]
        who = "rank %d chip %d" % (order[-1].rank, order[-1].chip) if names else "rank %d" % order[-1].rank
        skews[name] = skews.get(name, 0) + skew
        check(row["op"] == name and row["chips"] == len(times), "%s: %s of %d chips" % (what, row["op"], row["chips"]))
        check(abs(row["transfer"] - (end - last)) <= within, "%s: transfer %s, not %s" % (what, row["transfer"], end - last))
        check(abs(row["skew"] - skew) <= within, "%s: skew %s, not %s" % (what, row["skew"], skew))
        check(late <= within or row["last"] == who, "%s: %s came last, not %s" % (what, who, row["last"]))
    for row in table(said, "collectives"):
        check(abs(row["skew"] - skews[row["op"]]) <= within * row["n"], "%s: %s skew %s" % (what, row["op"], row["skew"]))
    return said


def merged(what, run, folder, but=(), ok=(0,)):
    """Every row of every rank, as it stands, op by op."""
    path = os.path.join(folder, "..", "all.csv")
    ranks("--merge", path, "-o", os.devnull, folder, ok=ok)
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    written = {(l.rank, *map(str, row)) for l in run.lanes if l.rank not in but for row in l.rows}
    count = sum(len(l.rows) for l in run.lanes if l.rank not in but)
    check(len(rows) == count, "%s: %d rows of %d" % (what, len(rows), count))
    check({(int(r["RANK"]), *(r[h] for h in HEADER)) for r in rows} == written, "%s: rows are not those of the reports" % what)
    os.unlink(path)
    return rows


def main():
    with tempfile.TemporaryDirectory() as tmp:
        def folder(name):
            return os.path.join(tmp, name, "ttrun")

        plain = Run(1, 4, 2, 12, slow=2)
        plain.write(folder("plain"))
        said = hold("plain", plain, folder("plain"))
        hosts = "--hosts", "a,b,c,d"
        check([r["host"] for r in table(json.loads(ranks(*hosts, "--format", "json", folder("plain")).stdout), "ranks")] == list("abcd"),
              "hosts are not named")
        check(fact(said, "ops") == plain.ops and fact(said, "shared") == plain.ops, "plain: ops")
        slow = [r for r in table(said, "imbalance") if r["slow_rank"]]
        check([(r["op"], r["slow_rank"]) for r in slow] == [("Softmax", "2")], "the slow rank is not named: %s" % slow)
        first = table(said, "late")[0]
        check(first["rank"] == 2 and first["why"] == "Softmax takes longer there", "who came last, and why: %s" % first)
        rows = merged("plain", plain, folder("plain"))
        for i in range(0, len(rows), 8):  # op-major: 8 chips of an op behind one another, by rank and chip
            part = rows[i:i + 8]
            check(len({int(r["GLOBAL CALL COUNT"]) >> 10 for r in part}) == 1 and
                  [(int(r["RANK"]), int(r["DEVICE ID"])) for r in part] == [(k // 2, k % 2) for k in range(8)],
                  "rows %d.. are not one op" % i)

        host = Run(2, 3, 1, 10, late_host=1)
        host.write(os.path.join(folder("host"), "generated", "profiler", "ttrun"), layout="rank%d/reports/2026_01_01")
        said = hold("late host", host, folder("host"))
        check(table(said, "late")[0]["rank"] == 1 and "host" in table(said, "late")[0]["why"], "the late host is not named")

        ids = Run(3, 4, 1, 12, by_ids=False, slow=3, extra=4)
        ids.write(folder("ids"))
        said = hold("other ids", ids, folder("ids"))
        check(fact(said, "ops") == ids.ops + 1 and fact(said, "shared") == ids.ops, "other ids: %s ops" % fact(said, "ops"))
        merged("other ids", ids, folder("ids"))

        some = Run(4, 5, 2, 12, lost=0.02, slow=0)
        some.write(folder("lost"), but=(3,))
        some.meetings = [(n, {l: t for l, t in times.items() if l.rank != 3}) for n, times in some.meetings]
        said = hold("losses", some, folder("lost"), ok=(3,))
        check({r["rank"]: r["lost"] for r in table(said, "ranks")} == {r: n for r, n in some.lost.items() if r != 3}, "what was lost is not counted")
        check(fact(said, "missing") == 1, "the missing rank is not told")
        merged("losses", some, folder("lost"), but=(3,), ok=(3,))
        whole = json.loads(ranks("--format", "json", "--top", "0", folder("lost"), ok=(3,)).stdout)

        # The same reports sorted in a spreadsheet: ops go back to the order in which they ran, those without data by their ids.
        for seed in range(3):
            for at in sorted(os.listdir(folder("lost"))):
                path = os.path.join(folder("lost"), at, "ops_perf_results_x.csv")
                with open(path, newline="", encoding="utf-8") as f:
                    head, *rows = csv.reader(f)
                rows.sort(key=(lambda row: -int(row[8] or 0)) if seed == 0 else lambda row: random.Random("%d %s" % (seed, row)).random())
                with open(path, "w", newline="", encoding="utf-8") as f:
                    csv.writer(f).writerows([head, *rows])
            same("sorted reports (%d)" % seed, json.loads(ranks("--format", "json", "--top", "0", folder("lost"), ok=(3,)).stdout), whole)

        # A rank that died early and has an op less: the end of its report is not taken for that of the others.
        died = Run(13, 3, 1, 12, by_ids=False)
        for lane in died.lanes:
            if lane.rank == 1:
                lane.rows = lane.rows[:17] + lane.rows[18:42]
        died.meetings = [(n, {l: t for l, t in times.items() if l.rank != 1 or i < 12}) for i, (n, times) in enumerate(died.meetings)]
        died.write(folder("died"))
        said = hold("died", died, folder("died"))
        same("ops of a rank that died", (fact(said, "ops"), fact(said, "shared")), (died.ops, 41))

        # Columns of their own, the same name twice, a byte order mark: no cell is lost.
        for rank, header in enumerate(("\ufeffOP CODE,DEVICE ID,DEVICE KERNEL DURATION [ns],x,x", ",OP CODE,DEVICE ID,DEVICE KERNEL DURATION [ns],x")):
            os.makedirs(os.path.join(folder("columns"), "rank%d" % rank))
            with open(os.path.join(folder("columns"), "rank%d" % rank, "ops_perf_results_x.csv"), "w", encoding="utf-8") as f:
                f.write(header + ("\nA,0,5,1,2\n" if rank == 0 else "\n3,A,0,5,4\n"))
        ranks("--merge", os.path.join(tmp, "columns.csv"), "-o", os.devnull, folder("columns"))
        with open(os.path.join(tmp, "columns.csv"), newline="", encoding="utf-8") as f:
            same("columns of all", list(csv.reader(f)), [["OP CODE", "DEVICE ID", "DEVICE KERNEL DURATION [ns]", "x", "x", "", "RANK", "HOST"],
                                                          ["A", "0", "5", "1", "2", "", "0", ""], ["A", "0", "5", "4", "", "3", "1", ""]])

        # Ranks of which nothing is known, the others all the same; 2 is empty, 3 has a header, 4 no device data, 5 no file.
        dead = Run(8, 6, 1, 6, slow=1)
        for lane in dead.lanes:
            if lane.rank == 4:
                lane.rows = [row[:5] + ["", "", "", ""] + row[9:] for row in lane.rows]
        dead.write(folder("dead"))
        path = os.path.join(folder("dead"), "rank%d", "ops_perf_results_x.csv")
        os.truncate(path % 2, 0)
        with open(path % 3, "w", encoding="utf-8") as f:
            f.write(",".join(HEADER) + "\n")
        os.unlink(path % 5)
        said = ranks("--format", "json", folder("dead"), ok=(3,))
        same("lines about silent ranks", [line.split(":")[1] for line in said.stderr.splitlines()], [" rank %d is left out" % i for i in (2, 3, 4, 5)])
        said = json.loads(said.stdout)
        same("silent ranks", fact(said, "silent"), 4)
        check([(r["op"], r["slow_rank"]) for r in table(said, "imbalance") if r["slow_rank"]] == [("Softmax", "1")], "the slow rank beside dead ones")
        same("work of dead ranks", [r["work"] is None for r in table(said, "ranks")], [False, False, True, True, True, True])
        check(abs(sum(r["of_mean"] for r in table(said, "ranks")[:2]) - 2) < 1e-9, "the mean is of ranks that have times")
        with open(os.path.join(tmp, "dead.csv"), "w", encoding="utf-8"):
            ranks("--merge", os.path.join(tmp, "dead.csv"), "-o", os.devnull, folder("dead"), ok=(3,))
        with open(os.path.join(tmp, "dead.csv"), newline="", encoding="utf-8") as f:
            same("rows beside dead ranks", len(list(csv.DictReader(f))), 3 * dead.ops)

        # Ranks by the folders above what is named; one folder twice; other runs; other boards.
        times = Run(9, 11, 1, 2)
        times.write(folder("times"), layout="rank%d/reports/2026_01_01_00_00_07")
        inner = [os.path.join(folder("times"), "rank%d" % i, "reports", "2026_01_01_00_00_07") for i in (0, 10, 2)]
        for paths in (inner, [os.path.join(p, "ops_perf_results_x.csv") for p in inner]):
            said = json.loads(ranks("--format", "json", *paths, ok=(3,)).stdout)
            same("ranks of inner folders", [r["rank"] for r in table(said, "ranks")], [0, 2, 10])
        own = subprocess.run([DEVLOG, "ranks", "--format", "json", ".", "../rank1"], cwd=os.path.join(folder("times"), "rank0"), capture_output=True, text=True)
        same("rank of the folder in which one is", (own.returncode, own.stderr), (0, ""))
        os.symlink("rank10", os.path.join(folder("times"), "rank11"))
        check("are the same" in ranks(folder("times"), ok=(1,)).stderr, "a link to another rank")
        os.unlink(os.path.join(folder("times"), "rank11"))
        os.rename(inner[1], inner[1].replace("01_00_00_07", "01_09_30_07"))
        said = json.loads(ranks("--format", "json", folder("times")).stdout)
        same("reports that lie apart", fact(said, "reports_apart"), 9.5 * 3600e9)
        HEADER.append("DEVICE ARCH")
        other = Run(10, 3, 1, 2)
        for lane in other.lanes:
            for row in lane.rows:
                row.append("blackhole" if lane.rank == 1 else "wormhole_b0")
                if lane.rank == 2:
                    row[0] = "Other" + row[0]
        other.write(folder("other"))
        HEADER.pop()
        said = json.loads(ranks("--format", "json", folder("other"), ok=(3,)).stdout)
        same("a rank of another program", fact(said, "apart"), 1)
        same("another board", fact(said, "boards"), "blackhole")

        # The commands that take one run take ranks: report, ops, export, diff.
        other = subprocess.run([DEVLOG, "report", folder("plain")], capture_output=True, text=True)
        check(other.returncode == 0 and "WHO WAITED FOR WHOM" in other.stdout, "report of ranks: %s" % other.stderr)
        four = [os.path.join(folder("plain"), "rank%d" % i) for i in range(4)]
        same("report of named ranks", subprocess.run([DEVLOG, "report", *four], capture_output=True, text=True).stdout, other.stdout)
        check("one rank's folder takes the others" in subprocess.run([DEVLOG, "report", "--group", "shape", *four], capture_output=True, text=True).stderr,
              "options of one run")
        ranks("--merge", os.path.join(tmp, "merged.csv"), "-o", os.devnull, folder("plain"))
        for i, paths in enumerate((four, [folder("plain")])):
            made = subprocess.run([DEVLOG, "ops", *paths, "-o", os.path.join(tmp, "ops%d" % i)], capture_output=True, text=True)
            check(made.returncode == 0 and "RANKS AS ONE RUN" in made.stdout, "ops of ranks: %s" % made.stderr)
            with open(os.path.join(tmp, "ops%d" % i, "ops_perf_results.csv"), "rb") as f, open(os.path.join(tmp, "merged.csv"), "rb") as g:
                same("ops of ranks", f.read() == g.read(), True)
        with open(os.path.join(tmp, "ops0", "ops_perf_results.tar"), "w", encoding="utf-8") as f:
            f.write("of another report")
        made = subprocess.run([DEVLOG, "ops", *four, "-o", os.path.join(tmp, "ops0")], capture_output=True, text=True)
        check(made.returncode == 0 and "ops_perf_results.tar has the logs of an earlier report" in made.stderr, "a tar of before: %s" % made.stderr)
        trace = os.path.join(tmp, "all.json")
        made = subprocess.run([DEVLOG, "export", "-o", trace, folder("plain")], capture_output=True, text=True)
        same("export of ranks", (made.returncode, made.stdout, made.stderr), (0, "", ""))
        each = os.path.join(tmp, "each.json")
        made = subprocess.run([DEVLOG, "export", "-o", each, *four], capture_output=True, text=True)
        same("export of named ranks", (made.returncode, made.stdout, made.stderr), (0, "", ""))
        with open(trace, encoding="utf-8") as f, open(each, encoding="utf-8") as g:
            text = f.read()
            same("the same trace", g.read() == text, True)
        events = json.loads(text)["traceEvents"]
        ops = [e for e in events if e["ph"] == "X" and e["cat"] != "skew"]
        same("ops in the trace", len(ops), sum(len(l.rows) for l in plain.lanes))
        # Of every collective op each lane lies where the truth has it, from the first one's beginning.
        for place, (name, times) in zip([i for i in range(plain.ops) if LAYER[i % 7] in ("AllGatherAsync", "ReduceScatterMinimalAsync")], plain.meetings):
            mine = {(e["pid"] - 1, e["tid"] - 1): e["ts"] * 1000 for e in ops if e["args"]["place"] == place}
            shift = [mine[l.rank, l.chip] - start for l, (start, _) in times.items()]
            check(max(shift) - min(shift) < 500, "%s at %d: chips lie %s ns apart" % (name, place, max(shift) - min(shift)))
        same("skew in the trace", sum(e["ph"] == "X" and e["cat"] == "skew" for e in events), 7 * len(plain.meetings))
        slower = Run(1, 4, 2, 12, slow=2)
        for lane in slower.lanes:
            for row in lane.rows:
                if row[0] == "Gelu":
                    row[8] = row[8] * 2
        slower.write(folder("slower"), layout="rank%d/reports/2026_01_01_00_00_07")
        made = subprocess.run([DEVLOG, "diff", "--format", "json", "--exact", "--fail-on", "op>+5%", folder("plain"), folder("slower")], capture_output=True, text=True)
        check(made.returncode == 4 and '"Gelu"' in made.stdout, "diff of two sets of ranks: %d %s" % (made.returncode, made.stderr))
        changed = [o["name"] for o in json.loads(made.stdout)["lines"] if o["kind"] == "op" and o["verdict"] in ("slower", "faster")]
        same("what became slower", set(changed), {"Gelu"})

        # Rank and host by what the launcher said, recorded in the log of ops.
        numbers = {"a": {"OMPI_COMM_WORLD_RANK": "1"}, "b": {"SLURM_PROCID": "0", "PMI_RANK": "x"}, "c": {"TT_RUN_RANK": "2", "SLURM_PROCID": "7"}}
        for name, variables in numbers.items():
            out = os.path.join(tmp, "launched", name)
            env = {k: v for k, v in os.environ.items() if k not in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "TT_RUN_RANK")}
            made = subprocess.run([DEVLOG, "run", "--once", "--no-tar", "-o", out, "--", NN], env={**env, **variables}, capture_output=True, text=True)
            check(made.returncode in (0, 3), "devlog run: %s" % made.stderr[-300:])
        said = json.loads(ranks("--format", "json", *[os.path.join(tmp, "launched", n) for n in numbers], ok=(0, 3)).stdout)
        same("ranks of a launcher", [(r["rank"], os.path.basename(r["folder"])) for r in table(said, "ranks")], [(0, "b"), (1, "a"), (2, "c")])
        same("hosts", {r["host"] for r in table(said, "ranks")}, {os.uname().nodename})

        # The same by their captures, where no log of ops says it; how many there were; and a folder whose name says another.
        said_by = {"a": {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}, "b": {"SLURM_PROCID": "0"}}
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI_", "SLURM_", "TT_RUN_"))}
        for name, variables in said_by.items():
            out = os.path.join(tmp, "captured", name)
            made = subprocess.run([DEVLOG, "run", "--once", "--no-tar", "-o", out, "--", NN], env={**env, **variables}, capture_output=True, text=True)
            check(made.returncode in (0, 3), "devlog run: %s" % made.stderr[-300:])
            logs = [os.path.join(at, n) for at, _, names in os.walk(out) for n in names if n.startswith("profile_log_ops")]
            readings = read_exchanges(next(os.path.join(at, n) for at, _, names in os.walk(out) for n in names if n == "capture.devlog"))[1]
            now = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
            same("clocks of the host in a capture", [abs(real - before - now) < 3600e9 and before <= after for before, after, real, _, _ in readings], [True, True])
            check(logs, "no log of ops in %s" % [n for _, _, names in os.walk(out) for n in names])
            for log in logs:
                os.remove(log)
        paths = [os.path.join(tmp, "captured", n) for n in said_by]
        said = json.loads(ranks("--format", "json", *paths, ok=(3,)).stdout)
        same("ranks by captures", [(r["rank"], os.path.basename(r["folder"]), r["host"]) for r in table(said, "ranks")],
             [(0, "b", os.uname().nodename), (1, "a", os.uname().nodename)])
        same("of how many", said["sections"]["verdict"]["facts"]["missing"]["value"], 2)
        captures = [os.path.join(p, "logs", "capture.devlog") for p in paths]
        for given, wanted in ((captures, 1), (captures[:1], 0)):
            made = subprocess.run([DEVLOG, "decode", "--no-files", *given], capture_output=True, text=True)
            same("captures of ranks as one log: %s" % made.stderr[-300:], (made.returncode, "chip 0 is rank 0's, and was rank 1's before" in made.stdout), (0, bool(wanted)))
        os.rename(paths[0], os.path.join(tmp, "captured", "rank2"))
        paths[0] = os.path.join(tmp, "captured", "rank2")
        said = json.loads(ranks("--format", "json", *paths, ok=(3,)).stdout)
        same("the name counts", [r["rank"] for r in table(said, "ranks")], [0, 2])
        check("rank 2 by its name and rank 1 by its capture: the name counts" in " ".join(ranks(*paths, ok=(3,)).stdout.split()), "a name that is none is not told")
        same("names that are none", said["sections"]["verdict"]["facts"]["renamed"]["value"], 1)

        # A job of two ranks in the folder of one of three before.
        for rank, size in ((0, 2), (1, 2), (2, 3)):
            done = subprocess.run([DEVLOG, "run", "--once", "--no-tar", "-o", os.path.join(tmp, "sizes", "rank%d" % rank), "--", NN, "1"],
                                  env={**env, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size)}, capture_output=True, text=True)
            same("a rank of %d" % size, done.returncode, 0)
        facts = json.loads(ranks("--format", "json", os.path.join(tmp, "sizes"), ok=(3,)).stdout)["sections"]["verdict"]["facts"]
        same("ranks of other sizes", (facts["other_sizes"]["value"], facts["other_sizes"]["note"]), (1, "rank 0 is one of 2, rank 2 not: leave out what is of another run"))
        check("other_sizes" not in ranks("--format", "json", *[os.path.join(tmp, "sizes", "rank%d" % i) for i in (0, 1)]).stdout, "ranks of one size")

        # Steps: each has its own part of what all of them have, and its slow rank.
        steps = Run(12, 3, 2, 9, slow=1)
        for lane in steps.lanes:
            marked = []
            for i, row in enumerate(lane.rows):
                if i % 21 == 0:
                    marked.append(["step %d" % (i // 21), "signpost"] + [""] * 8)
                marked.append(row if i >= 42 or row[0] != "Softmax" or lane.rank != 1 else row[:8] + [9000] + row[9:])
            lane.rows = marked
        for lane in steps.lanes:  # a rank's points stand once in its report
            lane.rows = [row for row in lane.rows if lane.chip == 0 or row[1] != "signpost"]
        for rank in range(3):
            first, second = [l.rows for l in steps.lanes if l.rank == rank]
            inner = os.path.join(folder("steps"), "rank%d" % rank)
            os.makedirs(inner)
            with open(os.path.join(inner, "ops_perf_results_x.csv"), "w", newline="", encoding="utf-8") as f:
                out, others = csv.writer(f), iter(second)
                out.writerow(HEADER)
                for row in first:
                    out.writerow(row)
                    if row[1] != "signpost":
                        out.writerow(next(others))
        said = hold("steps", steps, folder("steps"))
        found = table(said, "steps")
        same("steps", [(r["step"], r["ops"], r["collectives"], r["slow_rank"]) for r in found],
             [("step 0", 21, 6, None), ("step 1", 21, 6, None), ("step 2", 21, 6, "1")])
        for key in ("transfer", "skew"):
            same("%s of all steps" % key, round(sum(r[key] for r in found)), round(sum(r[key] for r in table(said, "collectives"))))
            each = table(said, "each")
            same("%s of step 1" % key, round(found[1][key]), round(sum(r[key] for r in each[6:12])))
        same("work of all steps", round(sum(r["work"] for r in found) * 3), round(sum(r["work"] for r in table(said, "ranks"))))

        # Ranks by name, and what is wrong with them.
        two = [os.path.join(folder("plain"), "rank%d" % i) for i in (0, 1)]
        with tarfile.open(os.path.join(tmp, "all.tar"), "w") as packed:
            packed.add(folder("plain"), "ttrun")
        check(json.loads(ranks("--format", "json", *two).stdout)["sections"]["verdict"]["facts"]["ranks"]["value"] == 2, "two by name")
        for args, words in (((two[0], two[0]), "both rank 0"), ((os.path.join(tmp, "gone"),), "gone"), ((tmp,), "holds no folders of ranks"),
                            ((os.path.join(tmp, "all.tar"),), "all.tar is one file: name the folder of ranks"),
                            (("--hosts", "a", folder("plain")), "--hosts names 1"), (("--tables", "nothing", folder("plain")), "no table 'nothing'")):
            said = ranks(*args, ok=(1,)).stderr
            check(words in said and said.count("\n") == 1, "%s: %s" % (" ".join(args), said))
        os.makedirs(os.path.join(folder("empty"), "rank0"))
        check("rank" in ranks(folder("empty"), ok=(1,)).stderr, "an empty rank")
        # No collective ops: clocks are not known, and nothing about waiting is said.
        alone = Run(5, 2, 1, 3)
        for lane in alone.lanes:
            lane.rows = [row for row in lane.rows if "All" not in row[0] and "Reduce" not in row[0]]
        alone.write(folder("alone"))
        said = json.loads(ranks("--format", "json", folder("alone")).stdout)
        check(fact(said, "residual") is None and "late" not in said["sections"], "no collective op")
        status, text = on_terminal(80, [DEVLOG, "ranks", folder("plain")])
        check(status == 0 and "WHO WAITED FOR WHOM" in text and "Softmax" in text, "text")
        check(max(map(len, text.splitlines())) <= 80, "wider than the terminal")

        many = int(os.environ.get("DEVLOG_TEST_RANKS", "24"))
        large = Run(6, many, 1, 20, slow=many // 2, lost=0.001, pause=2e7)
        large.write(folder("many"))
        check(max(abs(l.rate - 1) for l in large.lanes) * 20 * 2e7 > 1e4, "clocks do not run apart")
        start = time.monotonic()
        said = hold("many", large, folder("many"), ok=(0, 3))
        print("%d ranks: %.1f s, clocks known to %.0f ns" % (many, time.monotonic() - start, fact(said, "residual")))
        check(table(said, "late")[0]["rank"] == many // 2, "the straggler of many")
        with open(os.path.join(SOURCE, "schema", "devlog-ranks-1.json"), encoding="utf-8") as f:
            schema = json.load(f)
        try:
            import jsonschema
            validated = True
            for error in list(jsonschema.Draft202012Validator(schema).iter_errors(said))[:3]:
                bad.append("schema: %s" % error.message[:200])
        except ImportError:
            validated = False
    return finish(validated)


sys.exit(main())
