"""devlog ops of folders as tt-metal writes them, against what the generator knows (folders.py). A small seeded part;
DEVLOG_TT_FOLDERS=1000 asks for more, DEVLOG_TT_FIRST for other seeds. Usage: check.py DEVLOG."""
import csv
import gzip
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import folders
from judge import Judge, text, waits

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


def alone(seed):
    """A device log alone: a row for each launch, and what each core waited."""
    with tempfile.TemporaryDirectory() as folder:
        f = folders.Folder(seed, [], "log")
        f.write_log(os.path.join(folder, "profile_log_device.csv"))
        out = os.path.join(folder, "out")
        p = devlog(folder, out)
        assert p.returncode == 0, p.stdout + p.stderr
        rows = rows_of(out)
        assert sorted(r["DEVICE FW START CYCLE"] for r in rows) == sorted(str(min(r.all("start", None, "FW"))) for r in f.runs)
        have = {}
        for row in rows_of(out, "per_core_op_to_op_times.csv") if os.path.exists(os.path.join(out, "per_core_op_to_op_times.csv")) else ():
            for place, value in row.items():
                if value and place.endswith("[ns]"):
                    have.setdefault((row["device ID"], row["op2op ID"], place), []).append(int(value))
        assert have == waits(f), (have, waits(f))
        # Again into the folder of the log: its own report of last time is no input.
        for _ in range(2):
            p = devlog(folder, folder)
            assert p.returncode == 0 and rows_of(folder) == rows, p.stderr
        os.remove(os.path.join(folder, "ops_perf_results.csv"))
        # The columns of the document, by name.
        devlog(folder, os.path.join(folder, "reference"), "--columns", "reference")
        for a, b in zip(rows, rows_of(os.path.join(folder, "reference"))):
            assert list(b)[:3] == ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT"] and "NOTE" not in b and "CALL COUNT" in b
            assert all(a[k] == b[k] for k in b if k in a), (a, b)


def by_time(seed):
    """Rows in the order of time, not core by core: the same report, and the same waits."""
    with tempfile.TemporaryDirectory() as folder:
        f = folders.Folder(seed, [] if seed % 2 else ["wrong_trace_id"], "log")
        f.write(folder)
        path = os.path.join(folder, "profile_log_device.csv")
        outs = [os.path.join(folder, n) for n in ("first", "second")]
        devlog(folder, outs[0])
        with open(path) as file:
            lines = file.readlines()
        with open(path, "w") as file:
            file.writelines(lines[:2] + sorted(lines[2:], key=lambda line: int(line.split(",")[5])))
        devlog(folder, outs[1])
        for a, b in zip(rows_of(outs[0]), rows_of(outs[1])):  # means of counters are sums in the order of cores
            assert all(a[k] == b[k] or abs(float(a[k]) / float(b[k]) - 1) < 1e-9 for k in a), [k for k in a if a[k] != b[k]]
        for out in outs:
            if not os.path.exists(os.path.join(out, "per_core_op_to_op_times.csv")):
                assert not any(os.path.exists(os.path.join(o, "per_core_op_to_op_times.csv")) for o in outs)
                return
        assert rows_of(outs[0], "per_core_op_to_op_times.csv") == rows_of(outs[1], "per_core_op_to_op_times.csv")


def made_again(seed):
    """A report alone is what it was; in the document's columns calls are counted."""
    with tempfile.TemporaryDirectory() as folder:
        f = folders.Folder(seed, [])
        f.write(folder)
        first, again, reference, other = (os.path.join(folder, n) for n in ("first", "again", "reference", "other"))
        devlog(folder, first)
        devlog(folder, reference, "--columns", "reference")
        # Beside the device log, as tt-metal leaves them, too.
        if f.form != "report":
            shutil.copy(os.path.join(folder, "profile_log_device.csv"), first)
        os.path.exists(os.path.join(first, "per_core_op_to_op_times.csv")) and os.remove(os.path.join(first, "per_core_op_to_op_times.csv"))
        p = devlog(first, again)
        assert p.returncode == 0, p.stderr
        assert rows_of(again) == rows_of(first)
        devlog(first, other, "--columns", "reference")
        for a, b in zip(rows_of(reference), rows_of(other)):
            assert all(a[k] == b[k] for k in b if k != "CALL COUNT"), (a, b)
        counts = {}
        for op in sorted((op for op in f.ops), key=lambda op: op.sent):
            name = text(op.definition["code"] if op.device is not None else op.code)
            counts[name] = counts.get(name, 0) + 1
        for name, n in counts.items():
            have = {int(r["CALL COUNT"]) for r in rows_of(reference) if r["OP CODE"] == name}
            assert have == set(range(1, n + 1)), (name, have, n)
        if os.path.exists(os.path.join(first, "profile_log_device.csv")):
            os.remove(os.path.join(first, "profile_log_device.csv"))
        p = devlog(first, first)
        assert p.returncode == 1 and "is the report that it would be made of" in p.stderr and p.stderr.count("\n") == 1, p.stderr


def judged(seed, losses):
    with tempfile.TemporaryDirectory() as folder:
        f = folders.Folder(seed, losses)
        f.write(folder)
        out = os.path.join(folder, "out")
        p = devlog(folder, out)
        assert p.returncode in (0, 3), p.stderr
        Judge(f, rows_of(out), p.returncode, p.stdout).all()
        noc_zones(f, out)


