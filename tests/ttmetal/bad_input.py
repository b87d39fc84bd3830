"""Folders that nobody meant: each file missing, empty, cut, doubled, of another run; versions mixed; ids at the ends of
their range; somebody else's folder; hostile messages; a full disk. There is a report with everything that can be had and
what is wrong, or one line that says why not; never a crash, a hang, or a silent loss. Usage: bad_input.py DEVLOG."""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import folders
from small import COLUMNS, DEVLOG, HEAD, PERF, Run, main, messages, op, program_rows, times

NAMES = ("tracy_ops_data.csv", "tracy_ops_times.csv", "cpp_device_perf_report.csv", "profile_log_device.csv")
TIMEOUT = 120


def run(folder, out, *more, **how):
    p = subprocess.run([DEVLOG, "ops", folder, "-o", out, *more], capture_output=True, text=True, errors="replace", timeout=TIMEOUT, **how)
    assert "Sanitizer" not in p.stderr and "runtime error" not in p.stderr, p.stderr
    assert p.returncode in (0, 1, 3), (p.returncode, p.stderr)
    if p.returncode == 1:
        assert p.stderr.startswith("devlog ops: ") and p.stderr.count("\n") == 1, p.stderr
        assert not os.path.exists(os.path.join(out, "ops_perf_results.csv"))
    return p


