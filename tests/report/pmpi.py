#!/usr/bin/env python3
"""libdevlog-pmpi.so under Debian's Open MPI: every call of a program that knows nothing of it is a zone of its rank, rank 0 reports of
all when asked, ranks see how their clocks lie, and a program that devlog has nothing to do with prints what it prints alone. Usage: pmpi.py BUILD"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import captures
from shared import BUILD, DEVLOG, NN, SOURCE, bad, finish, missing, same

LIBRARY = (glob.glob(os.path.join(BUILD, "lib*", "libdevlog-pmpi.so")) + [""])[0]
RING, EVERY = os.path.join(BUILD, "bin", "mpi_ring"), os.path.join(BUILD, "bin", "mpi_every")
ROUNDS, WORDS = 10, 100


def every_call(start, env):
    """Each call of the library's table, once a rank, does what it does without the library, and is counted with its bytes."""
    with open(os.path.join(SOURCE, "mpi", "pmpi_calls.h"), encoding="utf-8") as f:
        names = re.findall(r"^    X\((\w+), ", f.read(), re.M)
    polls = {"Iprobe", "Improbe", "Test", "Testany", "Testall", "Testsome"}
    silent = re.compile("Barrier|Ibarrier|I?m?probe|Probe|Start(all)?|Wait(any|all|some)?|Test(any|all|some)?|Neighbor_alltoall[vw]?|Win_.*|Comm_.*", re.I)
    of_all = re.compile("I?(alltoall[vw]?|reduce_scatter(_block)?)", re.I)
    words = {"Get_accumulate": WORDS - 2, "Fetch_and_op": 1, "Compare_and_swap": 1, "Rget": 1, "Raccumulate": 1, "Rget_accumulate": 1}
    for n in (2, 3):
        with tempfile.TemporaryDirectory() as tmp:
            done = subprocess.run([*start(n), "DEVLOG_LOG_FOLDER=" + tmp, "DEVLOG_MPI_REPORT=1", EVERY], env=env, capture_output=True, text=True)
            same("every call, %d ranks" % n, (done.returncode, done.stderr), (0, ""))
            said = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("MPI_")}
            same("every call, %d ranks: counts" % n, {c: "some" if c[4:] in polls and int(v[0]) >= n else int(v[0]) for c, v in said.items()},
                 {"MPI_" + c: "some" if c in polls else n for c in names})
            same("every call, %d ranks: bytes" % n, {c: int(v[4]) for c, v in said.items()},
                 {"MPI_" + c: 0 if silent.fullmatch(c) else 4 * n * words.get(c, WORDS) * (n if of_all.fullmatch(c) else 1) for c in names})
            done = subprocess.run([*start(n), "DEVLOG_LOG_FOLDER=" + tmp, "DEVLOG_MPI_REPORT=1", EVERY, "in place"], env=env, capture_output=True, text=True)
            said = [int(line.split()[5]) for line in done.stdout.splitlines() if line.split()[0] in ("MPI_Allgather", "MPI_Alltoall")]
            same("in place, %d ranks: %s" % (n, done.stderr), (done.returncode, said), (0, [2 * 4 * WORDS * n, 2 * 4 * WORDS * n * n]))


