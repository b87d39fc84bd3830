#!/usr/bin/env python3
"""devlog-mpi under Debian's Open MPI, as root if need be: what rank 0 prints is what devlog decode --no-files prints, to the byte, for
random logs, in one file or several, of any number of ranks, cut anywhere, and so are the files that they write; a rank that dies, or cannot read or write, ends the job and is
named. Usage: mpi.py BUILD. DEVLOG_TEST_CASES=N: N random logs."""
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile

from capture_frames import frames_of, random_capture
from launcher import job
from shared import BUILD, DEVLOG, NN, bad, finish, missing, same

MPI, DIES = os.path.join(BUILD, "bin", "devlog-mpi"), os.path.join(BUILD, "bin", "mpi_dies")
ENV = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_odls_base_sigkill_timeout="0")  # without it mpirun sleeps for two seconds when a status is not 0
HEAD = "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id count, " \
       "zone name, type, source line, source file, meta data\n"
OLD = "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
RISCS = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")


def log_of(r, old=False):
    """Pieces of a log, each of which may begin a file: launches of two chips with drops, values, sums, messages, open zones, long
    names, more than one run of the program; `old`: without launch ids."""
    pieces, clock = [], 1000000
    chips, cores = r.randint(1, 2), r.randint(1, 4)
    run = 0
    for launch in range(r.randint(3, 14)):
        lines = []
        if not launch or r.random() < 0.08:
            run += 1
            lines.append("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000" + ("\n" if old else ", Max Compute Cores: 64, Run: %x\n" % (0xABC + run)))
            lines.append(OLD if old else HEAD)
        clock += 100000 + r.randint(0, 1000)
        if r.random() < 0.03:
            clock += 1 << 32
        for chip in range(chips):
            for core in range(cores):
                for risc in RISCS:
                    at = clock + r.randint(0, 500)
                    name = "TRISC" if risc.startswith("T") else risc

                    def row(timer, zone, kind, line=10, data=0, meta=""):
                        nonlocal at
                        at += 20 + r.randint(0, 4000 if r.random() < 0.1 else 90)
                        place = "%d,%d,%d,%s,%d,%d" % (chip, core, 1 + core % 2, risc, timer, at & ((1 << 44) - 1))
                        if not old:
                            lines.append(place + ",%d,%d,,,%s,%s,%d,kernel%d.c,%s\n" % (data, 1024 * (launch + 1), zone, kind, line, launch % 3, meta))
                        elif timer < 5:
                            lines.append(place + "\n")
                    row(1, name + "-FW", "ZONE_START")
                    row(2, name + "-KERNEL", "ZONE_START")
                    for k in range(r.randint(0, 4)):
                        zone = ("READ", "WRITE", "a zone with a long name, of many words" if r.random() < 0.05 else "COMPUTE")[k % 3].replace(",", " ")
                        row(100 + k, zone, "ZONE_START", 20 + k)
                        if r.random() < 0.2:
                            row(200, "LEVEL", "TS_DATA", 30, r.randint(0, 999))
                        if r.random() < 0.95:
                            row(100 + k, zone, "ZONE_END", 20 + k)
                    if r.random() < 0.1:
                        row(201, "POINT", "TS_EVENT", 31, 0, '{"text":"message %d"}' % r.randint(0, 9))
                    if r.random() < 0.2:
                        row(203, "SUM", "ZONE_TOTAL", 33, r.randint(0, 9999), '{"count":3;"min":1;"max":400}')
                    if r.random() < 0.05:
                        row(300, "DEVLOG-DROPPED", "ZONE_TOTAL", 0, r.randint(1, 9))
                    row(3, name + "-KERNEL", "ZONE_END")
                    row(4, name + "-FW", "ZONE_END") if r.random() < 0.99 else None
                    if r.random() < 0.01:
                        lines.append(r.choice(("nonsense\n", "1,2\n", "\n", "0,0,1,BRISC,7,x,,,,,Z,ZONE_START,1,f,\n")))
        pieces.append("".join(lines))
    return pieces


def files_of(r, pieces, folder):
    paths, n = [], r.randint(1, 3)
    cuts = sorted(r.sample(range(1, len(pieces)), min(n - 1, len(pieces) - 1)))
    for i, (a, b) in enumerate(zip([0] + cuts, cuts + [len(pieces)])):
        paths.append(os.path.join(folder, "log%d.csv" % i))
        with open(paths[-1], "w") as f:
            f.write("".join(pieces[a:b]))
        if r.random() < 0.4:  # packed, under the same name
            packed = paths[-1] + ".pack"
            subprocess.run([DEVLOG, "pack", "-o", packed, paths[-1]], env=ENV, capture_output=True, check=True)
            os.replace(packed, paths[-1])
    return paths


