"""A folder is its last run, whatever runs before it have left there: of devlog run with other options or another --name, and of
programs that wrote some of their logs only. Usage: last_run.py BUILD"""
import base64
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
import zlib

import captures
from shared import DEVLOG, NN, finish, missing, same


def said(*args):
    done = subprocess.run([DEVLOG, *args], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def run(name, *options, repeats):
    status, _, err = said("run", "--no-tar", "-o", name, *options, "--", NN, str(repeats))
    same("devlog run %s: %s" % (name, err[-200:]), status, 0)


def program(name, repeats, **environment):
    """The program by itself; returns which logs are there then."""
    subprocess.run([NN, str(repeats)], cwd=folder, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "DEVLOG_LOG_FOLDER": name, **environment})
    return sorted(n for n in os.listdir(os.path.join(folder, name)) if os.path.isfile(os.path.join(folder, name, n)) and os.path.getsize(os.path.join(folder, name, n)) and not n.endswith(".run"))


def verdict(name):
    facts = json.loads(said("report", "--format", "json", name)[1])["sections"]["verdict"]["facts"]
    return {key: facts[key]["value"] for key in ("ops", "device", "wall", "ops_time")}


def launches(name):
    return len(said("causes", "--tables", "launches", "--format", "csv", name)[1].splitlines()) - 1


def of_devlog_run():
    run("plain", "--once", repeats=1)
    one = verdict("plain")
    run("again", repeats=3)
    same("more ops before", verdict("again")["ops"] > one["ops"], True)
    run("again", "--once", repeats=1)
    same("one run behind two: files", sorted(os.listdir(os.path.join(folder, "again"))), ["logs", "ops_perf_results.csv"])
    same("one run behind two: verdict", verdict("again"), one)
    same("one run behind two: launches", launches("again"), launches("plain"))
    run("again", "--once", "--name", "more", repeats=2)
    same("a report of another name: ops", verdict("again")["ops"], 2 * one["ops"])
    # A copy without its device log, of which the report is older than the log of ops, is still that run.
    os.unlink(os.path.join(folder, "again", "ops_perf_results.csv"))
    os.rename(os.path.join(folder, "again", "ops_perf_results_more.csv"), os.path.join(folder, "again", "ops_perf_results.csv"))
    kernels = verdict("again")["ops_time"]
    for name in ("capture.devlog", "profile_log_device.csv"):
        os.unlink(os.path.join(folder, "again", "logs", name))
    os.utime(os.path.join(folder, "again", "ops_perf_results.csv"), (1, 1))
    same("a copy", (verdict("again")["ops"], kernels and verdict("again")["ops_time"]), (2 * one["ops"], kernels))
    run("again", "--host-only", repeats=1)
    same("a run of the host alone", verdict("again")["device"], None)
    # One that comes to nothing leaves no report of the run before.
    run("again", "--once", "-f", "md", repeats=1)
    same("a report, and one of Markdown", [n for n in sorted(os.listdir(os.path.join(folder, "again"))) if "." in n], ["ops_perf_results.csv", "ops_perf_results.md"])
    same("nothing to report", said("run", "-o", "again", "--", "true")[0], 1)
    same("no report", [n for n in os.listdir(os.path.join(folder, "again")) if "." in n], [])
    status, _, err = said("report", "again")
    same("no run: %s" % err, (status, "again holds no run" in err), (1, True))
    for device, there in (("1", True), ("0", False)):
        status = said("time", "-n", "1", "-w", "0", "--device", device, "-o", "timed", "--", NN, "1")[0]
        same("time with device %s" % device, (status, os.path.exists(os.path.join(folder, "timed", "logs_device"))), (0, there))


