"""Device logs by chance, with what goes wrong in them: the same comes of a log, of the packed log, of a part of it that filters want, and
of parts that are decoded at a time (-j). What is right of a log, other tests say. A small seeded part unless told.
Usage: random_logs.py DEVLOG PACK_SMALL [FIRST-SEED NUMBER]."""
import json
import os
import random
import subprocess
import sys
import tempfile

DEVLOG, PACK_SMALL = sys.argv[1:3]
FIRST, NUMBER = map(int, sys.argv[3:] or (46, 12))
HEAD = (
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
    "trace id counter, zone name, type, source line, source file, meta data\n"
)
RISCS = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")
BY_LAUNCH = ("--launches", "--traces", "--trace-sessions", "--from")  # of a packed log a part is read


class Log:
    """Rows of chips, cores and RISCs, launch by launch, in one of the orders that writers have."""

    def __init__(self, r):
        self.r = r
        self.chips = r.sample(range(9), r.choice((1, 1, 2, 3)))
        self.has_ids = r.random() < 0.9
        self.names = ["A", "B", "long name with spaces", "x" * r.randrange(1, 80), "C::d<1>", "MATH"]
        if r.random() < 0.3:
            self.names += ["é", '"Q""q"']
        self.data = [0, 1, 2**32, r.randrange(2**40)] + ([2**64 - 1] if r.random() < 0.2 else [])
        self.wrong = r.choice((0, 0, 0, 0.0005, 0.01, 0.05))
        self.order = r.choice(("riscs", "riscs", "time", "turns"))
        self.ids = r.randrange(1, 50) * r.choice((1, 1024))
        self.replays, self.counted = [], {}
        self.top = ["ARCH: %s, CHIP_FREQ[MHz]: %d\n" % (r.choice(("wormhole_b0", "blackhole")), r.choice((1000, 1350))), HEAD]
        first = self.time = r.choice((1000, 10**9, 2**43, 2**52))
        lines = list(self.top)
        for run in range(r.choice((1, 1, 1, 1, 2, 3))):
            if run and r.random() < 0.3:
                self.time = first
            if run and r.random() < 0.5:
                lines += self.top
            lines += self.damaged(self.ordered(self.run()))
        self.text = "".join(lines)
        if r.random() < 0.05:
            self.text = self.text[: -1 - r.randrange(30)]
        if r.random() < 0.15:
            self.text = self.text.replace("\n", "\r\n")
        self.rows = [x.split(",") for x in self.text.splitlines()[2:] if x.count(",") > 12]

    def run(self):
        """Times and rows of each RISC."""
        r, streams = self.r, {}
        cores = {c: [(r.randrange(1, 8), r.randrange(1, 8)) for _ in range(r.choice((1, 1, 2, 3)))] for c in self.chips}
        for _ in range(r.choice((3, 12, 40))):
            if self.replays and r.random() < 0.3:
                ident, trace = r.choice(self.replays)
            else:
                self.ids += r.choice((1, 1, 1, 2, 1024))
                ident, trace = self.ids, r.choice((None, None, 1, 2, 3))
                self.replays.append((ident, trace))
            for chip in self.chips:
                if r.random() < 0.1:
                    continue
                count = self.counted[chip, ident, trace] = self.counted.get((chip, ident, trace), 0) + 1
                ids = "%d,%s" % (ident, "%d,%d" % (trace, count) if trace else ",") if self.has_ids else ",,"
                for x, y in sorted(set(cores[chip])):
                    for risc in r.sample(RISCS, r.randrange(1, 6)):
                        theirs = r.choice(("%d,," % ident, "%d,7,%d" % (ident, count), "%d,%d,%d" % (ident, trace or 1, count + 1)))
                        told = theirs if self.has_ids and r.random() < 0.03 else ids  # RISCs that disagree
                        self.launch(streams.setdefault((chip, x, y, risc), []), (chip, x, y, risc), told)
            self.time += r.randrange(100, 20000)
        return list(streams.values())

    def launch(self, rows, risc, ids):
        r, named = self.r, risc[3].split("_")[0]
        at = max(self.time, rows[-1][0] if rows else 0) + r.randrange(50)

        def row(kind, name, data=0, meta=""):
            nonlocal at
            at += r.choice((0, 1, 5, r.randrange(1, 300))) if r.random() > 0.002 else r.randrange(200000)
            timer = 10 + RISCS.index(risc[3]) * 50 + sum(name.encode()) % 40
            rows.append((at, "%d,%d,%d,%s,%d,%d,%d,%s,%s,%s,7,k.cpp,%s\n" % (*risc, timer, at, data, ids, name, kind, meta)))

        open_zones = [named + "-FW", named + "-KERNEL"]
        for name in open_zones:
            row("ZONE_START", name)
        for _ in range(r.choice((0, 2, 6, 20))):
            what = r.random()
            if what < 0.4 and len(open_zones) < 8:
                open_zones.append(r.choice(self.names))
                row("ZONE_START", open_zones[-1])
            elif what < 0.75 and len(open_zones) > 2:
                row("ZONE_END", open_zones.pop())
            elif what < 0.9:
                row(r.choice(("TS_DATA", "TS_EVENT")), r.choice(self.names), r.choice(self.data))
            elif what < 0.95:
                row("ZONE_TOTAL", r.choice(self.names), r.randrange(1000))
            else:
                row("TS_DATA", "v", 5, '{"op":3}')
        while open_zones:
            row("ZONE_END", open_zones.pop())

    def ordered(self, streams):
        if self.order == "riscs":
            return [x for rows in streams for _, x in rows]
        if self.order == "time":
            return [x for _, x in sorted((x for rows in streams for x in rows), key=lambda x: x[0])]
        lines, at = [], [0] * len(streams)
        left = list(range(len(streams)))
        while left:
            k = self.r.choice(left)
            n = self.r.randrange(1, 30)
            lines += [x for _, x in streams[k][at[k] : at[k] + n]]
            at[k] += n
            if at[k] >= len(streams[k]):
                left.remove(k)
        return lines

    def damaged(self, lines):
        r, out = self.r, []
        for x in lines:
            if r.random() < self.wrong:
                kind = r.randrange(9)
                if kind == 0:
                    continue
                if kind == 1:
                    out.append(x)
                elif kind == 2:
                    out.append("garbage,%d\n" % r.randrange(9))
                elif kind == 3 and out:
                    x, out[-1] = out[-1], x
                elif kind == 4:
                    out.append("\n")
                elif kind < 7:
                    out.append(self.top[kind - 5])
                elif kind == 7:
                    x = x[: r.randrange(len(x))] + "\n"
                else:
                    cells = x.rstrip("\n").split(",")
                    cells[r.randrange(len(cells))] = r.choice(("", "x", "99999999999999999999", "-1", "0", "1"))
                    x = ",".join(cells) + "\n"
            out.append(x)
        if out and r.random() < 0.08:
            n = r.randrange(len(out))
            out = out[n:] + out[:n]
        return out

    def filters(self):
        r, options = self.r, []
        number = lambda cell: (r.choice(self.rows) + [""] * 16)[cell] if self.rows else ""
        by_launch = ["launches", "traces", "sessions", "time", "time", "none"]
        for kind in [r.choice(by_launch)] + r.sample(("chips", "riscs", "zone", "cycles"), r.choice((0, 0, 0, 1, 1, 2))):
            if kind == "chips" and number(0) in map(str, self.chips):
                options += ["--chips", str(r.choice(self.chips))]
            elif kind == "launches" and (ident := number(7)).isdigit():
                options += ["--launches", r.choice((ident, "%s-%d" % (ident, int(ident) + 2)))]
            elif kind == "traces" and (trace := number(8)).isdigit():
                options += ["--traces", trace]
            elif kind == "sessions":
                options += ["--trace-sessions", r.choice(("1", "1-2", "2", "2-9"))]
            elif kind == "riscs":
                options += ["--riscs", r.choice(("BRISC", "TRISC*", "NCRISC,TRISC_1"))]
            elif kind == "zone":
                options += ["--zone", r.choice(("*-FW", "A", "BRISC-*", "MATH,B"))]
            elif kind == "cycles":
                options += ["--min-cycles", str(r.randrange(1, 300))]
            elif kind == "time" and (time := number(5)).isdigit() and len(time) < 18:
                options += ["--from", time] + (["--until", str(int(time) + r.randrange(1, 40000))] if r.random() < 0.6 else [])
        return options