def mpirun(n, *args, before=()):
    return job("-q", "-n", str(n), *before, MPI, *args, env=ENV)


def ours(done):
    """What devlog-mpi said on standard error, without what mpirun adds."""
    return [line for line in done.stderr.decode().splitlines() if line.startswith("devlog-mpi")]


def files_in(out):
    """The files that were written, by name; they are gone then."""
    found = {name: open(os.path.join(out, name), "rb").read() for name in sorted(os.listdir(out))} if os.path.isdir(out) else {}
    shutil.rmtree(out, ignore_errors=True)
    return found


def same_files(what, got, expected):
    same("%s: files" % what, list(got), list(expected))
    for name in got:
        if got[name] != expected.get(name):
            bad.append("%s: %s: not the bytes of one process: %r" % (what, name, got[name][:2000]))


ANALYSES = """{"reads": {"across": "risc", "type": "adjacent", "start": {"zone_name": "READ"}, "end": {"zone_name": "READ", "zone_phase": "ZONE_END"}},
  "between kernels": {"across": "risc", "type": "adjacent", "start": {"role": "KERNEL", "zone_phase": "ZONE_END"}, "end": {"role": "KERNEL"}},
  "level": {"across": "ops", "type": "sum", "marker": {"zone_name": "SUM"}}, "points": {"across": "device", "type": "event", "marker": {"zone_name": "POINT"}}}"""


def as_it_is_typed(what, args, out, alone, written):
    """Two ranks without options that cut small logs."""
    done = mpirun(2, "decode", *args)
    same("%s as it is typed: %s" % (what, ours(done)), (done.returncode, done.stdout == alone.stdout), (alone.returncode, True))
    same_files("%s as it is typed" % what, files_in(out), written)


def any_split(folder):
    analyses = os.path.join(folder, "analyses.json")
    cases = int(os.environ.get("DEVLOG_TEST_CASES", "6"))
    for seed in range(cases):
        r = random.Random(seed)
        paths = files_of(r, log_of(r, old=seed % 5 == 4), folder)
        with open(analyses, "w") as f:
            f.write(ANALYSES)
        how = (("-f", "csv"), ("--max-launches", "3", "-a", analyses), ("-f", "json", "-a", analyses), ("-f", "md", "--no-tar"), ("-f", "json", "--no-default-analyses"))[seed % 5]
        out = os.path.join(folder, "out")  # files, too; or none
        files = ("-o", out, "--no-page") if seed % 6 != 4 else ("--no-files",)
        alone = subprocess.run([DEVLOG, "decode", *files, *how, *paths], env=ENV, capture_output=True)
        written = files_in(out)
        same("log %d: files" % seed, len(written), 0 if "-o" not in files else 2 if "--no-tar" in how else 3)
        n, parts = (1, 2, 3, 4, 8, 2)[seed % 6], r.randint(2, 12)
        done = mpirun(n, "decode", *files, *how, "--least", "1", "--parts", str(parts), *paths)
        what = "log %d, %d files, %d ranks, %d parts" % (seed, len(paths), n, parts)
        same(what + ": status", (alone.returncode in (0, 3), done.returncode), (True, alone.returncode))
        if done.stdout != alone.stdout:
            bad.append("%s: not the bytes of one process: %s\n%s" % (what, ours(done), done.stdout[-400:].decode()))
        same_files(what, files_in(out), written)
        if seed < 2:
            as_it_is_typed("log %d" % seed, [*files, *how, *paths], out, alone, written)
        for jobs in (n + 1, parts, r.randint(2, 40)):  # threads: cut elsewhere each time
            threads = subprocess.run([DEVLOG, "decode", *files, "-j", str(jobs), "--least", "1", *how, *paths], env=ENV, capture_output=True)
            same("%s: -j %d" % (what, jobs), (threads.returncode, threads.stdout == alone.stdout), (alone.returncode, True))
            same_files("%s: -j %d" % (what, jobs), files_in(out), written)
        for path in paths:
            os.unlink(path)


