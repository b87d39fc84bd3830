"""devlog ops of folders as tt-metal writes them, against what the generator knows (folders.py). A small seeded part;
DEVLOG_TT_FOLDERS=1000 asks for more, DEVLOG_TT_FIRST for other seeds. Usage: check.py DEVLOG."""
import csv
import gzip
import os
import random
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import folders

DEVLOG = sys.argv[1]
NUMBER = int(os.environ.get("DEVLOG_TT_FOLDERS", "24"))
FIRST = int(os.environ.get("DEVLOG_TT_FIRST", "0"))
passed = failed = 0


def devlog(folder, out, *more):
    p = subprocess.run([DEVLOG, "ops", folder, "-o", out, *more], capture_output=True, text=True, errors="replace")
    for word in ("AddressSanitizer", "runtime error", "LeakSanitizer", "UndefinedBehavior"):
        assert word not in p.stderr, p.stderr
    return p


def rows_of(out, name="ops_perf_results.csv"):
    with open(os.path.join(out, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def text(value):
    """As a cell holds what Python prints."""
    return str(value).replace(",", ";")


class Judge:
    def __init__(self, folder, rows, status, said):
        self.f, self.rows, self.status, self.said = folder, rows, status, said
        self.by_id = {}
        for row in rows:
            self.by_id.setdefault(row["GLOBAL CALL COUNT"], []).append(row)
        # Which replay it was can only be told by the log's own count when data of others are missing.
        lossy = folder.losses & {"drop_exec", "late", "lost_device", "lost_replay"}
        self.sessions_known = folder.form != "log_without_traces" or not lossy

    def equal(self, row, column, value):
        have = row[column]
        assert have == text(value), "%s of %s: %r, should be %r" % (column, row["GLOBAL CALL COUNT"], have, text(value))

    def runs(self):
        """Everything that ran and whose data were not lost is there, once, under its op."""
        f, seen = self.f, 0
        ops = {op.id: op for op in f.ops if op.device is not None}
        for run in f.runs:
            if run.lost:
                continue
            start = min(run.all("start", None, "FW"))
            there = [r for r in self.by_id.get(str(run.id), ()) if r["DEVICE FW START CYCLE"] == str(start)]
            assert len(there) == 1, "run of %d at %d: %d rows" % (run.id, start, len(there))
            row, op = there[0], ops.get(run.id)
            seen += 1
            self.device(row, run)
            if op is None:
                assert "launch without an op" in row["NOTE"]
                continue
            if not op.message and not (op.zone and "no_times" not in f.losses):
                assert "launch without an op" in row["NOTE"]
                continue
            self.host(row, op)
            if run.session is not None and op.message and self.sessions_known:
                self.equal(row, "METAL TRACE ID", run.trace)
                self.equal(row, "METAL TRACE REPLAY SESSION ID", run.session)
                replay = [ns for d, t, s, ns in f.replays if (d, t, s) == (run.device, run.trace, run.session)]
                if replay:
                    self.equal(row, "HOST REPLAY TS", replay[0])
                else:
                    assert "host does not tell of this replay" in row["NOTE"]
        with_data = sum(1 for r in self.rows if r["DEVICE FW START CYCLE"])
        assert with_data == seen, "%d rows with device data, %d runs" % (with_data, seen)

    def device(self, row, run):
        f = self.f
        start, end = run.all("start"), run.all("end")
        fw = min(run.all("start", None, "FW")), max(run.all("end", None, "FW"))
        self.equal(row, "DEVICE ID", run.device)
        self.equal(row, "CORE COUNT", len(run.cores))
        self.equal(row, "DEVICE FW END CYCLE", fw[1])
        self.equal(row, "DEVICE FW DURATION [ns]", f.ns(fw[1] - fw[0]))
        self.equal(row, "DEVICE KERNEL DURATION [ns]", f.ns(max(end) - min(start)))
        for risc in folders.RISCS + ("ERISC",):
            s, e = run.all("start", (risc,)), run.all("end", (risc,))
            self.equal(row, "DEVICE %s KERNEL DURATION [ns]" % risc.replace("_", ""), f.ns(max(e) - min(s)) if s else "")
        if f.noc and hasattr(run, "noc") and self.sessions_known:
            for name, value in run.noc.items():
                self.equal(row, name, value)
        if f.form == "report":
            return
        self.counters(row, run)
        if len(start) > 1:
            self.equal(row, "DEVICE KERNEL FIRST TO LAST START [ns]", f.ns(max(start) - min(start)))
        spans = []
        for core in run.cores:
            kernels = [z for z in core["zones"] if z["kind"] == "KERNEL"]
            spans.append(max(z["end"] for z in kernels) - min(z["start"] for z in kernels))
        for name, value in (("MIN", min(spans)), ("MAX", max(spans))):
            # Halves fall either way, as in tt-metal's arithmetic; the script is equal to the last digit.
            have = int(row["DEVICE KERNEL DURATION PER CORE %s [ns]" % name])
            assert abs(have * f.mhz - value * 1000) * 2 <= f.mhz, (have, value)

    def counters(self, row, run):
        """Some of the figures from hardware counters, from their definitions."""
        f = self.f
        if not f.counters or (f.form == "log_without_traces" and not self.sessions_known):
            return
        ratios = {
            "FPU Util": lambda c: (c["FPU_COUNTER"][0], c["FPU_COUNTER"][1]),
            "Thread 1 Stall Rate": lambda c: (c["THREAD_STALLS_1"][0], c["THREAD_STALLS_1"][1]),
            "FPU Execution Efficiency": lambda c: (c["FPU_COUNTER"][0], c["FPU_INSTRN_AVAILABLE_1"][0]),
            "L1 TDMA Bundle Util": lambda c: (
                (c["L1_0_TDMA_BUNDLE_0_RISC"][0] + c["L1_0_TDMA_BUNDLE_1_TRISC"][0]) / 2, c["L1_0_TDMA_BUNDLE_0_RISC"][1]),
            "Math Scoreboard Stall Rate": lambda c: (c["MATH_INSTRN_AVAILABLE"][0] - c["AVAILABLE_MATH"][0], c["MATH_INSTRN_AVAILABLE"][0]),
        }
        for name, ratio in ratios.items():
            values = []
            try:
                for core in run.cores:
                    if core["counted"]:
                        a, b = ratio(core["counted"])
                        if b:
                            values.append(a / b * 100)
            except KeyError:
                continue
            for stat, want in (("Min", min), ("Max", max), ("Avg", lambda v: sum(v) / len(v)), ("Median", statistics.median)):
                column = "%s %s (%%)" % (name, stat)
                if column not in row:  # over the full grid, instead
                    continue
                have = row[column]
                assert (have == "nan") == (not values), (column, have, values)
                assert not values or abs(float(have) - want(values)) <= 1e-9 * max(1, abs(want(values))), (column, have, want(values))

    def host(self, row, op):
        f = self.f
        if op.zone and "no_times" not in f.losses:
            self.equal(row, "HOST START TS", op.start)
            self.equal(row, "HOST END TS", op.start + op.ns)
            self.equal(row, "HOST DURATION [ns]", op.ns)
        else:
            self.equal(row, "HOST START TS", "")
        if not op.message:
            assert "its message is missing" in row["NOTE"], row["NOTE"]
            return
        if "no_times" not in f.losses:
            for name, ns in op.children.items():
                self.equal(row, name + "_TT_HOST_FUNC [ns]", ns)
        if op.device is None:
            self.equal(row, "OP CODE", op.code)
            self.equal(row, "OP TYPE", op.type)
            return
        self.equal(row, "OP CODE", op.definition["code"])
        if op.orphan:
            assert "its full message is missing" in row["NOTE"], row["NOTE"]
            return
        self.equal(row, "ATTRIBUTES", op.definition["attributes"])
        if op.cut:
            assert "its message was cut" in row["NOTE"]
            return
        self.tensors(row, op)
        self.equal(row, "OP TYPE", "tt_dnn_device")
        self.equal(row, "PROGRAM HASH", op.definition["hash"])
        self.equal(row, "PROGRAM CACHE HIT", op.cached)
        self.equal(row, "COMPUTE KERNEL HASH", [k["name"] for k in op.definition["compute"]])
        self.equal(row, "DATA MOVEMENT KERNEL SOURCE", [k["source"] for k in op.definition["dm"]])
        if op.definition["pm"] is not None:
            self.equal(row, "PM COMPUTE [ns]", op.definition["pm"])

    def tensors(self, row, op):
        d = op.definition
        for kind, tensors in (("INPUT", d["in"] + d["optional"]), ("OUTPUT", d["out"])):
            for i, t in enumerate(tensors):
                for k in "WZYX":
                    self.equal(row, "%s_%d_%s_PAD[LOGICAL]" % (kind, i, k), t["shape"][k])
                self.equal(row, "%s_%d_LAYOUT" % (kind, i), t["layout"])

    def ops(self):
        """Every op that the host tells of is a row; one that did not run says why."""
        f = self.f
        for op in f.ops:
            zone = op.zone and "no_times" not in f.losses
            rows = self.by_id.get(str(op.id), [])
            if not op.message and not zone:
                continue
            assert rows, "op %d is missing" % op.id
            there = [run for run in op.runs if not run.lost]
            if op.message and op.device is not None and not there:
                row = rows[0]
                self.host(row, op)
                replayed = [1 for d, t, _, _ in f.replays if (d, t) == (op.device, op.trace)]
                why = "no device data of this replay" if replayed else "never replayed" if op.trace is not None else "no device data"
                assert any(why in r["NOTE"] for r in rows), (why, [r["NOTE"] for r in rows])
            if not zone and op.message and "no_times" not in f.losses:
                assert any("no host times" in r["NOTE"] for r in rows)
            if op.device is not None and op.trace is None and op.message and not hasattr(f, "twice"):
                assert len(rows) == 1, "op %d has %d rows" % (op.id, len(rows))
            if op.device is None:
                self.host(rows[0], op)

    def signposts(self):
        have = [(r["OP CODE"], r["ATTRIBUTES"], r["HOST START TS"]) for r in self.rows if r["OP TYPE"] == "signpost"]
        want = []
        for said, ns in self.f.signposts:
            lines = said.split(": ")[-1].split("\n")
            want.append((text(lines[0]), text(lines[1]) if len(lines) > 1 else "", str(ns)))
        assert have == want, (have, want)

    def order(self):
        """By the host's time: of the zone, of the replay."""
        last = -1
        for row in self.rows:
            if "launch without an op" in row["NOTE"] or "host does not tell" in row["NOTE"] or not row["HOST START TS"]:
                continue
            at = int(row["HOST REPLAY TS"] or row["HOST START TS"])
            assert at >= last, "rows out of order at %d" % at
            last = at

    def exit_status(self):
        f = self.f
        happened = (
            any(run.lost for run in f.runs)
            or any(op.cut or op.orphan or not op.message or not op.zone for op in f.ops)
            or any(op.device is not None and not op.runs for op in f.ops)
            or hasattr(f, "twice")
            or hasattr(f, "ghost")
            or "lost_replay" in f.losses
            or "no_times" in f.losses
        )
        if happened:
            assert self.status == 3, "exit %d\n%s" % (self.status, self.said)
        else:
            assert self.status == 0, "exit %d\n%s" % (self.status, self.said)

    def all(self):
        self.runs()
        self.ops()
        self.signposts()
        if "no_times" not in self.f.losses and not any(not op.zone for op in self.f.ops):
            self.order()
        if not (self.f.losses & {"lost_replay"}):  # which may be of a trace that nothing was captured in
            self.exit_status()


def judged(seed, losses):
    with tempfile.TemporaryDirectory() as folder:
        f = folders.Folder(seed, losses)
        f.write(folder)
        out = os.path.join(folder, "out")
        p = devlog(folder, out)
        assert p.returncode in (0, 3), p.stderr
        Judge(f, rows_of(out), p.returncode, p.stdout).all()


def one_folder(seed):
    judged(seed, [] if seed % 3 == 0 else None)


def every_loss(seed):
    """Each kind of loss alone."""
    judged(seed, [folders.LOSSES[seed % len(folders.LOSSES)]])


def other_forms(seed):
    """The same folder with CRLF, packed, and in tt-metal's layout gives the same report."""
    with tempfile.TemporaryDirectory() as top:
        f = folders.Folder(seed, None)
        plain = os.path.join(top, "plain")
        f.write(plain)
        devlog(plain, os.path.join(top, "out"))
        want = rows_of(os.path.join(top, "out"))
        crlf, packed = os.path.join(top, "crlf"), os.path.join(top, "packed", "generated", "profiler", ".logs")
        os.makedirs(crlf)
        os.makedirs(packed)
        for name in os.listdir(plain):
            with open(os.path.join(plain, name), "rb") as file:
                data = file.read()
            with open(os.path.join(crlf, name), "wb") as file:
                file.write(data.replace(b"\n", b"\r\n"))
            with gzip.open(os.path.join(packed, name + ".gz"), "wb") as file:
                file.write(data)
        for other in (crlf, os.path.join(top, "packed")):
            devlog(other, os.path.join(other, "out"))
            have = rows_of(os.path.join(other, "out"))
            for a, b in zip(want, have):  # a message's own lines end with CR then, which is whitespace to JSON
                for column in a:
                    assert a[column] == b[column].rstrip("\r"), (other, column, a[column], b[column])
            assert len(want) == len(have)
        # In archives, under names that would lead elsewhere, and by rank.
        for form in ("tar", "tar.gz", "zip"):
            for inside in ("", "../../generated/profiler/.logs/", "a/rank3/.logs/"):
                packed = os.path.join(top, "archive." + form)
                archive(packed, plain, inside)
                out = os.path.join(top, "out_of_archive")
                p = devlog(packed, out)
                assert p.returncode in (0, 3), p.stderr
                assert rows_of(os.path.join(out, "rank3") if "rank3" in inside else out) == want, (form, inside)
                assert not [name for name in os.listdir(out) if name.startswith(".")]
                shutil.rmtree(out)
        # A capture of Tracy's, with and without its exporter.
        saved = os.path.join(top, "saved")
        shutil.copytree(plain, saved, ignore=shutil.ignore_patterns("tracy*", "out"))
        open(os.path.join(saved, "tracy_profile_log_host.tracy"), "w").close()
        p = devlog(saved, os.path.join(saved, "out"))
        assert p.returncode == 1 and "csvexport-release -m" in p.stderr and p.stderr.count("\n") == 1, p.stderr
        if "no_times" not in f.losses:
            tools = os.path.join(top, "tools")
            os.makedirs(tools)
            with open(os.path.join(tools, "tracy-csvexport"), "w") as file:
                file.write('#!/bin/sh\ncase $1 in -m) cat %s/tracy_ops_data.csv;; *) cat %s/tracy_ops_times.csv;; esac\n' % (plain, plain))
            os.chmod(os.path.join(tools, "tracy-csvexport"), 0o755)
            os.environ["PATH"] = tools + ":" + os.environ["PATH"]
            devlog(saved, os.path.join(saved, "out"))
            os.environ["PATH"] = os.environ["PATH"].partition(":")[2]
            assert rows_of(os.path.join(saved, "out")) == want
        # Two ranks: a report each.
        ranks = os.path.join(top, "ranks")
        os.makedirs(ranks)
        os.symlink(plain, os.path.join(ranks, "rank0"))
        os.symlink(plain, os.path.join(ranks, "rank10"))
        devlog(ranks, os.path.join(ranks, "out"))
        for rank in ("rank0", "rank10"):
            assert rows_of(os.path.join(ranks, "out", rank)) == want


def archive(path, folder, inside):
    names = os.listdir(folder)
    if path.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as z:
            for number, name in enumerate(names):
                kind = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
                z.write(os.path.join(folder, name), inside + name, kind)
            z.writestr(inside + "other.txt", "x")
        return
    with tarfile.open(path, "w:gz" if path.endswith("gz") else "w", format=random.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))) as t:
        for name in names:
            t.add(os.path.join(folder, name), inside + ("x" * 120 + "/" if name[0] == "t" else "") + name)


