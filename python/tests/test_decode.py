"""devlog.decode: the same as `devlog decode --format json` of many logs, good and bad; arrays without copies, Arrow by its
published structs, filters, errors. Run by ctest: test_decode.py DEVLOG SOURCE."""

import ctypes
import gc
import glob
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import zipfile
from collections import defaultdict
from fractions import Fraction

import devlog

DEVLOG, SOURCE = sys.argv[1:3]
folder = tempfile.TemporaryDirectory()

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

GOLDEN = sorted(glob.glob(os.path.join(SOURCE, "tests/golden/*/log.csv")))
CSV, CAPTURE = (os.path.join(folder.name, "logs", n) for n in ("profile_log_device.csv", "capture.devlog"))


def setUpModule():
    """A run of the demo: names, launches, clocks, a capture and its device log."""
    subprocess.run([os.path.join(os.path.dirname(DEVLOG), "demo")], check=True, capture_output=True,
                   env={**plain(), "TT_METAL_DEVICE_PROFILER": "1", "DEVLOG_LOG_FOLDER": os.path.dirname(CSV), "DEVLOG_HOME": SOURCE,
                        "DEVLOG_BOARD": "wormhole_b0"})


def plain():
    """The environment without what the sanitizers' runtime needs inside of Python."""
    return {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


def command(*arguments, status=(0, 3)):
    """What the program says, as JSON; the exact text of numbers is kept."""
    run = subprocess.run([DEVLOG, "decode", "--no-files", "--format", "json", *arguments], capture_output=True, env=plain())
    if run.returncode not in status:
        raise RuntimeError(run.stderr.decode(errors="replace"))
    return json.loads(run.stdout.decode("utf-8", "replace"))


def spelled(text):
    """JSON has no room for bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def compare_values(test, path, said, log):
    """The values themselves add up to the program's tables of markers, of each RISC and of each core."""
    kinds = {log.values.EVENT: "event", log.values.DATA: "value", log.values.SUM: "sum"}
    for by_core, rows in (False, said["markers"]), (True, said["core_markers"]):
        sums = defaultdict(list)
        for data, kind, stream, zone in zip(*(map(int, log.values[n]) for n in ("data", "kind", "stream", "zone"))):
            s = log.streams[stream]
            if kind in kinds:
                sums[s.chip, (s.core_x, s.core_y) if by_core else None, spelled(s.risc), spelled(log.zone_names[zone].name), kinds[kind]].append(data)
        mine = {key: (len(v), *((None,) * 3 if key[-1] == "event" else (sum(v), min(v), max(v)))) for key, v in sums.items()}
        theirs = {}
        for r in rows:
            # A marker that one event gave words to is of another kind there, and so is a counter; here the same name may be of both.
            key = r["chip"], tuple(r["core"]) if by_core else None, r["risc"], r["name"], {"text": "event", "counter": "value"}.get(r["kind"], r["kind"])
            if key[-1] in kinds.values():
                count, *figures = theirs.get(key, (0, 0, r["min"], r["max"]))
                theirs[key] = (count + r["count"], *((None,) * 3 if key[-1] == "event" else
                                                    (figures[0] + r["sum"], min(figures[1], r["min"]), max(figures[2], r["max"]))))
        test.assertEqual(mine, theirs, path)


def compare(test, path):
    """All that both say of one log. Returns how many groups were compared."""
    said, log = command(path), devlog.decode(path)
    test.assertEqual(said["complete"], log.complete, path)
    test.assertEqual(said["losses"]["rows"], log.rows, path)
    test.assertEqual([c["id"] for c in said["chips"]], [c.chip for c in log.chips])
    for by, rows in (("risc", said["zones"]), ("core", said["cores"])):
        mine = {(r.chip, (r.stream.core_x, r.stream.core_y) if r.stream else None, spelled(r.risc), spelled(r.zone)): r
                for r in log.statistics(by)}
        theirs = {(r["chip"], tuple(r["core"]) if "core" in r else None, r["risc"], r["zone"]): r for r in rows}
        test.assertEqual(set(mine), set(theirs), path)
        for key, row in theirs.items():
            m = mine[key]
            test.assertEqual([m.count, m.total, m.min, m.max, m.p90, m.p95, m.p99, m.median, m.average],
                             [row[k] for k in ("count", "sum", "min", "max", "p90", "p95", "p99", "median", "average")], (path, key))
    # The program lists launches with zones, by the first start of firmware.
    launches = list(zip(*(map(int, log.launches[n]) for n in ("chip", "number", "run_host_id"))))
    shown = dict.fromkeys(r.launch for r in log.statistics("launch"))
    test.assertEqual([(l["chip"], l["launch"], l["run_host_id"] or 0) for l in said["launches"]],
                     [launches[i] for i in shown], path)
    # The zones themselves add up to the statistics.
    sums = defaultdict(lambda: [0, 0])
    for start, end, stream, zone in zip(*(map(int, log.zones[n]) for n in ("start", "end", "stream", "zone"))):
        s = log.streams[stream]
        group = sums[s.chip, s.risc, log.zone_names[zone].name]
        group[0] += 1
        group[1] += end - start
    test.assertEqual({k: tuple(v) for k, v in sums.items()},
                     {(r.chip, r.risc, r.zone): (r.count, r.total) for r in log.statistics() if r.count}, path)
    compare_values(test, path, said, log)
    found = {f.key: f.count for f in log.findings}
    for key, count in said["losses"]["found"].items():
        test.assertEqual(found.get(key), count, (path, key))
    return len(said["zones"])


class SameAsTheProgram(unittest.TestCase):
    def test_demo(self):
        self.assertEqual(compare(self, CSV), 19)
        self.assertEqual(compare(self, CAPTURE), 19)

    def test_golden(self):
        self.assertEqual(sorted(os.path.basename(os.path.dirname(p)) for p in GOLDEN), ["l2", "l9", "reference", "traces"])
        self.assertEqual(GOLDEN, sorted(p for p in glob.glob(os.path.join(SOURCE, "tests/golden/**/*"), recursive=True) if "log" in os.path.basename(p)))
        values = 0
        for path in GOLDEN:
            self.assertGreater(compare(self, path), 0)
            values += len(devlog.decode(path).values)
        self.assertGreater(values, 3)

    def test_odd_and_damaged(self):
        """Every form of log, cut, torn, with wrong cells: the inputs from which fuzzing starts."""
        compared = 0
        for path in sorted(glob.glob(os.path.join(SOURCE, "tests/fuzz/corpus/device_log/*"))):
            log = os.path.join(folder.name, "odd.csv")
            with open(path, "rb") as f, open(log, "wb") as out:
                out.write(f.read()[1:]) # the first byte is the fuzz target's
            try:
                command(log)
            except RuntimeError as refused:
                try: # the program refuses a log without a row, which the library reads as far as it goes
                    read = devlog.decode(log)
                except devlog.Error as raised:
                    self.assertIn(str(raised).split("\n")[0], str(refused))
                else:
                    self.assertEqual((read.rows, len(read.zones)), (0, 0), path)
                    if "no rows; was the program run" in str(refused): # it has nothing but a head
                        self.assertTrue(read.complete, path)
                    else:
                        self.assertFalse(read.complete, path)
                        self.assertTrue([f for f in read.findings if f.first.encode("utf-8", "replace").decode() in str(refused)], (path, refused))
            else:
                compared += compare(self, log)
        self.assertGreater(compared, 30)

    def test_samples(self):
        samples = glob.glob(os.path.join(os.environ.get("DEVLOG_SAMPLES", "?"), "device_log_*.csv"))
        if not samples:
            self.skipTest("no samples")
        for path in samples:
            compare(self, path)

    def test_cut_capture(self):
        with open(CAPTURE, "rb") as f:
            whole = f.read()
        path = os.path.join(folder.name, "cut.devlog")
        with open(path, "wb") as f:
            f.write(whole[: len(whole) * 2 // 3])
        compare(self, path)
        self.assertFalse(devlog.decode(path).complete)


class Filters(unittest.TestCase):
    def test_each(self):
        for options, arguments in (
            (dict(zones=["add*"]), ["--zone", "add*"]), (dict(zones="read page", riscs="BRISC"), ["--zone", "read page", "--riscs", "BRISC"]),
            (dict(launches=range(2, 5)), ["--launches", "2-4"]), (dict(launches=[3, (7, 9)]), ["--launches", "3,7-9"]), (dict(launches="10,3-4"), ["--launches", "10,3-4"]),
            (dict(cores=[(1, 2)]), ["--core", "1,2"]), (dict(min_cycles=1000), ["--min-cycles", "1000"]),
            (dict(skip_launches=15), ["--skip-launches", "15"]), (dict(subtract_cost=True), ["--subtract-cost"]),
        ):
            said, log = command(CAPTURE, *arguments), devlog.decode(CAPTURE, **options)
            self.assertEqual([(r["risc"], r["zone"], r["count"], r["sum"]) for r in said["zones"]],
                             [(r.risc, r.zone, r.count, r.total) for r in log.statistics()], options)
            self.assertTrue(said["zones"])

    def test_first_launches_are_those_that_began_first(self):
        """Launches 1 and 3 ran on one core, 2 on another, which the log has behind it."""
        path = os.path.join(folder.name, "apart.csv")
        with open(path, "w") as f:
            f.write("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
                    "time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n")
            for core, launch in ((1, 1), (1, 3), (2, 2)):
                for kind, time in (("START", launch * 1000), ("END", launch * 1100)):
                    f.write(f"0,{core},1,BRISC,1,{time},0,{launch * 1024},,,BRISC-FW,ZONE_{kind},10,run.h,\n")
        for skipped, left in ((1, [2, 3]), (2, [3]), (3, [])):
            log = devlog.decode(path, skip_launches=skipped)
            self.assertEqual(sorted(log.zones.end - log.zones.start), [n * 100 for n in left])
            with open(path) as f: # what can be read once only is taken as it comes
                piped = subprocess.run([sys.executable, "-c", "import devlog; print(len(devlog.decode('-', skip_launches=%d).zones))" % skipped],
                                       input=f.read(), capture_output=True, text=True, check=True)
            self.assertEqual(int(piped.stdout), 3 - skipped)

    def test_odd_logs(self):
        filters = (
            (["--launches", "0-8"], dict(launches=[(0, 8)])), (["--riscs", "BRISC"], dict(riscs="BRISC")), (["--core", "1,1"], dict(cores=[(1, 1)])),
            (["--min-cycles", "20"], dict(min_cycles=20)), (["--skip-launches", "1"], dict(skip_launches=1)), (["--zone", "*-FW"], dict(zones=["*-FW"])),
        )
        compared = 0
        for i, path in enumerate(sorted(glob.glob(os.path.join(SOURCE, "tests/fuzz/corpus/device_log/*")))[::2]):
            log = os.path.join(folder.name, "odd.csv")
            with open(path, "rb") as f, open(log, "wb") as out:
                out.write(f.read()[1:])
            arguments, options = filters[i % len(filters)]
            try:
                said = command(log, *arguments)
            except RuntimeError: # a filter that matches nothing, which the library lets be
                continue
            read = devlog.decode(log, **options)
            for by, key in (("risc", "zones"), ("core", "cores")):
                self.assertEqual(sorted((spelled(r.risc), spelled(r.zone), r.count, r.total) for r in read.statistics(by)),
                                 sorted((r["risc"], r["zone"], r["count"], r["sum"]) for r in said[key]), (path, arguments))
            self.assertEqual(read.complete, said["complete"], (path, arguments))
            compared += len(said["zones"])
        self.assertGreater(compared, 30)

    def test_nothing_matches(self):
        log = devlog.decode(CSV, zones=["no such zone"])
        self.assertEqual((len(log.zones), log.rows), (0, 26880))

    def test_numbers_of_tables(self):
        """What a table holds is an option of the next call: numpy's numbers, where that is."""
        log = devlog.decode(CSV)
        number, cycle = log.launches.run_host_id[3], log.zones.start[1000]
        for options in (dict(launches=number), dict(launches=[number, (number, number)]), dict(start=cycle, until=cycle + log.zones.start[0]),
                        dict(min_cycles=log.zones.end[0] - log.zones.start[0]), dict(skip_launches=log.launches.number[2]), dict(chips=log.launches.chip[0])):
            plain = {k: int(v) if not isinstance(v, list) else [int(number)] for k, v in options.items()}
            self.assertEqual(len(devlog.decode(CSV, **options).zones), len(devlog.decode(CSV, **plain).zones), options)
        self.assertEqual(devlog.decode(CAPTURE).host_ns(log.launches.chip[0], cycle), devlog.decode(CAPTURE).host_ns(0, int(cycle)))
        self.assertEqual([log.text(t) for t in log.values.text[:3]], [log.text(int(t)) for t in log.values.text[:3]])
        for wrong in ((2**32, 5), (0, 2**64), (-1, 5)):  # never cut to another number
            with self.assertRaises(ValueError):
                log.host_ns(*wrong)
        self.assertEqual(str(devlog.report(CSV, launches=number, top=log.launches.number[1])), str(devlog.report(CSV, launches=int(number), top=1)))

    def test_columns(self):
        zones = devlog.decode(CSV).zones
        self.assertEqual((list(zones), list(dict(zones)), "start" in zones, 0 in zones), (list(zones.keys()), list(zones.keys()), True, False))
        for name in "begin", 0:
            with self.assertRaisesRegex(KeyError, "no column .*; there are: start, end, "):
                zones[name]

    def test_a_run_is_read_once(self):
        """A capture and the device log beside it, as glob gives them, would count twice."""
        with tempfile.TemporaryDirectory() as folder:
            log, capture = (os.path.join(folder, name) for name in ("profile_log_device.csv", "capture.devlog"))
            for name in log, capture:
                with open(CSV, "rb") as f, open(name, "wb") as to:
                    to.write(f.read())
            for read in devlog.decode, devlog.stream:
                for paths in [log, capture], [os.fsencode(capture), pathlib.Path(log)]:
                    with self.assertRaisesRegex(devlog.Error, "are of one run, which would count twice"):
                        read(paths)
            os.link(log, os.path.join(folder, "linked"))
            for paths in [log, log], [log, pathlib.Path(folder, "linked")]:
                with self.assertRaisesRegex(devlog.Error, "are one file, which would count twice"):
                    devlog.decode(paths)
            os.utime(capture, (1000, 1000)) # another run's
            self.assertEqual(len(devlog.decode([log, capture]).zones), 2 * len(devlog.decode(log).zones))
            with self.assertRaises(TypeError):
                devlog.decode([log, 3.5])

    def test_an_open_file_is_no_list_of_paths(self):
        """Its lines were taken for the names of logs."""
        for read in devlog.decode, lambda f: devlog.diff(f, f):
            for wrong in open(CSV), 3, None:
                with self.assertRaisesRegex(TypeError, f"str, bytes or os.PathLike object, not {type(wrong).__name__}"):
                    read(wrong)
                if hasattr(wrong, "close"):
                    wrong.close()

    def test_archives(self):
        """Many files are no log; what a damaged one has can be printed."""
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.join(folder, "run.tar"), os.path.join(folder, "run.tgz"), os.path.join(folder, "run.zip")]
            for name, mode in zip(names, ("w", "w:gz")):
                with tarfile.open(name, mode) as tar:
                    tar.add(CSV)
            with zipfile.ZipFile(names[2], "w") as z:
                z.write(CSV)
            for name in names:
                for read in devlog.decode, devlog.stream:
                    with self.assertRaisesRegex(devlog.Error, "run.* is an archive, which ops, report"):
                        read([name])
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            writer = subprocess.Popen(["cp", CSV, pipe])
            self.assertEqual(len(devlog.decode(pipe).zones), len(devlog.decode(CSV).zones))
            self.assertEqual(writer.wait(), 0)
            damaged = os.path.join(folder, "damaged.csv")
            with open(CSV, "rb") as f, open(damaged, "wb") as to:
                to.write(f.read().replace(b"\n0,", b"\n\xb7\xff,", 3))
            found = devlog.decode(damaged).findings
            self.assertTrue(found)
            for finding in found:
                str(finding.first).encode("utf-8")

    def test_refused(self):
        for options, kind in ((dict(chips=[-1]), ValueError), (dict(launches=[(5, 2)]), ValueError), (dict(zones=[1]), TypeError),
                              (dict(start=-1), ValueError), (dict(threads=-1), ValueError), (dict(cores=[(1,)]), TypeError),
                              (dict(launches=range(0)), ValueError), (dict(launches="3-"), ValueError), (dict(nonsense=1), TypeError), (dict(zones=["a\0b"]), ValueError),
                              (dict(cores=[(2**40, 0)]), ValueError), (dict(start=2**64), ValueError), (dict(launches=1.5), TypeError),
                              (dict(launches=[1.5]), TypeError), (dict(min_cycles=1.5), TypeError)):
            with self.assertRaises(kind, msg=options):
                devlog.decode(CSV, **options)
        with self.assertRaises(TypeError):
            devlog.decode(3)
        with self.assertRaises(devlog.Error) as raised:
            devlog.decode("/no/such/log.csv")
        self.assertIn("/no/such/log.csv", str(raised.exception))
        self.assertGreater(raised.exception.status, 0)


class Memory(unittest.TestCase):
    def test_outlives_the_log(self):
        start = memoryview(devlog.decode(CSV).zones.start)
        gc.collect()
        self.assertEqual(len(start), 13440)
        self.assertEqual(sum(1 for s in start if s > 0), 13440)

    def test_read_only(self):
        with self.assertRaises((ValueError, TypeError)):
            devlog.decode(CSV).zones.start[0] = 1

    def test_threads_and_many(self):
        """Readers in several threads of Python do not share anything; files are closed."""
        counts = []
        threads = [threading.Thread(target=lambda: counts.append(len(devlog.decode(CSV).zones))) for _ in range(4)]
        before = len(os.listdir("/proc/self/fd"))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(counts, [13440] * 4)
        gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    @unittest.skipUnless(numpy, "no numpy")
    def test_numpy(self):
        log = devlog.decode(CAPTURE)
        self.assertEqual(log.zones.start.dtype, numpy.uint64)
        self.assertEqual(log.zones.duration.sum(), sum(r.total for r in log.statistics()))
        some = log.zones.where(zone="add block", risc="BRISC", core=(1, 1), launch=3)
        self.assertEqual(len(some), 4)
        wanted = [r for r in log.statistics("core") if (r.zone, r.stream[1:3], r.risc) == ("add block", (1, 1), "BRISC")]
        self.assertEqual(log.zones.where(zone="add block", risc="BRISC", core=(1, 1)).duration.sum(), wanted[0].total)
        for wrong in (dict(zone="add blok"), dict(risc="BRISK"), dict(core=(90, 0)), dict(chip=7), dict(launch=20)):
            with self.assertRaises(ValueError):
                log.zones.where(**wrong)
        ns, error = log.host_ns(0, int(log.zones.start[0]))
        self.assertGreater(ns, 0)
        self.assertGreater(error, 0)
        self.assertIsNone(devlog.decode(CSV).host_ns(0, 0))

    @unittest.skipUnless(numpy and pandas, "no pandas")
    def test_pandas(self):
        log = devlog.decode(CSV)
        frame = log.zones.to_pandas()
        self.assertTrue(numpy.shares_memory(frame["start"].to_numpy(), log.zones.start))
        frame["duration"] = frame.end - frame.start
        by = frame.groupby(["chip", "risc", "zone"], observed=True).duration.agg(["count", "sum", "median"])
        rows = log.statistics()
        self.assertEqual(len(by), len(rows))
        for r in rows:
            self.assertEqual(tuple(by.loc[r.chip, r.risc, r.zone]), (r.count, r.total, r.median))


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class ArrayStream(ctypes.Structure):
    pass


# As published: arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.POINTER(Schema)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
                   ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
                  ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ("private_data", ctypes.c_void_p)]
ArrayStream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrayStream), ctypes.POINTER(Schema))),
                        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrayStream), ctypes.POINTER(Array))),
                        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrayStream))),
                        ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrayStream))), ("private_data", ctypes.c_void_p)]