def steady(rows, path, launches=12):
    """A log of so many launches on 10 RISCs, with so many zones of three names in each."""
    r = random.Random(7)
    with open(path, "w") as f:
        f.write("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64, Run: 77\n" + HEAD)
        for launch in range(launches):
            for core in range(2):
                for risc in RISCS:
                    at = 1000000 + launch * 10000000
                    for name in ["", *[("READ", "WRITE", "COMPUTE")[k % 3] for k in range(rows)], None]:
                        kinds = ("ZONE_START", "ZONE_END") if name else ("ZONE_START",) if name == "" else ("ZONE_END",)
                        for kind in kinds:
                            at += 20 + r.randint(0, 3000)
                            f.write("0,%d,1,%s,7,%d,0,%d,,,%s,%s,10,kernel.c,\n" % (core, risc, at, 1024 * (launch + 1), name or ("TRISC" if risc[0] == "T" else risc) + "-FW", kind))


def sent(path, *how):
    """Bytes that each of four ranks sent, and what was printed."""
    done = mpirun(4, "decode", "--stats", "--least", "1", *how, path)
    same("log of steady launches: %s" % ours(done), done.returncode, 0)
    told = [line.split() for line in ours(done) if " bytes read, " in line]
    for line in told:  # N bytes read, N sent, N received, X s of processor time, Y s of that in MPI, Z MiB
        same("processor time, and of that in MPI: %s" % " ".join(line), 0 < float(line[18]) <= float(line[13]) + 0.02, True)
    return [int(line[9]) for line in told], done.stdout


def independent(folder):
    """Sixteen times the rows: hardly more is sent, and what is printed is right."""
    few, many = os.path.join(folder, "few.csv"), os.path.join(folder, "many.csv")
    steady(30, few)
    steady(480, many)
    for how in (("--max-launches", "0"), ("--no-print",), ()):
        a, b = sent(few, *how)[0], sent(many, *how)
        same("%s: ranks that send" % (how,), (a[0], sorted(x > 0 for x in a[1:])), (0, [True] * 3))
        if any(y > 1.25 * x + 6000 for x, y in zip(a, b[0])):  # the marks of a run that waits for more at a cut go on as they are: one of each rank
            bad.append("%s: %s bytes of a log, and %s of one with 16 times the rows" % (how, a, b[0]))
        alone = subprocess.run([DEVLOG, "decode", "--no-files", *how, many], env=ENV, capture_output=True)
        same("%s: bytes of one process" % (how,), b[1] == alone.stdout, True)
    os.unlink(few)
    os.unlink(many)


def launches_of_a_part(folder):
    """The table by launch: durations of the launches that are shown are sent, and not those of the others."""
    log = os.path.join(folder, "launches.csv")
    for n, launches in enumerate((300, 900)):
        steady(1, log, launches)
        plain, few = sent(log, "--max-launches", "0"), sent(log, "--max-launches", "7")
        alone = subprocess.run([DEVLOG, "decode", "--no-files", "--max-launches", "7", log], env=ENV, capture_output=True).stdout
        same("%d launches: bytes of one process" % launches, (few[1] == alone, b"... and %d more launches" % (launches - 7) in alone), (True, True))
        more = sum(few[0]) - sum(plain[0])
        if not 7 < more < 7 * 20 * 12 + 1000:  # 7 launches of 20 keys, some 5 bytes each
            bad.append("%d launches: %d bytes were sent for a table of 7" % (launches, more))
    os.unlink(log)


def launches_that_others_end(folder):
    """Launches of which the first part knows no duration, as the ends of its zones are lost, count when another part has one."""
    log = os.path.join(folder, "half.csv")
    with open(log, "w") as f:
        f.write("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n" + HEAD)
        for risc in ("BRISC", "NCRISC"):
            for launch in range(40):
                at = 1000000 + launch * 10000
                f.write("0,1,1,%s,7,%d,0,%d,,,%s-FW,ZONE_START,10,kernel.c,\n" % (risc, at, 1024 * (launch + 1), risc))
                if risc == "NCRISC" and launch % 4:
                    f.write("0,1,1,%s,7,%d,0,%d,,,%s-FW,ZONE_END,10,kernel.c,\n" % (risc, at + 100 + launch, 1024 * (launch + 1), risc))
    how = ("--max-launches", "7", log)
    alone = subprocess.run([DEVLOG, "decode", "--no-files", *how], env=ENV, capture_output=True)
    same("launches with durations", b"... and 23 more launches" in alone.stdout, True)
    for ranks, parts in ((2, 2), (3, 3), (3, 7)):
        done = mpirun(ranks, "decode", "--least", "1", "--parts", str(parts), *how)
        same("launches that another part ends: %d parts" % parts, (done.returncode, done.stdout == alone.stdout), (alone.returncode, True))
    os.unlink(log)


