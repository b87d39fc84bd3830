#!/usr/bin/env python3
"""devlog ranks by the clocks of hosts, held against generated programs whose times are known: hosts whose clocks lie anywhere, run
apart and are steered, exchanges whose way is longer there than back, chips whose counters run at their own pace, CLOCK_REALTIME that is
wrong, and what of all that is not there or cannot be. No op lies farther from where it was than what is stated.
Usage: rank_clocks.py BUILD [CASES]"""
import csv
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

import captures
from shared import DEVLOG, bad, finish, same

CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 16
HEADER = ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "CORE COUNT", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE",
          "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]"]
SECOND, PIECES = 10**9, 4


class Host:
    """One rank: CLOCK_MONOTONIC and CLOCK_REALTIME of its host as functions of true time (ns), and one chip."""

    def __init__(self, number, dice, length):
        self.number, self.length = number, length
        self.ahead = dice.randrange(10**12, 10**15)
        self.rate = dice.uniform(-60e-6, 60e-6)
        pieces = [dice.uniform(-2e-6, 2e-6) for _ in range(PIECES)]  # fewer than one in nine bursts of samples (docs/time.md)
        self.steered = [p - sum(pieces) / PIECES for p in pieces]
        self.wrong = dice.uniform(-4e6, 4e6)  # CLOCK_REALTIME
        self.most = dice.uniform(1, 2)  # of by how much it is wrong, the kernel says; 0: nothing
        self.mhz = dice.choice((1000, 1350))
        self.ppm, self.epoch = dice.uniform(-40e-6, 40e-6), dice.randrange(10**9, 10**12)
        self.boot, self.namespace = "boot-%08x" % dice.randrange(2**32), 4026531834
        self.ops = []

    def offset(self, t):  # of CLOCK_MONOTONIC, but for `ahead`; pieces of the run, the first and the last of all time around it
        piece, sum_ = self.length / PIECES, self.rate * t
        for i, s in enumerate(self.steered):
            low = -math.inf if i == 0 else i * piece
            high = math.inf if i == PIECES - 1 else (i + 1) * piece
            sum_ += s * (min(t, high) - max(low, 0) if t > max(low, 0) else (t if i == 0 and t < 0 else 0))
        return sum_

    def mono(self, t):
        return self.ahead + math.floor(t + self.offset(t))

    def real(self, t):
        return 1795000000 * SECOND + math.floor(t + self.offset(t) - self.offset(0) + self.wrong)

    def cycles(self, t):
        return self.epoch + math.floor(t * (1 + self.ppm) * self.mhz / 1000)


