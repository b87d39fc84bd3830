#!/usr/bin/env python3
"""What Perfetto's own trace_processor reads in exported traces: every zone, launch, event and sample with its name, place, depth, time,
length and arguments is that of `devlog export -f json`, arrows are as many as launches have, and no error is counted. Where there is no
trace_processor_shell in PATH, nor named by TRACE_PROCESSOR, it says SKIPPED. Not for what a window shows.

usage: check_perfetto.py BUILD_FOLDER [LOG...]; without logs: a golden one, and that of a program of host zones"""
import collections
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
DEVLOG = os.path.join(BUILD, "bin", "devlog")
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHELL = os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")
FORMATS = ("fxt", "perfetto", "chrome")
MOST_TEXT = {"fxt": 8000, "perfetto": 4096, "chrome": 1 << 30}  # bytes of a text that becomes a name
csv.field_size_limit(1 << 30)
bad = []

# Texts travel in hex, whatever is in them. A version without parent_id (v25.0; v34.0 has it) does not know which core a track is of.
SLICES = """SELECT hex(coalesce({process}, '')) AS a, hex(coalesce({thread}, '')) AS b, s.ts AS c, s.dur AS d, hex(s.name) AS e,
 s.depth AS f, coalesce(s.arg_set_id, -1) AS g FROM slice s """
THREADS = SLICES.format(process="process.name", thread="thread.name") + """JOIN thread_track t ON s.track_id = t.id JOIN thread USING (utid)
 LEFT JOIN process USING (upid)"""
TRACKS = SLICES.format(process="p.name", thread="t.name") + "JOIN track t ON s.track_id = t.id LEFT JOIN track p ON t.parent_id = p.id"
ARGUMENTS = "SELECT arg_set_id AS a, hex(flat_key) AS b, coalesce(int_value, '') AS c, hex(coalesce(string_value, '')) AS d FROM args"
COUNTERS = "SELECT hex(t.name) AS a, c.ts AS b, printf('%!.17g', c.value) AS c FROM counter c JOIN counter_track t ON c.track_id = t.id"
ERRORS = "SELECT name AS a, severity AS b, value AS c FROM stats WHERE severity <> 'info' AND value > 0"

PROGRAM = r"""
#include <devlog/host.h>
#include <string.h>
static char huge[12001];
int main(void)
{
    static int block;
    memset(huge, 'h', sizeof huge - 1);
    DEVLOG_HOST_THREAD("main \"1\" <&>\\");
    DEVLOG_HOST_MESSAGE(huge);
    for (int i = 0; i < 70; i++) {
        DEVLOG_HOST_ZONE("outer, with; \"quotes\" and \\");
        DEVLOG_HOST_VALUE("power", UINT64_C(1) << (i & 63));
        DEVLOG_HOST_VALUE("most", UINT64_MAX - (uint64_t)i);
        DEVLOG_HOST_ALLOC(&block, 100);
        { DEVLOG_HOST_ZONE("two\nlines"); DEVLOG_HOST_MESSAGE("a text"); }
        { DEVLOG_HOST_ZONE(""); }
        { DEVLOG_HOST_ZONE("bad \xff utf-8"); }
        DEVLOG_HOST_BEGIN(x, "crossing a");
        DEVLOG_HOST_BEGIN(y, "crossing b");
        DEVLOG_HOST_END(x);
        DEVLOG_HOST_END(y);
        DEVLOG_HOST_FREE(&block);
        DEVLOG_HOST_FRAME("frame");
    }
    return 0;
}
"""


