"""Archives that hold more than one run, the same file twice, or a newer one behind it; and devlog ops when a signal ends it
while it unpacks. Other commands that take archives, or do not. That archives of one run are read like folders is forms.py's."""
import glob
import gzip
import io
import itertools
import os
import signal
import subprocess
import tarfile
import tempfile
import time
import zipfile

from small import COLUMNS, DEVLOG, HEAD, main, messages, op, program_rows, times

LOG = "profile_log_device.csv"


def files(count, at):
    """A run of one op, whose kernel is at..at+60."""
    log = HEAD % ("blackhole", 1000, 64) + COLUMNS + program_rows(count, at)
    return {"tracy_ops_data.csv": messages((op(count), 100)), "tracy_ops_times.csv": times(count), LOG: log}


def under(folder, run):
    return [(folder + name, text) for name, text in run.items()]


def tar(path, members):
    with tarfile.open(path, "w:gz" if path.endswith("gz") else "w") as t:
        for name, text in members:
            data = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(name)
            member.size = len(data)
            t.addfile(member, io.BytesIO(data))


def ops(members):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "runs.tgz"), os.path.join(folder, "out")
        tar(path, members)
        p = subprocess.run([DEVLOG, "ops", path, "-o", out, "--no-tar"], capture_output=True, text=True)
        assert "Sanitizer" not in p.stderr and "runtime error" not in p.stderr, p.stderr
        name = os.path.join(out, "ops_perf_results.csv")
        report = open(name, encoding="utf-8").read().splitlines() if os.path.exists(name) else []
        left = [n for n in os.listdir(out) if n.startswith(".")] if os.path.exists(out) else []
        assert not left, left
    return p.returncode, p.stderr, report


def same(members, run):
    got = ops(members)
    assert got[0] == 0 and got == ops(under("", run)), got


def refused(members, *names):
    status, said, report = ops(members)
    assert status == 1 and not report and "several runs" in said and all(n in said for n in names), (status, said)
    assert said.count("\n") == 1, said


ONE, OTHER = files(1, 1000), files(2, 5000)


def runs_are_not_mixed():
    refused(under("a/", ONE) + under("b/", OTHER), "a/", "b/")
    refused(under("a/", ONE) + [("b/" + LOG, OTHER[LOG])], "a/" + LOG, "b/" + LOG)
    refused(under("a/", ONE) + [("b/%s.gz" % LOG, gzip.compress(OTHER[LOG].encode()))], "a/" + LOG, "b/%s.gz" % LOG)
    refused(under("a/rank0/", ONE) + under("b/rank0/", OTHER), "a/rank0/", "b/rank0/")
    refused(under("a\n\x1b/", ONE) + under("b/", OTHER), "b/")
    same(under("a/", ONE) + under("b/", ONE) + under("a/", ONE), ONE)
    refused(under("a/", ONE) + under("b/", ONE) + under("a/", OTHER), "a/", "b/")
    for text in (ONE[LOG] + "\n", ONE[LOG][:-1], ""):
        refused(under("a/", ONE) + [("b/" + LOG, text)], "a/" + LOG)


def the_last_run_is_in_logs():
    """As in a folder: reports beside .logs are of runs before it."""
    last, before = under("profiler/.logs/", ONE), under("profiler/reports/2026/", OTHER)
    for members in (last + before, before + last, before + last + under("profiler/reports/2027/", OTHER)):
        same(members, ONE)
    refused(under("a/.logs/", ONE) + under("b/.logs/", OTHER), "a/.logs/", "b/.logs/")
    older = under("profiler/reports/2025/", files(3, 9000))
    for members in (older + before + last, older + last + before, last + older + before):
        same(members, ONE)
    copied = under("profiler/reports/2026/", ONE)
    for members in itertools.permutations((copied, last, older)):
        same(sum(members, []), ONE)
    # What is of one run may lie in several folders.
    apart = [("p/.logs/" + LOG, ONE[LOG])] + [("p/" + n, t) for n, t in ONE.items() if n != LOG]
    same(apart, ONE)
    same(apart[::-1], ONE)
    same(apart + [("p/reports/%s.gz" % LOG, gzip.compress(OTHER[LOG].encode()))], {LOG: ONE[LOG]})


def a_file_twice():
    same(under("a/", ONE) + [("b/" + LOG, ONE[LOG])], ONE)
    same(under("a/", OTHER) + under("a/", ONE), ONE)  # tar -r: a newer one behind it
    same(under("a/", ONE) + [("a/%s.gz" % LOG, gzip.compress(OTHER[LOG].encode()))], ONE)  # the plain one, as in a folder


