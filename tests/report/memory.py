"""devlog memory against SQL, and against maps of memory made unit by unit, of the same logs of ops: the example network's, and
random ones of several chips, opens, memories and lists of banks; what leaks, what lives at the end of a run that was killed, what
is wrong with a log; that JSON follows its schema, and that tables fit a terminal of 80 columns. Usage: memory.py BUILD."""
import csv
import gzip
import json
import lzma
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from shared import DEVLOG, NN, SOURCE, bad, finish, missing, on_terminal, run, same, same_rows

UNIT = 64


def memory(path, *args, status=0):
    return json.loads(run("memory", "--format", "json", path, *args, status=status) or '{"sections": {}}')["sections"]


# ---- The log, as a database ------------------------------------------------------------------------------------------

def banks_of(e):
    if "at" not in e:
        return list(range(e["banks"]))
    found = []
    for part in e["at"].split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def load(path):
    """Tables buffers, banks (a row for each bank of each buffer), spaces, ops; events are numbered by their lines."""
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.executescript("""CREATE TABLE buffers (chip, open, number, kind, name, address, bytes, held, page, banks, list, made, made_t, gone, gone_t,
                        state, op, op_name, source, freed_by);
                        CREATE TABLE banks (buffer, bank, held);
                        CREATE TABLE spaces (chip, open, kind, banks, bytes, address);
                        CREATE TABLE ops (id, name, start, end);
                        CREATE TABLE times (t)""")
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f if line.endswith("\n")]
    names = {e["id"]: e["name"] for e in lines if e["e"] == "start"}
    for n, e in enumerate(lines):
        kind = e["e"]
        if kind in ("start", "end", "memory", "alloc", "free", "device_close"):
            db.execute("INSERT INTO times VALUES (?)", (e["t"],))
        if kind == "start":
            db.execute("INSERT INTO ops VALUES (?, ?, ?, NULL)", (e["id"], e["name"], e["t"]))
        if kind == "end":
            db.execute("UPDATE ops SET end = ? WHERE id = ?", (e["t"], e["id"]))
        if kind == "memory":
            db.execute("DELETE FROM spaces WHERE chip = ? AND open = ? AND kind = ?", (e["chip"], e["boot"], e["kind"]))
            db.execute("INSERT INTO spaces VALUES (?, ?, ?, ?, ?, ?)", (e["chip"], e["boot"], e["kind"], e["banks"], e["bytes"], e["address"]))
        if kind == "alloc":
            source = "%s:%d" % (e["file"], e["line"])
            row = db.execute("INSERT INTO buffers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, 'live at the end of the log', ?, ?, ?, NULL)",
                             (e["chip"], e["boot"], e["buffer"], e["kind"], e.get("name"), e["address"], e["bytes"], e["held"], e["page"], e["banks"],
                              e.get("at"), n, e["t"], e["id"], names.get(e["id"]), source)).lastrowid
            db.executemany("INSERT INTO banks VALUES (?, ?, ?)", [(row, b, e["held"]) for b in banks_of(e)])
        if kind == "free":
            db.execute("UPDATE buffers SET gone = ?, gone_t = ?, state = 'freed', freed_by = ? WHERE chip = ? AND open = ? AND number = ?",
                       (n, e["t"], "%s:%d" % (e["file"], e["line"]), e["chip"], e["boot"], e["buffer"]))
        if kind == "device_close":
            db.execute("UPDATE buffers SET gone = ?, gone_t = ?, state = 'leaked' WHERE chip = ? AND open = ? AND gone IS NULL",
                       (n, e["t"], e["chip"], e["boot"]))
    return db


LIVE = "made <= :n AND (gone IS NULL OR gone > :n)"  # behind event n
OF = "chip = :chip AND open = :open AND kind = :kind"