def main():
    if not os.path.exists(LIBRARY) or not os.path.exists(RING) or missing("mpirun"):
        print("SKIPPED: there is no Open MPI (libopenmpi-dev, openmpi-bin)")
        return 77
    with open(LIBRARY, "rb") as f:
        if b"__tsan_init" in f.read():
            print("SKIPPED: ThreadSanitizer cannot be loaded into programs that are built without it")
            return 77
    calls = {"MPI_Irecv": ROUNDS, "MPI_Isend": ROUNDS, "MPI_Waitall": ROUNDS, "MPI_Allreduce": ROUNDS, "MPI_Barrier": ROUNDS}
    # Sanitizers want to be loaded first, and Open MPI keeps memory until its end.
    env = dict(os.environ, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_odls_base_sigkill_timeout="0")
    env.pop("DEVLOG_HOST", None)
    every_call(lambda n: ["mpirun", "--oversubscribe", "-n", str(n), "env", "LD_PRELOAD=" + LIBRARY], dict(env, OMPI_MCA_osc="pt2pt,sm"))  # other windows want one copy, which sandboxes forbid
    for n in (1, 4):
        with tempfile.TemporaryDirectory() as tmp:
            start = ["mpirun", "--oversubscribe", "-n", str(n), "env", "LD_PRELOAD=" + LIBRARY]
            done = subprocess.run([*start, "DEVLOG_LOG_FOLDER=" + tmp, "DEVLOG_MPI_REPORT=1", RING], env=env, capture_output=True, text=True)
            same("exit of %d ranks" % n, (done.returncode, done.stderr), (0, ""))
            said = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("MPI_")}
            same("clocks in the report of %d ranks" % n, [line.split(":")[0] for line in done.stdout.splitlines() if line.startswith("clocks at")],
                 ["clocks at MPI_Init", "clocks at MPI_Finalize"] if n > 1 else [])
            same("calls of %d ranks" % n, {c: int(v[0]) for c, v in said.items()}, {c: v * n for c, v in calls.items()})
            same("bytes of %d ranks" % n, {c: int(v[4]) for c, v in said.items()},
                 {"MPI_Irecv": 4 * WORDS * ROUNDS * n, "MPI_Isend": 4 * WORDS * ROUNDS * n, "MPI_Waitall": 0, "MPI_Allreduce": 4 * ROUNDS * n, "MPI_Barrier": 0})
            same("folders of %d ranks" % n, sorted(os.listdir(tmp)), ["rank%d" % i for i in range(n)])
            waits = []
            for rank in range(n):
                files = glob.glob(os.path.join(tmp, "rank%d" % rank, "host_*.devlog"))
                same("files of rank %d" % rank, len(files), 1)
                text = subprocess.run([DEVLOG, "report", "--format", "json", "--tables", "host_zones", *files], capture_output=True, text=True)
                zones = json.loads(text.stdout)["sections"]["host_zones"]["rows"] if text.stdout else []
                same("zones of rank %d of %d: %s" % (rank, n, text.stderr), {z["zone"]: z["count"] for z in zones}, {**calls, "clocks (devlog)": 2})
                waits.append(sum(z["total"] for z in zones if z["zone"] == "MPI_Barrier"))
            # The last rank comes 20 ms late, and so it is the one that waits least.
            if n > 1:
                same("who waits least", waits.index(min(waits)), n - 1)
                same("most in MPI_Barrier", int(said["MPI_Barrier"][3]) != n - 1, True)
            wrong = subprocess.run([*start, "DEVLOG_LOG_FOLDER=" + tmp, "DEVLOG_MPI_REPORT=yes", "DEVLOG_MPI_CLOCKS=no", RING], env=env, capture_output=True, text=True)
            same("settings that cannot be read", (wrong.returncode, wrong.stdout, wrong.stderr),
                 (0, "", "libdevlog-pmpi: DEVLOG_MPI_REPORT=yes: it is 0 or 1 or ops; that is not obeyed\nlibdevlog-pmpi: DEVLOG_MPI_CLOCKS=no: it is 0 or 1; that is not obeyed\n"))
            plain = subprocess.run([*start, "DEVLOG_LOG_FOLDER=" + os.path.join(tmp, "none", "x" * 300), RING], env=env, capture_output=True, text=True)
            same("a folder that cannot be", (plain.returncode, plain.stderr.count("are not recorded")), (0, n))
    # Kernels are compiled before, as a compiler into which a sanitizer is loaded so late does not run.
    with tempfile.TemporaryDirectory() as tmp:
        done = subprocess.run([DEVLOG, "run", "--once", "--no-tar", "-o", tmp, "--", NN], env=env, capture_output=True, text=True)
        same("kernels: %s" % done.stderr[-300:], done.returncode, 0)
    # A program with ops: MPI is in the logs of its run, beside them, and all of it is one run of ranks.
    with tempfile.TemporaryDirectory() as tmp:
        command = "LD_PRELOAD=%s exec %s run --once --no-tar -o %s/rank$OMPI_COMM_WORLD_RANK -- %s" % (LIBRARY, DEVLOG, tmp, RING.replace("mpi_ring", "mpi_nn"))
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", "sh", "-c", command], env=env, capture_output=True, text=True)
        same("exit of a run with ops: %s" % done.stderr[-300:], done.returncode, 0)
        for rank in range(2):
            text = subprocess.run([DEVLOG, "report", "--format", "json", os.path.join(tmp, "rank%d" % rank)], capture_output=True, text=True)
            said = json.loads(text.stdout or '{"sections": {}}')["sections"]
            zones = {z["zone"]: z["count"] for z in said.get("host_zones", {"rows": []})["rows"]}
            same("MPI beside ops: %s" % text.stderr, (zones.get("MPI_Allreduce"), "Softmax" in str(said.get("op_statistics"))), (3, True))
        text = subprocess.run([DEVLOG, "ranks", "--format", "json", tmp], capture_output=True, text=True)
        said = json.loads(text.stdout or "{}")
        same("ranks of it: %s" % text.stderr, [r["rank"] for r in said["sections"]["ranks"]["rows"]] if said else None, [0, 1])
    # One report on rank 0, while it runs: of ops, whose folders say their ranks, and where there is no devlog.
    with tempfile.TemporaryDirectory() as tmp:
        # An installed devlog would be found; where it lies beside everything else, nothing can be tried without one.
        bare = os.pathsep.join(p for p in env["PATH"].split(os.pathsep) if not os.path.exists(os.path.join(p, "devlog")))
        ways = [(os.path.dirname(DEVLOG) + os.pathsep + env["PATH"], 0)] + ([(bare, 1)] if shutil.which("mpirun", path=bare) else [])
        for path, wanted in ways:
            command = "LD_PRELOAD=%s DEVLOG_MPI_REPORT=ops exec %s run --once --no-tar -o %s/rank$OMPI_COMM_WORLD_RANK -- %s" % (LIBRARY, DEVLOG, tmp, RING.replace("mpi_ring", "mpi_nn"))
            done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", "sh", "-c", command], env=dict(env, PATH=path), capture_output=True, text=True)
            same("exit of a run with a report: %s" % done.stderr[-300:], done.returncode, 0)
            same("reports of all ranks", (done.stdout.count("MPI of 2 ranks"), done.stdout.count("RANKS AS ONE RUN")), (1, 1 - wanted))
            same("what cannot be run", done.stderr.count("cannot run devlog"), wanted)
            if not wanted:
                part = done.stdout[done.stdout.index("RANKS AS ONE RUN"):]
                same("ops in it", ("Softmax" in part, re.findall(r"^ +(\d) +%s +1 +\d\d" % os.uname().nodename, part, re.M)), (True, ["0", "1"]))
    clocks(env)
    # Another MPI: nothing of ours reaches it.
    other = subprocess.run([os.path.join(BUILD, "bin", "other_mpi_program")], env=dict(env, LD_PRELOAD=LIBRARY), capture_output=True, text=True)
    same("another MPI", (other.returncode, other.stdout, other.stderr.count("is not followed")), (0, "done\n", 1))
    return finish()