def rows(out):
    import csv

    with open(os.path.join(out, "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Changed:
    """A generated folder, whole and with one file changed."""

    def __init__(self, seed, form, change):
        self.f = folders.Folder(seed, [], form)
        with tempfile.TemporaryDirectory() as top:
            plain = os.path.join(top, "plain")
            self.f.write(plain)
            assert run(plain, os.path.join(top, "out")).returncode in (0, 3)
            self.whole = rows(os.path.join(top, "out"))
            change(plain, self.f)
            p = run(plain, os.path.join(top, "changed"))
            self.status, self.said, self.wrong = p.returncode, p.stdout, p.stderr
            self.rows = rows(os.path.join(top, "changed")) if p.returncode != 1 else None

    def same(self, *columns, ids=None):
        """The columns of all rows that were there before, by what tells rows apart."""
        key = lambda r: (r["GLOBAL CALL COUNT"], r["DEVICE ID"], r["METAL TRACE REPLAY SESSION ID"], r["OP TYPE"] == "signpost", r["HOST START TS"])
        pick = lambda rs: sorted([tuple(r.get(c, "") for c in columns) for r in rs if r["OP TYPE"] != "signpost"])
        assert key and pick(self.rows) == pick(self.whole), (self.said, pick(self.whole)[:5], pick(self.rows)[:5])


def edit(name, change):
    def f(folder, _):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return
        with open(path, "rb") as file:
            data = file.read()
        data = change(data)
        os.remove(path)
        if data is not None:
            with open(path, "wb") as file:
                file.write(data)

    return f


HOST = ("OP CODE", "GLOBAL CALL COUNT", "HOST START TS", "ATTRIBUTES")
DEVICE = ("DEVICE FW START CYCLE", "DEVICE KERNEL DURATION [ns]", "CORE COUNT")


def device_rows(rs):
    return sorted(tuple(r[c] for c in DEVICE) for r in rs if r["DEVICE FW START CYCLE"])


def missing_or_empty():
    for seed in range(6):
        form = ("report", "log")[seed % 2]
        for change in (lambda d: None, lambda d: b"", lambda d: b"\n"):
            for name in NAMES[:2] + (NAMES[2 + seed % 2],):
                c = Changed(seed, form, edit(name, change))
                assert c.status == 3, (name, c.status, c.said, c.wrong)
                if name == NAMES[0]:  # ops without names, and what they did on the device
                    assert device_rows(c.rows) == device_rows(c.whole), name
                elif name == NAMES[1]:
                    assert device_rows(c.rows) == device_rows(c.whole), name
                    have = {(r["OP CODE"], r["GLOBAL CALL COUNT"]) for r in c.rows}
                    assert {(r["OP CODE"], r["GLOBAL CALL COUNT"]) for r in c.whole} <= have
                else:
                    assert {tuple(r[k] for k in HOST) for r in c.rows} >= {tuple(r[k] for k in HOST) for r in c.whole if not r["HOST REPLAY TS"]}


def cut():
    """Anywhere: every op whose data came whole before the cut is there as before."""
    for seed in range(4):
        r = random.Random(seed)
        form = ("report", "log")[seed % 2]
        for name in NAMES[:2] + (NAMES[2 + seed % 2],):
            for _ in range(5):
                share = r.random()
                c = Changed(seed, form, edit(name, lambda d: d[: int(len(d) * share)]))
                assert c.rows is not None, c.wrong
                if name in NAMES[2:]:
                    ids = lambda rs: {(x["GLOBAL CALL COUNT"]) for x in rs if x["OP TYPE"] != "signpost"}
                    assert ids(c.rows) >= ids(c.whole)
                whole = {(x["GLOBAL CALL COUNT"], x["DEVICE FW START CYCLE"]) for x in c.rows if x["DEVICE FW START CYCLE"]}
                if name == NAMES[1]:
                    assert device_rows(c.rows) == device_rows(c.whole)
                assert c.status == 3 or len(whole) == len(device_rows(c.whole)), (name, share, c.said)


def doubled():
    for seed in range(6):
        form = ("report", "log")[seed % 2]
        c = Changed(seed, form, edit(NAMES[1], lambda d: d + d))
        c.same(*HOST, *DEVICE)
        c = Changed(seed, form, edit(NAMES[2 + seed % 2], lambda d: d + d))
        assert c.status == 3 and ("is there twice" in c.said or "twice" in c.said or "lines skipped" in c.said or "launches" in c.said), c.said
        assert set(device_rows(c.rows)) >= set(device_rows(c.whole)), c.said
        c = Changed(seed, form, edit(NAMES[0], lambda d: d + d))
        assert c.status == 3 and "ops with the GLOBAL CALL COUNT of another" in c.said, c.said
        assert set(device_rows(c.rows)) >= set(device_rows(c.whole))


def of_another_run():
    for seed in range(4):
        form = ("report", "log")[seed % 2]

        def change(folder, f):
            other = folders.Folder(seed + 1000, [], form)
            other.base = f.base + 5000
            other.ops, other.runs, other.messages, other.times, other.signposts, other.replays = [], [], [], [], [], []
            other.seen, other.sessions = set(), {}
            other.program()
            other.draw_dispatch()
            name = NAMES[2 + seed % 2]
            os.remove(os.path.join(folder, name))
            (other.write_report if form == "report" else other.write_log)(os.path.join(folder, name))

        c = Changed(seed, form, change)
        assert c.status == 3 and "files that are of another run than the rest" in c.said and "TT_METAL_PROFILER_DIR" in c.said, c.said


def mixed_versions():
    """Messages of 2024, a C++ report with other columns in another order, a device log of 2024 and one of 2025."""
    said = (("TT_DNN_TRACE_BEGIN: 0, 4", 1), (op(1), 5), ("TT_DNN_TRACE_END: 0, 4", 7), ("TT_DNN_TRACE_REPLAY: 0, 4", 8))
    report = "DEVICE ID,DEVICE KERNEL DURATION [ns],A NEW COLUMN,CORE COUNT,GLOBAL CALL COUNT,METAL TRACE REPLAY SESSION ID,METAL TRACE ID\n0,77,new,8,1,1,4\n"
    r = Run({NAMES[0]: messages(*said), NAMES[1]: times(1), NAMES[2]: report})
    (row,) = r.of(1, True)
    assert (row["DEVICE KERNEL DURATION [ns]"], row["A NEW COLUMN"], row["METAL TRACE ID"]) == ("77", "new", "4") and r.status == 0, r.said
    old = "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, run ID, run host ID, zone name, zone phase, source line, source file\n"
    lines = ""
    for zone, phase, at in (("BRISC-FW", "begin", 100), ("BRISC-KERNEL", "begin", 110), ("BRISC-KERNEL", "end", 160), ("BRISC-FW", "end", 170)):
        lines += "0, 2, 2, BRISC, 7, %d, 0, 0, 1, %s, %s, 1, b.cc\n" % (at, zone, phase)
    r = Run({NAMES[0]: messages((op(1), 5)), NAMES[1]: times(1), NAMES[3]: "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n" + old + lines})
    assert r.rows[0]["DEVICE KERNEL DURATION [ns]"] == "50" and r.status == 0, (r.rows, r.said)


def ids_that_wrap():
    """EncodePerDeviceProgramID: bit 31 is the host's, ten bits the device; and numbers that no version gives."""
    for ident in (0x7FFFFC00, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 32, (1 << 53) + 1, (1 << 63) - 1):
        r = Run({NAMES[0]: messages((op(ident), 5), (op(1024), 6)), NAMES[1]: times(ident, 1024),
                 NAMES[2]: PERF + "%d,,,0,8,100\n1024,,,0,8,200\n" % ident})
        assert r.status == 0 and r.of(ident)[0]["DEVICE KERNEL DURATION [ns]"] == "100", (ident, r.said, r.rows)
        assert r.of(ident)[0]["HOST START TS"] == "10"
    r = Run({NAMES[0]: messages((op(1024), 6)), NAMES[1]: times(1024), NAMES[2]: PERF + "1024,,,0,8,200\n99999999999999999999999,,,0,8,1\n-5,,,0,8,1\n"})
    assert r.status == 3 and "lines of cpp_device_perf_report.csv that could not be read" in r.said and len(r.rows) == 1, r.said
    # A session counter of 16 bits that began anew.
    log = HEAD % ("wormhole_b0", 1000, 64) + COLUMNS
    for counter, at in ((65535, 100), (1, 400)):
        log += program_rows(1024, at).replace(",1024,,,", ",1024,4,%d," % counter)
    r = Run({NAMES[0]: messages(("TT_METAL_TRACE_BEGIN: 0, 4", 1), (op(1024), 2), ("TT_METAL_TRACE_END: 0, 4", 3)), NAMES[1]: times(1024), NAMES[3]: log})
    assert len(r.of(1024, True)) == 2 and r.status == 3, r.said


def somebody_elses():
    with tempfile.TemporaryDirectory() as top:
        # A file, nothing, a folder of pictures, folders with the names of files, links to themselves.
        path = os.path.join(top, "picture")
        with open(path, "wb") as f:
            f.write(bytes(random.Random(1).randrange(256) for _ in range(5000)))
        assert run(path, os.path.join(top, "o1")).returncode == 1
        assert run(os.path.join(top, "nothing"), os.path.join(top, "o2")).returncode == 1
        os.makedirs(os.path.join(top, "empty"))
        assert run(os.path.join(top, "empty"), os.path.join(top, "o3")).returncode == 1
        for name in NAMES:
            os.makedirs(os.path.join(top, "folders", name))
        assert run(os.path.join(top, "folders"), os.path.join(top, "o4")).returncode == 1
        os.makedirs(os.path.join(top, "links"))
        for name in NAMES:
            os.symlink(name, os.path.join(top, "links", name))
        assert run(os.path.join(top, "links"), os.path.join(top, "o5")).returncode == 1
        # The picture under each name, and all of them at once.
        for n, which in enumerate([(x,) for x in NAMES] + [NAMES]):
            folder = os.path.join(top, "pictures%d" % n)
            os.makedirs(folder)
            for name in which:
                shutil.copy(path, os.path.join(folder, name))
            p = run(folder, os.path.join(folder, "out"))
            assert p.returncode in (1, 3), (which, p.stdout)
        # A pipe that nobody writes to must not hang: it is no file.
        folder = os.path.join(top, "pipe")
        os.makedirs(folder)
        os.mkfifo(os.path.join(folder, NAMES[0]))
        for name, text in ((NAMES[1], times(1)), (NAMES[2], PERF + "1,,,0,8,100\n")):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        p = run(folder, os.path.join(folder, "out"))
        assert p.returncode == 3 and "tracy_ops_data.csv is missing" in p.stdout, p.stdout + p.stderr


def unreadable():
    """A file beside the report that cannot be opened: said, and the report is whole. (Root may open all.)"""
    if os.geteuid() == 0:
        return
    with tempfile.TemporaryDirectory() as top:
        for name, text in ((NAMES[0], messages((op(1), 5))), (NAMES[1], times(1)), (NAMES[2], PERF + "1,,,0,8,100\n"), (NAMES[3], "x"),
                           ("sync_device_info.csv", "x"), ("zone_src_locations.log", "x")):
            with open(os.path.join(top, name), "w") as f:
                f.write(text)
        for name in (NAMES[3], "sync_device_info.csv", "zone_src_locations.log"):
            os.chmod(os.path.join(top, name), 0)
        p = run(top, os.path.join(top, "out"))
        assert p.returncode == 3 and rows(os.path.join(top, "out"))[0]["DEVICE KERNEL DURATION [ns]"] == "100", p.stdout
        assert all(name in p.stdout for name in (NAMES[3], "sync_device_info.csv", "zone_src_locations.log")), p.stdout


def hostile_messages():
    """Nothing is executed, nothing reaches the terminal as it is, nothing is left out in silence."""
    deep = "[" * 200000
    with tempfile.TemporaryDirectory() as top:
        mark = os.path.join(top, "executed")
        evil = '__import__("os").system("touch %s")' % mark
        said = [
            (op(1, op_code="\x1b[31mred\x1b]0;title\x07"), 1),
            (op(2, attributes={"a": evil, "b": "`touch %s`" % mark, "c": "=cmd|' /C calc'!A0"}), 2),
            (op(3).replace('"axis"', '"a": %s, "axis"' % deep), 3),
            (op(4, **{"performance_model": {"compute_ns": 1e308, "ideal_ns": -1, "bandwidth_ns": "x", "input_bws": None, "output_bws": {}}}), 4),
            ('TT_DNN_DEVICE_OP: "x", 1, 0, true, 5, 6, 7, 8', 5),
            ("TT_DNN_DEVICE_OP: , , , , ", 6),
            ("TT_DNN_DEVICE_OP: \"no json\", 1, 0, false, 6 ->\n", 7),
            ("TT_DNN_DEVICE_OP: \"no json\", 1, 0, false, 7 ->\n{", 8),
            ("TT_METAL_TRACE_BEGIN: -1, 99999999999999999999", 9),
            ("TT_SIGNPOST: ../../../etc/passwd: \x1b[2J", 10),
            (op(8, input_tensors="not a list", output_tensors=[1, None, {"shape": []}], kernel_info=[1]), 11),
            (op(9, global_call_count="nine"), 12), (op(10) * 3, 13), ("", 14), ("\0TT_DNN_OP\0", 15), ("TT_DNN_DEVICE_OP: " + "y" * 3000000, 16),
        ]
        log = HEAD % ("blackhole", 1000, 8) + COLUMNS + program_rows(2, 100)
        for meta in (evil, "{'workers_runtime_id': %s}" % evil, '{"counter type":%s;"value":%s;"ref cnt":0}' % (evil, evil), "{" * 500):
            log += "0,2,2,BRISC,9090,165,0,2,,,CQ-DISPATCH,TS_DATA_16B,0,,%s\n" % meta
        r = Run({NAMES[0]: messages(*said), NAMES[1]: times(1, 2, 3, 4, 8), NAMES[3]: log})
        assert not os.path.exists(mark), "it was executed"
        assert r.status == 3 and "\x1b" not in r.said and "\x07" not in r.said, r.said
        ids = {row["GLOBAL CALL COUNT"] for row in r.rows}
        assert {"1", "2", "3", "4", "8"} <= ids, ids
        assert r.of(2)[0]["ATTRIBUTES"].startswith("{'a': '__import__") or '__import__' in r.of(2)[0]["ATTRIBUTES"]
        for limit in ("--format", "json"), ("--columns", "reference"):
            Run({NAMES[0]: messages(*said), NAMES[1]: times(1, 2, 3, 4, 8), NAMES[3]: log}, *limit)


def full_disk():
    """Wherever it gets full: one line, and no half report."""
    def limited(size):
        def f():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return f

    with tempfile.TemporaryDirectory() as top:
        plain = os.path.join(top, "plain")
        folders.Folder(7, [], "log").write(plain)
        run(plain, os.path.join(top, "whole"))
        needed = os.path.getsize(os.path.join(top, "whole", "ops_perf_results.csv"))
        for size in (0, 1, 100, needed // 2, needed - 1):
            out = os.path.join(top, "out%d" % size)
            p = run(plain, out, preexec_fn=limited(size))
            assert p.returncode == 1 and out in p.stderr, (size, p.stderr)
            assert not os.path.exists(out) or not os.listdir(out), os.listdir(out)
        if os.access("/dev/full", os.W_OK):
            with open("/dev/full", "w") as full:
                p = subprocess.run([DEVLOG, "ops", plain, "-o", os.path.join(top, "spoken")], stdout=full, stderr=subprocess.PIPE, text=True)
            assert p.returncode == 1 and p.stderr.count("\n") == 1, p.stderr


if __name__ == "__main__":
    main([missing_or_empty, cut, doubled, of_another_run, mixed_versions, ids_that_wrap, somebody_elses, unreadable, hostile_messages, full_disk])
