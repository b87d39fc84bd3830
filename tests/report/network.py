"""devlog report on the example network: every figure of every table against SQL of the same op report, and against zones
paired here from the lines of the device log; that JSON follows its schemas; that tables fit a terminal of 80 columns.
Usage: network.py BUILD."""
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict

import limits
import paths
from shared import DEVLOG, NN, SOURCE, bad, finish, missing, on_terminal, run, same, same_rows

RISCS = ["BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2", "ERISC"]


def report(*args, status=0):
    return json.loads(run("report", "--format", "json", *args, status=status) or '{"sections": {}}')["sections"]


def number(text):
    return None if text in ("", "-") else float(text) if "." in text else int(text)


def load(path):
    """The report as a table ops, in its own order; signposts and steps have point = 1."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    short = {"OP CODE": "code", "OP TYPE": "type", "GLOBAL CALL COUNT": "id", "DEVICE ID": "chip", "CORE COUNT": "cores",
             "AVAILABLE WORKER CORE COUNT": "available", "HOST START TS": "host_start", "HOST END TS": "host_end",
             "HOST DURATION [ns]": "host", "DEVICE FW START CYCLE": "start", "DEVICE FW END CYCLE": "end",
             "OP TO OP LATENCY [ns]": "gap", "DEVICE FW DURATION [ns]": "fw", "DEVICE KERNEL DURATION [ns]": "kernel",
             "DEVICE KERNEL DURATION PER CORE AVG [ns]": "core_avg", "DEVICE KERNEL DURATION PER CORE MAX [ns]": "core_max",
             "DEVICE IDLE BETWEEN LAUNCHES [ns]": "idle", "DEVICE FW OVERLAP [ns]": "overlap", "HOST THREAD": "thread",
             "CALL DEPTH": "depth", "CompileProgram Count": "compiles", "CompileProgram Average": "compile_avg",
             "WriteToDevice Count": "writes", "WriteToDevice Average": "write_avg", "ReadFromDevice Count": "reads", "ReadFromDevice Average": "read_avg"}
    short.update({"DEVICE %s KERNEL DURATION [ns]" % r: r for r in RISCS})
    sizes = ["TENSIX DM 0", "TENSIX DM 1", "TENSIX COMPUTE 0", "TENSIX COMPUTE 1", "TENSIX COMPUTE 2"]
    short.update({"%s MAX KERNEL SIZE [B]" % s: "size_" + r for s, r in zip(sizes, RISCS)})
    texts = ("code", "type")
    names = list(short.values()) + ["shapes", "memory", "point", "number"]
    db.execute("CREATE TABLE ops (%s)" % ", ".join('"%s"' % n for n in names))

    def tensors(row, fields, between):
        parts, arrow = [], False
        heads = sorted((c.rsplit("_", 1)[0] if fields == ["MEMORY"] else c.split("_W")[0]
                        for c in row if c.split("_")[0] in ("INPUT", "OUTPUT") and c.endswith(fields[0])),
                       key=lambda h: (h.startswith("OUTPUT"), int(h.split("_")[1])))
        for head in heads:
            cells = [row[head + "_" + f] for f in fields]
            if not any(cells):
                continue
            if head.startswith("OUTPUT") and not arrow:
                parts.append(">")
                arrow = True
            cells = [c.split("[")[0] if "[" in c and c.split("[")[0] == c.split("[")[1][:-1] else c for c in cells]
            parts.append(between.join(cells))
        return " ".join(parts)

    for i, row in enumerate(rows):
        values = [row.get(c, "") if s in texts else number(row.get(c, "")) for c, s in short.items()]
        values += [tensors(row, [a + "_PAD[LOGICAL]" for a in "WZYX"], "x"), tensors(row, ["MEMORY"], ""),
                   int(row["OP TYPE"] == "signpost"), i]
        db.execute("INSERT INTO ops VALUES (%s)" % ",".join("?" * len(values)), values)
    return db


def host_self(db):
    """Host time of each op without ops inside it, by the number of its row."""
    calls = [dict(r) for r in db.execute('SELECT number, id, host_start, host_end, thread FROM ops WHERE host IS NOT NULL GROUP BY id')]
    own = {c["number"]: c["host_end"] - c["host_start"] for c in calls}
    for c in calls:
        around = [o for o in calls if o is not c and o["thread"] == c["thread"] and o["host_start"] <= c["host_start"] and
                  c["host_end"] <= o["host_end"]]
        if around:
            own[max(around, key=lambda o: o["host_start"])["number"]] -= c["host_end"] - c["host_start"]
    for number_, value in own.items():
        db.execute("UPDATE ops SET host = ? WHERE number = ?", (value, number_))
    db.execute("UPDATE ops SET host = NULL WHERE number NOT IN (%s)" % ",".join(map(str, own)))


def check_sorts(path, *select):
    """Every column sorts the table: numbers by the greatest, texts by the alphabet, what is unknown last."""
    columns = report(path, "--tables", "op_statistics", *select)["op_statistics"]["columns"]
    sorts = {c["key"]: c["key"] for c in columns}
    sorts.update(time="total", name="op")
    said = subprocess.run([DEVLOG, "report", "--sort", "nothing", path], capture_output=True, text=True)
    same("sorts that there are", (said.returncode, sorted(re.search(r"one of (\S+),", said.stderr).group(1).split("|"))), (2, sorted([*sorts, "order"])))
    for sort, column in sorts.items():
        values = [r[column] for r in report(path, "--sort", sort, "--tables", "op_statistics", *select)["op_statistics"]["rows"]]
        if column == "cores":
            values = [v and int(v.split("-")[-1]) for v in values]
        known = sorted((v for v in values if v is not None), reverse=not any(isinstance(v, str) for v in values))
        same("op_statistics %s, sorted by %s" % (" ".join(select), sort), values, known + [None] * (len(values) - len(known)))


def check_ops(db, path, *select, where="1"):
    key_of = {"code": "code", "shape": "code || CASE shapes WHEN '' THEN '' ELSE ' ' || shapes END",
              "memory": "code || CASE memory WHEN '' THEN '' ELSE ' ' || memory END", "none": "CAST(id AS TEXT) || ' ' || code",
              "category": "CASE code WHEN 'Matmul' THEN 'matmul' WHEN 'Softmax' THEN 'normalisation' WHEN 'Add' THEN 'elementwise' "
                          "WHEN 'Transpose' THEN 'layout' WHEN '(torch) embedding' THEN 'host' WHEN 'Attention' THEN 'attention' WHEN 'ArgMax' THEN 'reduction' END"}
    for group, key in key_of.items():
        wanted = {}
        for r in db.execute('''SELECT %s AS op, COUNT(*) AS count, SUM(kernel) AS total, AVG(kernel) AS average, MIN(kernel) AS min,
                            MAX(kernel) AS max, SUM(gap) AS gap, SUM(host) AS host,
                            100.0 * SUM(kernel) / (SELECT SUM(kernel) FROM ops WHERE NOT point AND %s) AS share,
                            CASE WHEN COUNT(kernel) THEN 'device' ELSE 'host' END AS runs_on,
                            CASE WHEN MIN(cores) = MAX(cores) THEN CAST(MIN(cores) AS TEXT)
                            ELSE MIN(cores) || '-' || MAX(cores) END AS cores
                            FROM ops WHERE NOT point AND %s GROUP BY op''' % (key, where, where)):
            wanted[r["op"]] = {k: r[k] for k in r.keys() if k != "op"}
        found = report(path, "--group", group, "--tables", "op_statistics", *select)["op_statistics"]["rows"]
        same_rows("op_statistics by " + group, {r["op"]: r for r in found}, wanted)
        check_sorts(path, "--group", group, *select)
        firsts = [r[0] for r in db.execute("SELECT %s AS op FROM ops WHERE NOT point AND %s GROUP BY op ORDER BY MIN(number)" % (key, where))]
        came = [r["op"] for r in report(path, "--group", group, "--sort", "order", "--tables", "op_statistics", *select)["op_statistics"]["rows"]]
        same("op_statistics by %s, as they came" % group, came, firsts)


def check_launches(db, folder, log):
    """Launches of a folder are chosen by the log's numbers, as in every other command; ops have other ones."""
    ops_of = {}
    with open(log, newline="", encoding="utf-8") as f:
        for row in csv.reader(f):
            if len(row) > 14 and row[14].startswith('{"op":'):
                ops_of[int(row[7])] = json.loads(row[14])["op"]
    different = [n for n, op in ops_of.items() if n != op]
    same("launches and ops have other numbers", len(different) > 2, True)
    for low, high in ((different[0],) * 2, (different[-1],) * 2, (different[1], different[1] + 3)):
        ids = {op for n, op in ops_of.items() if low <= n <= high}
        check_ops(db, folder, "--launches", "%d-%d" % (low, high), where="id IN (%s)" % ", ".join(map(str, ids)))
    run("report", "--launches", "%d" % (max(ops_of) + 1), folder, status=1)


