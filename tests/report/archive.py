#!/usr/bin/env python3
"""devlog archive: runs with changes that are known, held against its history; several writers at once, writers that are killed,
archives that are damaged, of another program or newer; how often it calls chance a change. DEVLOG_TEST_ARCHIVE=N: N histories
without a change, by hand.
Usage: archive.py BUILD"""
import csv
import json
import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from shared import DEVLOG, SOURCE, bad, finish, same

HEADER = ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "DEVICE ARCH", "CORE COUNT", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE",
          "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES"]
OPS = ["Op%d" % i for i in range(10)] + ['Com,ma "q"\nline', "Softmax"]
DAY = 86400
START = 1767225600  # 2026-01-01


def check(good, what):
    same(what, bool(good), True)


def archive(db, *args, ok=(0,), **more):
    done = subprocess.run([DEVLOG, "archive", args[0], "-a", db, *args[1:]], capture_output=True, text=True, errors="replace", **more)
    check(done.returncode in ok, "devlog archive %s: exit %d, %s" % (" ".join(map(str, args)), done.returncode, done.stderr[-300:]))
    return done


def rows(db, *args, section="runs", **more):
    said = archive(db, *args, "--format", "json", **more).stdout
    return json.loads(said)["sections"][section]["rows"] if said else []


def report(path, times, date, repeats=6, arch="wormhole_b0", pad=""):
    """An op report in which each op takes that long on average."""
    now, number = 1000, 0
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(HEADER)
        for _ in range(repeats):
            for op, ns in times.items():
                number += 1
                out.writerow([op, "tt_dnn_device", number << 10, 0, arch, 64, now, now + ns + 200, ns + 200, ns, pad])
                now += ns + 900
    os.utime(path, (date, date))
    return path


def histories(db, dice, runs, figures, step_at=None, step=0.0):
    """An archive as devlog made it, filled with figures directly."""
    with sqlite3.connect(db) as c:
        c.execute("PRAGMA synchronous=OFF")
        for table in ("figures", "series", "runs", "files", "labels"):
            c.execute("DELETE FROM " + table)
        c.executemany("INSERT INTO runs(id, date, board, lost, digest) VALUES(?,?,'b',0,?)", [(r + 1, START + r * DAY, str(r)) for r in range(runs)])
        c.executemany("INSERT INTO series VALUES(?, 'op', ?, 'ns')", [(i + 1, "f%d" % i) for i in range(figures)])
        for i in range(figures):  # skewed, as times are; one series walks from few levels to many ties
            values = [round(10000 * dice.lognormvariate(0, 0.02), 0 if i % 2 else -2) for _ in range(runs)]
            if step_at is not None and i == 0:
                values = [v * (1 + step * (r >= step_at)) for r, v in enumerate(values)]
            c.executemany("INSERT INTO figures(series, run, value, count, total) VALUES(?,?,?,1,?)", [(i + 1, r + 1, v, v) for r, v in enumerate(values)])
    c.close()


LOG = "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, " \
      "trace id count, zone name, type, source line, source file, meta data\n"


def device_log(path, dice, launches=9):
    """Two cores whose BRISC has a kernel and zones of two names; what each took is returned, by name."""
    took, at = {}, 1000
    with open(path, "w", encoding="utf-8") as f:
        f.write(LOG)
        for launch in range(launches):
            for core in range(2):
                def row(zone, kind):
                    f.write("0,%d,1,BRISC,1,%d,0,%d,,,%s,%s,9,k.c,\n" % (1 + core, at, launch + 1, zone, kind))
                begin, at = at + 50, at + 50
                row("BRISC-FW", "ZONE_START")
                row("BRISC-KERNEL", "ZONE_START")
                for zone in dice.sample(["READ", "WRITE"] * 3, dice.randint(1, 6)):
                    at += 10
                    row(zone, "ZONE_START")
                    took.setdefault("BRISC " + zone, []).append(dice.randint(20, 5000))
                    at += took["BRISC " + zone][-1]
                    row(zone, "ZONE_END")
                row("BRISC-KERNEL", "ZONE_END")
                took.setdefault("BRISC BRISC-KERNEL", []).append(at - begin)
                row("BRISC-FW", "ZONE_END")
    return took