def moment(db, space, n):
    """What is used behind an event, and the largest range of addresses that is free in all banks: by a map of units."""
    where = dict(space, n=n)
    used = db.execute("SELECT COALESCE(SUM(held * banks), 0) FROM buffers WHERE %s AND %s" % (OF, LIVE), where).fetchone()[0]
    taken = [False] * (space["bytes"] // UNIT)
    for b in db.execute("SELECT address, held FROM buffers WHERE %s AND %s" % (OF, LIVE), where):
        for u in range((b["address"] - space["address"]) // UNIT, (b["address"] - space["address"] + b["held"]) // UNIT):
            taken[u] = True
    longest = now = 0
    for t in taken:
        now = 0 if t else now + 1
        longest = max(longest, now)
    free = space["bytes"] * space["banks"] - used
    return used, longest * UNIT, 100 * (1 - longest * UNIT * space["banks"] / free) if free > 0 else None


def events_of(db, space):
    return [r[0] for r in db.execute("""SELECT n FROM (SELECT made AS n FROM buffers WHERE %s UNION SELECT gone FROM buffers WHERE %s AND gone IS NOT NULL)
                                     ORDER BY n""" % (OF, OF), space)]


def fullest(db, space, n):
    return db.execute("""SELECT COALESCE(MAX(used), 0) FROM (SELECT SUM(k.held) AS used FROM buffers b JOIN banks k ON k.buffer = b.rowid
                      WHERE b.chip = :chip AND b.open = :open AND b.kind = :kind AND b.made <= :n AND (b.gone IS NULL OR b.gone > :n)
                      GROUP BY k.bank)""", dict(space, n=n)).fetchone()[0]


# ---- The tables ------------------------------------------------------------------------------------------------------

def check(what, path, steps=10, status=0):
    db = load(path)
    found = memory(path, "--steps", str(steps), status=status)
    start, end = db.execute("SELECT MIN(t), MAX(t) FROM times").fetchone()
    key = lambda r: (r["chip"], r["open"], r["memory"])
    spaces = [dict(r) for r in db.execute("SELECT * FROM spaces")]
    wanted, at_peak, line_wanted, timeline = {}, {}, {}, {}
    for space in spaces:
        of = (space["chip"], space["open"], space["kind"])
        events = events_of(db, space)
        levels = [(moment(db, space, n)[0], -n) for n in events]
        peak, n = max(levels) if levels else (0, 0)
        n = -n
        by = db.execute("SELECT * FROM buffers WHERE made = ?", (n,)).fetchone()
        _, largest, fragmentation = moment(db, space, n) if peak else (0, space["bytes"], 0)
        counts = db.execute("""SELECT COUNT(*) AS allocs, SUM(state = 'freed') AS frees, SUM(state = 'leaked') AS leaked,
                            SUM(CASE state WHEN 'leaked' THEN held * banks ELSE 0 END) AS leaked_bytes, SUM(gone IS NULL) AS live,
                            SUM(CASE state WHEN 'freed' THEN 0 ELSE held * banks END) AS kept FROM buffers WHERE %s""" % OF, space).fetchone()
        wanted[of] = {"current": counts["kept"] or 0, "peak": peak, "peak_share": 100 * peak / (space["banks"] * space["bytes"]),
                      "bank_peak": max([fullest(db, space, e) for e in events], default=0),
                      "when": by["made_t"] - start if peak else None, "largest_free": largest, "fragmentation": fragmentation,
                      "allocations": counts["allocs"], "frees": counts["frees"] or 0, "leaked": counts["leaked"] or 0,
                      "leaked_bytes": counts["leaked_bytes"] or 0, "live": counts["live"] or 0, "banks": space["banks"], "bank_bytes": space["bytes"],
                      "op": by["op_name"] if peak else None, "source": by["source"] if peak else None}
        for r in db.execute("""SELECT source, op_name, COUNT(*) AS buffers, SUM(held * banks) AS bytes FROM buffers WHERE %s AND %s
                            GROUP BY source, op_name""" % (OF, LIVE), dict(space, n=n)):
            at_peak[of + (r["source"], r["op_name"])] = {"buffers": r["buffers"], "bytes": r["bytes"], "share": 100 * r["bytes"] / peak}
        for r in db.execute("""SELECT source, op_name, COUNT(*) AS buffers, SUM(held * banks) AS bytes,
                            AVG(CASE state WHEN 'freed' THEN gone_t - made_t END) AS life, SUM(state <> 'freed') AS kept
                            FROM buffers WHERE %s GROUP BY source, op_name""" % OF, space):
            line = dict(space, source=r["source"], op_name=r["op_name"])
            most = max(db.execute("SELECT COALESCE(SUM(held * banks), 0) FROM buffers WHERE %s AND %s AND source = :source AND op_name IS :op_name"
                                  % (OF, LIVE), dict(line, n=e)).fetchone()[0] for e in events)
            line_wanted[of + (r["source"], r["op_name"])] = {"buffers": r["buffers"], "bytes": r["bytes"], "life": r["life"], "kept": r["kept"], "most": most}
        times = {r["n"]: r["t"] for r in db.execute("SELECT made AS n, made_t AS t FROM buffers UNION SELECT gone, gone_t FROM buffers WHERE gone IS NOT NULL")}
        at, used = -1, 0
        for k in range(steps):
            last = end if k == steps - 1 else start + (end - start) * (k + 1) / steps
            inside = [e for e in events if e > at and (times[e] < last or k == steps - 1)]
            row = {"most": max([used] + [moment(db, space, e)[0] for e in inside]),
                   "allocations": db.execute("SELECT COUNT(*) FROM buffers WHERE %s AND made > ? AND made <= ?".replace("%s", "chip = ? AND open = ? AND kind = ?"),
                                             of + (at, inside[-1] if inside else at)).fetchone()[0],
                   "frees": db.execute("SELECT COUNT(*) FROM buffers WHERE chip = ? AND open = ? AND kind = ? AND gone > ? AND gone <= ?",
                                       of + (at, inside[-1] if inside else at)).fetchone()[0]}
            at = inside[-1] if inside else at
            used, row["largest_free"], row["fragmentation"] = moment(db, space, at)
            row["used"] = used
            timeline[of + (k,)] = row
    same_rows(what + ": memory", {key(r): r for r in found["memory"]["rows"]}, wanted)
    group = lambda r: key(r) + (r["source"], r["op"])
    same_rows(what + ": at_peak", {group(r): r for r in found["at_peak"]["rows"]}, at_peak)
    same_rows(what + ": sources", {group(r): r for r in found["sources"]["rows"]}, line_wanted)
    width = (end - start) / steps
    same_rows(what + ": timeline", {key(r) + (round(r["from"] / width),): r for r in found["timeline"]["rows"]}, timeline)
    buffers = {}
    for b in db.execute("SELECT * FROM buffers"):
        buffers[b["chip"], b["open"], b["number"]] = {
            "memory": b["kind"], "name": b["name"], "address": b["address"], "bytes": b["bytes"], "held": b["held"] * b["banks"], "page_bytes": b["page"],
            "banks": b["banks"], "bank_list": b["list"], "made": b["made_t"] - start, "life": b["gone_t"] - b["made_t"] if b["gone"] is not None else None,
            "state": b["state"], "op": b["op_name"], "source": b["source"], "freed_by": b["freed_by"]}
    number = lambda r: (r["chip"], r["open"], r["buffer"])
    same_rows(what + ": buffers", {number(r): r for r in found["buffers"]["rows"]}, buffers)
    same_rows(what + ": leaks", {number(r): r for r in found["leaks"]["rows"]}, {k: b for k, b in buffers.items() if b["state"] != "freed"})
    return db, found


# ---- Logs ------------------------------------------------------------------------------------------------------------

def random_log(path, seed, close=True):
    """Two chips, the second opened twice; L1 and DRAM; ops around some of it; first fit into what a map says is free."""
    rng = random.Random(seed)
    t, n_ops, open_ops, lines = 1000, 0, [], ['{"e":"run","t":999,"version":1,"run":"%016x","pid":1,"wall_ns":1,"program":"random"}' % (seed + 1)]

    def put(**e):
        lines.append(json.dumps(e, separators=(",", ":")))

    for chip, boot in ((0, 1), (1, 2), (1, 3)):
        shapes = {"L1": (12, 80 * UNIT, 0x48000), "DRAM": (3, 200 * UNIT, 0)}
        taken = {k: [[False] * (s[1] // UNIT) for _ in range(s[0])] for k, s in shapes.items()}
        live, number, told = {}, 0, set()
        for step in range(150):
            t += rng.randrange(1, 50)
            if rng.random() < 0.15 and len(open_ops) < 3:
                n_ops += 1
                open_ops.append(n_ops)
                put(e="start", id=n_ops, t=t, thread=0, depth=len(open_ops), name=rng.choice(["Matmul", "Softmax", "Löad \"x\""]), type="tt_dnn_device")
            elif rng.random() < 0.15 and open_ops:
                put(e="end", id=open_ops.pop(), t=t, thread=0, own=1)
            op = open_ops[-1] if open_ops else 0
            kind = rng.choice(["L1", "DRAM"])
            banks, size, base = shapes[kind]
            if kind not in told:
                told.add(kind)
                put(e="memory", id=op, t=t, chip=chip, boot=boot, kind=kind, banks=banks, bytes=size, address=base, columns=4)
            if live and rng.random() < (0.35 if step % 50 < 30 else 0.7):
                which = rng.choice(sorted(live))
                k, places, at, units = live.pop(which)
                for b in places:
                    taken[k][b][at:at + units] = [False] * units
                put(e="free", id=op, t=t, chip=chip, boot=boot, buffer=which, file="free.c", line=rng.randrange(1, 9))
                continue
            units = rng.randrange(1, 20)
            order = list(range(banks)) if rng.random() < 0.4 else rng.sample(range(banks), rng.randrange(1, banks))
            places = [a for a in range(size // UNIT - units + 1) if not any(taken[kind][b][u] for b in order for u in range(a, a + units))]
            if not places:
                continue
            at = rng.choice(places)
            number += 1
            for b in order:
                taken[kind][b][at:at + units] = [True] * units
            live[number] = (kind, order, at, units)
            e = dict(e="alloc", id=op, t=t, chip=chip, boot=boot, buffer=number, kind=kind, address=base + at * UNIT, held=units * UNIT,
                     banks=len(order), bytes=units * UNIT * len(order) - 1, page=rng.choice([UNIT, 100]))
            if order != list(range(len(order))):
                e["at"] = ",".join(map(str, order))
            if rng.random() < 0.5:
                e["name"] = rng.choice(["weights", "a,b"])
            put(**e, file=rng.choice(["a.c", "dir/b.cpp"]), line=rng.randrange(1, 6))
        if boot != 3 or close:
            put(e="device_close", id=0, t=t + 1, chip=chip, boot=boot, live=len(live))
    while open_ops:
        t += 5
        put(e="end", id=open_ops.pop(), t=t, thread=0, own=1)
    if close:
        put(e="close", t=t + 9, ops=n_ops, lost=0, compile_ns=0)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def check_random(tmp):
    path = os.path.join(tmp, "profile_log_ops.jsonl")
    for seed in range(int(os.environ.get("DEVLOG_TEST_CASES", "4"))):
        random_log(path, seed, close=seed % 2 == 0)
        check("random log %d" % seed, path, steps=1 + seed * 7 % 13, status=3)
    # Nobody closed the last device: what lives there is no leak.
    random_log(path, 1, close=False)
    rows = memory(path, "--tables", "leaks", status=3)["leaks"]["rows"]
    same("live at the end of the log", {r["state"] for r in rows if r["open"] == 3}, {"live at the end of the log"})
    same("leaked before", {r["state"] for r in rows if r["open"] != 3}, {"leaked"})
    return path


def check_network(tmp):
    folder = os.path.join(tmp, "run")
    subprocess.run([DEVLOG, "run", "-o", folder, "--", NN, "1"], capture_output=True, check=True, cwd=tmp, env=dict(os.environ, DEVLOG_HOME=SOURCE))
    path = os.path.join(folder, "logs", "profile_log_ops.jsonl")
    db, found = check("nn", path)
    same("nn: a folder is its log without device profiling", memory(folder), memory(path))
    same("nn: buffers", len(found["buffers"]["rows"]), 7)
    report = json.loads(run("report", "--format", "json", folder))["sections"]
    same("report: MEMORY", report["memory"], found["memory"])
    v = report["verdict"]["facts"]
    same("report: peak L1", v["peak_l1"]["value"], found["memory"]["rows"][0]["peak"])
    same("report: leaks", v["leaks"]["value"], 0)
    same("report: peak memory", report["summary"]["facts"]["peak_memory"]["value"], found["memory"]["rows"][0]["peak"])
    # The most in a core while an op of the name was open.
    space = dict(db.execute("SELECT * FROM spaces").fetchone())
    with open(os.path.join(folder, "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
        code = {r["OP CODE"]: sum(int(r[c] or 0) for c in r if c.endswith("MAX KERNEL SIZE [B]")) for r in csv.DictReader(f)}
    for row in report["kernel_statistics"]["rows"]:
        most = 0
        for op in db.execute("SELECT * FROM ops WHERE name = ?", (row["op"],)).fetchall():
            inside = [e["n"] for e in db.execute("SELECT n FROM (SELECT made AS n, made_t AS t FROM buffers UNION SELECT gone, gone_t FROM buffers) "
                                                 "WHERE t BETWEEN ? AND ?", (op["start"], op["end"]))]
            before = db.execute("SELECT MAX(n) FROM (SELECT made AS n, made_t AS t FROM buffers UNION SELECT gone, gone_t FROM buffers) WHERE t < ?",
                                (op["start"],)).fetchone()[0]
            most = max([most] + [fullest(db, space, n) for n in inside + [before]])
        same("report: L1 used of %s" % row["op"], (row["l1_used"], row["l1_of"]), (code[row["op"]] + most, "code, buffers"))
        same("report: there is some of each in %s" % row["op"], code[row["op"]] > 2000 and most > 1000, True)
    # A buffer that nobody freed is a finding of the report, too.
    leaky = shutil.copytree(folder, os.path.join(tmp, "leaky"))
    there = os.path.join(leaky, "logs", "profile_log_ops.jsonl")
    with open(there, encoding="utf-8") as f:
        lines = [line for line in f if not ('"e":"free"' in line and '"buffer":2,' in line)]
    with open(there, "w", encoding="utf-8") as f:
        f.writelines(lines)
    check("nn without a free", there, status=3)
    r = subprocess.run([DEVLOG, "report", "--format", "json", leaky], capture_output=True, text=True)
    same("report of a leak: status", r.returncode, 3)
    same("report of a leak: it is said", "1 buffer of 3456 bytes was not freed before the device was closed" in r.stderr, True)
    same("report of a leak: fact", json.loads(r.stdout)["sections"]["verdict"]["facts"]["leaks"]["value"], 1)
    # A report by itself has no buffers.
    alone = json.loads(run("report", "--format", "json", os.path.join(folder, "ops_perf_results.csv")))["sections"]
    same("report of a file: memory", "memory" in alone, False)
    same("report of a file: peak memory", alone["summary"]["facts"]["peak_memory"]["value"], None)
    same("report of a file: L1 used", {(r["op"], r["l1_used"], r["l1_of"]) for r in alone["kernel_statistics"]["rows"]},
         {(r["op"], code[r["op"]], "code") for r in alone["kernel_statistics"]["rows"]})
    with open(os.path.join(folder, "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
        rows = [{c: v for c, v in r.items() if not c.endswith("MAX KERNEL SIZE [B]")} for r in csv.DictReader(f)]
    little = os.path.join(tmp, "little.csv")
    with open(little, "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, rows[0])
        w.writeheader()
        w.writerows(rows)
    little = json.loads(run("report", "--format", "json", little))["sections"]["kernel_statistics"]["rows"]
    same("report without sizes: L1 used", {(r["l1_used"], r["l1_of"]) for r in little}, {(None, None)})
    return folder


PACKERS = {".gz": gzip.compress, ".xz": lzma.compress, ".pack": lambda text: piped(text, DEVLOG, "pack", "-o", "-", "-"), ".zst": lambda text: piped(text, "zstd", "-c")}


def piped(text, *args):
    return subprocess.run(args, input=text, capture_output=True, check=True).stdout


def check_inputs(tmp, folder):
    """Whatever holds the log of a run, or stands beside it: the same answer."""
    of_host, of_device = memory(os.path.join(folder, "logs")), memory(os.path.join(folder, "logs_device"))
    for name in ("capture.devlog", "profile_log_device.csv"):
        same(name, memory(os.path.join(folder, "logs_device", name)), of_device)
    same("op report", memory(os.path.join(folder, "ops_perf_results.csv")), of_host)
    same("tar of a run", memory(os.path.join(folder, "ops_perf_results.tar")), of_host)
    there = os.path.join(tmp, "there")
    os.mkdir(there)
    for how in ("gztar", "zip"):
        same(how, memory(shutil.make_archive(os.path.join(there, "archive"), how, os.path.dirname(folder), os.path.basename(folder))), of_host)
    # Of an archive the log of ops alone is unpacked.
    large = shutil.copytree(folder, os.path.join(there, "large"))
    with open(os.path.join(large, "logs_device", "profile_log_device.csv"), "ab") as f:
        f.write(b"\n" * (4 << 20))
    archive = shutil.make_archive(os.path.join(there, "large"), "gztar", large)
    r = subprocess.run(["sh", "-c", "ulimit -f 2048 && exec %s memory --format json %s" % (DEVLOG, archive)], capture_output=True, text=True)
    same("an archive with a large log", (r.returncode, json.loads(r.stdout or '{"sections": 0}')["sections"]), (0, of_host))
    path = os.path.join(folder, "logs", "profile_log_ops.jsonl")
    with open(path, "rb") as f:
        text = f.read()
    for ending, pack in PACKERS.items():
        if ending == ".zst" and missing("zstd"):
            continue
        packed = shutil.copytree(folder, os.path.join(there, "packed" + ending))
        os.remove(os.path.join(packed, "logs", "profile_log_ops.jsonl"))
        file = os.path.join(packed, "logs", "profile_log_ops.jsonl" + ending)
        with open(file, "wb") as f:
            f.write(pack(text))
        same("packed, " + ending, memory(file), of_host)
        same("folder of what is packed, " + ending, memory(packed), of_host)
        same("report of it, " + ending, json.loads(run("report", "--format", "json", packed))["sections"]["memory"], of_host["memory"])
        # The op report has its ops all the same.
        made = os.path.join(there, "made" + ending)
        os.remove(os.path.join(packed, "ops_perf_results.csv"))
        run("ops", "-o", made, packed)
        for archive in ([], [os.path.join(made, "ops_perf_results.tar")]):
            if archive:
                run("ops", "-o", made, *archive)
            with open(os.path.join(made, "ops_perf_results.csv"), encoding="utf-8") as f, open(os.path.join(folder, "ops_perf_results.csv"), encoding="utf-8") as g:
                same("op report of what is packed, %s %s" % (ending, archive), f.read(), g.read())
        with open(file, "wb") as f:
            f.write(pack(text)[:-40])
        r = subprocess.run([DEVLOG, "memory", "--format", "json", file], capture_output=True, text=True)
        same("cut, " + ending, (r.returncode in (1, 3), bool(r.stderr)), (True, True))
    runs = os.path.join(there, "runs")
    shutil.copytree(folder, os.path.join(runs, "one"))
    same("a folder with one run", memory(runs), of_host)
    shutil.copytree(folder, os.path.join(runs, "two"))
    r = subprocess.run([DEVLOG, "memory", runs], capture_output=True, text=True)
    same("a folder with two runs", (r.returncode, "holds several runs (one, two, ...): name one of them" in r.stderr), (1, True))
    same("the newest of them", memory("--latest", runs), of_host)
    periodic = os.path.join(runs, "two", "logs_device", "capture-000003")
    os.mkdir(periodic)
    shutil.move(os.path.join(runs, "two", "logs_device", "capture.devlog"), periodic)
    same("a periodic capture", memory(os.path.join(periodic, "capture.devlog")), of_device)
    same("the folder of a periodic capture", memory(periodic), of_device)
    os.remove(os.path.join(runs, "one", "logs_device", "profile_log_ops.jsonl"))
    shutil.rmtree(os.path.join(runs, "one", "logs"))
    r = subprocess.run([DEVLOG, "memory", os.path.join(runs, "one", "logs_device", "capture.devlog")], capture_output=True, text=True)
    same("a capture without", (r.returncode, "says nothing of memory, and no profile_log_ops.jsonl is beside it" in r.stderr), (1, True))
    same("nothing is left behind", [n for n in os.listdir(os.environ["TMPDIR"])], [])
    shutil.rmtree(there)


def check_killed(tmp):
    """What a program held when it was killed is live at the end of the log, and the log says that it was not closed."""
    folder = os.path.join(tmp, "killed")
    p = subprocess.Popen([NN, "60000"], stdout=subprocess.DEVNULL, env=dict(os.environ, DEVLOG_HOME=SOURCE, DEVLOG_OPS="1", DEVLOG_LOG_FOLDER=folder))
    path = os.path.join(folder, "profile_log_ops.jsonl")
    for _ in range(3000):
        if os.path.exists(path) and '"alloc"' in open(path, encoding="utf-8").read():
            break
        time.sleep(0.02)
    p.send_signal(signal.SIGKILL)
    p.wait()
    _, found = check("killed", path, status=3)
    same("killed: states", {r["state"] for r in found["leaks"]["rows"]}, {"live at the end of the log"})
    same("killed: no leak", found["memory"]["rows"][0]["leaked"], 0)
    r = subprocess.run([DEVLOG, "memory", path], capture_output=True, text=True)
    same("killed: it is said", "did not close the log" in r.stderr, True)


# ---- Outputs and bad input -------------------------------------------------------------------------------------------

def check_outputs(tmp, *paths):
    tables = ("memory", "at_peak", "sources", "timeline", "leaks", "buffers")
    for path in paths:
        for width in (80, 100):
            for line in on_terminal(width, [DEVLOG, "memory", path], stderr=subprocess.DEVNULL)[1].splitlines():
                if len(line) > width:
                    bad.append("memory %s: %d columns on a terminal of %d: %s" % (path, len(line), width, line))
        status = subprocess.run([DEVLOG, "memory", path], capture_output=True).returncode
        for table in tables:
            rows = memory(path, "--tables", table, status=status)[table]["rows"]
            lines = list(csv.reader(run("memory", "--format", "csv", "--tables", table, path, status=status).splitlines()))
            same(table + ": rows of CSV", len(lines), len(rows) + 1)
            for row, line in zip(rows, lines[1:]):
                for value, cell in zip(row.values(), line):
                    same(table + ": a cell of CSV", cell if isinstance(value, str) or value is None else float(cell), "" if value is None else value)
            text = run("memory", "--format", "md", "--top", "0", "--tables", table, path, status=status)
            same(table + ": lines of Markdown", sum(line.startswith("| ") for line in text.splitlines()), len(rows) + 1 if rows else 0)
        there = os.path.join(tmp, "there.txt")
        run("memory", "-o", there, path, status=status)
        with open(there, encoding="utf-8") as f:
            same("standard output and --output", f.read(), run("memory", path, status=status))


def check_schema(*paths):
    try:
        import jsonschema
    except ImportError:
        return False
    with open(os.path.join(SOURCE, "schema", "devlog-memory-1.json"), encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    for path in paths:
        for args in ((), ("--top", "1", "--steps", "3"), ("--tables", "leaks")):
            value = json.loads(subprocess.run([DEVLOG, "memory", "--format", "json", path, *args], capture_output=True, text=True).stdout)
            for error in list(jsonschema.Draft202012Validator(schema).iter_errors(value))[:3]:
                bad.append("devlog memory %s: %s: %s" % (path, list(error.path), error.message[:200]))
    return True


ALLOC = '{"e":"alloc","id":0,"t":%d,"chip":0,"boot":1,"buffer":%d,"kind":"L1","address":%d,"held":64,"banks":2,"bytes":100,"page":64%s,"file":"a.c","line":7}'


def check_bad_input(tmp):
    def says(lines, status, *texts):
        path = os.path.join(tmp, "bad.jsonl")
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        r = subprocess.run([DEVLOG, "memory", path, "--format", "json"], capture_output=True, text=True)
        same("bad input, status of %s" % lines[-1], r.returncode, status)
        for text in texts:
            if text not in r.stderr:
                bad.append("bad input %s: %r is not in %r" % (lines[-1], text, r.stderr))
        return json.loads(r.stdout)["sections"] if r.stdout else None

    says(["nonsense"], 1, "is no log of ops")
    says(['{"e":"run","t":1,"version":1,"run":"1"}', '{"e":"close","t":2}'], 1, "made no buffers (devlog_buffer_create)")
    good = ALLOC % (5, 1, 0, "")
    s = says([good], 0)
    row = s["memory"]["rows"][0]
    same("nothing is said of the memory", (row["peak"], row["peak_share"], row["banks"], row["bank_bytes"], row["largest_free"], row["fragmentation"]),
         (128, None, None, None, None, None))
    same("live", s["leaks"]["rows"][0]["state"], "live at the end of the log")
    for wrong in ('"held":0', '"banks":0', '"bytes":0', '"buffer":0', '"kind":"L2"', '"held":1.5', '"banks":99999', '"t":0', '"held":999999999999999999',
                  '"chip":-1', '"address":"x"'):
        name = wrong.split(":")[0] + ":"
        begin = good.index(name)
        end = begin + len(name) + min(i for i in (good[begin + len(name):].find(","), good[begin + len(name):].find("}")) if i >= 0)
        s = says([good, good[:begin] + wrong + good[end:]], 3, "1 lines that are not of an op log, skipped", "bad.jsonl:2:")
        same("the rest is kept: " + wrong, len(s["buffers"]["rows"]), 1)
    free = '{"e":"free","id":0,"t":6,"chip":0,"boot":1,"buffer":1,"file":"b.c","line":8}'
    s = says([good, free, free], 3, "1 frees of buffers that were not there")
    same("freed once", s["memory"]["rows"][0]["frees"], 1)
    says([good, free.replace('"boot":1', '"boot":2')], 3, "1 frees of buffers that were not there")
    says([good, free.replace('"chip":0', '"chip":1')], 3, "1 frees of buffers that were not there")
    s = says([good, ALLOC % (7, 1, 64, "")], 3, "1 allocations with the number of a buffer that was there")
    same("the first is taken for freed", s["memory"]["rows"][0]["current"], 128)
    says([good, ALLOC % (7, 2, 32, "")], 3, "two buffers lay at one place")
    says([good, ALLOC % (7, 2, 32, ',"at":"2-3"')], 0)
    for at in ("x", "0-", "1", "0-9", "5-4", "0,", "99999,1", "4095-4097"):
        says([ALLOC % (7, 2, 32, ',"at":"%s"' % at)], 3, "1 lists of banks that cannot be")
    says([good, '{"e":"device_close","id":0,"t":9,"chip":0,"boot":1,"live":1}'], 3, "1 buffer of 128 bytes was not freed before the device was closed")
    says([good.replace('"id":0', '"id":9')], 3, "1 events of ops that never started")
    says([good.replace("a.c", "\\u001b[31m")], 0)
    for args, text in (((tmp + "/none",), "cannot read"), ((tmp,), "no profile_log_ops.jsonl in"), (("--tables", "nothing", os.path.join(tmp, "bad.jsonl")), "there is no table 'nothing'")):
        r = subprocess.run([DEVLOG, "memory", *args], capture_output=True, text=True)
        same("status of %s" % (args,), (r.returncode, r.stdout, r.stderr.count("\n"), text in r.stderr), (1, "", 1, True))
    same("a wrong option", subprocess.run([DEVLOG, "memory", "--steps", "0", tmp], capture_output=True).returncode, 2)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        os.mkdir(os.path.join(tmp, "bad"))
        check_bad_input(os.path.join(tmp, "bad"))
        paths = [check_random(tmp)]
        if not missing("riscv64-unknown-elf-gcc"):
            paths.append(check_network(tmp))
            os.environ["TMPDIR"] = os.path.join(tmp, "tmp")
            os.mkdir(os.environ["TMPDIR"])
            check_inputs(tmp, paths[-1])
            check_killed(tmp)
        else:
            print("SKIPPED: no riscv64-unknown-elf-gcc, so the example network did not run")
        check_outputs(tmp, *paths)
        validated = check_schema(*paths)
    return finish(validated)


if __name__ == "__main__":
    sys.exit(main())