def check_kernels(db, path):
    wanted = {}
    for risc in RISCS:
        size = '"size_%s"' % risc if risc != "ERISC" else "NULL"
        for r in db.execute('''SELECT code, COUNT("%s") AS count, SUM("%s") AS total, AVG("%s") AS average, MIN("%s") AS min, MAX("%s") AS max,
                            100.0 * SUM("%s") / SUM(CASE WHEN "%s" IS NOT NULL THEN kernel END) AS split, MAX(CASE WHEN "%s" IS NOT NULL THEN cores END) AS cores,
                            MAX(CASE WHEN "%s" IS NOT NULL THEN %s END) AS code_bytes,
                            100.0 * SUM(CASE WHEN "%s" IS NOT NULL THEN core_avg * cores END) / SUM(CASE WHEN "%s" IS NOT NULL THEN kernel * available END) AS occupancy
                            FROM ops WHERE NOT point GROUP BY code HAVING COUNT("%s")''' % ((risc,) * 9 + (size,) + (risc,) * 3)):
            wanted[r["code"], risc] = {k: r[k] for k in r.keys() if k != "code"}
    found = report(path, "--tables", "kernel_statistics")["kernel_statistics"]["rows"]
    same_rows("kernel_statistics", {(r["op"], r["risc"]): r for r in found}, wanted)
    sources = {(r["op"], r["risc"]): r["kernel"] for r in found}
    same("the source of a matmul", sources.get(("Matmul", "TRISC0")), "matmul.c")