def launches_anywhere(folder):
    """The table by launch of logs in which launches are of several parts, come back in other files, or have no ids."""
    for seed in range(int(os.environ.get("DEVLOG_TEST_CASES", "6"))):
        r = random.Random(1000 + seed)
        paths = files_of(r, log_of(r, old=seed % 3 == 2), folder)
        if seed % 3 == 1:  # all ids again
            paths.append(os.path.join(folder, "again.csv"))
            shutil.copyfile(paths[0], paths[-1])
        most, n, parts = r.choice((1, 2, 5, 20, 100)), r.randint(2, 9), r.randint(2, 16)
        how = ("-f", r.choice(("text", "md")), "--max-launches", str(most), *paths)
        alone = subprocess.run([DEVLOG, "decode", "--no-files", *how], env=ENV, capture_output=True)
        done = mpirun(n, "decode", "--least", "1", "--parts", str(parts), *how)
        what = "launches %d: %d files, %d ranks, %d parts, %d shown" % (seed, len(paths), n, parts, most)
        same(what, (done.returncode, done.stdout == alone.stdout), (alone.returncode, True))
        for path in paths:
            os.unlink(path)


def volume(folder):
    """What ranks read, send and receive is told."""
    r = random.Random(99)
    paths = files_of(r, log_of(r), folder)
    done = mpirun(3, "decode", "--stats", "--no-print", "--least", "1", "--parts", "3", *paths)
    told = [line.split() for line in ours(done) if " bytes read, " in line]
    same("ranks that tell", [line[3] for line in told], ["0:", "1:", "2:"])
    same("bytes read", sum(int(line[6]) for line in told), sum(os.path.getsize(p) for p in paths))
    same("what is sent is received", sum(int(line[9]) for line in told) <= sum(int(line[11]) for line in told), True)
    same("few durations are on no disk", [line[26:] for line in told], [["0", "bytes", "of", "durations", "on", "the", "disk"]] * 3)
    whole = mpirun(2, "decode", "--stats", "--no-print", "--parts", "1", *paths)
    same("bytes read as a whole", [int(line.split()[6]) for line in ours(whole) if " bytes read, " in line], [sum(os.path.getsize(p) for p in paths), 0])
    return paths


def told_kept(done):
    """What --resume said, and how many bytes were read."""
    lines = ours(done)
    read = [int(line.split()[6]) for line in lines if " bytes read, " in line]
    return [line.split("kept: ")[1] for line in lines if "/kept: " in line], sum(read)


def killed_while_files_are_written(out, how, log, written):
    """A rank is killed when the first file has been begun: nothing has the name of a file but what was there before. A kill that comes late, when
    all files are there, is tried again."""
    before, late = {"device_stats.txt": b"of yesterday\n"}, 0
    kill = "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then (for i in $(seq 6000); do ls %s | grep -q 'tar[.]' && kill -9 $$ && exit; sleep 0.005; done) >/dev/null 2>&1 & fi; exec %s \"$@\"" % (out, MPI)
    for _ in range(5):
        os.mkdir(out)
        with open(os.path.join(out, "device_stats.txt"), "w") as f:
            f.write("of yesterday\n")
        done = job("-n", "2", "sh", "-c", kill, "sh", "decode", *how, log, env=ENV, again=False)
        found = files_in(out)
        named = {name: found[name] for name in found if name.endswith((".txt", ".csv", ".tar"))}
        if named != written:
            break
        late += 1
    same("killed while files are written: late %d times" % late, (done.returncode != 0, named), (True, before))
    # The disk of one rank is full.
    os.mkdir(out)
    with open(os.path.join(out, "device_rearranged_timestamps.csv"), "w") as f:
        f.write("of yesterday\n")
    full = "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then ulimit -f 0; fi; exec %s \"$@\"" % MPI
    done = job("-n", "2", "sh", "-c", full, "sh", "decode", *how, log, env=dict(ENV, OMPI_MCA_btl="self,tcp", OMPI_MCA_sharedfp_base_verbose="100"))
    said = [line for line in ours(done) if "cannot write" in line]
    same("a rank that cannot write: %s" % done.stderr.decode()[:4000], (done.returncode, len(said), "rank 1 of 2 on" in "".join(said), "allow larger files (ulimit -f)" in "".join(said)), (1, 1, True, True))
    # Open MPI's own file beside it is not opened: a rank that has no room for that ends with a bus error, once in a while.
    same("a rank that cannot write: shared file pointers", "sharedfp" in done.stderr.decode(), False)
    same("a rank that cannot write: files", files_in(out), {"device_rearranged_timestamps.csv": b"of yesterday\n"})