def of_programs():
    on, off = {"TT_METAL_DEVICE_PROFILER": "1"}, {"TT_METAL_DEVICE_PROFILER": "0"}
    every = ["capture.devlog", "profile_log_device.csv", "profile_log_ops.jsonl"]
    same("all logs", program("one", 1, **on), every)
    one = verdict("one")
    # Behind a run that wrote all, one without a log of ops: its launches have no names, and none of the ops of before.
    program("no_ops", 3, **on)
    same("no log of ops", program("no_ops", 1, **on, DEVLOG_OPS="0"), every[:2])
    alone = os.path.join(folder, "alone")
    same("the same in a folder of its own", program("alone", 1, **on, DEVLOG_OPS="0"), every[:2])
    same("no log of ops: verdict", verdict("no_ops"), verdict(alone))
    same("no log of ops: no ops", "0 ops, 0 rows with device data of an op" in said("ops", "--no-tar", "-o", "out", "no_ops")[1], True)
    # One without a capture.
    program("no_capture", 3, **on)
    same("no capture", program("no_capture", 1, **on, DEVLOG_CAPTURE="0"), every[1:])
    same("no capture: verdict", {**verdict("no_capture"), "wall": None}, {**one, "wall": None})
    same("no capture: launches", launches("no_capture"), launches("one"))
    # One of the host alone: the device's logs stay, as they may be all that there is of them, and are not its own.
    program("host", 3, **on)
    same("host alone", program("host", 1, **off, DEVLOG_OPS="1"), every)
    same("host alone: verdict", (verdict("host")["ops"], verdict("host")["device"]), (one["ops"], None))
    same("host alone: zones of before", "zones" in json.loads(said("report", "--format", "json", "host")[1])["sections"], False)
    for name, mentions in (("one", True), ("host", False)):
        same("a page of %s" % name, said("decode", "-o", "page-" + name, os.path.join(name, "capture.devlog"))[0], 0)
        with open(os.path.join(folder, "page-" + name, "device_perf.html"), encoding="utf-8") as f:
            answers = re.search(r'id="answers">(.*?)</script>', f.read(), re.S).group(1)
        same("the page of %s names ops" % name, b"Matmul" in zlib.decompress(base64.b64decode(answers)), mentions)
    for log in every[:2]:
        for command in ("decode --no-files", "export -f csv -o out.csv", "causes"):
            status, _, err = said(*command.split(), "--op", "Matmul", os.path.join("host", log))
            same("%s: ops of another run: %s" % (command, err), (status, "host/profile_log_ops.jsonl of another one: nobody knows its ops" in err), (1, True))
            status, _, err = said(*command.split(), "--op", "Matmul", os.path.join("one", log))
            same("%s: ops of the run: %s" % (command, err), status, 0)
    for log in every[:2]:
        status, _, err = said("memory", os.path.join("host", log))
        same("buffers of another run: %s" % err, (status, "host/profile_log_ops.jsonl of another one: nobody knows its buffers" in err), (1, True))
        same("buffers of the run", said("memory", os.path.join("one", log))[0], 0)
    # Two programs of one run are one.
    program("two", 1, **on, DEVLOG_RUN="00000000000000ab")
    status, out, _ = said("ops", "--no-tar", "-o", "out", "two")
    program("two", 1, **on, DEVLOG_RUN="00000000000000ab")
    same("two programs of one run", verdict("two")["ops"], 2 * one["ops"])


def of_results():
    """What an earlier command has left beside the files of this one is not of the same log, and that is said."""
    told = "is of an earlier decode: this one wrote none"
    for args, files in (((), []), (("--no-page", "--no-tar"), ["device_perf.html", "device_perf_results.tar"]), (("--no-page", "-n", "other"), []), (("--no-files",), []), ((), [])):
        status, _, err = said("decode", *(args if "--no-files" in args else ("-o", "results", *args)), "one/capture.devlog")
        same("decode %s: %s" % (" ".join(args), err), (status, err.splitlines()), (0, ["devlog decode: results/%s %s" % (name, told) for name in files]))
    is_one = "is an earlier report: this one is not in it"
    has_logs = "has the logs of an earlier report: this one packed none"
    for args, told in (((), {}), (("--no-tar",), {"tar": has_logs}), (("-f", "json"), {"csv": is_one}), (("-f", "md"), {"json": is_one}),
                       (("--no-tar",), {"json": is_one, "md": is_one, "tar": has_logs}), (("-n", "other"), {}), (("-n", "other", "-f", "json"), {"csv": is_one})):
        status, _, err = said("ops", *args, "-o", "results", "one")
        name = "ops_perf_results_other" if "-n" in args else "ops_perf_results"
        same("ops %s" % " ".join(args), (status, err.splitlines()), (0, ["devlog ops: results/%s.%s %s" % (name, ending, told[ending]) for ending in told]))


