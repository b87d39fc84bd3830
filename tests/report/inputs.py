"""devlog report on small inputs whose figures are known by hand, on several chips, on what is damaged or says little, and on
real reports, whose figures are also tt-perf-report's. Usage: inputs.py BUILD. With TT_PERF_REPORT=<checkout of
tenstorrent/tt-perf-report> every row of the real reports is compared with what that says."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

from shared import DEVLOG, SOURCE, bad, finish, same

SAMPLES = os.environ.get("DEVLOG_SAMPLES", os.path.join(SOURCE, "..", "shared", "samples"))
HEAD = ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "CORE COUNT", "AVAILABLE WORKER CORE COUNT", "HOST START TS", "HOST END TS",
        "HOST DURATION [ns]", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "OP TO OP LATENCY [ns]", "DEVICE FW DURATION [ns]",
        "DEVICE KERNEL DURATION [ns]", "METAL TRACE ID"]


def devlog(*args):
    return subprocess.run([DEVLOG, *args], capture_output=True, text=True)


def report(*args, status=0):
    r = devlog("report", "--format", "json", *args)
    if r.returncode != status or r.returncode == 1:
        bad.append("report %s: status %d: %s" % (" ".join(args), r.returncode, r.stderr.strip()))
        return None
    for fmt in ("text", "md", "csv"):
        other = devlog("report", "--format", fmt, *args)
        same("status of %s, %s" % (" ".join(args), fmt), other.returncode, status)
        if re.search(r"\b(nan|inf)\b", other.stdout, re.I):
            bad.append("report %s, %s: has what is no number" % (" ".join(args), fmt))
    return json.loads(r.stdout)["sections"]


def fails(says, *args, status=1):
    r = devlog("report", *args)
    same("status of " + " ".join(args), r.returncode, status)
    if says not in r.stderr or r.stdout or r.stderr.count("\n") != 1:
        bad.append("report %s: says %r, and not %r" % (" ".join(args), r.stderr, says))


def write(name, rows, head=HEAD):
    """rows: dicts of some columns."""
    path = os.path.join(folder, name)
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, head, restval="", extrasaction="ignore")
        w.writeheader()
        w.writerows(rows)
    return path


def op(code, number, start, end, chip=0, mhz=1000, gap=None, kernel=None, **more):
    ns = round((end - start) * 1000 / mhz)
    row = {"OP CODE": code, "OP TYPE": "tt_dnn_device", "GLOBAL CALL COUNT": number, "DEVICE ID": chip, "DEVICE FW START CYCLE": start,
           "DEVICE FW END CYCLE": end, "DEVICE FW DURATION [ns]": ns, "DEVICE KERNEL DURATION [ns]": ns if kernel is None else kernel}
    if gap is not None:
        row["OP TO OP LATENCY [ns]"] = gap
    row.update(more)
    return row


def facts(sections):
    return {k: v["value"] for k, v in sections["verdict"]["facts"].items()}


def ops(sections):
    return {r["op"]: r for r in sections["op_statistics"]["rows"]}


def check_busy():
    """Launches beside one another are one time; the wall is that of the chip."""
    path = write("beside.csv", [op("A", 1, 1000, 3000), op("B", 2, 2000, 4000), op("C", 3, 6000, 7000), op("D", 4, 6200, 6400)])
    v = facts(report(path))
    for key, value in {"wall": 6000, "busy": 4000, "gaps": 2000, "busy_share": 100 * 4000 / 6000, "ops_time": 5200, "clock": 1000}.items():
        same("beside one another, " + key, v[key], value)


def check_chips():
    """Chips run at the same time: their times are not added up, and each has its own clock."""
    rows = [op("Matmul", 1, 100, 1100, 0), op("Matmul", 1, 90000, 93000, 1, mhz=1500), op("AllGather", 2, 1200, 2200, 0),
            op("AllGather", 2, 93150, 96150, 1, mhz=1500), op("Add", 3, 3000, 4000, 0), op("Add", 3, 97500, 102000, 1, mhz=1500)]
    for name, number in (("ids", lambda r: r["GLOBAL CALL COUNT"]), ("upper", lambda r: r["GLOBAL CALL COUNT"] << 10 | r["DEVICE ID"]),
                         ("order", lambda r: r["GLOBAL CALL COUNT"] + 100 * r["DEVICE ID"])):
        path = write("chips_%s.csv" % name, [dict(r, **{"GLOBAL CALL COUNT": number(r)}) for r in rows])
        s = report(path)
        v, table = facts(s), ops(s)
        same(name + ": ops", v["ops"], 3)
        same(name + ": Matmul is that of the longest chip", table["Matmul"]["total"], 2000)
        same(name + ": AllGather is the mean", table["AllGather"]["total"], 1500)
        same(name + ": Add", table["Add"]["total"], 3000)
        same(name + ": wall", v["wall"], 8000)
        same(name + ": busy", v["busy"], (3000 + 7000) / 2)
        same(name + ": imbalance", v["chip_imbalance"], 7000 / 5000)
        same(name + ": clocks", [r["clock"] for r in s["chips"]["rows"]], [1000, 1500])
        same(name + ": by order is said", any("order" in n for n in s["op_statistics"]["notes"]), name == "order")
        chips = [r for r in s["savings"]["rows"] if r["kind"] == "chips"]
        same(name + ": unequal chips", sorted((r["op"], r["saving"]) for r in chips), [("Add", 1000), ("Matmul", 500)])
        one = ops(report("--chips", "1", path))
        same(name + ": one chip", {k: r["total"] for k, r in one.items()}, {"Matmul": 2000, "AllGather": 2000, "Add": 3000})
    same("clocks that differ are said", "chips differ" in devlog("report", path).stdout, True)


def check_savings():
    """The gaps are shared out: compiled, of ops on the host, neither; 6 us of each stay."""
    head = HEAD + ["CompileProgram Count", "CompileProgram Average"]
    host = {"OP CODE": "(torch) relu", "OP TYPE": "python_fallback", "GLOBAL CALL COUNT": 3, "HOST START TS": 1000, "HOST END TS": 51000, "HOST DURATION [ns]": 50000}
    rows = [op("A", 1, 0, 1000, gap=999999), op("B", 2, 101000, 102000, gap=100000, **{"CompileProgram Count": 2, "CompileProgram Average": 20000}), host,
            op("C", 4, 202000, 203000, gap=100000), op("D", 5, 209500, 210500, gap=6500), op("E", 6, 217001, 218001, gap=6501)]
    s = report(write("gaps.csv", rows, head))
    same("savings", [(r["kind"], r["saving"], r["op"]) for r in s["savings"]["rows"]], [("gaps", 54000 + 44000 + 501, "B"), ("host_ops", 50000, "C"), ("compile", 40000, "B")])
    same("share", s["savings"]["rows"][1]["share"], 100 * 50000 / 218001)
    # What is not above 6.5 us is a saving of its own, with the pair of ops between which most of it is.
    rows = [op("A", 1, 0, 1000, gap=6000), op("B", 2, 3000, 4000, gap=2000), op("C", 3, 5000, 6000, gap=1000), op("A", 4, 6000, 7000, gap=0),
            op("B", 5, 9500, 10500, gap=2500), op("B", 6, 17000, 18000, gap=6500), op("C", 7, 24501, 25501, gap=6501), op("A", 8, 25001, 26001, gap=-500)]
    for name, order in (("in order", rows), ("out of order", rows[:2] + rows[4:6] + rows[2:4] + rows[6:])):
        s = report(write("small.csv", order))
        same("small gaps, " + name, [(r["kind"], r["saving"], r["op"], r["op_id"]) for r in s["savings"]["rows"]],
             [("small_gaps", 2000 + 1000 + 2500 + 6500, "B", 6), ("gaps", 501, "C", 7)])
        words = ["4 gaps, 3.00 us on average, none above 6.5 us", "between B and B: 6.5 us in 1, the longest 6.50 us (ops 5 and 6)"]
        same("small gaps, evidence, " + name, [w for w in words if w not in s["savings"]["rows"][0]["evidence"]], [])
        same("small gaps, advice, " + name, [(r["count"], r["saving"]) for r in s["advice"]["rows"] if r["rule"] == "small_gap"], [(4, 12000)])
    s = report(write("small.csv", [dict(r, **{"OP TO OP LATENCY [ns]": 400}) if r["GLOBAL CALL COUNT"] == 6 else r for r in rows]))
    same("small gaps, between the pair that has most", "between A and B: 4.5 us in 2, the longest 2.50 us (ops 4 and 5)" in s["savings"]["rows"][0]["evidence"], True)
    # Of two chips the one in front is the same chip's; what is not wanted is in front all the same.
    rows = [op("A", 1, 0, 1000, 0), op("X", 2, 100, 1100, 1, gap=9), op("B", 3, 2000, 3000, 0, gap=1000), op("Y", 4, 1300, 2000, 1, gap=200)]
    s = report(write("small.csv", rows))
    same("small gaps of two chips", "between A and B: 1.0 us in 1" in s["savings"]["rows"][0]["evidence"] and s["savings"]["rows"][0]["saving"], 1200)
    s = report("--op", "X", "--op", "Y", os.path.join(folder, "small.csv"))
    same("small gaps of some ops", s["savings"]["rows"][0]["saving"] if s["savings"]["rows"] else None, 200)
    rows = [op("Few", 1, 0, 1000, **{"CORE COUNT": 16, "AVAILABLE WORKER CORE COUNT": 64}), op("All", 2, 1000, 2000, **{"CORE COUNT": 64, "AVAILABLE WORKER CORE COUNT": 64})]
    s = report(write("cores.csv", rows))
    same("unused cores", [(r["kind"], r["op"], r["saving"]) for r in s["savings"]["rows"]], [("unused_cores", "Few", 750)])


def check_selection():
    point = lambda name: {"OP CODE": name, "OP TYPE": "signpost"}
    rows = [point("first"), op("A", 1, 0, 1000), point("second"), op("B", 2, 1000, 3000), op("A", 3, 3000, 4000, **{"METAL TRACE ID": 7}), point("third"), op("C", 4, 4000, 5000)]
    path = write("selected.csv", rows)
    for args, wanted in ((("--from-signpost", "second"), {"A": 1000, "B": 2000, "C": 1000}), (("--to-signpost", "second"), {"A": 1000}),
                         (("--from-signpost", "second", "--to-signpost", "third"), {"A": 1000, "B": 2000}), (("--op", "A"), {"A": 2000}),
                         (("--op", "A", "--op", "C*"), {"A": 2000, "C": 1000}), (("--launches", "2-3"), {"B": 2000, "A": 1000}), (("--traces", "7"), {"A": 1000}),
                         (("--skip-launches", "2"), {"A": 1000, "C": 1000})):
        same(" ".join(args), {k: r["total"] for k, r in ops(report(*args, path)).items()}, wanted)
    fails("has no signpost 'none'; it has 'first', 'second', 'third'", "--from-signpost", "none", path)
    fails("has no signpost 'first' behind third; it has 'first'", "--from-signpost", "third", "--to-signpost", "first", path)
    fails("Softmax", "--op", "Softmax", path)
    fails("--traces 9: no such trace; the log has 7", "--traces", "9", path)
    fails("--launches 9: no such launch; the log has 1-4", "--launches", "9", path)
    fails("--chips 5: no such chip; the log has 0", "--chips", "5", path)
    fails("--skip-launches 9: no chip has more than 4 launches", "--skip-launches", "9", path)
    fails("all of them together leave nothing", "--traces", "7", "--op", "B", path)
    fails("--op D: no such op; ", "--op", "D", path)
    fails("--launches 9: no such launch; the log has 1-4", "--launches", "1,9", path)
    # An op without device data meets no number of a launch, and is no reason to be content.
    path = write("with_host.csv", rows + [{"OP CODE": "H", "OP TYPE": "tt_dnn_cpu", "GLOBAL CALL COUNT": 9, "HOST START TS": 5, "HOST END TS": 9}])
    fails("--skip-launches 4: no chip has more than 4 launches", "--skip-launches", "4", path)
    fails("--launches 9: no such launch; the log has 1-4", "--launches", "9", path)
    # A report that is made of logs is called as the folder is.
    logs = os.path.join(folder, "logs")
    os.mkdir(logs)
    with open(os.path.join(logs, "profile_log_ops.jsonl"), "w", encoding="utf-8") as f:
        f.write('{"e":"run","t":1,"version":1,"run":"ab","pid":1}\n{"e":"start","id":1,"t":10,"thread":0,"depth":1,"name":"A"}\n'
                '{"e":"end","id":1,"t":15,"thread":0}\n{"e":"close","t":19,"ops":1,"lost":0}\n')
    with open(os.path.join(logs, "profile_log_device.csv"), "w", encoding="utf-8") as f:
        f.write("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Run: ab\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
                "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n"
                '0,0,0,BRISC,1,100,0,1,,,BRISC-FW,ZONE_START,0,,{"op":1}\n0,0,0,BRISC,4,200,0,1,,,BRISC-FW,ZONE_END,0,,\n')
    fails("--op D: no such op; " + logs + " has 'A'", "--op", "D", logs)
    fails(logs + " has no signpost 'none'; it has none", "--from-signpost", "none", logs)
    fails("standard input is neither a file nor a folder", "-")
    fails("/dev/null is neither a file nor a folder", "/dev/null")
    fails("there is no table 'zone'", "--tables", "zone", path)
    warm = [op("A", i + 1, 100000 * i, 100000 * i + (50000 if i < 2 else 1000)) for i in range(20)]
    path = write("warm.csv", warm)
    same("warm-up is recognised", facts(report(path))["warm_up"], 2)
    same("and left out when asked", ops(report("--skip-warm-up", path))["A"]["count"], 18)


def check_little():
    """What is not known is null, and never 0."""
    s = report(write("none.csv", []))
    v = facts(s)
    same("no ops", v["ops"], 0)
    same("no ops: unknown", {k: v[k] for k in ("wall", "busy", "ops_time", "host_span", "host_time", "clock", "lost")}, dict.fromkeys(("wall", "busy", "ops_time", "host_span", "host_time", "clock", "lost")))
    same("no ops: tables", [s[k]["rows"] for k in ("op_statistics", "savings", "kernel_statistics")], [[], [], []])
    host = [{"OP CODE": "A", "OP TYPE": "tt_dnn_device", "GLOBAL CALL COUNT": i, "HOST START TS": i * 1000, "HOST END TS": i * 1000 + 400, "HOST DURATION [ns]": 400} for i in (1, 2)]
    s = report(write("host.csv", host))
    v = facts(s)
    same("no device data: wall is the host's", v["wall"], 1400)
    same("no device data: busy", v["busy"], None)
    same("no device data: time of the op", (ops(s)["A"]["total"], ops(s)["A"]["host"], ops(s)["A"]["runs_on"]), (None, 800, "device"))
    s = report(write("host.csv", [dict(x, **{"OP TYPE": "tt_dnn_cpu"}) for x in host]))
    same("ops of the host", (ops(s)["A"]["total"], ops(s)["A"]["host"], ops(s)["A"]["runs_on"]), (None, 800, "host"))
    zero = [op("A", 1, 1000, 1000), op("A", 2, 1000, 1000)]
    s = report(write("zero.csv", zero))
    same("zero durations", (ops(s)["A"]["total"], ops(s)["A"]["average"], ops(s)["A"]["share"]), (0, 0, None))
    same("zero durations: busy share", facts(s)["busy_share"], None)
    head = [c for c in HEAD if "CYCLE" not in c]
    v = facts(report(write("nanoseconds.csv", [op("A", 1, 1000, 3000), op("A", 2, 4000, 5000)], head)))
    same("no cycles: clock, wall, busy", (v["clock"], v["wall"], v["busy"]), (None, None, 3000))
    same("one core", ops(report(write("one.csv", [op("A", 1, 0, 1000, **{"CORE COUNT": 1, "AVAILABLE WORKER CORE COUNT": 1})])))["A"]["cores"], "1")
    path = write("cut.csv", [op("A", 1, 0, 1000), op("B", 2, 1000, 2000)])
    with open(path, "rb+") as f:
        f.truncate(os.path.getsize(path) - 6)
    report(path, status=3)
    path = write("words.csv", [op("A", 1, 0, 1000), dict(op("B", 2, 1000, 2000), **{"DEVICE FW DURATION [ns]": "many"})])
    same("a word for a number", ops(report(path, status=3))["B"]["count"], 1)
    fails("is empty", write_bytes("empty.csv", b""))
    fails("neither an op report nor a device log", write_bytes("other.csv", b"a,b\n1,2\n"))
    fails("No such file", os.path.join(folder, "nowhere"))
    os.makedirs(os.path.join(folder, "op_log_alone", "logs"), exist_ok=True)
    lines = ['{"e":"%s","id":%d,"t":%d%s}\n' % (e, i, i * 1000 + 400 * (e == "end"), ',"name":"A"' * (e == "start")) for i in (1, 2) for e in ("start", "end")]
    alone = write_bytes("op_log_alone/logs/profile_log_ops.jsonl", "".join(lines).encode())
    s = report(os.path.join(folder, "op_log_alone"))
    same("an op log alone: ops and their time", (facts(s)["ops"], ops(s)["A"]["host"], ops(s)["A"]["runs_on"]), (2, 800, "host"))
    with open(alone, "a") as f:
        f.write('{"e":"end","id":2,"t":9000}\n')
    report(os.path.dirname(alone), status=3)
    os.makedirs(os.path.join(folder, "nothing"), exist_ok=True)
    fails("holds no run", os.path.join(folder, "nothing"))
    for name in ("one", "two"):
        os.makedirs(os.path.join(folder, "runs", name), exist_ok=True)
        write(os.path.join("runs", name, "ops_perf_results.csv"), zero)
    fails("holds 2 runs", os.path.join(folder, "runs"))
    same("no input, and no log of the last run", subprocess.run([DEVLOG, "report"], capture_output=True, cwd=folder).returncode, 1)
    same("a wrong group", devlog("report", "--group", "colour", path).returncode, 2)


def write_bytes(name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def log(mhz, *launches):
    """(run host id, first cycle, last cycle) on one core, with a zone in the middle half."""
    chip = "ARCH: wormhole_b0" + (", CHIP_FREQ[MHz]: %d" % mhz if mhz else "") + "\n"
    lines = [chip, "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, "
             "zone name, type, source line, source file, meta data\n"]
    for number, start, end in launches:
        quarter = (end - start) // 4
        for zone, begin, stop, line in (("BRISC-FW", start, end, 0), ("BRISC-KERNEL", start + 1, end - 1, 0), ("work", start + quarter, end - quarter, 42)):
            lines += ["0,1,1,BRISC,1,%d,0,%d,,,%s,ZONE_START,%d,kernel.c,\n" % (begin, number, zone, line), "0,1,1,BRISC,2,%d,0,%d,,,%s,ZONE_END,%d,kernel.c,\n" % (stop, number, zone, line)]
    head, rows = lines[:2], lines[2:]
    rows.sort(key=lambda r: (int(r.split(",")[5]), r.split(",")[10] == "BRISC-FW" and "END" in r))
    return "".join(head + rows).encode()


def check_cores_of_logs():
    """Cores of a log that has no report: how much later than the mean core the last one ended, and which that was; nobody, where all end together."""
    chip = "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500\n"
    head = "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n"
    for late, saved in ((0, []), (400, [("core_imbalance", 400 * 3 / 4 * 2)])):
        rows = []
        for number in (1, 2, 3):
            for x in (1, 2, 3, 4):
                end = 1000 * number + 500 + (late if (number, x) == (2, 3) else 0)
                for zone, kind, at in (("BRISC-FW", "START", 1000 * number), ("BRISC-KERNEL", "START", 1000 * number + 10), ("BRISC-KERNEL", "END", end - 10), ("BRISC-FW", "END", end)):
                    rows.append("0,%d,1,BRISC,1,%d,0,%d,,,%s,ZONE_%s,0,kernel.c,\n" % (x, at, number, zone, kind))
        found = report(write_bytes("profile_log_device.csv", (chip + head + "".join(rows)).encode()))["savings"]["rows"]
        cores = [r for r in found if r["kind"] == "core_imbalance"]
        same("cores of a log, %d cycles late" % late, [(r["kind"], r["saving"]) for r in cores], saved)
        if late:
            same("who ended last", (cores[0]["core"], "Core 3,1 ended last in 1 of 3 launches (BRISC)" in cores[0]["evidence"], cores[0]["what"]), ("0: 3-1", True, "Some cores have more to do than others"))


def check_logs():
    """A log alone: launches, and cycles where it does not say its clock."""
    path = write_bytes("profile_log_device.csv", log(500, (1, 1000, 1400), (2, 2000, 2800)))
    s = report(path)
    v = facts(s)
    same("log: figures", (v["ops"], v["wall"], v["busy"], v["clock"], v["lost"]), (2, 3600, 2400, 500, 0))
    same("log: launches", (ops(s)["launch"]["count"], ops(s)["launch"]["total"], ops(s)["launch"]["gap"]), (2, (398 + 798) * 2, 1200))
    same("log: gaps", [(r["kind"], r["saving"]) for r in s["savings"]["rows"] if r["kind"] in ("gaps", "small_gaps")], [("small_gaps", 1200)])
    work = [r for r in s["zones"]["rows"] if r["zone"] == "work"][0]
    same("log: a zone", (work["own"], work["count"], work["where"], work["core"]), ((200 + 400) * 2, 2, "kernel.c:42", "1-1"))
    s = report("--launches", "2", path)
    same("log: one launch", (ops(s)["launch"]["count"], [r["own"] for r in s["zones"]["rows"] if r["zone"] == "work"]), (1, [800]))
    path = write_bytes("no_clock.csv", log(0, (1, 1000, 1400), (2, 2000, 2800)))
    r = devlog("report", "--format", "json", path)
    s = json.loads(r.stdout)["sections"] if r.returncode == 0 else {}
    if s:
        same("no clock: cycles", (s["verdict"]["facts"]["wall"]["value"], s["verdict"]["facts"]["wall"]["unit"], facts(s)["clock"]), (1800, "cycles", None))
        same("no clock: columns", {c["unit"] for c in s["op_statistics"]["columns"] if c["key"] in ("total", "gap")}, {"cycles"})
        gaps = [r for r in s["savings"]["rows"] if r["kind"] in ("gaps", "small_gaps")]
        same("no clock: gaps", [(r["kind"], r["saving"], "600 cycles" in r["evidence"]) for r in gaps], [("gaps", 600, True)])
    else:
        bad.append("no clock: " + r.stderr)
    damaged = log(500, (1, 1000, 1400), (2, 2000, 2800)).splitlines(keepends=True)
    path = write_bytes("damaged.csv", b"".join(damaged[:5] + damaged[6:]))
    s = report(path, status=3)
    same("damage is told", bool(s and s["losses"]["rows"] and facts(s)["lost"]), True)


def check_units():
    """A report and a log that disagree on how long a cycle is: said, and never mixed silently."""
    for name, mhz, disagree in (("agree", 1000, False), ("disagree", 500, True), ("a little", 1005, False)):
        run = os.path.join(folder, name)
        os.makedirs(os.path.join(run, "logs_device"))
        write(os.path.join(name, "ops_perf_results.csv"), [op("A", 1, 1000, 1400), op("B", 2, 2000, 2800)])
        write_bytes(os.path.join(name, "logs_device", "profile_log_device.csv"), log(mhz, (1, 1000, 1400), (2, 2000, 2800)))
        clock = report(run)["verdict"]["facts"]["clock"]
        same("clocks that %s: the log's holds" % name, clock["value"], mhz)
        same("clocks that %s: said" % name, "SAY 1000 MHz" in clock["note"], disagree)


def check_tt_folder():
    """A folder of tt-metal's profiler: ops by the host's files, zones of each by its log."""
    asked, sys.argv = sys.argv, ["inputs.py", DEVLOG]
    sys.path.insert(0, os.path.join(SOURCE, "tests", "ttmetal"))
    import small
    sys.argv = asked
    os.makedirs(os.path.join(folder, "metal"))
    head = small.HEAD % ("wormhole_b0", 1000, 64) + small.COLUMNS
    for name, text in (("tracy_ops_data.csv", small.messages((small.op(1), 5), (small.op(2, op_code="softmax"), 6))), ("tracy_ops_times.csv", small.times(1, 2)),
                       ("profile_log_device.csv", head + small.program_rows(1, 1000) + small.program_rows(2, 2000))):
        with open(os.path.join(folder, "metal", name), "w", encoding="utf-8") as f:
            f.write(text)
    s = report(os.path.join(folder, "metal"))
    v = facts(s)
    same("tt-metal's folder", (v["ops"], v["wall"], v["busy"], v["lost"]), (2, 1070, 140, 0))
    same("tt-metal's folder: zones", sorted((r["op"], r["zone"], r["own"]) for r in s["zones"]["rows"]), [("reshape", "BRISC-KERNEL", 50), ("softmax", "BRISC-KERNEL", 50)])


# What tt-perf-report 00b7324 (2026-04-27) says: "Running with tracing could save N us" of what gaps above 6.5 us are above 6 us.
COULD_SAVE = {"ops_2025_09_18": 83674789, "ops_bh_p100_dlv3": 1346749, "ops_seg_encoder_2024_10_04": 106930237}


def check_samples():
    if not os.path.isdir(SAMPLES):
        return False
    for name, could_save in COULD_SAVE.items():
        path = os.path.join(SAMPLES, name + ".csv")
        s = report(path)
        gaps = sum(r["saving"] for r in s["savings"]["rows"] if r["kind"] in ("gaps", "compile", "host_ops"))
        same(name + ": gaps that tracing could save, us", round(gaps / 1000), could_save)
        with open(path, newline="", encoding="utf-8") as f:
            rows = [r for r in csv.DictReader(f) if r["OP TYPE"] != "signpost"]
        small = [int(float(r["OP TO OP LATENCY [ns]"])) for r in rows[1:] if r["DEVICE KERNEL DURATION [ns]"] and r["OP TO OP LATENCY [ns]"] and
                 0.1 * float(r["DEVICE KERNEL DURATION [ns]"]) < float(r["OP TO OP LATENCY [ns]"]) <= 6500]
        same(name + ": small gaps", [(r["count"], r["saving"]) for r in s["advice"]["rows"] if r["rule"] == "small_gap"], [(len(small), sum(small))] if small else [])
        codes = {}
        for r in rows:
            c = codes.setdefault(r["OP CODE"], [0, 0, 0])
            c[0] += 1
            c[1] += int(float(r["DEVICE KERNEL DURATION [ns]"] or 0))
            c[2] += int(float(r["OP TO OP LATENCY [ns]"] or 0))
        same(name + ": codes", sorted(ops(s)), sorted(codes))
        for code, (count, time, gap) in codes.items():
            r = ops(s).get(code, {})
            same("%s, %s" % (name, code), (r.get("count"), r.get("total") or 0, r.get("gap") or 0), (count, time, gap))
        if os.environ.get("TT_PERF_REPORT"):
            check_tt_perf_report(name, path)
    return True


def check_tt_perf_report(name, path):
    """Row by row: Device Time, Op-to-Op Gap (none for the first), Cores."""
    made = os.path.join(folder, name + ".csv")
    subprocess.run(["/usr/bin/python3", "-c", "from tt_perf_report.perf_report import main; main()", path, "--no-color", "--ignore-signposts", "--csv", made],
                   env=dict(os.environ, PYTHONPATH=os.path.join(os.environ["TT_PERF_REPORT"], "src"), MPLBACKEND="agg"), capture_output=True)
    with open(made, newline="", encoding="utf-8") as f:
        theirs = [r for r in csv.DictReader(f) if "(signpost)" not in r["OP Code"]]
    ours = report(path, "--group", "none", "--sort", "order", "--tables", "op_statistics")["op_statistics"]["rows"]
    same(name + ": rows of tt-perf-report", len(theirs), len(ours))
    for i, (t, o) in enumerate(zip(theirs, ours)):
        where = "%s: row %d of tt-perf-report, %s" % (name, i, o["op"])
        same(where + ", id", t["Global Call Count"].split(".")[0], o["op"].split(" ")[0])
        if t["Device Time"]:
            same(where + ", time", round(float(t["Device Time"]) * 1000), o["total"])
        if t["Op-to-Op Gap"]:
            same(where + ", gap", round(float(t["Op-to-Op Gap"]) * 1000), o["gap"])
        if t["Cores"] and o["cores"]:
            same(where + ", cores", t["Cores"].split(".")[0], o["cores"])


with tempfile.TemporaryDirectory() as folder:
    check_busy()
    check_chips()
    check_savings()
    check_selection()
    check_little()
    check_logs()
    check_cores_of_logs()
    check_units()
    check_tt_folder()
    with_samples = check_samples()
if not with_samples:
    print("there are no real reports here")
sys.exit(finish())
