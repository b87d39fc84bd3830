"""FLOPs, bytes, rates and what ops are bound by, worked out here of the columns of an op report by what docs/roofline.md says; for
network.py, which holds devlog report against it. The example network computes little and keeps all of it in L1, so the same
is done with copies of its report in which tensors are large, or in DRAM, or the device did other things. Not a check itself."""
import csv
import math
import os
from collections import defaultdict

from shared import same, same_rows

TYPES = {"FLOAT32": 4, "BFLOAT16": 2, "BFLOAT8_B": 1088 / 1024, "INT32": 4, "UINT32": 4, "UINT16": 2}
PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
WHOLE = ("Matmul", "Softmax", "Transpose")  # of the network's ops, those that read and write whole tensors once
PEAK, DRAM = 4096, 288e9  # a core's FLOPs per cycle at one phase, and the chip's bytes per second
BUSY, WASTED = 65, 35


def number(row, column):
    text = row.get(column, "")
    return float(text) if text not in ("", "-") else math.nan


def tensors(row):
    for name in ("INPUT_0", "INPUT_1", "OUTPUT_0"):
        sizes = [row["%s_%s_PAD[LOGICAL]" % (name, a)].split("[")[0] for a in "WZYX"]
        if all(sizes):
            yield name, [int(s) for s in sizes], row[name + "_DATATYPE"], row[name + "_MEMORY"]


def work_out(row, mhz):
    """One op on the device."""
    time, fw, cores = number(row, "DEVICE KERNEL DURATION [ns]"), number(row, "DEVICE FW DURATION [ns]"), number(row, "CORE COUNT")
    of = {name: size for name, size, _, _ in tensors(row)}
    flops = bytes_ = of_compute = math.nan
    if row["OP CODE"] == "Matmul" and "INPUT_1" in of:
        (w0, z0, y, k), (w1, z1, _, x) = of["INPUT_0"], of["INPUT_1"]
        flops = 2 * y * k * x * max(w0, w1) * max(z0, z1)
        of_compute = 100 * flops / (time * 1e-9 * cores * PEAK / PHASES[row["MATH FIDELITY"]] * mhz * 1e6)
    if row["OP CODE"] in WHOLE and of:
        bytes_ = sum(math.prod(size) * TYPES[kind] for _, size, kind, place in tensors(row) if "DRAM" in place)
    of_dram = 100 * bytes_ / (time * 1e-9 * DRAM)
    measured = number(row, "DRAM BW UTIL (%)")
    dram = of_dram if math.isnan(measured) else measured
    noc, dispatch = number(row, "NOC UTIL (%)"), number(row, "DISPATCH TOTAL CQ CMD OP TIME [ns]")
    imbalance = 100 * (1 - number(row, "DEVICE KERNEL DURATION PER CORE AVG [ns]") / number(row, "DEVICE KERNEL DURATION PER CORE MAX [ns]"))
    launch = 100 * (1 - time / fw)
    rules = [("compute, DRAM", of_compute >= BUSY and dram >= BUSY), ("compute", of_compute >= BUSY), ("DRAM", dram >= BUSY), ("NoC", noc >= BUSY),
             ("dispatch", dispatch >= fw), ("launch", launch >= WASTED and not imbalance > launch), ("imbalance", imbalance >= WASTED),
             ("latency", not math.isnan(of_compute) or not math.isnan(dram))]
    return {"id": int(row["GLOBAL CALL COUNT"]), "code": row["OP CODE"], "time": time, "flops": flops, "bytes": bytes_, "of_compute": of_compute,
            "of_dram": of_dram, "measured_dram": measured, "dram_difference": measured - of_dram, "measured_noc": noc, "ideal": number(row, "PM IDEAL [ns]"),
            "bound": next((name for name, holds in rules if holds), None)}


def known(value):
    return None if math.isnan(value) else value


def of_these(ops, key):
    return [o for o in ops if not math.isnan(o[key])]


def total(ops, key):
    return sum(o[key] for o in of_these(ops, key)) if of_these(ops, key) else math.nan


def rate(ops, key):
    there = of_these(ops, key)
    return total(there, key) / total(there, "time") * 1e9 if there else math.nan


def mean(ops, key):
    there = of_these(ops, key)
    return sum(o[key] * o["time"] for o in there) / total(there, "time") if there else math.nan


def op_line(ops):
    bounds = {o["bound"] for o in ops if o["bound"]}
    return {"flop_rate": known(rate(ops, "flops")), "bandwidth": known(rate(ops, "bytes")), "ideal": known(total(ops, "ideal")),
            "bound_by": "several" if len(bounds) > 1 else bounds.pop() if bounds else None}