def of_options():
    """An option that has nothing to do says so."""
    status, _, err = said("ops", "--link-logs", "-o", "linked", "one")
    same("links of a run that is not tt-metal's: %s" % err, (status, os.path.exists(os.path.join(folder, "linked"))), (2, False))
    status, _, err = said("report", "--skip-warm-up", "one")
    same("no warm-up", (status, err), (0, "devlog report: chip 0: no warm-up is to be seen, and no launch is left out for it\n"))


def content(*names):
    """The bytes of a file, or of all in a folder."""
    path = os.path.join(folder, *names)
    files = [path] if os.path.isfile(path) else sorted(os.path.join(where, n) for where, _, inside in os.walk(path) for n in inside)
    return b"".join(open(name, "rb").read() for name in files)


def of_views():
    """What is looked at is what is exported, with the names of the run's ops and its zones of host code."""
    os.mkdir(os.path.join(folder, "exported"))
    for ui, form, name in ("perfetto", "perfetto", "trace.perfetto-trace"), ("speedscope", "speedscope", "trace.speedscope.json"), ("tensorboard", "xplane", "tensorboard"):
        same("view --ui %s" % ui, said("view", "--ui", ui, "-x", "looked", "one")[0], 0)
        same("export -f %s" % form, said("export", "-f", form, "-o", "exported/" + name, "one")[0], 0)
        looked, exported = content("looked", name), content("exported", name)
        same("%s: bytes" % ui, looked == exported, True)
        same("%s names ops" % ui, b"Matmul" in looked, True)
    serve = subprocess.Popen([DEVLOG, "serve", "--port", "0", "one"], cwd=folder, stdout=subprocess.PIPE, text=True)
    address = serve.stdout.readline().split()[0]
    logs = json.load(urllib.request.urlopen(address + "logs.json"))["logs"]
    trace = urllib.request.urlopen("%slog/%s/trace.perfetto-trace" % (address, logs[0]["id"])).read()
    serve.terminate()
    same("serve ends", serve.wait(), 0)
    same("serve: bytes", trace == content("exported", "trace.perfetto-trace"), True)