def devlog(*words):
    """Exit status, what was printed, what was said; of the log and of the packed log in the same words."""
    p = subprocess.run([DEVLOG, *words], capture_output=True, text=True, errors="replace", timeout=600)
    assert p.returncode in (0, 1, 3) and "Sanitizer" not in p.stderr and "runtime error" not in p.stderr, (words, p.returncode, p.stderr[-2000:])
    again = [x for x in p.stderr.splitlines(True) if "decoded again, one behind the other" not in x]
    return p.returncode, p.stdout.replace(".csv.pack", ".csv"), "".join(again).replace(".csv.pack", ".csv")


def without(x, keys):
    if isinstance(x, dict):
        return {k: without(v, keys) for k, v in x.items() if k not in keys}
    return [without(v, keys) for v in x] if isinstance(x, list) else x


def same(what, of_log, other):
    for a, b in zip(of_log, other):
        if a == b:
            continue
        at = next((i for i, (x, y) in enumerate(zip(str(a), str(b))) if x != y), 0)
        raise AssertionError("%s: of the log ...%s, else ...%s" % (what, str(a)[max(0, at - 200) : at + 200], str(b)[max(0, at - 200) : at + 200]))


def figures(said):
    """What does not depend on how much was read."""
    tables = without(json.loads(said), ("launch", "lines", "rows", "losses", "complete"))
    with_zones = {z["chip"] for z in tables["zones"]}
    tables["chips"] = sorted((c for c in tables["chips"] if c["id"] in with_zones), key=lambda c: c["id"])
    return tables