def check_ranges(db, path):
    points = [dict(r) for r in db.execute("SELECT number, code FROM ops WHERE point ORDER BY number")]
    end = db.execute("SELECT MAX(number) + 1 FROM ops").fetchone()[0]
    sections = report(path, "--tables", "steps,signposts")
    for key, steps in (("steps", True), ("signposts", False)):
        wanted = []
        for i, p in enumerate(points):
            if p["code"].startswith("step ") != steps:
                continue
            nexts = [q["number"] for q in points[i + 1:] if not steps or q["code"].startswith("step ")]
            r = db.execute('''SELECT COUNT(*) AS ops, SUM(kernel) AS device_time, SUM(gap) AS gap, SUM(host) AS host_time,
                           100.0 * SUM(kernel) / (SELECT SUM(kernel) FROM ops WHERE NOT point) AS share
                           FROM ops WHERE NOT point AND number > ? AND number < ?''', (p["number"], nexts[0] if nexts else end)).fetchone()
            wanted.append((p["code"], dict(r)))
        found = sections[key]["rows"]
        same(key + ": names", [r["name"] for r in found], [w[0] for w in wanted])
        for r, w in zip(found, wanted):
            for name, value in w[1].items():
                same("%s, %s, %s" % (key, w[0], name), r[name], value)


