#!/usr/bin/env python3
"""What devlog-mpi decode reads, keeps and sends on each rank, as a model, held against what `--stats` says of generated logs, each
figure with its error; then what the model says of 1,024 ranks. docs/fleet.md has the results. Logs are of one board: all ranks see
the same RISCs and zones. Not for time: that is `./dev bench mpi`. Usage: model.py BUILD (./dev bench fleet_model)"""
import collections
import math
import os
import random
import re
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
MPI = os.path.join(BUILD, "bin", "devlog-mpi")
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader",
           OMPI_MCA_btl_vader_single_copy_mechanism="none")
RISCS = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")
HEAD = "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\nPCIe slot, core_x, core_y, RISC processor type, timer_id, " \
       "time[cycles since reset], data, run host ID, trace id, trace id count, zone name, type, source line, source file, meta data\n"

# cores, zones of a kernel beside FW and KERNEL, how often each in a launch, launches
Log = collections.namedtuple("Log", "cores zones times launches")


def write(log, path):
    """Launch after launch, so that every rank meets every RISC; some durations are long, as they are."""
    dice = random.Random(str(log))
    rows = 0
    with open(path, "w", encoding="utf-8") as f:
        f.write(HEAD)
        for launch in range(log.launches):
            for core in range(log.cores):
                for risc in RISCS:
                    place, at = "0,%d,%d,%s," % (1 + core % 8, 1 + core // 8, risc), 1000000000 + launch * 4000000 + dice.randint(0, 500)
                    name = "TRISC" if risc[0] == "T" else risc
                    marks = [(1, name + "-FW", 1), (2, name + "-KERNEL", 1)]
                    for k in range(log.times * log.zones):
                        marks += [(10 + k % log.zones, "zone %d" % (k % log.zones), 1), (10 + k % log.zones, "zone %d" % (k % log.zones), 0)]
                    for timer, zone, start in marks + [(2, name + "-KERNEL", 0), (1, name + "-FW", 0)]:
                        at += dice.randint(20, 40000 if dice.random() < 0.01 else 1000)
                        f.write("%s%d,%d,0,%d,,,%s,%s,10,/home/user/tt-metal/kernels/kernel.cpp,\n" % (place, timer, at, 1024 * (launch + 1), zone, "ZONE_START" if start else "ZONE_END"))
                    rows += len(marks) + 2
    return rows


# ---- The model ------------------------------------------------------------------------------------------------
# Bytes on the wire: numbers take 7 bits a byte. What a zone, a RISC, ... takes beside them was found once, at the first of the sizes below; the
# others hold it against what they measure.
ZONE, STREAM, SITE, NAMES = 17, 58, 45, 500
LAUNCH = 8      # first start and last end, each as the difference from the launch before; ids go on evenly
BEGUN = 1       # a RISC that has begun launches which others have not, of a dump that is cut through
MARK = 5        # of the last run of a part, which may go on behind it
DURATION = 2    # of firmware and kernels, where tables by launch are printed
PASS_BITS, RANGES = 10, 4  # counted at once; ranges that hold a wanted value, mostly
SAMPLE = 4 * 1024 / 1020   # on the disk: of a closed zone
AT_HAND = 17 << 20         # of those, in memory before the disk
KNOWN = 120                # in memory: of a launch (docs/fleet.md, of a log of 1 TB)

# RISCs, zones on each, rows of a launch on a RISC, launches, how many of them a RISC writes one behind the other, cycles of the longest zone
# of users, and of firmware
Size = collections.namedtuple("Size", "streams zones rows launches dump longest firmware")


def varint(number):
    return max(1, math.ceil(math.log2(number + 1) / 7))


def zones_closed(size, launches):
    return size.streams * launches * size.rows / 2


def tree(size, begin, end, by_launch):
    """A message that goes up the tree, of parts from one launch to another, as the log has them. Launches of a dump that is cut
    through have not been begun by all RISCs, unless nothing else is in the message."""
    dumps = (end - begin) / size.dump  # less than one: some RISCs of one
    streams, launches = size.streams * min(1, dumps), max(end - begin, size.dump)
    cut = [math.ceil(begin / size.dump) > begin / size.dump, end / size.dump > math.floor(end / size.dump)]
    begun = BEGUN * size.streams * sum(cut)
    of_each = max(1, launches * size.rows / 2 / size.zones)
    zone = ZONE + varint(of_each) + varint(of_each * 600)
    durations = 2 * streams * launches * DURATION if by_launch else 0
    return NAMES + SITE * (size.zones + 4) + streams * (STREAM + size.zones * zone) + begun + LAUNCH * launches + MARK * size.rows + durations


def above(rank, ranks):
    """How many ranks' parts a rank hands on: its own, and those that came to it."""
    span = 1
    while rank and rank % (8 * span) == 0:
        span *= 8
    return min(span, ranks - rank) if rank else ranks


def counts(longest):
    """For a row of a table: passes from the highest bits down."""
    bits, bytes_sent, first = math.ceil(math.log2(longest)), 0, True
    while bits > 0:
        now = min(bits, PASS_BITS)
        bytes_sent += 8 * (1 if first else RANGES) << now
        bits, first = bits - now, False
    return bytes_sent


def sent(size, rank, ranks, how):
    """`how`: as devlog-mpi's options. Tables have a row for each zone and kind of RISC; by launch, firmware's and kernels' durations have come."""
    of_one = size.launches / ranks
    up = tree(size, of_one * rank, of_one * (rank + above(rank, ranks)), how == "all tables")
    if rank == 0 or how == "--no-print":
        return up if rank else 0
    return up + 5 * (size.zones - 2) * counts(size.longest) + (10 * counts(size.firmware) if how == "--max-launches 0" else 0)


def kept(size, ranks):
    """Durations on a rank's disk."""
    return max(0, SAMPLE * zones_closed(size, size.launches / ranks) - AT_HAND)


def size_of(log):
    rows = 2 * (2 + log.zones * log.times)
    return Size(log.cores * 5, log.zones + 2, rows, log.launches, 1, 4e4, 4e4 + rows * 600)


# ---- What is measured ------------------------------------------------------------------------------------------
TOLD = re.compile(r"rank (\d+): \d+ parts, (\d+) bytes read, (\d+) sent, (\d+) received, .* (\d+) MiB, (\d+) bytes of durations")


def measure(path, ranks, *how):
    done = subprocess.run(["mpirun", "--oversubscribe", "-q", "-n", str(ranks), MPI, "decode", "--stats", "--least", "1", *how, path], env=ENV,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    told = [tuple(map(int, m.groups())) for m in map(TOLD.search, done.stderr.splitlines()) if m]
    if len(told) != ranks:
        sys.exit("model.py: devlog-mpi said: " + done.stderr)
    return told


def beside(what, model, measured):
    error = 100 * (model - measured) / measured if measured else 0
    print("  %-42s %14.0f %14d %+7.1f %%" % (what, model, measured, error), flush=True)
    return abs(error)


def hold(name, size, path, many):
    """Reads, sends and the disk of each rank beside the model."""
    worst = 0
    for ranks in many:
        for how, options in (("--no-print", ["--no-print"]), ("--max-launches 0", ["--max-launches", "0"]), ("all tables", ["--max-launches", "100000"])):
            told = measure(path, ranks, *options)
            model = [sent(size, r, ranks, how) for r in range(1, ranks)]
            what = "%s, %d ranks, %s" % (name, ranks, how)
            worst = max(worst, beside(what, sum(model), sum(t[2] for t in told)))
            if how == "--no-print":
                share = max(abs(t[1] - os.path.getsize(path) / ranks) for t in told) / os.path.getsize(path) * ranks
                print("    read: at most %.1f %% from an even share; on the disk of a rank: %.0f by the model, %d" % (100 * share, kept(size, ranks), max(t[5] for t in told)))
    return worst


BASE = Log(8, 4, 2, 24)
LOGS = [("base", BASE), ("rows x4", BASE._replace(times=11)), ("rows x16", BASE._replace(times=47)), ("cores x4", BASE._replace(cores=32)), ("zones x3", BASE._replace(zones=12)),
        ("launches x4", BASE._replace(launches=96)), ("launches x16", BASE._replace(launches=384))]


def virtual(folder, gb, row=160):
    """A log that is made as it is read (bench/terabyte), and its size for the model."""
    path, piece = os.path.join(folder, "virtual.csv"), 10 * row
    with open(path, "wb") as f:
        f.truncate(247 + int(gb * 1e9) // piece * piece)
    ENV.update(LD_PRELOAD=os.path.join(BUILD, "bin", "bench_terabyte.so"), DEVLOG_BENCH_LOG=path, DEVLOG_BENCH_ROW=str(row), TMPDIR=folder)
    return path, Size(320, 5, 10, int(gb * 1e9) // piece / 320, 1000, 1100, 9000)


def fleet(ranks, streams, zones, rows, bytes_of_rank, row=116):
    """The model's word on a fleet: of one board's log that is cut, and of what a rank keeps and sends."""
    launches = bytes_of_rank / row / rows / streams
    size = Size(streams, zones, rows, launches * ranks, 1, 10**6, 10**6)
    print("%d ranks, %.0f GB each, %d RISCs, %d zones on each, %d rows of a launch on a RISC: %.0f launches on a rank" % (ranks, bytes_of_rank / 1e9, streams, zones, rows, launches))
    print("  kept on the disk of a rank          %12.2f GB; rank 0 knows of launches: %.0f MiB" % (kept(size, ranks) / 1e9, KNOWN * launches * ranks / 2**20))
    for how in ("--no-print", "--max-launches 0", "all tables"):
        up = [sent(size, r, ranks, how) for r in range(1, ranks)]
        into = sum(sent(size, i * 8**k, ranks, how) for k in range(4) for i in range(1, 8) if i * 8**k < ranks)
        print("  %-18s sent by a rank %10.2f MB least, %10.2f MB most; rank 0 gets %10.2f MB" % (how, min(up) / 1e6, max(up) / 1e6, into / 1e6))
    print("  launches of all: %.1f million, of 4.2 million that are kept apart" % (launches * ranks / 1e6))


def main():
    with tempfile.TemporaryDirectory(prefix="devlog-model.") as folder:
        worst = 0
        print("  %-42s %14s %14s" % ("bytes that all ranks send", "model", "measured"))
        for name, log in LOGS:
            path = os.path.join(folder, "log.csv")
            write(log, path)
            worst = max(worst, hold(name, size_of(log), path, (2, 8)))
        for gb in (1, 10):
            path, size = virtual(folder, gb)
            worst = max(worst, hold("%d GB, 320 RISCs" % gb, size, path, (2, 8)))
    print("largest error: %.1f %%" % worst)
    fleet(1024, 320, 20, 38 * 2, 58e9)
    fleet(1024, 320, 20, 2000, 58e9)


main()