def stream_of(holder):
    """The stream in the capsule that `holder` gives, and the capsule, which owns it."""
    capsule = holder.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ArrayStream.from_address(pointer(capsule, b"arrow_array_stream")), capsule


class Arrow(unittest.TestCase):
    def columns(self, holder):
        stream, capsule = stream_of(holder)
        schema, columns = Schema(), defaultdict(list)
        self.assertEqual(stream.get_schema(stream, schema), 0)
        names = [(schema.children[i].contents.name.decode(), schema.children[i].contents.format.decode())
                 for i in range(schema.n_children)]
        self.assertEqual(schema.format, b"+s") # rows are a struct
        nullable = {schema.children[i].contents.name.decode() for i in range(schema.n_children) if schema.children[i].contents.flags & 2}
        schema.release(schema)
        while True:
            array = Array()
            self.assertEqual(stream.get_next(stream, array), 0)
            if not array.release:
                break
            for i, (name, kind) in enumerate(names):
                child = array.children[i].contents
                item = {"I": ctypes.c_uint32, "S": ctypes.c_uint16, "L": ctypes.c_uint64, "i": ctypes.c_int32}[kind]
                data = ctypes.cast(child.buffers[1], ctypes.POINTER(item))
                numbers = [data[k + child.offset] for k in range(child.length)]
                self.assertEqual((array.length, array.null_count, array.n_buffers, child.n_buffers), (child.length, 0, 1, 2), name)
                if child.null_count:
                    self.assertIn(name, nullable)
                    valid = ctypes.cast(child.buffers[0], ctypes.POINTER(ctypes.c_uint8))
                    numbers = [v if valid[k // 8] >> k % 8 & 1 else None for k, v in enumerate(numbers)]
                    self.assertEqual(numbers.count(None), child.null_count)
                if child.dictionary:
                    d = child.dictionary.contents
                    ends, text = ctypes.cast(d.buffers[1], ctypes.POINTER(ctypes.c_int32)), d.buffers[2]
                    known = [ctypes.string_at(text + ends[k], ends[k + 1] - ends[k]).decode() if ends[k + 1] > ends[k] else ""
                             for k in range(d.length)]
                    numbers = [known[n] for n in numbers]
                columns[name] += numbers
            array.release(array)
        stream.release(stream)
        del capsule
        return columns

    def test_same_zones(self):
        for path in (CSV, CAPTURE, *GOLDEN):
            log = devlog.decode(path)
            self.assertGreater(len(log.zones), 0)
            columns = self.columns(log)
            self.assertEqual(columns["start"], [int(v) for v in log.zones.start])
            self.assertEqual(columns["end"], [int(v) for v in log.zones.end])
            self.assertEqual(columns["zone"], [log.zone_names[z].name for z in log.zones.zone])
            self.assertEqual(columns["core_y"], [log.streams[s].core_y for s in log.zones.stream])
            self.assertEqual(columns["own_cost"], [int(v) for v in log.zones.own_cost])
            self.assertEqual(columns["depth"], [int(v) for v in log.zones.depth])
            streams = [log.streams[s] for s in log.zones.stream]
            for name in "chip", "risc", "core_x":
                self.assertEqual(columns[name], [getattr(s, name) for s in streams], (path, name))
            self.assertEqual([n is None for n in columns["launch"]], [int(v) == devlog.NO_LAUNCH for v in log.zones.launch])
            self.assertEqual(len(columns), 10)

    def test_not_taken(self):
        """Nobody reads, or only a part: nothing stays open."""
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            stream, capsule = stream_of(devlog.stream(CSV, zones=["add*"]))
            array = Array()
            self.assertEqual(stream.get_next(stream, array), 0)
            array.release(array)
            del stream, capsule
            devlog.stream(CSV).__arrow_c_stream__()
        gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        with self.assertRaises(devlog.Error):
            devlog.stream("/no/such/file").__arrow_c_stream__()


if __name__ == "__main__":
    if not numpy or not pandas:
        print("SKIPPED in part: numpy or pandas is missing")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