class Fleet:
    def __init__(self, seed, ranks=4, collectives=(), exchanges=True, times=2):
        self.dice = dice = random.Random(seed)
        self.length = dice.choice((2, 20, 60)) * SECOND
        self.hosts = [Host(i, dice, self.length) for i in range(ranks)]
        self.exchanges = {}
        for h in self.hosts[1:]:
            for k in range(times if exchanges else 0):
                self.exchange(h, self.hosts[0], -0.05 * SECOND + k * (self.length + 0.1 * SECOND) / max(times - 1, 1))
        # Ops of each rank, at times of their own; with `collectives` these ranks meet.
        for k in range(40):
            start = (k + 0.5) * self.length / 40
            late = {h: start + dice.uniform(0, 40000) for h in self.hosts}
            meets = [h for h in self.hosts if h.number in collectives]
            for h in self.hosts:
                end = late[h] + dice.uniform(5000, 9000)
                if h in meets and k % 2:
                    end = max(late[m] for m in meets) + 9000 + dice.uniform(0, 100)
                h.ops.append(("AllGather" if k % 2 and h in meets else "Matmul" if k % 2 == 0 else "Softmax", k + 1, late[h], end))

    def exchange(self, asks, answers, t):
        """Ten, of which some are slow; one way is up to 40 times the other."""
        items = []
        for i in range(10):
            there = 10 ** self.dice.uniform(2.7, 5)
            back = there * 10 ** self.dice.uniform(-1.6, 1.6)
            at, hold = t + i * 200000, self.dice.uniform(0, 2000)
            items.append((asks.mono(at), answers.mono(at + there), answers.mono(at + there + hold), asks.mono(at + there + hold + back)))
        self.exchanges.setdefault(asks, []).append((answers.number, answers.boot, answers.namespace, items))

    def write(self, folder, captured=None, readings=True, report=None):
        for h in self.hosts:
            inner = os.path.join(folder, "rank%d" % h.number)
            os.makedirs(inner)
            with open(os.path.join(inner, "ops_perf_results.csv"), "w", newline="", encoding="utf-8") as f:
                out = csv.writer(f)
                out.writerow(HEADER)
                for code, number, start, end in h.ops:
                    a, b = h.cycles(start), h.cycles(end)
                    ns = round((b - a) * 1000 / h.mhz)
                    out.writerow([code, "tt_dnn_device", number << 10, 0, 64, a, b, ns, ns - 300])
            if captured is not None and h.number not in captured:
                continue
            bursts = []
            for burst in range(41):
                at = (burst - 0.5) * self.length / 40
                for i in range(8):
                    before = at + i * 3000
                    read = before + self.dice.uniform(0, 1500)
                    bursts.append((h.mono(before), h.mono(before + 1500), h.cycles(read), burst))
            frames = [captures.chip(0, h.mhz * 1000, h.boot), captures.rank(0, h.number, len(self.hosts), "host%d" % h.number)]
            if readings:
                frames.append(self.clocks(0, h, (0, self.length)))
            captures.write(os.path.join(inner, "capture.devlog"), *frames, captures.samples(0, bursts), captures.frame(captures.END, b"\0\0\0\0"))
            if h in self.exchanges:
                slot = 2**30 + 77
                captures.write(os.path.join(inner, "host_77.devlog"), captures.chip(slot, 10**6, h.boot, "host", "host"),
                               *(captures.exchanges(slot, *x) for x in self.exchanges[h]), captures.frame(captures.END, slot.to_bytes(4, "little")))

    def clocks(self, slot, h, times):
        most = [round(abs(h.real(t) - 1795000000 * SECOND - t) * h.most) if h.most else captures.UNKNOWN for t in times]
        return captures.host_clocks(slot, h.namespace, [(h.mono(t), h.mono(t + 90), h.real(t + 40), m, m // 2) for t, m in zip(times, most)])


def ranks(folder, ok=(0,)):
    """What devlog ranks says, and where each op of each rank lies by its trace (ns)."""
    trace = os.path.join(folder, "..", "trace.json")
    if os.path.exists(trace):
        os.unlink(trace)
    done = subprocess.run([DEVLOG, "ranks", "--format", "json", "--trace", trace, folder], capture_output=True, text=True)
    if done.returncode not in ok or "Sanitizer" in done.stderr or "runtime error" in done.stderr:
        bad.append("devlog ranks %s: exit %d: %s" % (folder, done.returncode, done.stderr[-400:]))
    said = json.loads(done.stdout or "{}").get("sections", {})
    at = {}
    if os.path.exists(trace):
        with open(trace, encoding="utf-8") as f:
            for e in json.load(f)["traceEvents"]:
                if e["ph"] == "X" and e["cat"] != "skew":
                    at[e["pid"] - 1, e["args"]["id"] >> 10] = e["ts"] * 1000
    if not said:
        print("\n".join(bad))
        sys.exit(1)
    return said, at, done


def rows(said):
    return {r["rank"]: r for r in said["clocks"]["rows"]} if "clocks" in said else {}


def facts(said):
    return {k: v["value"] for k, v in said.get("verdict", {"facts": {}})["facts"].items()}


def hold(what, fleet, folder, ways, ok=(0,), known=True):
    """Where the trace has each op, against the truth: no two ranks farther off than both are stated to be."""
    said, at, done = ranks(folder, ok)
    table = rows(said)
    same(what + ": ways", {r: v["way"] for r, v in table.items()}, ways)
    laid = [h for h in fleet.hosts if ways[h.number]]
    same(what + ": ops in the trace", len(at), sum(len(h.ops) for h in laid))
    if len(at) != sum(len(h.ops) for h in laid):
        return said
    worst = 0
    off = {h: [at[h.number, n] - start for _, n, start, _ in h.ops] for h in laid}
    for i, a in enumerate(laid):
        for b in laid[:i]:
            stated = [table[x.number]["residual"] for x in (a, b)]
            if None in stated:
                continue
            most = max(abs(x - y) for x, y in zip(off[a], off[b]))
            worst = max(worst, most / (sum(stated) + 3))
            if most > sum(stated) + 3:  # stamps and the trace are whole numbers
                bad.append("%s: ranks %d and %d lie %.0f ns from where they were, %s stated" % (what, a.number, b.number, most, stated))
    if known:
        same(what + ": residual", facts(said).get("residual", 0), max((table[h.number]["residual"] or 0 for h in laid), default=None))
    return said


def main():
    with tempfile.TemporaryDirectory() as tmp:
        def folder(name):
            path = os.path.join(tmp, name, "ttrun")
            shutil.rmtree(path, ignore_errors=True)
            return path

        # No collective op: exchanges at the beginning and the end, or more often.
        for seed in range(CASES):
            times = 2 + seed % 3 * 9
            fleet = Fleet(seed, times=times)
            fleet.write(folder("exchanges"), readings=seed % 2 == 0)
            ways = {h.number: "exchanges" if h.number else "one host" for h in fleet.hosts}
            said = hold("exchanges %d" % seed, fleet, os.path.join(tmp, "exchanges", "ttrun"), ways)
            limit = 1e5 + 10e-6 * fleet.length / max(times - 1, 1) / 2 * 1.5
            if said and not facts(said).get("residual", 0) < limit:
                bad.append("exchanges %d: known to %s ns only, of %s s and %d times" % (seed, facts(said).get("residual", 0), fleet.length / 1e9, times))
            if any(k in facts(said) for k in ("hosts_disagree", "clocks_disagree", "exchanges_contradict")):
                bad.append("exchanges %d: a contradiction that is none: %s" % (seed, facts(said)))
        # One machine: nothing is exchanged, and nothing has to be.
        for seed in range(2):
            fleet = Fleet(100 + seed, exchanges=False)
            for h in fleet.hosts[1:]:
                h.ahead, h.rate, h.steered, h.boot, h.wrong, h.most = (getattr(fleet.hosts[0], n) for n in ("ahead", "rate", "steered", "boot", "wrong", "most"))
            fleet.write(folder("one"))
            said = hold("one host", fleet, os.path.join(tmp, "one", "ttrun"), {i: "one host" for i in range(4)})
            if not facts(said).get("residual", 0) < 5000 + 11e-6 * fleet.length / 40:  # 10 ppm from one burst to the next (docs/time.md)
                bad.append("one host: known to %s" % facts(said).get("residual", 0))
        # CLOCK_REALTIME alone, by the kernel's word; and of one nobody knows.
        for seed in range(3):
            fleet = Fleet(200 + seed, exchanges=False)
            if seed == 2:
                fleet.hosts[2].most = 0
            fleet.write(folder("real"))
            ways = {i: "CLOCK_REALTIME" if i else "one host" for i in range(4)}
            said = hold("CLOCK_REALTIME", fleet, os.path.join(tmp, "real", "ttrun"), ways, known=seed < 2)
            same("CLOCK_REALTIME: known", [r["residual"] is not None for r in rows(said).values()], [True, True, seed < 2, True])
            same("CLOCK_REALTIME: the worst", facts(said).get("residual", 0) is not None, seed < 2)
        # Ranks that have collective ops are laid by these, the others by their hosts; both ways are compared.
        for seed in range(4):
            fleet = Fleet(300 + seed, ranks=5, collectives=(0, 1, 2))
            fleet.write(folder("both"))
            ways = {i: "collective ops" if i < 3 else "exchanges" for i in range(5)}
            at_both = os.path.join(tmp, "both", "ttrun")
            said = hold("both", fleet, at_both, ways, ok=(0, 3))
            same("also by", [r["other"] for r in rows(said).values()], [None, "exchanges", "exchanges", None, None])
            if "clocks_disagree" in facts(said):
                bad.append("both: a contradiction that is none: %s" % facts(said))
            if seed == 0:  # the commands that take ranks say the same
                plain = [subprocess.run([DEVLOG, c, at_both], capture_output=True, text=True).stdout for c in ("ranks", "report")]
                same("report of ranks", (plain[0] == plain[1], "\nCLOCKS\n" in plain[1]), (True, True))
                made = os.path.join(tmp, "made.json")
                exported = subprocess.run([DEVLOG, "export", "-f", "chrome", "-o", made, at_both], capture_output=True, text=True)
                with open(made, "rb") as f, open(os.path.join(tmp, "both", "trace.json"), "rb") as g:
                    same("export of ranks: %s" % exported.stderr, f.read() == g.read(), True)
            # The clock of a host that is another one's than it says: told.
            fleet.exchanges[fleet.hosts[1]] = [(p, b, n, [(s, r + 10**8, a + 10**8, e) for s, r, a, e in items]) for p, b, n, items in fleet.exchanges[fleet.hosts[1]]]
            fleet.write(folder("both"))
            said, _, _ = ranks(os.path.join(tmp, "both", "ttrun"), (0, 3))
            same("a way that is wrong", (facts(said).get("clocks_disagree"), 0.9e8 < rows(said)[1]["apart"] < 1.1e8), (1, True))
            # By CLOCK_REALTIME, which says by how much it may be wrong, too.
            same("and hosts", facts(said).get("hosts_disagree", 0) >= 1, True)
        odd(tmp, folder)
    return finish()


def odd(tmp, folder):
    """What is not there, or cannot be."""
    def at(name):
        return os.path.join(tmp, name, "ttrun")

    # tt-metal's folders: reports alone.
    fleet = Fleet(400, exchanges=False)
    fleet.write(folder("bare"), captured=())
    said, trace, done = ranks(at("bare"), (1,))
    same("reports alone: no time line", ("no one time line" in done.stderr, trace), (True, {}))
    said = json.loads(subprocess.run([DEVLOG, "ranks", "--format", "json", at("bare")], capture_output=True, text=True).stdout)["sections"]
    same("reports alone", [(r["way"], "no capture" in r["why"]) for r in rows(said).values()], [(None, True)] * 4)
    # Rank 0 is not here: ranks 1 to 3 have exchanged with it all the same.
    fleet = Fleet(401)
    fleet.write(folder("absent"))
    shutil.rmtree(os.path.join(at("absent"), "rank0"))
    hosts, fleet.hosts = fleet.hosts, fleet.hosts[1:]
    said = hold("absent", fleet, at("absent"), {1: "one host", 2: "exchanges", 3: "exchanges"}, ok=(3,))
    same("exchanges with nobody", facts(said).get("exchanges_absent"), 60)
    # Stamps that go backwards, exchanges of another boot, a clock that was set between.
    fleet = Fleet(402)
    one, two, three = fleet.hosts[1:]
    fleet.exchanges[one][0][3][0] = (500, 10, 20, 400)
    fleet.exchanges[one][0][3][1] = (100, 10, 5, 400)
    fleet.exchanges[one][0][3][2] = (100, 10, 2**63 + 5, 400)
    fleet.exchanges[two][0] = (0, "boot of another run", 4026531834, fleet.exchanges[two][0][3])
    fleet.exchanges[three][1] = (0, *fleet.exchanges[three][1][1:3], [(s, r + 10**9, a + 10**9, e) for s, r, a, e in fleet.exchanges[three][1][3]])
    fleet.write(folder("odd"))
    said = hold("odd", fleet, at("odd"), {0: "one host", 1: "exchanges", 2: "exchanges", 3: "CLOCK_REALTIME" if fleet.length < 10 * SECOND * 200 else "exchanges"})
    same("odd", [facts(said).get(k) for k in ("clocks_impossible", "exchanges_foreign", "exchanges_contradict")], [3, 10, 1])
    # One boot, and yet another clock: exchanges say so, and go before.
    fleet = Fleet(403, ranks=2)
    fleet.hosts[1].boot = fleet.hosts[0].boot
    fleet.exchanges[fleet.hosts[1]] = [(p, fleet.hosts[0].boot, n, i) for p, b, n, i in fleet.exchanges[fleet.hosts[1]]]
    fleet.write(folder("spaces"), readings=False)
    said = hold("one boot, two clocks", fleet, at("spaces"), {0: "one host", 1: "exchanges"})
    same("one boot, two clocks", facts(said).get("hosts_disagree"), 1)
    # Time namespaces say the same without being asked.
    fleet.hosts[1].namespace = 5
    fleet.exchanges[fleet.hosts[1]] = [(p, b, fleet.hosts[0].namespace, i) for p, b, n, i in fleet.exchanges[fleet.hosts[1]]]
    fleet.write(folder("spaces"))
    said = hold("two time namespaces", fleet, at("spaces"), {0: "one host", 1: "exchanges"})
    same("two time namespaces", facts(said).get("hosts_disagree"), None)
    # A simulator has a time of its own.
    fleet = Fleet(404, ranks=2)
    for h in fleet.hosts:
        h.boot = "sim-%d" % h.number
    fleet.write(folder("sim"))
    said = json.loads(subprocess.run([DEVLOG, "ranks", "--format", "json", at("sim")], capture_output=True, text=True).stdout)["sections"]
    same("simulated", [(r["way"], r["why"]) for r in rows(said).values()], [(None, "it is simulated, in a time of its own")] * 2)
    # Garbage in captures, and captures that are cut: an answer each time.
    fleet = Fleet(405, ranks=2)
    fleet.write(folder("garbage"))
    dice, names = random.Random(5), ("capture.devlog", "host_77.devlog")
    kept = {n: open(os.path.join(at("garbage"), "rank1", n), "rb").read() for n in names}
    for i in range(12):
        for n in names:
            data = bytearray(kept[n])
            for _ in range(1 + i):
                data[dice.randrange(8, len(data))] = dice.randrange(256)
            with open(os.path.join(at("garbage"), "rank1", n), "wb") as f:
                f.write(data[:dice.randrange(len(data) // 2, len(data))] if i % 3 == 0 else data)
        ranks(at("garbage"), (0, 1, 3))
    # Frames that are whole and say anything: numbers at the edges of what numbers are, other slots, other lengths.
    def number():
        return dice.choice((0, 1, 2**31, 2**32 - 1, 2**61, 2**61 + 1, 2**63 - 1, 2**63, 2**64 - 1, dice.randrange(2**64), 10**18 + dice.randrange(1000)))

    for i in range(30):
        boot = dice.choice(("boot-a", "boot-a", "boot-b", "", "sim-1", "x" * 100))
        slot = dice.choice((0, 0, 1, 2**30 + 5))
        parts = [captures.chip(slot, dice.choice((0, 10**6, number())), boot, dice.choice(("wormhole_b0", "host")))]
        for _ in range(12):
            n = dice.randrange(4)
            stamps = sorted(number() for _ in range(4)) if i % 2 else [number() for _ in range(4)]
            parts.append(dice.choice((
                lambda: captures.exchanges(slot, dice.choice((0, 1, 2, 2**32 - 1)), boot, number(), [tuple(stamps)] * n),
                lambda: captures.host_clocks(slot, number(), [tuple(sorted(number() for _ in range(2)) + [number() for _ in range(3)])] * n),
                lambda: captures.samples(slot, [(k * 10**8 + number() % 10**4, k * 10**8 + 10**4, 2**dice.randrange(63) + k * 10**8, k) for k in range(n)]),
                lambda: captures.frame(dice.randrange(1, 20), bytes(dice.randrange(256) for _ in range(dice.randrange(60)))),
            ))())
        captures.write(os.path.join(at("garbage"), "rank%d" % (i % 2), names[0]), *parts)
        ranks(at("garbage"), (0, 1, 3))


sys.exit(main())