def check_verdict(db, path):
    facts = report(path, "--tables", "verdict,summary,chips")
    v, s = facts["verdict"]["facts"], facts["summary"]["facts"]
    r = db.execute('''SELECT COUNT(*) AS n, SUM(kernel) AS kernel, SUM(fw) - COALESCE(SUM(overlap), 0) AS busy, MAX("end") - MIN(start) AS cycles,
                   SUM("end" - start) * 1000.0 / SUM(fw + COALESCE(idle, 0)) AS mhz, SUM(gap) AS gap, SUM(COALESCE(idle, 0)) AS idle,
                   MAX(host_end) - MIN(host_start) AS host_span FROM ops WHERE NOT point''').fetchone()
    wall = r["cycles"] * 1000 / r["mhz"]
    compiling = db.execute("SELECT SUM(compile_avg * compiles) FROM (SELECT * FROM ops WHERE NOT point GROUP BY id)").fetchone()[0]
    # Time in which an op was open: the union of all of them, as they are of one thread.
    union, last = 0, 0
    for start, end in db.execute("SELECT host_start, host_end FROM ops WHERE host_start IS NOT NULL AND NOT point ORDER BY host_start"):
        union += max(0, end - max(start, last))
        last = max(last, end)
    wanted = {"ops": r["n"], "wall": wall, "busy": r["busy"], "busy_share": 100 * r["busy"] / wall, "gaps": wall - r["busy"], "ops_time": r["kernel"],
              "host_span": r["host_span"], "host_time": union, "compile_time": compiling, "compile_share": 100 * compiling / r["host_span"]}
    for key, value in wanted.items():
        same("verdict, " + key, v[key]["value"], value)
    # What the device did not run is what the gaps are: between launches of different ops, and of one.
    same("gaps by OP TO OP LATENCY", v["gaps"]["value"], r["gap"] + r["idle"])
    same("summary, runtime", s["runtime"]["value"], wall)
    same("summary, compile time", s["compile_time"]["value"], compiling)
    # Whatever the network writes or reads is one matrix of 12 x 12 words (examples/nn/nn.h).
    for way in ("write", "read"):
        calls, time = db.execute("SELECT SUM(%ss), SUM(%ss * %s_avg) FROM (SELECT * FROM ops WHERE NOT point GROUP BY id)" % (way, way, way)).fetchone()
        same("calls of " + way, calls > 10, True)
        same("verdict, %s_time" % way, v[way + "_time"]["value"], time)
        same("verdict, %s_bytes" % way, v[way + "_bytes"]["value"], 12 * 12 * 4 * calls)
        same("verdict, %s_rate" % way, v[way + "_rate"]["value"], 12 * 12 * 4 * calls * 1e9 / time)
    # Of a report that does not count one op's, no sum is known.
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    at = rows[0].index("WriteToDevice [B]")
    next(r for r in rows[1:] if r[at])[at] = ""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "less.csv"), "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows(rows)
        v = report(os.path.join(folder, "less.csv"), "--tables", "verdict")["verdict"]["facts"]
    for key, known in {"write_time": True, "write_bytes": False, "write_rate": False, "read_bytes": True, "read_rate": True}.items():
        same("verdict of what is not counted, " + key, v[key]["value"] is not None, known)
    chip = facts["chips"]["rows"][0]
    for key, value in {"chip": 0, "arch": "wormhole_b0", "clock": r["mhz"], "wall": wall, "busy": r["busy"], "busy_share": 100 * r["busy"] / wall}.items():
        same("chips, " + key, chip[key], value)


def check_savings(db, path):
    """By its rules, worked out anew."""
    wall = report(path, "--tables", "verdict")["verdict"]["facts"]["wall"]["value"]
    gaps = {"compile": 0, "host_ops": 0, "gaps": 0}
    gaps["small_gaps"], many = db.execute("""SELECT SUM(gap), COUNT(*) FROM (SELECT gap, ROW_NUMBER() OVER (ORDER BY number) AS nth FROM ops
                                          WHERE NOT point AND fw IS NOT NULL) WHERE nth > 1 AND gap > 0 AND gap <= 6500""").fetchone()
    worst = db.execute("""SELECT before, code, SUM(gap), COUNT(*), MAX(gap) FROM (SELECT code, gap, LAG(code) OVER (ORDER BY start) AS before FROM ops
                       WHERE NOT point AND fw IS NOT NULL) WHERE before IS NOT NULL AND gap > 0 AND gap <= 6500
                       GROUP BY before, code ORDER BY SUM(gap) DESC LIMIT 1""").fetchone()
    before, any_ = 0, False
    for r in db.execute("SELECT * FROM ops WHERE NOT point ORDER BY number"):
        if r["fw"] is None:
            before += r["host"] or 0
            continue
        gap = r["gap"] - 6000 if any_ and r["gap"] > 6500 else 0
        compiling = min(gap, (r["compile_avg"] or 0) * (r["compiles"] or 0))
        host = min(gap - compiling, before)
        for kind, time in (("compile", compiling), ("host_ops", host), ("gaps", gap - compiling - host)):
            gaps[kind] += time
        before, any_ = 0, True
    wanted = [(time, kind) for kind, time in gaps.items() if time > 0]
    for r in db.execute('''SELECT code, SUM(kernel * (1 - 1.0 * cores / available)) AS unused, SUM(MAX(core_max - core_avg, 0)) AS imbalance
                        FROM ops WHERE NOT point AND fw IS NOT NULL GROUP BY code'''):
        wanted.append(max((r["unused"], "unused_cores"), (r["imbalance"], "core_imbalance")))
    kernels = db.execute("SELECT SUM(kernel) FROM ops WHERE NOT point").fetchone()[0]
    behind = [w for w in wanted if w[1] == "small_gaps" and w[0] < 0.5 * kernels]
    wanted = sorted((w for w in wanted if w not in behind), reverse=True)[:3] + behind
    found = report(path, "--tables", "savings")["savings"]["rows"]
    same("savings: kinds", [r["kind"] for r in found], [w[1] for w in wanted])
    for r, w in zip(found, wanted):
        same("saving of " + r["kind"], r["saving"], w[0])
        same("share of " + r["kind"], r["share"], 100 * w[0] / wall)
        if r["kind"] == "small_gaps":
            same("small gaps: how many", r["evidence"].split(" ")[0], str(many))
            same("small gaps: the worst pair", "between %s and %s: %.1f us in %d, the longest %.2f us" % (worst[0], worst[1], worst[2] / 1000, worst[3], worst[4] / 1000)
                 in r["evidence"], True)
    return [r["kind"] for r in found]