def noc_zones(f, out):
    """What moved by zone, of every run of which there is a row with its trace's ids; the sum of its zones is what the row has."""
    path = os.path.join(out, "noc_zones.csv")
    have, of_rows = {}, {}
    for row in rows_of(out, "noc_zones.csv") if os.path.exists(path) else ():
        key = tuple(row[c] for c in ("GLOBAL CALL COUNT", "DEVICE ID", "METAL TRACE REPLAY SESSION ID"))
        sums = {c: int(v) for c, v in row.items() if c.startswith("NOC ") or c == "ZONE COUNT"}
        assert (row["RISC"], row["ZONE"]) not in have.setdefault(key, {})
        have[key][row["RISC"], row["ZONE"]] = sums
    if not f.noc or f.form == "log_without_traces":
        return
    wanted = {}
    for run in f.runs:
        zones = {k: v for k, v in getattr(run, "noc_zones", {}).items() if any(v.values())}
        if hasattr(run, "noc") and any(v["ZONE COUNT"] for v in zones.values()):
            wanted[str(run.id), str(run.device), "" if run.session is None else str(run.session)] = zones
    for key, zones in have.items():
        assert key in wanted and zones == wanted[key], "zones of %s: %s, should be %s" % (key, zones, wanted.get(key))
    for row in rows_of(out):
        key = tuple(row[c] for c in ("GLOBAL CALL COUNT", "DEVICE ID", "METAL TRACE REPLAY SESSION ID"))
        if not row.get("NOC BYTES") or key not in wanted:
            continue
        assert key in have, "no zones of %s" % (key,)
        assert sum(z["NOC BYTES"] for z in have[key].values()) == int(row["NOC BYTES"]), key
        of_rows[key] = 1
    assert len(of_rows) == len(have), "%d runs with zones, %d rows" % (len(have), len(of_rows))


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
            for a, b in zip(want, have):
                for column in a:
                    assert a[column] == b[column], (other, column, a[column], b[column])
            assert len(want) == len(have)
        # In archives, under names that would lead elsewhere, and by rank.
        for form in ("tar", "tar.gz", "tar.xz", "zip", "streamed.zip"):
            for inside in ("", "../../generated/profiler/.logs/", "a/rank3/.logs/", "donn\u00e9es/\u6e2c\u8a66/"):
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
            assert rows_of(os.path.join(saved, "out")) == want
            # The capture itself, also under a name of its user's; and alone in a folder.
            mine = os.path.join(saved, "mine.tracy")
            os.rename(os.path.join(saved, "tracy_profile_log_host.tracy"), mine)
            p = devlog(mine, os.path.join(top, "mine"))
            assert rows_of(os.path.join(top, "mine")) == want, p.stderr
            os.makedirs(os.path.join(top, "alone"))
            shutil.copy(mine, os.path.join(top, "alone"))
            p = devlog(os.path.join(top, "alone"), os.path.join(top, "alone", "out"))
            assert p.returncode == 3 and len(rows_of(os.path.join(top, "alone", "out"))) <= len(want), p.stderr
            os.rename(mine, os.path.join(saved, "tracy_profile_log_host.tracy"))
        # What ttnn-visualizer's folder must have (src/hooks/useLocal.tsx at d15518f), linked.
        visual = os.path.join(top, "visual")
        for _ in range(2):
            p = devlog(saved if "no_times" not in f.losses else plain, visual, "--link-logs")
        if f.form != "report":
            assert os.path.samefile(os.path.join(visual, "profile_log_device.csv"), os.path.join(plain if "no_times" in f.losses else saved, "profile_log_device.csv"))
        os.environ["PATH"] = os.environ["PATH"].replace(os.path.join(top, "tools") + ":", "")
        p = devlog(packed, os.path.join(top, "out_of_archive"), "--link-logs")
        assert p.returncode == 1 and "must be unpacked first" in p.stderr and p.stderr.count("\n") == 1, p.stderr
        # Two ranks: a report each.
        ranks = os.path.join(top, "ranks")
        os.makedirs(ranks)
        os.symlink(plain, os.path.join(ranks, "rank0"))
        os.symlink(plain, os.path.join(ranks, "rank10"))
        p = devlog(ranks, os.path.join(ranks, "out"))
        said = [line.split(" ")[0] for line in p.stdout.split("\n") if line.startswith("rank ") or " rows" in line and line[0].isdigit()]
        assert said[0] == "rank" and said[1] != "rank" and said[2] == "rank" and said[3] != "rank", p.stdout
        for rank in ("rank0", "rank10"):
            assert rows_of(os.path.join(ranks, "out", rank)) == want


class Streamed:
    """A file that is written to like a pipe."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()


def archive(path, folder, inside):
    names = os.listdir(folder)
    if path.endswith(".zip"):
        # A pipe cannot be sought in: sizes stand behind each member then.
        to = Streamed(path) if "streamed" in path else path
        with zipfile.ZipFile(to, "w") as z:
            for number, name in enumerate(names):
                kind = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
                z.write(os.path.join(folder, name), inside + name, kind)
            z.writestr(inside + "other.txt", "x")
        return
    with tarfile.open(path, "w:" + path[-2:] if path[-2:] in ("gz", "xz") else "w", format=random.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))) as t:
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


# A message that was cut, and a line without quotes behind it.
for number in (20588138, 20588242):
    run(one_folder, number)
for number in range(NUMBER):
    # How many of each there are: some take long.
    for share, tests in ((1, (one_folder,)), (2, (every_loss, damaged)), (4, (alone, by_time, made_again)), (9, (other_forms, damaged_archive))):
        for test in tests if number < NUMBER // share else ():
            run(test, FIRST + number)
print("%d passed, %d failed" % (passed, failed))
sys.exit(1 if failed else 0)
