"""Selections: the same options give the same launches in devlog ops, decode, export and view, which are those that the
generator knows (folders.py). Rows of a selection are those of the whole report, and a packed log, of which only some blocks are
read, gives the same report and the same words as the log, also of runs with losses. A small seeded part; DEVLOG_TT_SELECTIONS
asks for more. Usage: selections.py DEVLOG PACK_SMALL."""
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile

import folders

DEVLOG, PACK_SMALL = sys.argv[1:3]
NUMBER = int(os.environ.get("DEVLOG_TT_SELECTIONS", "16"))
FIRST = int(os.environ.get("DEVLOG_TT_FIRST", "0"))
passed = failed = empty = whole = 0


def devlog(*words):
    p = subprocess.run([DEVLOG, *words], capture_output=True, text=True, errors="replace")
    for word in ("AddressSanitizer", "runtime error", "LeakSanitizer", "UndefinedBehavior"):
        assert word not in p.stderr, p.stderr
    return p


def warm_up(durations):
    """As docs/views.md says, with exact fractions."""
    from fractions import Fraction

    n = len(durations)
    if n < 4:
        return 0
    best, least = n, None
    for at in range(n // 2, -1, -1):
        rest = durations[at:]
        mean = Fraction(sum(rest), len(rest))
        error = sum((x - mean) ** 2 for x in rest) / len(rest) ** 2
        if least is None or error <= least:
            best, least = at, error
    return 0 if best >= n // 2 else best


def fw(run):
    return min(run.all("start", None, "FW")), max(run.all("end", None, "FW"))


class Selection:
    """Options by chance, and the runs that they leave."""

    def __init__(self, folder, r):
        self.options = []
        f = folder
        ops = {op.id: op for op in f.ops if op.device is not None}
        replays = {(d, t, s): ns for d, t, s, ns in f.replays}

        def time(run):
            return ops[run.id].start if run.session is None else replays[run.device, run.trace, run.session]

        kept = list(f.runs)
        parts = r.sample(("chips", "op", "signposts", "launches", "traces", "sessions", "skip", "warm"), r.choice((1, 1, 2, 3, 4)))
        if f.form == "log_without_traces":
            parts = [p for p in parts if p not in ("traces", "sessions")]
        by_time = {d: sorted((x for x in f.runs if x.device == d), key=lambda x: fw(x)[0]) for d in f.devices}
        if "chips" in parts:
            there = sorted({x.device for x in f.runs})
            chips = r.sample(there, r.randrange(1, len(there) + 1))
            self.options += ["--chips", ",".join(map(str, chips))]
            kept = [x for x in kept if x.device in chips]
        if "op" in parts:
            names = r.sample([d["code"] for d in f.definitions], 1)
            if r.random() < 0.3:
                names = ["ttnn::*"]
            names = [n for n in names if any(match(n, op.definition["code"]) for op in ops.values())]
            for n in names:
                self.options += ["--op", n]
            if names:
                kept = [x for x in kept if any(match(n, ops[x.id].definition["code"]) for n in names)]
        if "signposts" in parts and f.signposts:
            posts = [(text[len("TT_SIGNPOST: "):].split("\n")[0].split(": ")[-1], ns) for text, ns in f.signposts]
            posts = [p for p in posts if p[0].startswith("step") and sum(q[0] == p[0] for q in posts) == 1]
            # The name is what is behind the last ": " of the text, as in the report.
            posts = [p for p in posts if not any(": " in t.split("TT_SIGNPOST: ")[1] and ns == p[1] for t, ns in f.signposts)]
            if posts:
                first = r.randrange(len(posts))
                self.options += ["--from-signpost", posts[first][0]]
                kept = [x for x in kept if time(x) > posts[first][1]]
                if first + 1 < len(posts) and r.random() < 0.7:
                    last = r.randrange(first + 1, len(posts))
                    self.options += ["--to-signpost", posts[last][0]]
                    kept = [x for x in kept if time(x) <= posts[last][1]]
        if "launches" in parts:
            ids = sorted({x.id for x in f.runs if "chips" not in parts or x.device in chips})
            chosen = r.sample(ids, r.randrange(1, len(ids) + 1))
            self.options += ["--launches", ",".join(map(str, chosen))]
            kept = [x for x in kept if x.id in chosen]
        replayed = [x for x in f.runs if x.session is not None]
        if "traces" in parts and replayed:
            traces = r.sample(sorted({x.trace for x in replayed}), 1)
            self.options += ["--traces", str(traces[0])]
            kept = [x for x in kept if x.session is not None and x.trace in traces]
        if "sessions" in parts and replayed:
            session = r.choice(sorted({x.session for x in replayed}))
            self.options += ["--trace-sessions", "1-%d" % session]
            kept = [x for x in kept if x.session is not None and x.session <= session]
        left_out = set()
        if "skip" in parts:
            n = r.randrange(1, 1 + max(len(x) for x in by_time.values()))
            if n < max(len(x) for x in by_time.values()):
                self.options += ["--skip-launches", str(n)]
                left_out |= {id(x) for runs in by_time.values() for x in runs[:n]}
        if "warm" in parts:
            self.options += ["--skip-warm-up"]
            if f.form == "report":
                durations = lambda x: f.ns(fw(x)[1] - fw(x)[0])
            else:
                durations = lambda x: fw(x)[1] - fw(x)[0]
            for runs in by_time.values():
                left_out |= {id(x) for x in runs[: warm_up([durations(x) for x in runs])]}
        self.kept = [x for x in kept if id(x) not in left_out]


def match(pattern, name):
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def key(run):
    return run.id, fw(run)[0]


def zones_of(runs):
    sums = {}
    for run in runs:
        for core in run.cores:
            for z in core["zones"]:
                at = sums.setdefault((run.device, z["risc"], z["name"]), [0, 0])
                at[0] += 1
                at[1] += z["end"] - z["start"]
    return {k: tuple(v) for k, v in sums.items()}


def check_ops(folder, top, selection):
    p = devlog("ops", folder, "-o", os.path.join(top, "ops"), *selection.options)
    if not selection.kept:
        if p.returncode == 1:
            assert p.stderr.count("\n") == 1 and "devlog ops: " in p.stderr, p.stderr
            return
    assert p.returncode in (0, 3), p.stderr
    with open(os.path.join(top, "ops", "ops_perf_results.csv"), newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["DEVICE FW START CYCLE"]]
    have = sorted((int(r["GLOBAL CALL COUNT"]), int(r["DEVICE FW START CYCLE"])) for r in rows)
    assert have == sorted(map(key, selection.kept)), "ops: %s, should be %s" % (have, sorted(map(key, selection.kept)))
    assert sum(int(r["DEVICE FW END CYCLE"]) - int(r["DEVICE FW START CYCLE"]) for r in rows) == sum(
        fw(x)[1] - fw(x)[0] for x in selection.kept
    )



def report_of(folder, out, options):
    """Exit status, words, rows."""
    shutil.rmtree(out, ignore_errors=True)
    p = devlog("ops", folder, "-o", out, *options)
    path = os.path.join(out, "ops_perf_results.csv")
    if not os.path.exists(path):
        return p.returncode, p.stdout + p.stderr, ""
    with open(path, newline="") as f:
        return p.returncode, p.stdout + p.stderr, f.read()


def check_packed(folder, top, options):
    """The same of the log, packed: exit status, words, report."""
    out, log = os.path.join(top, "out"), os.path.join(folder, "profile_log_device.csv")
    said = report_of(folder, out, options)
    packed = os.path.join(top, "packed", "logs")
    shutil.copytree(folder, packed)
    os.remove(os.path.join(packed, "profile_log_device.csv"))
    assert subprocess.run([PACK_SMALL, "4000", log, os.path.join(packed, "profile_log_device.csv.pack")]).returncode == 0
    of_packed = report_of(packed, out, options)
    for a, b, what in zip(said, of_packed, ("exit status", "words", "report")):
        a, b = (str(x).replace(packed, folder).replace(".csv.pack", ".csv") for x in (a, b))
        assert a == b, "packed, %s:\n%s\nof the log:\n%s" % (what, b[:1500], a[:1500])
    return said


def check_parts(folder, top, options):
    """The same of the log, packed, and of the whole run."""
    whole = report_of(folder, os.path.join(top, "out"), [])
    said = check_packed(folder, top, options)
    if not said[2] or not whole[2]:
        return
    rows = list(csv.DictReader(said[2].splitlines()))
    all_rows = list(csv.DictReader(whole[2].splitlines()))
    columns = [c for c in rows[0] if c in all_rows[0]] if rows else []
    known = {tuple(r[c] for c in columns) for r in all_rows}
    for r in rows:
        assert tuple(r[c] for c in columns) in known, "a row that is not in the whole report: %s" % {c: r[c] for c in columns if r[c]}


def check_logs(log, top, selection, names):
    p = devlog("decode", log, "-f", "json", *selection.options)
    q = devlog("export", log, "-f", "csv", "-o", os.path.join(top, "trace.csv"), *selection.options)
    view = os.path.join(top, "view")
    v = devlog("view", log, "-x", view, *selection.options)
    if not selection.kept:
        for x in (p, q, v):
            assert x.returncode == 1 and x.stderr.strip().split("\n")[-1].startswith("devlog "), (x.returncode, x.stderr)
        return
    assert p.returncode == q.returncode == v.returncode == 0, (p.stderr, q.stderr, v.stderr)
    said = json.loads(p.stdout)
    have = {(z["chip"], z["risc"], z["zone"]): (z["count"], z["sum"]) for z in said["zones"]}
    want = zones_of(selection.kept)
    assert have == want, "decode: %s, should be %s" % (have, want)
    exported = {}
    with open(os.path.join(top, "trace.csv"), newline="") as f:
        for row in csv.DictReader(f):
            if row["kind"] == "zone":
                at = exported.setdefault((int(row["chip"]), row["risc"], row["name"]), [0, 0])
                at[0] += 1
                at[1] += int(row["cycles"])
            if row["kind"] == "launch":  # called after its op
                name = names[int(row["chip"]), int(row["launch"])]
                assert row["name"] == name, "a launch is called %s, should be %s" % (row["name"], name)
    again = devlog("export", log, "-f", "csv", "-o", "-", "--ops", os.path.join(os.path.dirname(log), "tracy_ops_data.csv"), *selection.options)
    with open(os.path.join(top, "trace.csv")) as f:
        assert f.read() == again.stdout, "export with --ops: " + again.stderr
    if log.endswith(".csv"):  # nobody knows where a pipe's log lies
        with open(log) as f:
            piped = subprocess.run([DEVLOG, "export", "-", "-f", "csv", "-o", "-"], stdin=f, cwd=os.path.dirname(log), capture_output=True, text=True)
        assert piped.returncode == 0 and ",launch " in piped.stdout, piped.stderr
        data, now = os.path.join(os.path.dirname(log), "tracy_ops_data.csv"), os.path.getmtime(log)
        for older, named in ((3600, False), (0, True)):  # what the host of a run before did names nothing
            os.utime(data, (now - older, now - older))
            says = "/tracy_ops_data.csv is older than "
            p = devlog("export", log, "-f", "csv", "-o", "-")
            assert (",launch " not in p.stdout, says not in p.stderr) == (named, named), "host's file %d s older than the log: %s" % (older, p.stderr)
            for words in ("view", "--ui", "speedscope", "-x", os.path.join(top, "old"), log), ("ops", os.path.dirname(log), "-o", os.path.join(top, "old")), \
                    ("report", os.path.dirname(log)), ("diff", os.path.dirname(log), os.path.dirname(log)):
                p = devlog(*words)
                assert (p.returncode, says not in p.stderr) == (0, named), "devlog %s, %d s older: %s" % (words[0], older, p.stderr)
            packed = os.path.join(top, "packed.tar")
            with tarfile.open(packed, "w") as tar:
                tar.add(os.path.dirname(log), "logs")
            for words in ("ops", packed, "-o", os.path.join(top, "old")), ("report", packed), ("diff", packed, packed):
                p = devlog(*words)
                lines = [line for line in p.stderr.splitlines() if says in line]
                assert (bool(lines), [line for line in lines if not line.startswith("devlog %s: %s/" % (words[0], packed))]) == (not named, []), "devlog %s of a tar: %s" % (words[0], p.stderr)
        gaps = os.path.join(top, "old", "per_core_op_to_op_times.csv")
        assert os.path.exists(gaps)  # it is of whole runs
        p = devlog("ops", os.path.dirname(log), "-o", os.path.join(top, "old"), "--skip-launches", "0", "--chips", "0-4000000")
        assert p.stderr == "devlog ops: %s is of an earlier report: this one wrote none\n" % gaps, p.stderr
        other = os.path.join(top, "profile_log_device.csv")
        shutil.copy(log, other)  # a log of another folder
        assert ",launch " in devlog("export", log, other, "-f", "csv", "-o", "-").stdout
    assert {k: tuple(x) for k, x in exported.items()} == want, "export: %s, should be %s" % (exported, want)
    out = os.path.join(top, "decoded")
    assert devlog("decode", log, "-o", out, "--no-print", *selection.options).returncode == 0
    for name in ("device_stats.txt", "device_perf.html"):
        with open(os.path.join(out, name), "rb") as a, open(os.path.join(view, name), "rb") as b:
            assert a.read() == b.read(), "view: " + name


def one(seed):
    global empty, whole
    r = random.Random(seed + 77)
    f = folders.Folder(seed, [], ("log", "report", "log", "log_without_traces")[seed % 4])
    f.dispatch_rows = {}  # their commands belong to no launch
    if not f.runs:
        return
    selection = Selection(f, r)
    empty += not selection.kept
    whole += len(selection.kept) == len(f.runs)
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "logs")
        f.write(folder)
        try:
            check_ops(folder, top, selection)
            if f.form != "report":
                check_parts(folder, top, selection.options)
            if f.form != "report":
                log = os.path.join(folder, "profile_log_device.csv")
                names = {(run.device, run.id): op.definition["code"] for run in f.runs for op in f.ops if op.id == run.id and op.device == run.device}
                check_logs(log, top, selection, names)
                if seed % 3 == 0:
                    assert devlog("pack", log).returncode == 0
                    os.rename(log + ".pack", os.path.join(folder, "packed.pack"))
                    check_logs(os.path.join(folder, "packed.pack"), top, selection, names)
        except AssertionError as e:
            raise AssertionError("%s\n%s" % (" ".join(selection.options), e))


