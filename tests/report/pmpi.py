#!/usr/bin/env python3
"""libdevlog-pmpi.so under Debian's Open MPI: every call of a program that knows nothing of it is a zone of its rank, rank 0 reports of
all when asked, and a program that devlog has nothing to do with prints what it prints alone. Usage: pmpi.py BUILD"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from shared import BUILD, DEVLOG, bad, finish, missing, same

LIBRARY = (glob.glob(os.path.join(BUILD, "lib*", "libdevlog-pmpi.so")) + [""])[0]
RING = os.path.join(BUILD, "bin", "mpi_ring")
ROUNDS, WORDS = 10, 100


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
    env = dict(os.environ, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    env.pop("DEVLOG_HOST", None)
    for n in (1, 4):
        with tempfile.TemporaryDirectory() as tmp:
            start = ["mpirun", "--oversubscribe", "-n", str(n), "env", "LD_PRELOAD=" + LIBRARY]
            done = subprocess.run([*start, "DEVLOG_LOG_FOLDER=" + tmp, "DEVLOG_MPI_REPORT=1", RING], env=env, capture_output=True, text=True)
            same("exit of %d ranks" % n, (done.returncode, done.stderr), (0, ""))
            said = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("MPI_")}
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
                same("zones of rank %d of %d: %s" % (rank, n, text.stderr), {z["zone"]: z["count"] for z in zones}, calls)
                waits.append(sum(z["total"] for z in zones if z["zone"] == "MPI_Barrier"))
            # The last rank comes 20 ms late, and so it is the one that waits least.
            if n > 1:
                same("who waits least", waits.index(min(waits)), n - 1)
                same("most in MPI_Barrier", int(said["MPI_Barrier"][3]) != n - 1, True)
            plain = subprocess.run([*start, "DEVLOG_LOG_FOLDER=" + os.path.join(tmp, "none", "x" * 300), RING], env=env, capture_output=True, text=True)
            same("a folder that cannot be", (plain.returncode, plain.stderr.count("are not recorded")), (0, n))
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
        for path, wanted in ((os.path.dirname(DEVLOG), 0), ("", 1)):
            command = "LD_PRELOAD=%s DEVLOG_MPI_REPORT=ops exec %s run --once --no-tar -o %s/rank$OMPI_COMM_WORLD_RANK -- %s" % (LIBRARY, DEVLOG, tmp, RING.replace("mpi_ring", "mpi_nn"))
            done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", "sh", "-c", command], env=dict(env, PATH=path + ":" + env["PATH"]), capture_output=True, text=True)
            same("exit of a run with a report: %s" % done.stderr[-300:], done.returncode, 0)
            same("reports of all ranks", (done.stdout.count("MPI of 2 ranks"), done.stdout.count("RANKS AS ONE RUN")), (1, 1 - wanted))
            same("what cannot be run", done.stderr.count("cannot run devlog"), wanted)
            if not wanted:
                part = done.stdout[done.stdout.index("RANKS AS ONE RUN"):]
                same("ops in it", ("Softmax" in part, re.findall(r"^ +(\d) +%s +1 +\d\d" % os.uname().nodename, part, re.M)), (True, ["0", "1"]))
    return finish()


sys.exit(main())