def of_periodic_captures():
    """Each is in a folder of its own, and the log of ops above them all: the ops of the last run, and of no other."""
    def names(number):
        text = said("export", "-f", "csv", "-o", "-", "periodic/capture-%06d" % number)[1]
        return [row["name"] for row in csv.DictReader(text.splitlines()) if row["kind"] == "launch"]
    every = {"DEVLOG_CAPTURE_EVERY": "3", "TT_METAL_DEVICE_PROFILER": "1", "DEVLOG_OPS": "1"}
    program("periodic", 1, **every)
    first = names(1)
    same("a periodic capture", len(first) == 1 and first[0][:6] != "launch", True)
    n = len([name for name in os.listdir(os.path.join(folder, "periodic")) if name.startswith("capture-")])
    program("periodic", 1, **every)
    same("the same of the run behind it", names(n + 1), first)
    same("one of the run before", names(1)[0].startswith("launch "), True)
    capture = "periodic/capture-%06d" % (n + 1)
    ways = [("ops", "--no-tar", "-o", "out", capture), ("ops", "--no-tar", "-o", "out", "--device-log", capture + "/capture.devlog", "periodic")]
    for status, text, err in (said(*way) for way in ways):
        same("%s%s" % (text[:200], err), (status, "1 ops, 1 rows" in text), (0, True))
        with open(os.path.join(folder, "out", "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
            same("its op", [row["OP CODE"] for row in csv.DictReader(f) if row["OP TYPE"] == "tt_dnn_device"], first)
    told = said("report", "periodic")[2]
    same("report of them all", told.splitlines()[0], "devlog report: periodic: the device was recorded now and then, in capture-%06d and others: name one of them" % (2 * n))
    for how in ([capture], ["--latest", "periodic"]):
        status, text, err = said("report", "--format", "json", *how)
        same("report %s" % how, (status, json.loads(text)["sections"]["verdict"]["facts"]["ops"]["value"]), (0, 1))
    same("by name", said("decode", "--no-files", "-f", "csv", "--op", first[0], capture)[0], 0)
    same("report of one of the run before", re.findall("(?m)^(?:ops|launches) +\\d+", said("report", "--tables", "verdict", "periodic/capture-000001")[1]), ["launches                    1"])
    told = said("ops", "--no-tar", "-o", "out", "periodic/capture-000001")[1]
    same("its report: %s" % told[:200], "No op log was found" in told, True)


def of_several_programs():
    """The counter of a simulated chip begins with each program: times of several programs of a run are added up, whether they ran one after the
    other or at once."""
    def facts(*words):
        facts = json.loads(said("report", "--format", "json", *words)[1])["sections"]["verdict"]["facts"]
        return [facts[key]["value"] for key in ("wall", "busy", "gaps")]
    one = ["sh", "-c", '"$0" 1', NN]
    same("a program", said("run", "--once", "--no-tar", "-o", "one_program", "--", *one)[0], 0)
    twice = [2 * value for value in facts("one_program")]
    for how, script in (("one after the other", '"$0" 1 && "$0" 1'), ("at once", '"$0" 1 & "$0" 1; wait')):
        same(how, said("run", "--once", "--no-tar", "-o", "programs", "--", "sh", "-c", script, NN)[0], 0)
        same("wall, busy, idle of two programs %s" % how, facts("programs"), twice)
        chips = json.loads(said("report", "--format", "json", "programs")[1])["sections"]["chips"]["rows"]
        same("chip %s" % how, [chip["wall"] - chip["busy"] for chip in chips], [twice[2]])
    said("run", "--once", "--no-tar", "-o", "programs", "--", "sh", "-c", '"$0" 1 && "$0" 1', NN)
    alone = [2 * value for value in facts("one_program/logs/profile_log_device.csv")]
    same("of the log alone", facts("programs/logs/profile_log_device.csv"), alone)
    for log in "", "/logs/profile_log_device.csv":
        lines = json.loads(said("diff", "--exact", "--format", "json", "one_program" + log, "programs" + log)[1])["lines"]
        gaps = [(line["old"]["per_run"], line["new"]["per_run"]) for line in lines if line["name"] == "gaps on the device"]
        same("gaps in a comparison: %s" % gaps, [2 * old == new > 0 for old, new in gaps], [True])


def of_host_code():
    """Zones of host code are of the run whose log they lie beside when both were written last within a minute, and also when the process
    goes on for long behind the device's last word; not those of a process of before, nor of one that began later."""
    at = os.path.join(folder, "zones")
    os.mkdir(at)
    log, host = os.path.join(at, "profile_log_device.csv"), os.path.join(at, "host_7.devlog")
    with open(os.path.join(folder, "one", "profile_log_device.csv"), encoding="utf-8") as f, open(log, "w", encoding="utf-8") as to:
        to.write(f.read())
    second, end = 10**9, 1700000000
    for began, ended, theirs in ((-500, -70, False), (-500, -50, True), (-10, 50, True), (-10, 4000, True), (10, 40, True), (10, 4000, False), (None, 4000, False), (None, 40, True)):
        clocks = [captures.host_clocks(0, 1, [(5, 6, (end + began) * second, 0, 0)])] if began is not None else []
        captures.write(host, captures.chip(0, 10**6, "b", arch="host"), *clocks, captures.frame(captures.END, b""))
        os.utime(log, (end, end))
        os.utime(host, (end + ended, end + ended))
        status, _, err = said("decode", "--no-files", "zones")
        same("host code from %s to %s s: %s" % (began, ended, err), (status in (0, 3), "with zones of host code of 1 process" in err), (theirs, theirs))
        listed = said("view", "--list-only", "--format", "csv", "zones")[1].count("host_7.devlog")
        same("host code from %s to %s s: a log of its own" % (began, ended), listed, int(not theirs))


def main():
    if missing("riscv64-unknown-elf-gcc"):
        return 77
    of_devlog_run()
    of_programs()
    of_results()
    of_options()
    of_views()
    of_periodic_captures()
    of_several_programs()
    of_host_code()
    return finish()


with tempfile.TemporaryDirectory() as folder:
    sys.exit(main())