def check_small_gaps(path):
    """The same network on a host that is quicker: no gap is above 6.5 us."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    at = rows[0].index("OP TO OP LATENCY [ns]")
    for row in rows[1:]:
        row[at] = str(int(row[at]) % 6501) if row[at] else ""
    quick = os.path.join(os.path.dirname(path), "quick.csv")
    with open(quick, "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows(rows)
    db = load(quick)
    host_self(db)
    same("small gaps are told", "small_gaps" in check_savings(db, quick), True)
    os.remove(quick)


def zones_of(log):
    """(op, RISC, zone) to figures: paired here, line by line."""
    open_ = defaultdict(list)
    found = defaultdict(lambda: {"count": 0, "own": 0, "total": 0, "min": None, "max": 0, "cores": defaultdict(int)})
    op_of = {}
    with open(log, newline="", encoding="utf-8") as f:
        next(f)
        for row in csv.reader(f):
            if len(row) < 15 or not row[0].strip().isdigit():
                continue
            _, x, y, risc, _, time, _, launch, _, _, zone, kind = (c.strip() for c in row[:12])
            if row[14].startswith('{"op":'):
                op_of[launch] = int(row[14][6:].rstrip("}"))
            stack = open_[x, y, risc]
            if kind == "ZONE_START":
                stack.append([zone, int(time), 0])
            elif kind == "ZONE_END" and stack and stack[-1][0] == zone:
                _, start, inside = stack.pop()
                took = int(time) - start
                if stack:
                    stack[-1][2] += took
                z = found[op_of.get(launch), risc, zone]
                z["count"] += 1
                z["total"] += took
                z["own"] += took - inside
                z["min"] = took if z["min"] is None else min(z["min"], took)
                z["max"] = max(z["max"], took)
                z["cores"]["%s-%s" % (x, y)] += took
    return found


def check_zones(db, folder, log):
    names = {r["id"]: r["code"] for r in db.execute("SELECT id, code FROM ops WHERE NOT point")}
    wanted = {}
    for (op, risc, zone), z in zones_of(log).items():
        if zone.endswith("-FW"):
            continue
        to = wanted.setdefault((names[op], risc, zone), {"count": 0, "own": 0, "total": 0, "min": z["min"], "max": 0, "cores": defaultdict(int)})
        for key in ("count", "own", "total"):
            to[key] += z[key]
        to["min"], to["max"] = min(to["min"], z["min"]), max(to["max"], z["max"])
        for core, took in z["cores"].items():
            to["cores"][core] += took
    for z in wanted.values():
        z["core_total"] = max(z.pop("cores").values())
    found = report(folder, "--tables", "zones")["zones"]["rows"]
    same_rows("zones", {(r["op"], r["risc"], r["zone"]): r for r in found}, wanted)
    # devlog diff tells zones apart by the same ops.
    for line in json.loads(run("diff", "--exact", "--format", "json", folder, folder))["lines"]:
        for cause in line.get("causes", []):
            name = cause["name"]
            if cause["kind"] == "cause" and name and line["name"].split()[0] in {k[0] for k in wanted}:
                same("diff: %s in %s" % (name, line["name"]), any(k[0] == line["name"].split()[0] and k[2] == name for k in wanted), True)
    rows = csv.DictReader(run("diff", "--exact", "--format", "csv", folder, folder).splitlines())
    pairs = {(r["op"].split()[0], r["name"]) for r in rows if r["kind"] == "cause" and r["name"] and r["where"]}
    same("diff: zones of ops", pairs, {(k[0], k[2]) for k in wanted if not k[2].endswith("KERNEL")} & pairs)
    same("diff: there are some", ("Matmul", "row of product") in pairs, True)


def check_paths(log):
    """Of kernels that record no waits, what a RISC did is on the path or not as it ended last or not."""
    rows = json.loads(run("causes", "--format", "json", log))["sections"]["path_zones"]["rows"]
    same("on the paths", paths.shown(rows), paths.on_the_paths(log))
    same("on the paths: shares", paths.shares_add_up(rows), True)


def check_outputs(folder, report_path):
    """CSV and Markdown have the figures of JSON."""
    for table in ("op_statistics", "kernel_statistics", "steps", "chips", "zones"):
        rows = report(folder, "--tables", table)[table]["rows"]
        lines = list(csv.reader(run("report", "--format", "csv", "--tables", table, folder).splitlines()))
        same(table + ": columns of CSV", [c.split(" [")[0] for c in lines[0]], list(rows[0]))
        for row, line in zip(rows, lines[1:]):
            for value, cell in zip(row.values(), line):
                same(table + ": a cell of CSV", cell if isinstance(value, str) or value is None else float(cell), "" if value is None else value)
        text = run("report", "--format", "md", "--top", "0", "--tables", table, folder)
        same(table + ": lines of Markdown", sum(line.startswith("| ") for line in text.splitlines()), len(rows) + 1)
    there = os.path.join(folder, "there.txt")
    run("report", "-o", there, report_path)
    with open(there, encoding="utf-8") as f:
        same("standard output and --output", f.read(), run("report", report_path))
    os.remove(there)


def markdown(text):
    """The rows of all tables, as texts by their columns."""
    rows, head = [], None
    for line in text.splitlines():
        cells = [re.sub(r"\\(.)", r"\1", c.strip()) for c in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else None
        if cells and head and line.startswith("|--"):
            continue
        if cells and head:
            rows.append(dict(zip(head, cells)))
        head = head or cells if cells else None
    return rows


def check_markdown(folder, report_path, log):
    """Op reports, their comparison and decoded logs: what CSV, or the log itself, says."""
    digits = lambda text: text.replace(",", "").lstrip("+")
    found = markdown(run("ops", "summary", "--format", "md", report_path))
    wanted = list(csv.DictReader(run("ops", "summary", "--format", "csv", report_path).splitlines()))
    for name, column in {"op": "op_code", "count": "count", "total [ns]": "total_ns", "min": "min_ns", "max": "max_ns", "gap before": "gap_ns"}.items():
        same("ops summary, " + name, [digits(r[name]).replace("-", "") for r in found[:-1]], [r[column] for r in wanted])
    other = os.path.join(folder, "without_softmax.csv")
    with open(report_path, encoding="utf-8") as f, open(other, "w", encoding="utf-8") as out:
        out.writelines(line for line in f if not line.startswith("Softmax,"))
    found = markdown(run("ops", "compare", "--format", "md", report_path, other))
    wanted = list(csv.DictReader(run("ops", "compare", "--format", "csv", report_path, other).splitlines()))
    for name, column in {"op": "op_code", "before [ns]": "before_ns", "after [ns]": "after_ns", "difference": "difference_ns",
                         "count before": "before_count", "count after": "after_count"}.items():
        same("ops compare, " + name, [digits(r[name]) if r[name] != "-" else "" for r in found[:len(wanted)]], [r[column] for r in wanted])
    same("ops compare: what is gone", digits(next(r["difference"] for r in found if r["op"] == "Softmax")),
         "-%d" % sum(int(r["DEVICE KERNEL DURATION [ns]"]) for r in csv.DictReader(open(report_path, encoding="utf-8")) if r["OP CODE"] == "Softmax"))
    os.remove(other)
    sums = defaultdict(lambda: [0, 0])
    for (_, risc, zone), z in zones_of(log).items():
        sums[risc, zone][0] += z["count"]
        sums[risc, zone][1] += z["total"]
    text = run("decode", "--no-files", "--max-launches", "0", "--top", "0", "--format", "md", log)
    found = {(r["RISC"], r["zone"]): [int(digits(r["count"])), int(digits(r["total [cyc]"]))] for r in markdown(text.split("### ")[1])}
    same("decode: durations", found, dict(sums))
    same("decode: what was lost", "```text\n" in text and "Nothing was lost." in text and text.endswith("```\n"), True)
    # The report itself: a row for each of its rows, without the columns that are empty.
    there = os.path.join(folder, "markdown")
    run("ops", "--format", "md", "--no-tar", "-o", there, folder)
    with open(os.path.join(there, "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
        wanted = list(csv.DictReader(f))
    with open(os.path.join(there, "ops_perf_results.md"), encoding="utf-8") as f:
        found = markdown(f.read())
    used = [c for c in wanted[0] if any(r[c] for r in wanted)]
    same("ops: columns of Markdown", list(found[0]), used)
    same("ops: rows of Markdown", found, [{c: r[c] for c in used} for r in wanted])
    shutil.rmtree(there)


def check_tables(jsonschema):
    """What users edit follows its schema."""
    for name in ("ops", "rules", "thresholds"):
        with open(os.path.join(SOURCE, "tables", name + ".json"), encoding="utf-8") as f:
            value = json.load(f)
        with open(os.path.join(SOURCE, "schema", "tables-%s-1.json" % name), encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft202012Validator.check_schema(schema)
        for error in list(jsonschema.Draft202012Validator(schema).iter_errors(value))[:3]:
            bad.append("tables/%s.json: %s: %s" % (name, list(error.path), error.message[:200]))


def check_schemas(folder, report_path):
    try:
        import jsonschema
    except ImportError:
        return False
    logs = os.path.join(folder, "logs_device")
    capture, log = os.path.join(logs, "capture.devlog"), os.path.join(logs, "profile_log_device.csv")
    outputs = [("report", folder), ("report", report_path), ("report", capture), ("report", log), ("report", "--group", "shape", "--top", "2", folder),
               ("diff", folder, folder), ("diff", "--exact", "--fail-on", "op>+5%", "--fail-on", "missing", folder, folder), ("diff", log, capture),
               ("causes", capture), ("causes", log), ("causes", os.path.join(SOURCE, "tests", "fuzz", "corpus", "causes", "waits.csv")),
               ("ops", "summary", report_path), ("ops", "summary", "--list", report_path),
               ("ops", "compare", report_path, report_path), ("ops", "compare", "--list", report_path, report_path),
               ("decode", capture), ("decode", log)]
    cycles, budgets = os.path.join(folder, "cycles"), os.path.join(folder, "budgets.txt")
    subprocess.run([NN, "1"], capture_output=True, check=True, env=dict(os.environ, DEVLOG_HOME=SOURCE, DEVLOG_LOG_FOLDER=cycles, DEVLOG_OPS="0",
                                                                        TT_METAL_DEVICE_PROFILER="1", DEVLOG_ANNOTATE="1"))
    with open(budgets, "w", encoding="utf-8") as f:
        f.write("1 * BRISC-KERNEL\n1000000000 BRISC BRISC-KERNEL\n1 * no such zone\n")
    rows = list(csv.DictReader(run("budget", "--format", "csv", "--log", cycles, budgets, status=4).splitlines()))
    items = json.loads(run("budget", "--format", "json", "--log", cycles, budgets, status=4))["budgets"]
    same("budgets: CSV and JSON", [(r["zone"], r["risc"], number(r["budget [cycles]"]), r["result"], number(r["count"]), number(r["most [cycles]"]), r["on"]) for r in rows],
         [(i["zone"], i["risc"] or "", i["budget"], i["result"], i["count"], i["most"] and i["most"]["cycles"], i["most"]["risc"] if i["most"] else "") for i in items])
    same("budgets: results", [r["result"] for r in rows], ["exceeded", "kept", "never ran"])
    outputs += [("annotate", cycles), ("annotate", "--firmware", "--risc", "BRISC", cycles), ("budget", "--log", cycles, budgets)]
    outputs += [("time", "-n", "2", "-w", "0", "--each", "-o", os.path.join(folder, "timed"), "--", NN, "1"), ("time", "-n", "1", "-d", "0", "--", "true")]
    check_widths("annotate", cycles)
    check_tables(jsonschema)
    samples = os.environ.get("DEVLOG_SAMPLES", os.path.join(SOURCE, "..", "shared", "samples"))
    for name in sorted(os.listdir(samples)) if os.path.isdir(samples) else []:
        if name.endswith(".csv"):
            path = os.path.join(samples, name)
            outputs += [("report", path)] + ([("ops", "summary", path)] if name.startswith("ops") else [("decode", path)])
    for args in outputs:
        r = subprocess.run([DEVLOG, args[0], "--format", "json", *args[1:]] if args[0] in ("budget", "time") else [DEVLOG, *args, "--format", "json"],
                           capture_output=True, text=True)
        try:
            value = json.loads(r.stdout)
        except ValueError:
            bad.append("devlog %s: no JSON (%s)" % (" ".join(args), r.stderr.strip()))
            continue
        with open(os.path.join(SOURCE, "schema", value["format"] + ".json"), encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft202012Validator.check_schema(schema)
        for error in list(jsonschema.Draft202012Validator(schema).iter_errors(value))[:3]:
            bad.append("devlog %s: against %s: %s: %s" % (" ".join(args), value["format"], list(error.path), error.message[:200]))
    return True


def check_widths(command, *inputs):
    for path in inputs:
        for line in on_terminal(80, [DEVLOG, command, path], stderr=subprocess.DEVNULL)[1].splitlines():
            if len(line) > 80:
                bad.append("%s %s: %d columns on a terminal of 80: %s" % (command, path, len(line), line))


def main():
    if missing("riscv64-unknown-elf-gcc"):
        print("SKIPPED: no riscv64-unknown-elf-gcc")
        return 77
    with tempfile.TemporaryDirectory() as tmp:
        folder = os.path.join(tmp, "run")
        env = dict(os.environ, DEVLOG_HOME=SOURCE)
        made = subprocess.run([DEVLOG, "run", "-o", folder, "--", NN, "2"], capture_output=True, text=True, cwd=tmp, env=env)
        if made.returncode:
            print(made.stdout, made.stderr)
            return 1
        path = os.path.join(folder, "ops_perf_results.csv")
        db = load(path)
        check_verdict(db, path)
        host_self(db)
        check_ops(db, path)
        between = [r[0] for r in db.execute("SELECT number FROM ops WHERE code IN ('layer 0', 'layer 1') ORDER BY number")]
        check_ops(db, path, "--from-signpost", "layer 0", "--to-signpost", "layer 1", where="number > %d AND number < %d" % tuple(between[:2]))
        check_ops(db, path, "--op", "Matmul", "--op", "Soft*", where="(code = 'Matmul' OR code LIKE 'Soft%')")
        check_launches(db, folder, os.path.join(folder, "logs_device", "profile_log_device.csv"))
        check_kernels(db, path)
        mhz = report(path, "--tables", "chips")["chips"]["rows"][0]["clock"]  # check_verdict has held it against SQL
        for file in limits.check(path, folder, report, mhz):
            check_sorts(file)
        check_ranges(db, path)
        check_savings(db, path)
        check_small_gaps(path)
        check_zones(db, folder, os.path.join(folder, "logs_device", "profile_log_device.csv"))
        check_paths(os.path.join(folder, "logs_device", "profile_log_device.csv"))
        check_outputs(folder, path)
        check_markdown(folder, path, os.path.join(folder, "logs_device", "profile_log_device.csv"))
        check_widths("report", folder, path, os.path.join(folder, "logs_device", "capture.devlog"))
        validated = check_schemas(folder, path)
    return finish(validated)


if __name__ == "__main__":
    sys.exit(main())