def report(folder, h, length):
    """A report of one chip with a clock of its own, 1 GHz from somewhere, and a capture that says how it lies beside the host's. h: of true time (ns)."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip()
    rows = ["OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns]"]
    first, step = h["from"], length // 20
    for i in range(20):
        at = first + i * step
        rows.append("Matmul,tt_dnn_device,%d,0,%d,%d,1000,900" % (i + 1 << 10, at - first + h["epoch"], at - first + h["epoch"] + 1000))
    with open(os.path.join(folder, "ops_perf_results.csv"), "w", encoding="ascii") as f:
        f.write("\n".join(rows) + "\n")
    samples = []
    for burst in range(22):
        at = first + (burst - 1) * step
        samples += [(h["mono"](at + k * 1000), h["mono"](at + k * 1000 + 400), at + k * 1000 + 200 - first + h["epoch"], burst) for k in range(8)]
    captures.write(os.path.join(folder, "capture.devlog"), captures.chip(0, 10**6, boot), captures.samples(0, samples))


def clocks(env):
    """One rank's clock lies elsewhere and gains: what ranks have exchanged says so, and ops of all lie where they were."""
    with tempfile.TemporaryDirectory() as tmp:
        shift, ppm, now = 7 * 10**9, 80, time.monotonic_ns()
        preload = "LD_PRELOAD=%s:%s" % (os.path.join(os.path.dirname(LIBRARY), "libclock_shift.so"), LIBRARY)
        ranks = ["mpirun", "--oversubscribe", "-n", "4", "env", preload, "DEVLOG_LOG_FOLDER=" + tmp, RING]
        shifted = dict(env, DEVLOG_TEST_CLOCK="2:%d:%d:%d" % (shift, ppm, now))
        done = subprocess.run(ranks, env=shifted, capture_output=True, text=True)
        same("a rank with another clock", (done.returncode, done.stderr), (0, ""))
        times = []
        for rank in range(4):
            found, readings = captures.read_exchanges(glob.glob(os.path.join(tmp, "rank%d" % rank, "host_*.devlog"))[0])
            same("exchanges of rank %d" % rank, [(peer, len(items) > 0) for peer, _, items in found], [(0, True)] * (2 if rank else 0))
            same("CLOCK_REALTIME of rank %d" % rank, len(readings) >= 2, True)
            for _, _, items in found:
                for sent, received, answered, arrived in items:
                    own = -shift - (sent - now - shift) * ppm / 1e6 if rank == 2 else 0  # by what rank 0 is ahead
                    same("rank %d: %d to %d" % (rank, answered - arrived, received - sent), answered - arrived - 100 <= own <= received - sent + 100, True)
                times.append(items[0][1])
        # With ops between the two: as of chips whose captures lie beside them.
        true = {"from": min(times), "length": max(times) - min(times)}
        for rank in range(4):
            def mono(at, rank=rank):
                return at + (shift + (at - now) * ppm // 10**6 if rank == 2 else 0)
            report(os.path.join(tmp, "rank%d" % rank), {"from": true["from"], "epoch": 10**9 * (rank + 1), "mono": mono}, true["length"])
        trace = os.path.join(tmp, "trace.json")
        done = subprocess.run([DEVLOG, "ranks", "--format", "json", "--trace", trace, tmp], capture_output=True, text=True)
        same("devlog ranks", (done.returncode, done.stderr), (0, ""))
        said = json.loads(done.stdout)["sections"]
        rows = {r["rank"]: r for r in said["clocks"]["rows"]}
        same("ways", [rows[r]["way"] for r in range(4)], ["one host", "one host", "exchanges", "one host"])
        same("one boot, two clocks", said["verdict"]["facts"].get("hosts_disagree", {"value": 0})["value"], 1)
        with open(trace, encoding="utf-8") as f:
            at = {(e["pid"] - 1, e["args"]["id"] >> 10): e["ts"] * 1000 for e in json.load(f)["traceEvents"] if e["ph"] == "X"}
        for rank in range(1, 4):
            most = max(abs(at[rank, i] - at[0, i]) for i in range(1, 21))
            same("rank %d: %d ns from where it was" % (rank, most), most <= rows[rank]["residual"] + rows[0]["residual"] + 3, True)
        same("known to", rows[2]["residual"] < 5e7 and rows[1]["residual"] < 2000, True)
        off = subprocess.run(ranks, env=dict(shifted, DEVLOG_MPI_CLOCKS="0", DEVLOG_MPI_REPORT="1"), capture_output=True, text=True)
        same("switched off", (off.returncode, off.stderr, "clocks at" in off.stdout), (0, "", False))


sys.exit(main())