def lost(seed):
    """Of a run with losses; nothing is known of what should be left."""
    r = random.Random(seed + 99)
    losses = r.sample(folders.LOSSES, r.choice((1, 2, 3)))
    form = ("log", "log_without_traces")[seed % 2]
    f, good = folders.Folder(seed, losses, form), folders.Folder(seed, [], form)
    if not f.runs or not good.runs:
        return
    options = Selection(good, r).options
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "logs")
        f.write(folder)
        if not os.path.exists(os.path.join(folder, "profile_log_device.csv")):
            return
        try:
            check_parts(folder, top, options)
        except AssertionError as e:
            raise AssertionError("%s, %s\n%s" % (" ".join(losses), " ".join(options), e))


def nothing(seed):
    """What matches nothing is one line that says what there is, of every command."""
    f = folders.Folder(4 * seed, [], "log")
    f.dispatch_rows = {}
    if not f.runs or not f.signposts or not any(x.session for x in f.runs):
        return
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "logs")
        f.write(folder)
        log = os.path.join(folder, "profile_log_device.csv")
        commands = (
            ("ops", folder, "-o", os.path.join(top, "o")),
            ("decode", log, "-o", os.path.join(top, "d")),
            ("export", log, "-f", "csv", "-o", os.path.join(top, "e.csv")),
            ("view", log, "-x", os.path.join(top, "v")),
        )
        code = f.definitions[0]["code"]
        trace = next(x.trace for x in f.runs if x.session)
        for options, says in (
            (("--chips", "777"), "--chips 777: no such chip; the log has "),
            (("--launches", "%d,99999999-99999999999" % f.runs[0].id), "--launches 99999999-99999999999: no such launch; the log has "),
            (("--traces", "%d,8888" % trace), "--traces 8888: no such trace; the log has "),
            (("--trace-sessions", "99"), "--trace-sessions 99: no such replay; the log has 1"),
            (("--op", "Nobody"), "--op Nobody: no such op; tracy_ops_data.csv has '"),
            (("--from-signpost", "nowhere"), "--from-signpost nowhere: no such signpost; tracy_ops_data.csv has '"),
            (("--to-signpost", "nowhere*"), "--to-signpost nowhere*: no such signpost; tracy_ops_data.csv has '"),
            (("--skip-launches", "100000"), "--skip-launches 100000: no chip has more than "),
        ):
            for command in commands:
                p = devlog(*command, *options)
                assert p.returncode == 1 and p.stderr.count("\n") == 1 and says in p.stderr, (command[0], options, p.returncode, p.stderr)
        assert sorted(os.listdir(top)) == ["logs"], os.listdir(top)
        for words in (("--op", code), ("--from-signpost", "step 1"), ("--skip-warm-up",)):
            with open(log) as source:
                p = subprocess.run([DEVLOG, "decode", "-", "--no-files", *words], stdin=source, capture_output=True, text=True)
            assert p.returncode == 1 and "standard input can be read once" in p.stderr, p.stderr