def medians(tmp, dice):
    """Medians of a run are those of its times; a straggler moves averages and no median; an archive of version 1 is read as it is, and
    brought to version 2 by whoever adds, when adding its files again fills medians in."""
    db, old, paths = os.path.join(tmp, "medians.sqlite"), os.path.join(tmp, "old.sqlite"), []

    def ask(path, sql):
        with sqlite3.connect(path) as c:
            found = c.execute(sql).fetchall()
        c.close()
        return found

    figures = "SELECT s.name, f.median FROM figures f JOIN series s ON s.id=f.series WHERE "
    for r in range(24):  # of seven times of Softmax, one is ten times as long since run 13
        path = report(os.path.join(tmp, "m%d" % r, "ops_perf_results.csv"), {"Softmax": 1000 + r % 5, "Gelu": 500 + (30 if r >= 8 else 0) + r % 3}, START + r * DAY, repeats=7)
        with open(path, newline="", encoding="utf-8") as f:
            lines = list(csv.reader(f))
        times = HEADER.index("DEVICE KERNEL DURATION [ns]")
        for at in range(1, 15):
            slow = at == 7 and r >= 12
            lines[at][times] = str(int(lines[at][times]) + dice.randint(0, 20) + (9000 if slow else 0))
        lines[7][0] = "Softmax"
        with open(path, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows(lines)
        os.utime(path, (START + r * DAY, START + r * DAY))
        paths.append(path)
        if r == 23:
            truth = {op: statistics.median(float(line[times]) for line in lines[1:] if line[0] == op) for op in ("Softmax", "Gelu")}
    archive(db, "add", *paths)
    same("medians of ops", {k: v for k, v in ask(db, figures + "f.run=24") if k in truth}, truth)
    for of, wanted in (("average", [("Gelu", 9), ("Softmax", 13)]), ("median", [("Gelu", 9)])):
        found = [(c["name"], c["run"]) for c in rows(db, "history", "--of", of, section="changes") if c["kind"] == "op"]
        same("what has changed of the %s" % of, sorted(found), wanted)
    for k in range(3):
        took = device_log(os.path.join(tmp, "zones.csv"), dice)
        archive(db, "add", "--date", str(START + (40 + k) * DAY), os.path.join(tmp, "zones.csv"))
        same("medians of zones", {n: v for n, v in ask(db, figures + "s.kind='zone' AND f.run=%d" % (25 + k))}, {n: statistics.median(v) for n, v in took.items()})
    # As version 1 was.
    ask(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(db, old)
    with sqlite3.connect(old) as c:
        c.executescript("DROP VIEW history; ALTER TABLE figures DROP COLUMN median; CREATE VIEW history AS SELECT s.kind, s.name, s.unit, r.id AS run, r.date, r.commit_id, r.board, "
                        "f.value, f.count FROM figures f JOIN series s ON s.id = f.series JOIN runs r ON r.id = f.run ORDER BY s.kind, s.name, r.date, r.id; PRAGMA user_version=1;")
        c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    c.close()
    with open(old, "rb") as f:
        before = f.read()
    same("runs of an old archive", len(rows(old, "list")), 27)
    same("changes in an old archive", rows(old, "history", section="changes"), rows(db, "history", section="changes"))
    check("has a median: a devlog added them that kept none" in archive(old, "history", "--of", "median", ok=(1,)).stderr, "medians of an old archive")
    archive(old, "page", "-o", os.path.join(tmp, "old.html"))
    with open(old, "rb") as f:
        check(f.read() == before, "an archive that is only read is left as it is")
    archive(old, "add", os.path.join(tmp, "r0", "ops_perf_results.csv"))
    same("an old archive that was added to", (ask(old, "PRAGMA user_version"), ask(old, "SELECT count(*) FROM figures WHERE median IS NOT NULL AND run<28"),
                                              ask(old, "SELECT count(*) FROM history WHERE median IS NULL AND run=28")), ([(2,)], [(0,)], [(0,)]))
    check("have no median and were left out" in archive(old, "history", "--of", "median").stdout, "runs without medians are told")
    archive(old, "add", *paths)
    same("medians that were filled in", ask(old, figures + "f.run<25 ORDER BY 1, f.run"), ask(db, figures + "f.run<25 ORDER BY 1, f.run"))
    same("runs", len(rows(old, "list")), 28)
    with sqlite3.connect(old) as c:  # what a devlog says that does not know medians yet: so does this one of what comes behind it
        c.execute("PRAGMA user_version=3")
    c.close()
    check("was written by a newer devlog (its version is 3, this one knows 2)" in archive(old, "list", ok=(1,)).stderr, "a newer archive")
    # Programs that come at once to an old archive: one brings it up.
    with sqlite3.connect(old) as c:
        c.executescript("DROP VIEW history; ALTER TABLE figures DROP COLUMN median; PRAGMA user_version=1;")
    c.close()
    writers = [subprocess.Popen([DEVLOG, "archive", "add", "-a", old, "--label", "w=%d" % w, paths[w]], stdout=subprocess.DEVNULL) for w in range(4)]
    same("writers of an old archive", ([w.wait() for w in writers], len(rows(old, "list")), ask(old, "SELECT count(*) FROM history WHERE median IS NULL AND run>28")), ([0] * 4, 32, [(0,)]))


def main():
    dice = random.Random(21)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as tmp:  # nothing here is about disks
        db = os.path.join(tmp, "runs.sqlite")
        paths, runs = [], 44
        for r in range(runs):
            times = {op: round((20000 + 1000 * i) * dice.lognormvariate(0, 0.01)) for i, op in enumerate(OPS)}
            times["Softmax"] = round(times["Softmax"] * (1.1 if r >= 20 else 1))
            times["Op3"] = round(times["Op3"] * (1.25 if r >= runs - 8 else 1))
            paths.append(report(os.path.join(tmp, "r%d" % r, "ops_perf_results.csv"), times, START + r * DAY))
        said = archive(db, "add", "--label", "branch=main", "--name", "net", *paths[:-1]).stdout
        same("numbers", [line.rsplit(" ", 1)[1] for line in said.splitlines()], [str(i + 1) for i in range(runs - 1)])
        archive(db, "add", "--label", "branch=main", "--label", "a=b=c", "--commit", "c0ffee12", "--host", "h,1", os.path.dirname(paths[-1]))
        check("has it already" in archive(db, "add", "--label", "a=b=c", "--label", "branch=main", "--commit", "c0ffee12", "--host", "h,1", paths[-1]).stdout,
              "the same run again")
        listed = rows(db, "list")
        same("runs", [r["run"] for r in listed], list(range(runs, 0, -1)))
        same("the newest", {k: listed[0][k] for k in ("date", "commit", "board", "host", "labels", "lost")},
             {"date": "2026-02-13 00:00:00", "commit": "c0ffee12", "board": "wormhole_b0", "host": "h,1", "labels": "a=b=c,branch=main", "lost": "no"})
        for args, wanted in ((("--commit", "c0ff"), [runs]), (("--label", "a=b=c"), [runs]), (("--name", "net", "--since", "2026-02-11"), [43, 42]),
                             (("--since", "2026-01-03", "--until", "2026-01-04T12:00:00"), [4, 3])):
            same("find %s" % (args,), [r["run"] for r in rows(db, "find", *args)], wanted)
        # What has changed, and with which run.
        changes = rows(db, "history", "--label", "branch=main", section="changes")
        found = {(c["kind"], c["name"]): c for c in changes}
        for (name, run, much) in (("Softmax", 21, 10), ("Op3", runs - 7, 25)):
            c = found.pop(("op", name), None)
            check(c and c["run"] == run and abs(c["change"] - much) < 2 and c["newest"] == "yes", "%s: %s" % (name, c))
        check(all(kind == "run" for kind, _ in found), "changes that are none: %s" % found)  # the whole changes with its ops
        same("exit of history --fail", archive(db, "history", "--fail", ok=(4,)).returncode, 4)
        few = os.path.join(tmp, "few.sqlite")
        archive(few, "add", paths[0])
        check("too few runs" in archive(few, "history", "--fail", ok=(5,)).stdout, "too few runs pass")
        check("too few runs" in archive(few, "history").stdout, "too few runs are said")
        each = rows(db, "history", "Softmax")
        same("runs of a figure", (len(each), [r["run"] for r in each if r["changed"] is not None]), (runs, [21]))
        same("a figure that has not changed", [r["changed"] for r in rows(db, "history", OPS[10]) if r["changed"]], [])
        check("no run of the archive has a figure" in archive(db, "history", "nothing", ok=(1,)).stderr, "a figure that is not there")
        said = json.loads(archive(db, "history", "--format", "json", "Softmax").stdout)
        # Files come back as they were, and are compared.
        archive(db, "get", "7", "-o", os.path.join(tmp, "seven"))
        with open(paths[6], "rb") as f, open(os.path.join(tmp, "seven", "ops_perf_results.csv"), "rb") as g:
            same("files of a run", f.read() == g.read(), True)
        compared = archive(db, "diff", "1", "c0ff", "--", "--exact", "--format", "json", "--fail-on", "op>+20%", ok=(4,)).stdout
        check('"Op3"' in compared, "diff of two runs")
        same("what a diff calls them", [json.loads(compared)[side][0]["name"] for side in ("old", "new")], ["%s: run 1" % db, "%s: run %d" % (db, runs)])
        check(not [n for n in os.listdir(os.environ.get("TMPDIR", "/tmp")) if n.startswith("devlog-archive-")], "temporary folders stay")
        report(os.path.join(tmp, "other.csv"), {"A": 100}, START, arch="blackhole")
        archive(db, "add", os.path.join(tmp, "other.csv"))
        check("--board says which" in archive(db, "history", ok=(1,)).stderr, "two boards")
        archive(db, "history", "--board", "wormhole_b0")
        for args, words in ((("find",), "find what?"), (("add", os.path.join(tmp, "gone")), "gone"), (("add", "--date", "yesterday", paths[0]), "is no date"),
                            (("list", "--since", "2026"), "is no date"), (("find", "--until", "20260131"), "is no date"), (("history", "--since", "2026-02-31"), "is no date"),
                            (("list", "--until", "99999999999999999999"), "is no date"), (("history", "--since", "2038-01-01"), "none of its 45 runs is so"),
                            (("add", "--label", "x", paths[0]), "NAME=VALUE"), (("get", "999"), "there is no run '999'"), (("find", "--label", "a=b"), "none of its 45 runs is so"),
                            (("find", "--format", "json", "--board", "x"), "devlog archive list shows them"), (("list", "--name", "x"), "none of its"), (("frob",), "is none of")):
            done = archive(db, *args, ok=(1, 2))
            check(words in done.stderr and len(done.stderr.splitlines()) <= 2, "%s: %s" % (args, done.stderr))
        small = archive(os.path.join(tmp, "small.sqlite"), "add", "--most", "100", paths[0], ok=(3,))
        check("left out" in small.stderr and rows(os.path.join(tmp, "small.sqlite"), "list")[0]["bytes"] == 0, "files that are too large")

        medians(tmp, dice)

        # Writers at once: nobody's run is lost.
        both = os.path.join(tmp, "both.sqlite")
        writers = [subprocess.Popen([DEVLOG, "archive", "add", "-a", both, "--label", "writer=%d" % w, *paths[w * 5:w * 5 + 5]], stdout=subprocess.DEVNULL)
                   for w in range(4)]
        same("writers", [w.wait() for w in writers], [0] * 4)
        same("runs of all writers", sorted(r["labels"] for r in rows(both, "list")), sorted("writer=%d" % w for w in range(4) for _ in range(5)))
        for k in range(12):  # the first runs of an archive, at once: one of them makes it
            new = os.path.join(tmp, "new%d.sqlite" % k)
            writers = [subprocess.Popen([DEVLOG, "archive", "add", "-a", new, paths[w]], stdout=subprocess.DEVNULL) for w in range(6)]
            same("writers of a new archive", ([w.wait() for w in writers], len(rows(new, "list"))), ([0] * 6, 6))

        # Writers that are killed: each run is there with all that is its own, or not at all.
        killed = os.path.join(tmp, "killed.sqlite")
        large = report(os.path.join(tmp, "large.csv"), {op: 1000 + i for i, op in enumerate(OPS)}, START, repeats=300, pad="%0100d" % 0)
        start = time.monotonic()
        archive(killed, "add", large)
        took = time.monotonic() - start
        for k in range(16):
            with subprocess.Popen([DEVLOG, "archive", "add", "-a", killed, "--label", "k=%d" % k, large], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
                time.sleep(took * (0.4 + 0.6 * dice.random()))
                p.send_signal(signal.SIGKILL)
        there = [r["run"] for r in rows(killed, "list")]
        print("%d of 17 runs were added before their writer was killed" % len(there))
        with sqlite3.connect(killed) as c:
            same("integrity", c.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            same("whole runs", c.execute("SELECT count(*) FROM runs WHERE (SELECT count(*) FROM figures f WHERE f.run=id)!=(SELECT count(*) FROM figures "
                                         "WHERE run=1) OR (SELECT count(*) FROM files WHERE run=id)!=1").fetchone()[0], 0)
            same("what is of no run", c.execute("SELECT count(*) FROM figures WHERE run NOT IN (SELECT id FROM runs)").fetchone()[0], 0)
        c.close()
        archive(killed, "add", "--label", "after=1", large)

        # Archives that are none: one line, and what to do.
        def none(what, words, change, ok=(1,)):
            path = os.path.join(tmp, "bad.sqlite")
            for end in ("", "-wal", "-shm"):
                if os.path.exists(path + end):
                    os.unlink(path + end)
            shutil.copy(db, path)
            change(path)
            for args in (("list",), ("history", "--board", "wormhole_b0"), ("get", "1", "-o", os.path.join(tmp, "bad")), ("add", paths[0])):
                done = archive(path, *args, ok=ok)
                check(done.returncode == 0 or (words in done.stderr and done.stderr.count("\n") == 1), "%s, %s: %s" % (what, args[0], done.stderr))

        def sql(text):
            def change(path):
                with sqlite3.connect(path) as c:
                    c.executescript(text)
                c.close()
            return change

        def holes(path):  # every page but the first
            with open(path, "r+b") as f:
                for at in range(4096, os.path.getsize(path), 4096):
                    f.seek(at)
                    f.write(bytes(dice.randrange(256) for _ in range(64)))

        with sqlite3.connect(db) as c:
            c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        c.close()
        none("holes", "damaged", holes)
        none("a cut", "damaged", lambda p: os.truncate(p, 6000), ok=(0, 1))
        none("text", "damaged, or no archive", lambda p: open(p, "w", encoding="utf-8").write("hello " * 1000))
        none("newer", "newer devlog", sql("PRAGMA user_version=7"))
        none("another program's", "another program", sql("PRAGMA application_id=5"))
        none("no table", "other tables", sql("DROP TABLE runs"))
        none("a view that never ends", "other tables", sql("DROP VIEW history; DROP TABLE runs; CREATE VIEW runs AS WITH RECURSIVE x(id) AS (SELECT 1 UNION ALL "
                                                           "SELECT id+1 FROM x) SELECT id, 1 date, '' commit_id, '' board, '' host, '' name, 0 lost, '' digest FROM x"))
        none("a trigger", "triggers", sql("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END"))
        none("a folder", "unable to open", lambda p: (os.unlink(p), os.mkdir(p)))
        os.rmdir(os.path.join(tmp, "bad.sqlite"))
        other = os.path.join(tmp, "other.sqlite")
        for text in ("CREATE TABLE t(x)", "CREATE TABLE t(x); PRAGMA application_id=0x646C6172; PRAGMA user_version=99", "PRAGMA application_id=5"):
            sql(text)(other)  # kept as SQLite keeps it unless told: not as archives are
            with open(other, "rb") as f:
                before = f.read()
            done = archive(other, "add", paths[0], ok=(1,))
            with open(other, "rb") as f:
                check(f.read() == before, "%s: the file of somebody else was changed: %s" % (text, done.stderr))
            os.unlink(other)
        check("there is no archive" in archive(os.path.join(tmp, "no.sqlite"), "list", ok=(1,)).stderr, "no archive")
        for text in ("UPDATE files SET packed=substr(packed,1,length(packed)-40)||zeroblob(40)", "UPDATE files SET size=5", "UPDATE files SET packed=NULL",
                     "UPDATE files SET name='../x'"):
            shutil.copy(db, os.path.join(tmp, "file.sqlite"))
            sql(text)(os.path.join(tmp, "file.sqlite"))
            done = archive(os.path.join(tmp, "file.sqlite"), "get", "1", "-o", os.path.join(tmp, "x", "y"), ok=(1,))
            check("damaged" in done.stderr or "called" in done.stderr, "%s: %s" % (text, done.stderr))
            os.unlink(os.path.join(tmp, "file.sqlite"))
        check(not os.path.exists(os.path.join(tmp, "x", "x")), "a file outside of its folder")

        # How often chance is called a change: at --confidence 90 at most one history of ten, of many figures with ties and long tails.
        noise, n, alarms, hits = os.path.join(tmp, "small.sqlite"), int(os.environ.get("DEVLOG_TEST_ARCHIVE", "12")), 0, 0
        for k in range(n):
            histories(noise, dice, dice.choice((8, 30, 60)), 8)
            alarms += len(rows(noise, "history", "--confidence", "90", "--least", "0", section="changes")) > 0
            at = dice.randrange(6, 54)
            histories(noise, dice, 60, 8, at, 0.1)
            hits += any(c["name"] == "f0" and abs(c["run"] - 1 - at) <= 2 for c in rows(noise, "history", section="changes"))
        print("%d of %d histories without a change tell one at 90 %%; %d of %d steps of 5 sigma are found at 99 %%" % (alarms, n, hits, n))
        check(alarms <= 0.1 * n + 3 * (0.09 * n) ** 0.5, "false alarms")
        check(hits >= 0.9 * n, "steps that are found")

        with open(os.path.join(SOURCE, "schema", "devlog-archive-1.json"), encoding="utf-8") as f:
            schema = json.load(f)
        try:
            import jsonschema
            validated = True
            for answer in (said, json.loads(archive(db, "list", "--format", "json").stdout)):
                for error in list(jsonschema.Draft202012Validator(schema).iter_errors(answer))[:3]:
                    bad.append("schema: %s" % error.message[:200])
        except ImportError:
            validated = False
    return finish(validated)


try:
    status = main()
except Exception:
    finish()
    raise
sys.exit(status)
