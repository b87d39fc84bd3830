#!/usr/bin/env python3
"""devlog decode -j of captures: the bytes, and the files, of one process, for any number of parts, of captures of every kind (capture_frames.py), one
or several; or it is said that they are damaged. Usage: capture_parts.py BUILD. DEVLOG_TEST_CASES=N: N random inputs."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

from capture_frames import frames_of, random_capture
from shared import DEVLOG, NN, bad, finish, missing, same

ENV = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")


def captures_of_runs(folder):
    """Captures of nn in every way of recording, with what kernels wait for."""
    sources = []
    for i, how in enumerate((("--recording", "stream"), ("--waits", "--recording", "ring"))):
        out = os.path.join(folder, "run%d" % i)
        done = subprocess.run([DEVLOG, "run", "--once", "--no-tar", *how, "-o", out, "--", NN, str(3 - i)], env=ENV, capture_output=True)
        same("a run of nn: %s" % done.stderr.decode()[-300:], done.returncode, 0)
        sources.append(os.path.join(out, "logs", "capture.devlog"))
    return sources


def decode(out, *args):
    """Status, what was printed, the files, what was said."""
    done = subprocess.run([DEVLOG, "decode", "--no-page", "-o", out, *args], env=ENV, capture_output=True)
    files = {name: open(os.path.join(out, name), "rb").read() for name in sorted(os.listdir(out))} if os.path.isdir(out) else {}
    shutil.rmtree(out, ignore_errors=True)
    return done.returncode, done.stdout, files, done.stderr.decode()


def main():
    if missing("riscv64-unknown-elf-gcc"):
        return 77
    cases, exact, again, damaged = int(os.environ.get("DEVLOG_TEST_CASES", "8")), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        sources, out = captures_of_runs(folder), os.path.join(folder, "out")
        # A capture as it is left is cut without a trace.
        for source in sources:
            alone, parts = decode(out, "-f", "json", source), decode(out, "-f", "json", "-j", "4", "--least", "1", source)
            same("%s: nothing is decoded again, and all is the same" % source, (parts[3], parts[:3] == alone[:3], len(parts[2])), ("", True, 3))
        known = [frames_of(path) for path in sources]
        for seed in range(cases):
            r = random.Random(seed)
            paths = [os.path.join(folder, "%d.devlog" % i) for i in range(r.choice((1, 1, 2, 3)))]
            for path in paths:
                random_capture(r, known, path)
            how = r.choice((("-f", "json"), ("-f", "csv"), ("--max-launches", "100")))
            alone = decode(out, *how, *paths)
            jobs = r.choice((2, 3, 5, 9, 40))
            parts = decode(out, *how, "-j", str(jobs), "--least", "1", *paths)
            if parts[0] == 1 and "damaged frames behind byte" in parts[3]:
                damaged += 1
                continue
            exact += 1
            again += "decoded again" in parts[3]
            if parts[:3] != alone[:3]:
                bad.append("captures %d, -j %d: not the bytes of one process: %d and %d, %s" % (seed, jobs, parts[0], alone[0], parts[3]))
            for path in paths:
                os.unlink(path)
        print("%d the same, of %d of which something was decoded again; %d refused" % (exact, again, damaged))
        same("most are decoded", exact >= cases // 2, True)
        # Device logs beside captures are decoded as a whole.
        log = os.path.join(folder, "run0", "logs", "profile_log_device.csv")
        alone, parts = decode(out, log, sources[1]), decode(out, "-j", "2", "--least", "1", log, sources[1])
        same("a log and a capture", (parts[:3] == alone[:3], "is a capture, beside logs: it is decoded as a whole" in parts[3]), (True, True))
    return finish()


sys.exit(main())
