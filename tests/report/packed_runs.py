"""A tar or zip of a run's folder is that run, for every command that takes folders: of devlog run --once, and of its two runs; with its
report and without; with zones of host code; on the date of its logs. For archives of tt-metal's runs, and of several, there is
ttmetal/archives.py. Usage: packed_runs.py BUILD"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from shared import DEVLOG, NN, finish, missing, same

COMMANDS = ("report", "report --format json", "causes --format json", "memory --format json", "diff --exact --format json {}", "ops-summary --format json",
            "ops-compare --format json {}")


def said(*args):
    done = subprocess.run([DEVLOG, *args], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def run_of(name, *options):
    status, _, err = said("run", "--no-tar", "-o", name, *options, "--", NN)
    same("devlog run %s: %s" % (name, err[-200:]), status, 0)
    for at, _, names in os.walk(os.path.join(folder, name)):
        for n in names:
            os.utime(os.path.join(at, n), (1767323046, 1767323046))  # 2026-01-02 03:04:06


def packed(name):
    """The run's folder in a tar, in one that is packed, and in a zip."""
    made = [shutil.make_archive(os.path.join(folder, name), form, folder, name) for form in ("tar", "gztar", "zip")]
    return [os.path.basename(path) for path in made]


def without_folders(text):
    """Logs are unpacked side by side, and a report in a folder is told by its own name."""
    for more, less in (("RUN/logs/", "RUN/"), ("RUN/logs_device/", "RUN/"), ("RUN/ops_perf_results.csv", "RUN")):
        text = text.replace(more, less)
    return text


def hold(name, commands=COMMANDS):
    """What commands say of the folder and of its archives, but for the name; returns that."""
    every = []
    for command in commands:
        wanted = said(*command.format(name).split(), name)
        same("%s %s: %s" % (command, name, wanted[2][-200:]), wanted[0] in (0, 3) and len(wanted[1]) > 100, True)
        every.append(wanted[1])
        for archive in packed(name):
            got = said(*command.format(archive).split(), archive)
            words = [[without_folders(text.replace(archive, "RUN").replace(name, "RUN")).split() for text in texts] for texts in (wanted[1:], got[1:])]
            same("%s %s: status" % (command, archive), got[0], wanted[0])
            same("%s %s" % (command, archive), words[1], words[0])
    return every


def report_of(what):
    out = "out-%s" % what
    status, _, err = said("ops", "--no-tar", "-o", out, what)
    same("devlog ops %s: %s" % (what, err[-200:]), status, 0)
    with open(os.path.join(folder, out, "ops_perf_results.csv"), "rb") as f:
        return f.read()


def archived(what):
    store = "%s.sqlite" % what
    status = said("archive", "add", "-a", store, what)[0]
    same("archive add %s" % what, status, 0)
    return said("archive", "list", "-a", store, "--format", "csv")[1].replace(what, "RUN")


def troubles():
    """What is wrong in an archive is said of the archive, not of the folder where it was unpacked, which is gone."""
    os.makedirs(os.path.join(folder, "bad", "logs"))
    log = os.path.join(folder, "bad", "logs", "profile_log_device.csv")
    with open(log, "w", encoding="utf-8") as f:
        f.write("hello\n")
    archive = packed("bad")[0]
    for command in ("report", "causes", "diff bad.tar", "archive add -a bad.sqlite"):
        status, out, err = said(*command.split(), archive)
        same("%s of a bad log: %s" % (command, err), (status, "bad.tar/profile_log_device.csv" in err, temporary in out + err), (1, True, False))
    status, _, err = said("memory", archive)
    same("memory without a log of ops", (status, err), (1, "devlog memory: no profile_log_ops.jsonl in bad.tar\n"))
    with open(os.path.join(folder, "both", "logs_device", "profile_log_device.csv"), encoding="utf-8") as f:
        lines = f.readlines()
    with open(log, "w", encoding="utf-8") as f:
        f.writelines(lines[:40] + ["1,2\n"] + lines[60:])
    archive = packed("bad")[0]
    for command in ("report --format json", "ops --no-tar -o out-bad"):
        status, out, err = said(*command.split(), archive)
        same("%s of a damaged log: %s" % (command, err), (status, "bad.tar/profile_log_device.csv:41: " in out, temporary in out + err, ".unpacked" in out + err),
             (3, True, False, False))


def folders_of_archives():
    """In a folder of runs a tar or zip is one, but for what is beside its own report, and for archives of something else."""
    for name in ("x", "y"):
        shutil.copytree(os.path.join(folder, "once"), os.path.join(folder, name))
    os.makedirs(os.path.join(folder, "many"))
    alone = json.loads(said("diff", "--exact", "--format", "json", "x", "y")[1])
    for name, form in (("x", "tar"), ("y", "gztar"), ("x", "zip")):
        shutil.make_archive(os.path.join(folder, "many", name), form, folder, name)
    same("a report and its tar", said("ops", "-o", "made", "once")[0], 0)
    for ending in ("csv", "tar"):
        shutil.copy(os.path.join(folder, "made", "ops_perf_results." + ending), os.path.join(folder, "many", "third." + ending))
    with tempfile.TemporaryDirectory() as other:
        with open(os.path.join(other, "letter.txt"), "w", encoding="utf-8") as f:
            f.write("a letter\n")
        shutil.make_archive(os.path.join(folder, "many", "letters"), "tar", other)
    status, out, err = said("diff", "--exact", "--format", "json", "many", "many")
    many = json.loads(out or "{}")
    same("runs of a folder of archives: %s" % err, (status, [os.path.basename(r["name"]) for r in many["old"]]), (0, ["third.csv", "x.tar", "x.zip", "y.tar.gz"]))
    for of in (alone, many):
        same("lines that are the same", {line["verdict"] for line in of["lines"] if line["kind"] == "op"} <= {"same", "no time"}, True)
    status, _, err = said("report", "many")
    same("report of several", (status, "many holds 4 runs" in err), (1, True))


def main():
    if missing("riscv64-unknown-elf-gcc"):
        return 77
    run_of("once", "--once")
    run_of("both")
    for name in ("once", "both"):
        with_report = report_of(name)
        os.unlink(os.path.join(folder, name, "ops_perf_results.csv"))
        for archive in packed(name):
            same("report of %s" % archive, report_of(archive) == with_report, True)
        same("names of ops of %s" % name, with_report.count(b"Matmul") > 2, True)
        hold(name)
        dates = [archived(what) for what in (name, *packed(name))]
        same("dates of %s" % name, ["2026-01-02 03:04:06" in row for row in dates], [True] * 4)
        with open(os.path.join(folder, name, "ops_perf_results.csv"), "wb") as f:
            f.write(with_report)
        without = hold(name)
        logs = os.path.join(folder, name, "logs" if name == "once" else "logs_device")
        shutil.copy2(os.path.join(logs, "capture.devlog"), os.path.join(logs, "host_7.devlog"))
        same("host code of %s is read" % name, hold(name, COMMANDS[1:2])[0] != without[1], True)
    troubles()
    folders_of_archives()
    same("temporary files", os.listdir(temporary), [])
    return finish()


with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
    os.environ["TMPDIR"] = temporary
    sys.exit(main())