def own_log(folder, r):
    """An op log and a device log as devlog writes them: ops with one launch or several, host ops, launches without an op."""
    os.makedirs(folder)
    lines, points, launches = ['{"e":"run","t":1,"version":1,"run":"ab","pid":1}'], [], []
    chips = r.sample(range(4), r.choice((1, 2)))
    for chip in chips:
        lines.append('{"e":"device","chip":%d,"t":2,"arch":"wormhole_b0","mhz":500,"cores":64,"profiled":1}' % chip)
    clock, numbers, now = dict.fromkeys(chips, 1000), dict.fromkeys(chips, 0), 10

    def launch(op, name):
        chip = r.choice(chips)
        numbers[chip] += 1
        start = clock[chip] + r.randrange(10, 500)
        end = start + (5000 if len(launches) < 3 else 300) + r.randrange(200)
        clock[chip] = end
        launches.append({"op": op, "name": name, "chip": chip, "number": numbers[chip], "start": start, "end": end,
                         "cores": sorted(r.sample(range(4), r.randrange(1, 4)))})
        if op is not None:
            lines.append('{"e":"launch","id":%d,"t":%d,"chip":%d,"launch":%d,"program":1,"cached":0,"cores":%d}'
                         % (op, now, chip, numbers[chip], len(launches[-1]["cores"])))

    for op in range(1, r.randrange(4, 30)):
        name = r.choice(("Matmul", "MatmulBig", "Add"))
        lines.append('{"e":"start","id":%d,"t":%d,"thread":0,"depth":1,"name":"%s","type":"tt_dnn_device"}' % (op, now, name))
        for _ in range(r.choice((0, 1, 1, 1, 3))):
            launch(op, name)
        now += 10
        lines.append('{"e":"end","id":%d,"t":%d,"thread":0,"own":5}' % (op, now))
        if r.random() < 0.3:
            points.append(("post %d" % op, op))
            lines.append('{"e":"signpost","after":%d,"t":%d,"header":"post %d","text":"m"}' % (op, now, op))
        if r.random() < 0.1:
            launch(None, None)
    lines.append('{"e":"close","t":%d,"ops":%d,"lost":0}' % (now + 1, op))
    with open(os.path.join(folder, "profile_log_ops.jsonl"), "w") as f:
        f.write("\n".join(lines) + "\n")
    with open(os.path.join(folder, "profile_log_device.csv"), "w") as f:
        f.write("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500, Max Compute Cores: 80, Run: ab\n%s\n" % folders.LOG_HEADER)
        for chip in chips:
            for core in range(4):
                for x in launches:
                    if x["chip"] != chip or core not in x["cores"]:
                        continue
                    meta = '{"op":%d}' % x["op"] if x["op"] is not None and len(points) % 2 else ""
                    for at, kind in ((x["start"], "ZONE_START"), (x["end"], "ZONE_END")):
                        f.write("%d,%d,0,BRISC,1,%d,0,%d,,,BRISC-FW,%s,0,,%s\n" % (chip, core, at, x["number"], kind, meta))
                        meta = ""
    return launches, points