def heed():
    """Who starts the test may ignore signals (nohup, a shell's &)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def a_signal_leaves_nothing():
    rows = "".join(program_rows(1 + i, 1000 + 100 * i) for i in range(300000))
    big = dict(ONE)
    big[LOG] = HEAD % ("blackhole", 1000, 64) + COLUMNS + rows
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "big.tar"), os.path.join(folder, "out")
            tar(path, under("a/", big))
            p = subprocess.Popen([DEVLOG, "ops", path, "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heed)
            while p.poll() is None and not os.path.exists(out):
                time.sleep(0.001)
            p.send_signal(number)
            assert p.wait() == -number, p.returncode
            until = time.monotonic() + 60
            while os.path.exists(out) and time.monotonic() < until:
                time.sleep(0.001)
            assert not os.path.exists(out), os.listdir(out)
            # What other commands unpack is in TMPDIR.
            temporary = os.path.join(folder, "tmp")
            os.mkdir(temporary)
            p = subprocess.Popen([DEVLOG, "report", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=temporary), preexec_fn=heed)
            while p.poll() is None and not glob.glob(temporary + "/*/*"):
                time.sleep(0.001)
            p.send_signal(number)
            assert p.wait() == -number, p.returncode
            until = time.monotonic() + 60
            while os.listdir(temporary) and time.monotonic() < until:
                time.sleep(0.001)
            assert not os.listdir(temporary), os.listdir(temporary)


def closed_streams():
    """What waits to remove the files takes no stream's place."""
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "one.tar"), os.path.join(folder, "out")
            tar(path, under("a/", ONE))
            p = subprocess.run(["sh", "-c", "exec %s ops %s -o %s --no-tar %s" % (DEVLOG, path, out, closed)], capture_output=True)
            assert p.returncode == (1 if " >&-" in " " + closed else 0), (closed, p)
            assert os.listdir(out) == ["ops_perf_results.csv"], (closed, os.listdir(out))


def other_commands():
    """What takes a folder takes an archive; what reads logs says so, and does not read it as one log."""
    with tempfile.TemporaryDirectory() as folder:
        def said(command, *args):
            p = subprocess.run([os.path.abspath(DEVLOG), *command.split(), *args], capture_output=True, text=True, cwd=folder, env=dict(os.environ, TMPDIR=temporary))
            assert "Sanitizer" not in p.stderr and "runtime error" not in p.stderr, p.stderr
            assert not os.listdir(temporary), os.listdir(temporary)
            return p.returncode, p.stdout, p.stderr

        temporary, run = os.path.join(folder, "tmp"), os.path.join(folder, "run")
        os.mkdir(temporary)
        os.mkdir(run)
        for name, text in ONE.items():
            with open(os.path.join(run, name), "w", encoding="utf-8") as f:
                f.write(text)
        tar(os.path.join(folder, "run.tgz"), under("a/", ONE))
        tar(os.path.join(folder, "two.tar"), under("a/", ONE) + under("b/", OTHER))
        tar(os.path.join(folder, "ranks.tar"), under("a/rank0/", ONE) + under("a/rank1/", ONE))
        with zipfile.ZipFile(os.path.join(folder, "run.zip"), "w") as z:
            for name, text in ONE.items():
                z.writestr("b/" + name, text)
        for command in ("report", "causes", "report --format json", "diff run"):
            expected = said(command, "run")
            assert expected[0] == 0 and expected[1], expected
            for archive in ("run.tgz", "run.zip"):
                got = said(command, archive)
                words = [text.replace(archive, "run").split() for text in (expected[1], got[1])]
                assert got[0] == 0 and words[0] == words[1], (command, archive, got)
        for command in ("report", "causes", "diff run"):
            status, out, err = said(command, "two.tar")
            assert (status, out, err.count("\n")) == (1, "", 1) and "several runs" in err, (command, status, err)
        for command in ("report", "causes"):
            status, out, err = said(command, "ranks.tar")
            assert (status, out) == (1, "") and "ranks.tar/rank0, ranks.tar/rank1" in err and "unpack it" in err, (command, status, err)
        assert said("diff ranks.tar", "ranks.tar")[0] == 0
        for command in ("decode", "export -f json", "view --no-open", "annotate", "serve"):
            for archive in ("run.tgz", "run.zip"):
                status, out, err = said(command, archive)
                assert (status, out, err.count("\n")) == (1, "", 1) and "%s is an archive" % archive in err, (command, status, err)


main([runs_are_not_mixed, the_last_run_is_in_logs, a_file_twice, a_signal_leaves_nothing, closed_streams, other_commands])
