"""Random runs for checks of reports: device logs whose rows can be put in any order, and op reports. The same seed gives the same.
Not a check itself."""
import csv
import random

MHZ = 1350
HEAD = ("ARCH: wormhole_b0, CHIP_FREQ[MHz]: %d\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
        "trace id, trace id counter, zone name, type, source line, source file, meta data\n")
RISCS = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")
ORDERS = {
    "by time": lambda row: row[0],
    "core by core": lambda row: row[1:5],
    "RISC by RISC": lambda row: (row[4], row[1], -row[2], row[3]),
    "launch by launch": lambda row: (row[6], row[1:5]),
}


def rows_of(r, slow):
    """Rows as (time, chip, x, y, RISC, number, launch, text). Zones in zones, sums, values, events; in each launch some RISCs of some cores."""
    rows = []
    shape = random.Random(r.random())
    for chip in range(r.choice((1, 2, 3))):
        now = r.randrange(10**6, 10**12)
        for launch in range(1, r.randrange(4, 12)):
            kind, end, ends = r.randrange(3), now, set()  # no two RISCs end at once: either would be the path's
            for x in range(1, 4):
                for y in range(1, 3):
                    for risc in r.sample(RISCS, r.randrange(2, 6)) if r.random() < 0.9 else ():
                        at = now + r.randrange(200)

                        def row(name, what, line, data=0, meta="", file="k%d.cc" % kind):
                            rows.append((at, chip, x, y, RISCS.index(risc), len(rows), launch, "%d,%d,%d,%s,%d,%d,%d,%d,,,%s,%s,%d,%s,%s" % (
                                chip, x, y, risc, line, at, data, launch, name, what, line, file, meta)))

                        family = risc.split("_")[0]
                        row(family + "-FW", "ZONE_START", 1, file="fw.cc")
                        at += r.randrange(5, 50)
                        row(family + "-KERNEL", "ZONE_START", 2)
                        for _ in range(r.randrange(6)):
                            at += r.randrange(1, 40)
                            row("outer", "ZONE_START", 10)
                            at += r.randrange(1, 40)
                            row("inner", "ZONE_START", 12)
                            at += int(r.randrange(20, 900) * (slow if kind == 1 else 1)) + shape.randrange(3)
                            row("inner", "ZONE_END", 12)
                            at += 3
                            row("outer", "ZONE_END", 10)
                            at += 2
                            row("value", "TS_DATA", 20, r.randrange(1000))
                        at += 5
                        row("sum", "ZONE_TOTAL", 30, r.randrange(5000), '{"count":%d;"min":%d;"max":%d}' % (r.randrange(1, 9), r.randrange(9), 99))
                        row("event", "TS_EVENT", 21)
                        at += 2
                        row(family + "-KERNEL", "ZONE_END", 2)
                        at += r.randrange(5, 90)
                        while at in ends:
                            at += 1
                        ends.add(at)
                        row(family + "-FW", "ZONE_END", 1, file="fw.cc")
                        end = max(end, at)
            now = end + r.randrange(100, 9000)
    return rows


def write_log(path, rows, order):
    with open(path, "w", encoding="utf-8") as f:
        f.write(HEAD % MHZ)
        f.writelines(row[-1] + "\n" for row in sorted(rows, key=lambda row: (order(row), row[5])))


def write_report(path, ops):
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, list(ops[0]), lineterminator="\n")
        w.writeheader()
        w.writerows(ops)


def ops_of(r):
    """An op report of two chips, with ops that were captured and replayed."""
    ops, at, host = [], [10**6, 10**9], 1000
    gaps, times = r.sample(range(20000), 200), r.sample(range(100, 50000), 200)  # of equal ones either would be the longest
    for i in range(1, r.randrange(8, 30)):
        traced = r.random() < 0.2
        for chip in (0, 1):
            host += r.randrange(100, 9000)
            op = {"OP CODE": r.choice(("Matmul", "Add", "Softmax")) if chip == 0 else ops[-1]["OP CODE"], "OP TYPE": "tt_dnn_device",
                  "GLOBAL CALL COUNT": i << 10 | chip, "DEVICE ID": chip, "METAL TRACE ID": "", "METAL TRACE REPLAY SESSION ID": "", "HOST START TS": host,
                  "HOST END TS": host + 900, "HOST DURATION [ns]": 900, "CORE COUNT": r.choice((8, 16, 32, 64)), "AVAILABLE WORKER CORE COUNT": 64,
                  "CompileProgram_TT_HOST_FUNC [ns]": r.choice(("", 500)), "OP TO OP LATENCY [ns]": "", "DEVICE FW START CYCLE": "",
                  "DEVICE FW END CYCLE": "", "DEVICE FW DURATION [ns]": "", "DEVICE KERNEL DURATION [ns]": ""}
            if traced or r.random() < 0.1:
                ops.append(op)
            for session in range(1, r.randrange(2, 4)) if traced else [0] if ops[-1:] != [op] else []:
                gap, took = gaps.pop(), times.pop()
                at[chip] += gap
                ops.append(dict(op, **{"METAL TRACE ID": "" if not session else 1, "METAL TRACE REPLAY SESSION ID": session or "",
                                       "OP TO OP LATENCY [ns]": gap, "DEVICE FW START CYCLE": at[chip], "DEVICE FW END CYCLE": at[chip] + took + 10,
                                       "DEVICE FW DURATION [ns]": took + 10, "DEVICE KERNEL DURATION [ns]": took}))
                at[chip] += took + 10
    return ops