def own(seed):
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "logs")
        launches, points = own_log(folder, r)
        if not launches:
            return
        options, kept = [], launches
        if r.random() < 0.5 and any((x["name"] or "").startswith("Matmul") for x in launches):
            options += ["--op", "Matmul*"]
            kept = [x for x in kept if (x["name"] or "").startswith("Matmul")]
        if r.random() < 0.5 and points:
            options += ["--from-signpost", points[0][0]]
            kept = [x for x in kept if x["op"] is not None and x["op"] > points[0][1]]
            if len(points) > 1:
                options += ["--to-signpost", points[-1][0]]
                kept = [x for x in kept if x["op"] is not None and x["op"] <= points[-1][1]]
        if r.random() < 0.3:
            number = r.choice(launches)["number"]
            options += ["--launches", str(number)]
            kept = [x for x in kept if x["number"] == number]
        if r.random() < 0.3:
            chip = r.choice(launches)["chip"]
            options += ["--chips", str(chip)]
            kept = [x for x in kept if x["chip"] == chip]
        if not options or r.random() < 0.4:
            options.append("--skip-warm-up")
            for chip in {x["chip"] for x in launches}:
                of_chip = [x for x in launches if x["chip"] == chip]
                left_out = of_chip[: warm_up([x["end"] - x["start"] for x in of_chip])]
                kept = [x for x in kept if x not in left_out]
        try:
            p = devlog("ops", folder, "-o", os.path.join(top, "ops"), *options)
            log = os.path.join(folder, "profile_log_device.csv")
            q = devlog("decode", log, "-f", "json", *options)
            if not kept:  # ops of the host alone may be left
                assert q.returncode == 1 and p.returncode in (0, 1, 3), (q.stderr, p.stderr)
                return
            assert p.returncode in (0, 3) and q.returncode == 0, (p.stderr, q.stderr)
            check_packed(folder, top, options)
            want = sum(2 * (x["end"] - x["start"]) for x in kept)
            with open(os.path.join(top, "ops", "ops_perf_results.csv"), newline="") as f:
                rows = list(csv.DictReader(f))
            have = sum(int(row["DEVICE FW DURATION [ns]"] or 0) for row in rows)
            assert have == want, "ops: %d ns, should be %d" % (have, want)
            sums = {z["chip"]: (z["count"], z["sum"]) for z in json.loads(q.stdout)["zones"]}
            for chip in {x["chip"] for x in kept}:
                of_chip = [x for x in kept if x["chip"] == chip]
                cores = sum(len(x["cores"]) for x in of_chip)
                cycles = sum((x["end"] - x["start"]) * len(x["cores"]) for x in of_chip)
                assert sums.get(chip) == (cores, cycles), "decode: %s, should be %s" % (sums.get(chip), (cores, cycles))
        except AssertionError as e:
            raise AssertionError("%s\n%s" % (" ".join(options), e))


# A log without traces of which replays were asked for on both sides of a signpost; launches of no op between those that were
# chosen, and replays that the host does not tell of, in logs that count replays and in such that do not; a capture between two
# signposts, of a trace that was replayed outside of them; figures of hardware counters, which depend on the counters of other launches.
FOUND = ((one, 451959), (lost, 451052), (lost, 451640), (lost, 451162), (lost, 22188146),
         (lost, 31463017), (lost, 31463049), (lost, 31463419), (one, 31463284), (one, 31463136), (lost, 18549040),
         (one, 24867047), (lost, 22319392), (lost, 125653898))


def tests():
    yield from FOUND
    for number in range(FIRST, FIRST + NUMBER):
        for test in (one, nothing, own, lost):
            if test is not nothing or number % 8 == 0:
                yield test, number


for test, number in tests():
    try:
        test(number)
        passed += 1
    except AssertionError as e:
        failed += 1
        print("%s, seed %d: %s" % (test.__name__, number, str(e)[:1500]))
print("%d passed, %d failed; %d selections left nothing, %d everything" % (passed, failed, empty, whole))
sys.exit(1 if failed else 0)
