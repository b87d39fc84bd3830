"""Tables of every command that answers fit a terminal of 80 columns, on what is wide in every way at once: four chips, long names, numbers
of 15 digits, waits, losses. And Markdown is a table of as many cells in every line. Usage: widths.py BUILD."""
import csv
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

from shared import BUILD, SOURCE, bad, missing, on_terminal

LONG = "ttnn_operations_matmul_with_a_name_that_is_much_longer_than_any_terminal_is_wide_in_any_case_of_use_at_all"
BIG = 123456789012345
tables = 0


def write_report(name, factor):
    """Ops of four chips with all that tables show."""
    riscs = ["BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2", "ERISC"]
    rows, at = [], 10**15
    for number in range(1, 13):
        code = LONG + "_%d" % (number % 5) if number % 3 else "Matmul"
        for chip in range(4):
            ns = int((BIG // 1000 + 7 * number + chip) * (factor if number == 2 else 1))
            row = {"OP CODE": code, "OP TYPE": "tt_dnn_device", "GLOBAL CALL COUNT": number << 10 | chip, "DEVICE ID": chip, "DEVICE ARCH": "wormhole_b0",
                   "CORE COUNT": 3, "AVAILABLE WORKER CORE COUNT": 64, "HOST START TS": 10**18 + number * 10**12, "HOST END TS": 10**18 + number * 10**12 + 10**11,
                   "HOST DURATION [ns]": 10**11, "DEVICE FW START CYCLE": at, "DEVICE FW END CYCLE": at + ns, "OP TO OP LATENCY [ns]": BIG // 10**4,
                   "DEVICE FW DURATION [ns]": ns, "DEVICE KERNEL DURATION [ns]": ns - 5, "MATH FIDELITY": "HiFi4",
                   "DEVICE KERNEL DURATION PER CORE MIN [ns]": ns // 2, "DEVICE KERNEL DURATION PER CORE MAX [ns]": ns - 5,
                   "DEVICE KERNEL DURATION PER CORE AVG [ns]": ns // 3 * 2, "PM IDEAL [ns]": ns // 7, "CompileProgram Count": 1, "CompileProgram Average": 10**10,
                   "COMPUTE KERNEL SOURCE": "['a/%s.cpp']" % LONG, "DATA MOVEMENT KERNEL SOURCE": "['a/%s_reader.cpp'; 'a/%s_writer.cpp']" % (LONG, LONG)}
            row.update({"DEVICE %s KERNEL DURATION [ns]" % r: ns - 10 - i for i, r in enumerate(riscs)})
            for tensor in ("INPUT_0", "INPUT_1", "OUTPUT_0"):
                row.update({tensor + "_%s_PAD[LOGICAL]" % a: "131072[131072]" for a in "WZYX"})
                row.update({tensor + "_LAYOUT": "TILE", tensor + "_DATATYPE": "BFLOAT16", tensor + "_MEMORY": "DEV_%d_DRAM_INTERLEAVED" % chip})
            rows.append(row)
        at += BIG // 500
        rows.append({"OP CODE": ("step %d " if number % 2 else "%d of ") % number + LONG, "OP TYPE": "signpost"})
    with open(name, "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, list(rows[0]), restval="")
        w.writeheader()
        w.writerows(rows)


def write_log(name, factor):
    """Launches on four chips: a reader and a math kernel with a buffer between them, and a drop."""
    lines = []
    for chip in range(4):
        for launch in range(3):
            for core in range(2):
                at = 10**14 + launch * 10**12 + core

                def zone(risc, name_, start, end, line=100000):
                    for time, kind in ((start, "ZONE_START"), (end, "ZONE_END")):
                        lines.append((chip, core, risc, at + time, 0, launch + 1, name_, kind, line))

                def value(risc, name_, time, counter, reached):
                    lines.append((chip, core, risc, at + time, reached << 32 | counter, launch + 1, name_, "TS_DATA", 100001))

                took = int(10**11 * (factor if launch == 1 else 1))
                zone("BRISC", "BRISC-FW", 0, 3 * took)
                zone("BRISC", "BRISC-KERNEL", 10, 2 * took + 10)
                zone("BRISC", LONG + " reads", 20, took)
                value("BRISC", "DEVLOG-GIVES", took + 10, 0xFFFF0000, 1)
                zone("TRISC_1", "TRISC-FW", 5, 2 * took + 5)
                zone("TRISC_1", "TRISC-KERNEL", 15, 2 * took)
                value("TRISC_1", "DEVLOG-WANTS", 25, 0xFFFF0000, 1)
                zone("TRISC_1", "DEVLOG-WAIT-EMPTY", 30, took + 100)
                zone("TRISC_1", LONG + " computes", took + 110, 2 * took - 10)
    order = {"ZONE_START": 0, "TS_DATA": 1, "ZONE_END": 2}
    lines.sort(key=lambda l: (l[0], l[3], order[l[7]]))
    with open(name, "w", encoding="utf-8") as f:
        f.write("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
                "trace id, trace id counter, zone name, type, source line, source file, meta data\n")
        for n, (chip, core, risc, time, data, launch, zone_, kind, line) in enumerate(lines):
            if n != len(lines) - 7:  # a zone that never ends: losses
                f.write("%d,%d,2,%s,%d,%d,%d,%d,,,%s,%s,%d,/a/long/way/to/%s.cpp,\n" % (chip, core + 1, risc, 1000 + hash_of(zone_), time, data, launch, zone_, kind, line, LONG))


def hash_of(name):
    return sum(name.encode()) % 9000


def wide(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def check_terminal(folder, args, statuses=(0, 3)):
    global tables
    status, out = on_terminal(80, ["devlog", *args], ENV, cwd=folder)
    if status not in statuses:
        bad.append("devlog %s: status %d: %s" % (" ".join(args), status, out[-300:]))
    lines = out.split("\n")
    tables += sum(1 for line in lines if line.isupper() or re.search(r"\S {2,}\S+ {2,}\S", line) is not None)
    for line in lines:
        # Places in files (losses), which can be copied, and what is told on standard error are not cut.
        if wide(line) > 80 and not line.startswith("devlog ") and not re.match(r"\s+\S+:\d+: ", line):
            bad.append("devlog %s: %d columns: %s" % (" ".join(args), wide(line), line))


def check_markdown(folder, args, statuses=(0, 3)):
    words = 2 if args[0] == "ops" else 1
    r = subprocess.run(["devlog", *args[:words], "--format", "md", *args[words:]], capture_output=True, text=True, cwd=folder, env=ENV)
    if r.returncode not in statuses:
        bad.append("devlog %s --format md: status %d: %s" % (" ".join(args), r.returncode, r.stderr))
        return
    cells, found = 0, 0
    for line in r.stdout.split("\n"):
        n = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if n and cells and n != cells:
            bad.append("devlog %s --format md: %d cells, not %d: %s" % (" ".join(args), n, cells, line))
        cells = n
        found += n > 0
    if not found:
        bad.append("devlog %s --format md: there is no table" % " ".join(args))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, factor in (("old", 1), ("new", 1.5)):
            write_report(os.path.join(folder, name + ".csv"), factor)
            write_log(os.path.join(folder, name + "_log.csv"), factor)
        with open(os.path.join(folder, "budgets.txt"), "w", encoding="utf-8") as f:
            f.write("10 BRISC read page\n1000000000 * BRISC-KERNEL\n")
        answers = [["report", "old.csv"], ["report", "old_log.csv"], ["causes", "old_log.csv"], ["diff", "old_log.csv", "new_log.csv"],
                   ["diff", "--exact", "--fail-on", "op>+900%", "old.csv", "new.csv"]]
        cycles = [] if missing("riscv64-unknown-elf-gcc") else [
            ["budget", "--log", "logs", "budgets.txt"], ["annotate", "logs"], ["causes", "logs"], ["report", "logs"]]
        if cycles:
            subprocess.run(["net20", "3"], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                           env=dict(ENV, DEVLOG_ANNOTATE="1", DEVLOG_WAITS="1", TT_METAL_DEVICE_PROFILER="1", DEVLOG_LOG_FOLDER="logs", DEVLOG_RECORDING="stream",
                                    DEVLOG_GRID="columns=1-2,rows=1-1", DEVLOG_OPS="0"))
        more = [["report", "--group", g, "--tables", "op_statistics,roofline", "old.csv"] for g in ("shape", "memory", "category", "none")]
        other = [["ops", "summary", "old.csv"], ["ops", "compare", "old.csv", "new.csv"], ["ops", "compare", "--list", "old.csv", "new.csv"], ["decode", "--no-files", "old_log.csv"]]
        for args in answers + cycles + more + other:
            check_terminal(folder, args, (0, 3, 4))
        for args in answers + cycles + more + other + [["time", "-n", "2", "--", "true"]]:
            check_markdown(folder, args, (0, 3, 4))
        check_terminal(folder, ["time", "-n", "2", "--", "true"])


ENV = {k: v for k, v in os.environ.items() if not k.startswith(("DEVLOG_", "TT_METAL_"))}
ENV.update(DEVLOG_HOME=SOURCE, DEVLOG_CACHE=os.path.join(BUILD, "cache"), PATH=os.path.join(BUILD, "bin") + ":" + os.environ["PATH"])
main()
for b in bad[:40]:
    print(b)
print("%d lines with cells, %d are wrong" % (tables, len(bad)))
sys.exit(1 if bad or tables < 100 else 0)