def ask(trace, query, folder):
    path = os.path.join(folder, "query.sql")
    with open(path, "w", encoding="utf-8") as f:
        f.write(query + ";\n")
    done = subprocess.run([SHELL, "-q", path, trace], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def text(digits):
    return bytes.fromhex(digits).decode("utf-8")


def cut(name, most):
    return name.encode()[:most].decode("utf-8", "ignore")


def place(e, form, has_parents):
    """Names of the two that a slice is in."""
    is_process = e["chip"] >> 30 & 1
    chip = f"process {e['chip'] & 0x3FFFFFFF}" if is_process else f"chip {e['chip']}"
    lane = f" (overlap {e['lane']})" if e["lane"] else ""
    if "core_x" not in e:
        row = ("launches" if e["kind"] == "launch" else "host") + lane
        return (chip if form != "perfetto" or has_parents else ""), row if form == "perfetto" else f"{chip} {row}"
    core = f"{e['core_x']},{e['core_y']}"
    if form == "perfetto":
        return ("threads" if is_process else f"core {core}") if has_parents else "", e["risc"] + lane
    return f"{chip} threads" if is_process else f"{chip} core {core}", f"{core} {e['risc']}{lane}"


def time_of(e, key):
    """Nanoseconds, or cycles where the clock is not known."""
    ns = {"start_cycle": "start_ns", "cycles": "ns"}[key]
    return e[ns] if ns in e else e.get(key, 0)


def depth_of(length, depth):
    """What has no length, on the edge of another, is inside or outside as a reader likes."""
    return depth if length else None


def expected(e, form, has_parents):
    """What a slice of an event of the JSON should be: process, thread, time, length, name, depth, arguments."""
    kinds = {"zone": "data", "value": "data" if form == "perfetto" else "value", "sum": "sum cycles", "dropped": "dropped markers"}
    name, arguments = e["name"], {"cycle": e["start_cycle"]}
    for key in ("launch", "cycles") + (("op",) if form == "perfetto" and e["kind"] == "launch" else ()):
        if key in e:
            arguments[key] = e[key]
    if "data" in e:
        arguments[kinds[e["kind"]].replace(" ", " " if form == "fxt" else "_")] = int(e["data"])
    name = cut(e["text"], MOST_TEXT[form]) if e.get("text") else cut(name, 32000) if form == "fxt" else name
    if form == "fxt" and e["kind"] == "launch":
        name, arguments["name"] = "launch", e["name"]
    if e.get("file") and form != "chrome":  # where Chrome's viewers take a line from Perfetto keeps nothing
        arguments["loc"] = f"{e['file']}:{e['line']}"
    where = place(e, form, has_parents)
    length = time_of(e, "cycles")
    return where + (time_of(e, "start_cycle"), length, name, depth_of(length, e["depth"]), tuple(sorted(arguments.items())))


def known(raw):
    """Arguments as devlog writes them: without what the reader puts before their names; a number of 64 bits has no sign."""
    a = {re.sub(r"^(debug|args)\.", "", k): v for k, v in raw.items()}
    files = [k for k in a if k.endswith(".file_name")]
    if files:
        lines = [v for k, v in a.items() if k.endswith(".line_number")]
        a["loc"] = f"{a[files[0]]}:{lines[0]}"
    a = {k: v for k, v in a.items() if not k.startswith("source")}
    for k, v in a.items():
        number = isinstance(v, str) and k in ("data", "value", "sum_cycles", "dropped_markers")  # text in Chrome JSON
        if number or isinstance(v, int):
            a[k] = int(v) % (1 << 64)
    return tuple(sorted(a.items()))


def found(trace, form, folder):
    """Whether tracks have parents, and the slices."""
    has_parents, sets = True, collections.defaultdict(dict)
    for number, key, value, string in ask(trace, ARGUMENTS, folder):
        sets[int(number)][text(key)] = int(value) if value else text(string)
    try:
        rows = ask(trace, TRACKS if form == "perfetto" else THREADS, folder)
    except RuntimeError as e:
        if "parent_id" not in str(e):
            raise
        has_parents, rows = False, ask(trace, TRACKS.replace("t.parent_id", "NULL"), folder)
    chip = re.compile(r"^((?:chip|process) \d+) \(.*")  # a chip's name goes on with what it is
    return has_parents, collections.Counter((chip.sub(r"\1", text(a)), text(b), int(ts), int(length), text(name), depth_of(int(length), int(depth)), known(sets[int(g)]))
                                            for a, b, ts, length, name, depth, g in rows)


def samples(events, form):
    """What counters should hold. The reader's numbers are doubles."""
    for e in events:
        if e["kind"] == "value" and "core_x" in e:
            full = f"{e['core_x']},{e['core_y']} {e['risc']} {e['name']}"
            yield {"perfetto": e["name"], "chrome": f"{full} {full}", "fxt": f"{full}:{full}"}[form], time_of(e, "start_cycle"), float(e["data"])


def arrows(events, form):
    """An arrow has one slice fewer than it joins: a launch and its kernels on a core, the host's calls and the launch."""
    launches = {(e["chip"], e["launch"]) for e in events if e["kind"] == "launch"}
    calls = [e for e in events if e["kind"] == "zone" and "core_x" not in e and (e["chip"], e.get("launch")) in launches]
    kernels = [e for e in events if e["kind"] == "zone" and e["name"].endswith("-KERNEL") and (e["chip"], e.get("launch")) in launches]
    return len(calls) + (len(kernels) if form == "perfetto" else 0)


def compare(what, want, got):
    missing, more = want - got, got - want
    for sign, rows in (("missing", missing), ("not written", more)):
        for row in list(rows)[:3]:
            bad.append(f"{what}: {sign}: {str(row)[:300]}")
    return sum(want.values())


def check(folder, logs):
    def export(form, path):
        done = subprocess.run([DEVLOG, "export", "-f", form, "-o", path, *logs], capture_output=True, text=True)
        if done.returncode not in (0, 3):  # 3: something of the log was lost
            sys.exit("check_perfetto: " + done.stderr)
        return path

    with open(export("json", os.path.join(folder, "json")), encoding="utf-8") as f:
        events = json.load(f)["events"]
    for form in FORMATS:
        what, trace = f"{os.path.basename(logs[0])} as {form}", export(form, os.path.join(folder, "trace." + form))
        has_parents, slices = found(trace, form, folder)
        n = compare(what, collections.Counter(expected(e, form, has_parents) for e in events), slices)
        got = collections.Counter((re.sub(r":\d+$", "", text(a)) if form == "fxt" else text(a), int(b), float(c)) for a, b, c in ask(trace, COUNTERS, folder))
        values = compare(what, collections.Counter(samples(events, form)), got)
        old = form == "perfetto" and not has_parents  # and knows no flow_ids of 64 bits
        errors = [e for e in ask(trace, ERRORS, folder) if not (old and e[0] == "unknown_extension_fields")]
        flows = int(ask(trace, "SELECT count(*) AS a FROM flow", folder)[0][0])
        want = 0 if form == "fxt" else flows if old else arrows(events, form)
        if flows != want:
            bad.append(f"{what}: {flows} arrows instead of {want}")
        bad.extend(f"{what}: {e}" for e in errors)
        print(f"{what}: {n} slices, {values} samples, {flows} arrows, {len(errors)} kinds of errors")


def main():
    if not SHELL:
        print("SKIPPED: no trace_processor_shell; TRACE_PROCESSOR=PATH names one")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[2:]:
            check(folder, sys.argv[2:])
        else:
            check(folder, [os.path.join(SOURCE, "tests", "golden", "l9", "log.csv")])
            program, library = os.path.join(folder, "program"), os.path.join(BUILD, "lib")
            with open(os.path.join(library, "libdevlog.so"), "rb") as f:
                sanitizers = ["-fsanitize=address"] if b"libasan.so" in f.read() else []
            subprocess.run(["cc", *sanitizers, "-std=c11", "-DPROFILE_HOST", "-I" + os.path.join(SOURCE, "include"), "-x", "c", "-", "-o", program, "-L" + library,
                            "-ldevlog", "-Wl,-rpath," + library], input=PROGRAM, text=True, check=True)
            subprocess.run([program], check=True, cwd=folder, env=dict(os.environ, DEVLOG_HOST="1", ASAN_OPTIONS="detect_leaks=0"))
            logs = os.path.join(folder, "generated", "profiler", "logs")
            check(folder, [os.path.join(logs, name) for name in os.listdir(logs)])
    for line in bad:
        print(line)
    return 1 if bad else 0


sys.exit(main())