def resumed(folder):
    """A job is killed, and started again: it decodes what is missing, and prints what one process does."""
    log, kept = os.path.join(folder, "long.csv"), os.path.join(folder, "kept")
    steady(120, log)
    out = os.path.join(folder, "out")
    size, how = os.path.getsize(log), ("-f", "json", "--least", "1", "--resume", kept, "-o", out)
    alone = subprocess.run([DEVLOG, "decode", "--no-page", "-o", out, "-f", "json", log], env=ENV, capture_output=True).stdout
    written = files_in(out)
    # Rank 1 has kept its first two parts and waits for the third, for nobody writes into that pipe: there it is killed.
    os.mkdir(kept)
    os.mkfifo(os.path.join(kept, "devlog-part-14"))
    kill = "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then (for i in $(seq 3000); do [ -e %s/devlog-part-13 ] && kill -9 $$ && exit; sleep 0.02; done) >/dev/null 2>&1 & fi; exec %s \"$@\"" % (kept, MPI)
    done = job("-n", "2", "sh", "-c", kill, "sh", "decode", *how, "--parts", "24", log, env=ENV, again=False)
    os.unlink(os.path.join(kept, "devlog-part-14"))
    parts = [name for name in os.listdir(kept) if name.startswith("devlog-part-") and "." not in name]
    same("a rank that is killed: %s" % done.stderr.decode()[-200:], (done.returncode != 0, done.stdout, "devlog-part-13" in parts, 2 <= len(parts) <= 14), (True, b"", True, True))
    same("a rank that is killed: files", files_in(out), {})
    # Another number of ranks has the same parts.
    done = mpirun(3, "decode", "--stats", *how, log)
    said, read = told_kept(done)
    same("started again: %s" % ours(done), (done.returncode, said), (0, ["%d of 24 parts were there" % len(parts)]))
    same("started again: bytes of one process", done.stdout == alone, True)
    same_files("started again", files_in(out), written)
    killed_while_files_are_written(out, how, log, written)
    same("started again: it reads what was missing", abs(read - size * (24 - len(parts)) // 24) < size // 20, True)
    # Everything is there; a file with another byte, half a file, one that is something else, and one of another part.
    part = [os.path.join(kept, "devlog-part-%d" % i) for i in range(24)]
    for damage, expected in ((False, "24 of 24 parts were there"), (True, "20 of 24 parts were there; damaged, and decoded again: 3; of other parts, inputs or another devlog-mpi, and decoded again: 1")):
        if damage:
            flip(part[5])
            os.truncate(part[7], os.path.getsize(part[7]) // 2)
            with open(part[9], "w") as f:
                f.write("a letter\n")
            shutil.copy(part[15], part[16])
        done = mpirun(2, "decode", *how, log)
        same("%s: %s" % (expected, ours(done)), (done.returncode, told_kept(done)[0], done.stdout == alone), (0, [expected], True))
    # The log is another one; the plan is damaged; other analyses.
    os.utime(log, (1, 1))
    for what, expected in (("another log", "is of other inputs, or of another devlog-mpi"), ("a plan", "is damaged, or none of devlog-mpi"), ("--parts", "has other --parts or --least")):
        if what == "a plan":
            with open(os.path.join(kept, "devlog-plan"), "w") as f:
                f.write("to do: buy milk\n")
        done = mpirun(2, "decode", *how, *(["--parts", "5"] if what == "--parts" else []), log)
        same("%s: %s" % (what, ours(done)), (done.returncode, done.stdout == alone, sum(expected in line for line in ours(done))), (0, True, 1))
    # No folder.
    done = mpirun(2, "decode", "--resume", log, log)
    same("--resume a file: %s" % ours(done), (done.returncode, done.stdout, len(ours(done))), (1, b"", 1))


def slow_files(folder):
    """One rank's file system is slow: that is told, with the rank and the cure, and all is printed; otherwise nothing is said of it."""
    library = glob.glob(os.path.join(BUILD, "lib*", "libslow_reads.so"))
    log = os.path.join(folder, "slow.csv")
    steady(120, log)
    alone = subprocess.run([DEVLOG, "decode", "--no-files", log], env=ENV, capture_output=True)
    for slow in ("1", "9"):
        how = ["env", "LD_PRELOAD=" + "".join(library), "DEVLOG_TEST_SLOW=" + slow]
        done = job("-q", "-n", "2", *how, MPI, "decode", "--least", "1", "--parts", "6", log, env=dict(ENV, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0"))
        said = [line for line in ours(done) if "file system is slow; copy them to a disk of that host" in line]
        same("a slow file system (%s): %s" % (slow, done.stderr.decode()[-400:]), (done.returncode, done.stdout == alone.stdout, len(said), "rank 1 on %s waited" % os.uname().nodename in "".join(said)),
             (0, True, int(slow == "1"), slow == "1"))


def flip(path):
    with open(path, "r+b") as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)
        f.seek(-1, 1)
        f.write(bytes([byte[0] ^ 2]))


def trouble(folder, paths):
    # A rank that dies ends the job, and is named; nothing is printed.
    done = job("-n", "2", MPI, "decode", "--least", "1", *paths, ":", "-n", "1", DIES, env=ENV)
    same("a rank that dies: %s" % done.stderr.decode()[-300:], (done.returncode != 0, done.stdout, done.stderr.decode().count("rank 2 ")), (True, b"", 1))
    # Until it ends MPI, also when all has been computed and rank 0 has nothing left to do but to print (0): nothing is printed.
    alone = subprocess.run([DEVLOG, "decode", "--no-files", *paths], env=ENV, capture_output=True)
    library = glob.glob(os.path.join(BUILD, "lib*", "libdies_last.so"))
    for seconds in ("0", "0.15", "0.35", "600"):
        how = ["env", "LD_PRELOAD=" + "".join(library), "RANK_1_DIES=" + seconds]
        done = job("-n", "3", *how, MPI, "decode", "--least", "1", *paths, env=dict(ENV, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0"))
        killed = b"exited on signal 9" in done.stderr
        same("rank 1 was killed after %s s" % seconds, killed, {"0": True, "600": False}.get(seconds, killed))
        same("a rank that is killed after %s s: %s" % (seconds, done.stderr.decode()[-300:]), (done.returncode, done.stdout), (137, b"") if killed else (alone.returncode, alone.stdout))
    # What one rank cannot read is told once, with the rank.
    script = "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then cd /; fi; exec %s \"$@\"" % MPI
    here = [os.path.basename(p) for p in paths]
    done = job("-n", "2", "sh", "-c", script, "sh", "decode", "--least", "1", *here, env=ENV, cwd=folder)
    same("a file that rank 1 has not", (done.returncode, done.stdout, len(ours(done)), "rank 1 of 2 on" in "".join(ours(done))), (1, b"", 1, True))
    # Another file of that name there: its size tells.
    os.mkdir(os.path.join(folder, "other"))
    for name in here:
        with open(os.path.join(folder, "other", name), "w") as f:
            f.write("short\n")
    done = job("-n", "2", "sh", "-c", script.replace("cd /;", "cd other;"), "sh", "decode", "--least", "1", *here, env=ENV, cwd=folder)
    same("another file there", (done.returncode, done.stdout, len(ours(done)), "it grows, or is another file" in "".join(ours(done))), (1, b"", 1, True))
    # Nothing there, and what is no device log.
    for args, status in ((["decode", "none.csv"], 1), (["decode", "-a", "none.json", *paths], 1), (["decode"], 2), (["sing"], 2),
                         (["decode", "--no-files", "-o", "out", *paths], 2), (["decode", "-n", "x", *paths], 2)):
        done = mpirun(2, *args)
        same("devlog-mpi %s: status" % " ".join(args), (done.returncode, done.stdout), (status, b""))
    # The launcher of another MPI.
    done = subprocess.run([MPI, "decode", *paths], env=dict(ENV, PMI_SIZE="4", PMI_RANK="0"), capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    same("another MPI", (done.returncode, done.stdout, "the launcher is of another MPI" in "".join(ours(done))), (1, b"", True))
    # Without a launcher it is one rank.
    done = subprocess.run([MPI, "decode", *paths], env=ENV, capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    same("without mpirun", (done.returncode, done.stdout == alone.stdout), (alone.returncode, True))


def folders_of_ranks(folder):
    """Reports of ranks that are there, that have to be made, and one that cannot be: as one process reads them."""
    same("a run of nn", subprocess.run([DEVLOG, "run", "--once", "--no-tar", "-o", os.path.join(folder, "rank0"), "--", NN], env=ENV, capture_output=True).returncode, 0)
    for rank in range(1, 4):
        shutil.copytree(os.path.join(folder, "rank0"), os.path.join(folder, "rank%d" % rank))
        if rank > 1:
            os.unlink(os.path.join(folder, "rank%d" % rank, "ops_perf_results.csv"))
    os.mkdir(os.path.join(folder, "rank4"))
    ranks = [os.path.join(folder, "rank%d" % rank) for rank in range(5)]
    out = os.path.join(folder, "out")
    for n, args, files in ((3, ["report"], ranks), (2, ["report", "--format", "json"], ranks[:4]), (4, ["ops", "-o", out], ranks[:4]), (1, ["report"], [folder])):
        found = []
        for how in (lambda: subprocess.run([DEVLOG, *args, *files], env=ENV, capture_output=True), lambda: mpirun(n, *args, *files)):
            done = how()
            table = open(os.path.join(out, "ops_perf_results.csv"), "rb").read() if args[0] == "ops" else b""
            found.append((done.returncode, done.stdout, table, [line for line in done.stderr.decode().splitlines() if line.startswith("devlog")]))
        same("%d ranks: %s" % (n, args), found[1], found[0])
        same("%s says something" % args, bool(found[0][1]), True)
    for args, status in ((["report", os.path.join(folder, "none")], 1), (["ops"], 2), (["report", ranks[0], ranks[0]], 1)):
        done = mpirun(2, *args)
        same("devlog-mpi %s: status" % " ".join(args), (done.returncode, done.stdout, len(done.stderr.decode().split("devlog")) > 1), (status, b"", True))


def captures(folder):
    """Captures, also in one file, are decoded by ranks, frames of one by several; so are random ones, which may be damaged."""
    known = [frames_of(os.path.join(folder, "rank0", "logs", "capture.devlog"))]
    out, first = os.path.join(folder, "files"), os.path.join(folder, "rank0", "logs", "capture.devlog")
    for seed in range(-1, int(os.environ.get("DEVLOG_TEST_CASES", "2"))):
        r = random.Random(seed)
        paths = [os.path.join(folder, "%d.devlog" % i) for i in range(r.randint(1, 2))] if seed >= 0 else [first]
        for path in paths:
            if seed >= 0:
                random_capture(r, known, path)
        alone = subprocess.run([DEVLOG, "decode", "-f", "json", "--no-page", "-o", out, *paths], env=ENV, capture_output=True)
        written, n = files_in(out), 3 if seed < 0 else r.randint(2, 4)
        done = mpirun(n, "decode", "--stats", "-f", "json", "-o", out, "--least", "1", *paths)
        if seed >= 0 and "damaged frames behind byte" in "".join(ours(done)):
            continue
        same("captures %d, %d ranks: %s" % (seed, n, ours(done)), (done.returncode, done.stdout == alone.stdout), (alone.returncode, True))
        same_files("captures %d" % seed, files_in(out), written)
        as_it_is_typed("captures %d" % seed, ["-f", "json", "-o", out, *paths], out, alone, written)
        if seed < 0:
            read = [int(line.split()[6]) for line in ours(done) if " bytes read, " in line]
            same("a capture: bytes that ranks read", (all(read), sum(read), "again" in "".join(ours(done))), (True, os.path.getsize(first), False))


def main():
    if not os.path.exists(MPI) or missing("mpirun"):
        print("SKIPPED: there is no Open MPI (libopenmpi-dev, openmpi-bin)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        any_split(folder)
        independent(folder)
        launches_of_a_part(folder)
        launches_that_others_end(folder)
        launches_anywhere(folder)
        trouble(folder, volume(folder))
    with tempfile.TemporaryDirectory() as folder:
        resumed(folder)
        slow_files(folder)
    if missing("riscv64-unknown-elf-gcc"):
        return finish()
    with tempfile.TemporaryDirectory() as folder:
        folders_of_ranks(folder)
        captures(folder)
    return finish()


sys.exit(main())