def damaged_archive(seed):
    """A damaged archive is one line or a report, and writes nowhere else."""
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as top:
        plain = os.path.join(top, "plain")
        folders.Folder(seed, None).write(plain)
        path = os.path.join(top, r.choice(("a.zip", "a.tar", "a.tar.gz")))
        archive(path, plain, "../" * r.randrange(3))
        with open(path, "rb") as file:
            data = bytearray(file.read())
        if r.random() < 0.5:
            del data[r.randrange(len(data)) :]
        for _ in range(r.randrange(30)):
            data[r.choice((r.randrange(len(data)), -1 - r.randrange(min(400, len(data)))))] = r.randrange(256)
        with open(path, "wb") as file:
            file.write(data)
        p = devlog(path, os.path.join(top, "out"))
        assert p.returncode in (0, 1, 3), (p.returncode, p.stderr)
        assert sorted(os.listdir(top)) in (sorted([os.path.basename(path), "plain"]), sorted([os.path.basename(path), "plain", "out"]))


def damaged(seed):
    """Whatever the files hold, there is a report or one line that says why not."""
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        folders.Folder(seed, None).write(folder)
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                data = bytearray(file.read())
            how = r.randrange(7)
            if how == 0:
                del data[r.randrange(len(data)) :]
            elif how == 1:
                for _ in range(r.randrange(1, 40)):
                    data[r.randrange(len(data))] = r.randrange(256)
            elif how == 2:
                data += bytes(data)
            elif how == 3:
                data = bytearray()
            elif how == 4:
                at = r.randrange(len(data))
                del data[at : at + r.randrange(2000)]
            elif how == 5:
                os.remove(path)
                continue
            with open(path, "wb") as file:
                file.write(data)
        p = devlog(folder, os.path.join(folder, "out"))
        assert p.returncode in (0, 1, 3), (p.returncode, p.stderr)
        if p.returncode == 1:
            assert p.stderr.startswith("devlog ops: ") and p.stderr.count("\n") == 1, p.stderr
        else:
            rows_of(os.path.join(folder, "out"))


def run(test, seed):
    global passed, failed
    try:
        test(seed)
        passed += 1
    except AssertionError as e:
        failed += 1
        print("%s, seed %d (%s): %s" % (test.__name__, seed, sorted(folders.Folder(seed).losses), str(e)[:1500]))


for number in range(FIRST, FIRST + NUMBER):
    run(one_folder, number)
for number in range(FIRST, FIRST + NUMBER // 2):
    run(every_loss, number)
    run(damaged, number)
for number in range(FIRST, FIRST + NUMBER // 9):
    run(other_forms, number)
    run(damaged_archive, number)
print("%d passed, %d failed" % (passed, failed))
sys.exit(1 if failed else 0)