def check_part(what, log, pack, options):
    """Numbers and rows are those of the part that was read, and so is what was lost. Where a clock begins again in what was not read,
    rows may be told as out of order."""
    of_log, of_part = devlog("decode", log, "-f", "json", *options), devlog("decode", pack, "-f", "json", *options)
    if of_log[0] == 1 or of_part[0] == 1:
        return same(what, of_log, of_part)
    found = json.loads(of_part[1])["losses"]["found"]
    if not found.get("out_of_order"):
        assert of_part[0] <= of_log[0], "%s: a loss that is none: %s" % (what, found)
        if of_part[0] == 0:
            same(what, [figures(of_log[1])], [figures(of_part[1])])
    return json.loads(of_part[1])["losses"]["rows"] < json.loads(of_log[1])["losses"]["rows"]


def one(seed, top):
    r = random.Random(seed)
    made = Log(r)
    log, second = os.path.join(top, "log.csv"), os.path.join(top, "second.csv")
    pack = log + ".pack"
    with open(log, "w", newline="") as f:
        f.write(made.text)
    assert subprocess.run([PACK_SMALL, str(r.choice((600, 1500, 4000, 20000))), log, pack]).returncode == 0
    same("packed", devlog("decode", log, "-f", "json"), devlog("decode", pack, "-f", "json"))
    same("packed, causes", devlog("causes", log, "-f", "json"), devlog("causes", pack, "-f", "json"))
    parts = 0
    for _ in range(4):
        options = made.filters()
        what = "packed, " + " ".join(options)
        if any(x in BY_LAUNCH for x in options):
            parts += check_part(what, log, pack, options) or 0
        else:
            same(what, devlog("decode", log, "-f", "json", *options), devlog("decode", pack, "-f", "json", *options))
    lines = made.text.splitlines(True)
    with open(second, "w", newline="") as f:
        f.write("".join(lines[:2] + lines[r.randrange(len(lines)) :]))
    inputs = [log] + r.sample([second, pack], r.randrange(3))
    jobs = ["-j", str(r.choice((2, 3, 7))), "--least", str(r.choice((200, 2000, 20000)))]
    same("%s of %d" % (" ".join(jobs), len(inputs)), devlog("decode", *inputs, "-f", "json"), devlog("decode", *inputs, "-f", "json", *jobs))
    return parts


passed = failed = parts = 0
for seed in range(FIRST, FIRST + NUMBER):
    with tempfile.TemporaryDirectory() as top:
        try:
            parts += one(seed, top)
            passed += 1
        except AssertionError as e:
            failed += 1
            print("seed %d: %s" % (seed, str(e)[:3000]))
print("%d passed, %d failed; %d parts of packed logs" % (passed, failed, parts))
sys.exit(1 if failed or (NUMBER >= 12 and not parts) else 0)