def roofline_line(ops):
    time, by = total(ops, "time"), defaultdict(float)
    for o in ops:
        by[o["bound"]] += o["time"]
    unknown = by.pop(None, 0)
    bound = max(by, key=by.get) if by else None
    if bound and by[bound] < unknown:
        bound = None
    both = [o for o in of_these(ops, "flops") if o["bytes"] > 0]
    line = {"time": time, "count": len(ops), "bound": bound, "bound_share": 100 * by[bound] / time if bound else None, "flops": known(total(ops, "flops")),
            "flop_rate": known(rate(ops, "flops")), "bytes": known(total(ops, "bytes")), "byte_rate": known(rate(ops, "bytes")),
            "intensity": sum(o["flops"] for o in both) / sum(o["bytes"] for o in both) if both else None}
    return dict(line, **{key: known(mean(ops, key)) for key in ("of_compute", "of_dram", "measured_dram", "dram_difference", "measured_noc")})


def tensor(row, name, size, kind, place):
    for a, n in zip("WZYX", size):
        row["%s_%s_PAD[LOGICAL]" % (name, a)] = "%d[%d]" % (n, n)
    row.update({name + "_DATATYPE": kind, name + "_MEMORY": "DEV_0_%s" % place, name + "_LAYOUT": "TILE"})


# What an op of a copy did otherwise.
def computes(row):
    tensor(row, "INPUT_0", (1, 1, 320, 320), "BFLOAT16", "L1_BLOCK_SHARDED")
    tensor(row, "INPUT_1", (1, 1, 320, 320), "BFLOAT8_B", "DRAM_INTERLEAVED")


def moves(row):
    for name in ("INPUT_0", "OUTPUT_0"):
        tensor(row, name, (2, 1, 1024, 1024), "FLOAT32", "DRAM_INTERLEAVED")


def computes_and_moves(row):
    computes(row)
    for name in ("INPUT_0", "INPUT_1", "OUTPUT_0"):
        tensor(row, name, (3, 2, 1024, 1024), "BFLOAT16", "DRAM_INTERLEAVED")


def moves_little(row):
    tensor(row, "OUTPUT_0", (1, 1, 32, 64), "BFLOAT8_B", "DRAM_INTERLEAVED")
    row.update({"MATH FIDELITY": "LoFi", "PM IDEAL [ns]": "1234"})


def is_measured(row):
    moves_little(row)
    row.update({"DRAM BW UTIL (%)": "71.5", "MATH FIDELITY": "HiFi2"})


def congests(row):
    row.update({"NOC UTIL (%)": "80.25", "PM IDEAL [ns]": "100"})


def is_dispatched(row):
    row["DISPATCH TOTAL CQ CMD OP TIME [ns]"] = row["DEVICE FW DURATION [ns]"]


def starts_slowly(row):
    row["DEVICE KERNEL DURATION [ns]"] = "%d" % (int(row["DEVICE FW DURATION [ns]"]) * 0.6)


def is_uneven(row):
    row["DEVICE KERNEL DURATION PER CORE AVG [ns]"] = "%d" % (int(row["DEVICE KERNEL DURATION PER CORE MAX [ns]"]) // 2)


def stays(row):
    del row


def vary(rows, turn):
    """Every op that has tensors does another of these."""
    ways = [stays, computes, moves_little, congests, is_measured, is_dispatched, starts_slowly, is_uneven, moves]
    n = turn
    for row in rows:
        if row["OP CODE"] in WHOLE:
            (computes_and_moves if row["OP CODE"] == "Matmul" and ways[n % len(ways)] is moves else ways[n % len(ways)])(row)
            n += 1


def check(path, folder, report, mhz):
    """The report as it is, and two copies."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    seen = set()
    for turn in range(3):
        what, file = "as it is" if not turn else "copy %d" % turn, path
        if turn:
            with open(path, newline="", encoding="utf-8") as f:
                rows = list(csv.DictReader(f))
            vary(rows, 4 * turn)
            file = os.path.join(folder, "varied.csv")
            with open(file, "w", newline="", encoding="utf-8") as f:
                w = csv.DictWriter(f, rows[0].keys())
                w.writeheader()
                w.writerows(rows)
        ops = [work_out(r, mhz) for r in rows if r["DEVICE KERNEL DURATION [ns]"]]
        seen |= {o["bound"] for o in ops}
        by_code = defaultdict(list)
        for o in ops:
            by_code[o["code"]].append(o)
        for group, lines in (("code", by_code), ("none", {o["id"]: [o] for o in ops})):
            found = report(file, "--group", group, "--tables", "op_statistics,roofline")
            key = (lambda r: r["op"]) if group == "code" else lambda r: int(r["op"].split()[0])
            same_rows("%s: rates and bounds by %s" % (what, group), {key(r): r for r in found["op_statistics"]["rows"] if r["runs_on"] == "device"},
                      {k: op_line(l) for k, l in lines.items()})
            key = (lambda r: r["op"]) if group == "code" else lambda r: int(r["op_id"])
            same_rows("%s: roofline by %s" % (what, group), {key(r): r for r in found["roofline"]["rows"]}, {k: roofline_line(l) for k, l in lines.items()})
        yield file
    same("what ops are bound by", sorted(seen, key=str),
         sorted(["compute, DRAM", "compute", "DRAM", "NoC", "dispatch", "launch", "imbalance", "latency", None], key=str))
