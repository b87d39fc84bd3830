"""Every command that prints JSON: each of its outputs names a schema, which is there, which it follows, and which docs/cli.md lists. The
commands come from `devlog --help`, so that a new one without a schema fails. Usage: check_schemas.py BUILD. Exit status 77:
python3-jsonschema or the cross compiler is missing."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
DEVLOG, NN = os.path.join(BUILD, "bin", "devlog"), os.path.join(BUILD, "bin", "nn")
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = dict(os.environ, DEVLOG_HOME=SOURCE)
bad = []


def run(*args, cwd=None, **environment):
    return subprocess.run([DEVLOG, *args], capture_output=True, text=True, cwd=cwd, env=dict(ENVIRONMENT, **environment))


def commands_with_json():
    """Names of commands, as they are typed, whose --format takes json."""
    names = re.findall(r"^  ([a-z]+(?:-[a-z]+)?)  ", run("--help").stdout, re.M)
    assert "report" in names and len(names) > 15, names
    for name in names:
        words = name.split("-")  # ops-compare is devlog ops compare
        said = run(*words, "--help").stdout
        assert said.startswith("usage: devlog " + name), (name, said[:100])
        formats = re.search(r"^ .*--format ([a-z|]+)", said, re.M)
        if formats and "json" in formats.group(1).split("|"):
            yield tuple(words)


def outputs(tmp):
    """Command to runs of it, as many as its output has forms; a run is its arguments, or a function that gives the JSON."""
    folder, cycles = os.path.join(tmp, "run"), os.path.join(tmp, "cycles")
    made = run("run", "-o", folder, "--", NN, "2", cwd=tmp)
    assert made.returncode == 0, made.stderr
    logs, report = os.path.join(folder, "logs_device"), os.path.join(folder, "ops_perf_results.csv")
    capture, log = os.path.join(logs, "capture.devlog"), os.path.join(logs, "profile_log_device.csv")
    waits = os.path.join(SOURCE, "tests", "fuzz", "corpus", "causes", "waits.csv")
    budgets, cut = os.path.join(tmp, "budgets.txt"), os.path.join(tmp, "cut.csv")
    subprocess.run([NN, "1"], check=True, capture_output=True,
                   env=dict(ENVIRONMENT, DEVLOG_LOG_FOLDER=cycles, TT_METAL_DEVICE_PROFILER="1", DEVLOG_ANNOTATE="1"))
    with open(budgets, "w", encoding="utf-8") as f:
        f.write("1 * BRISC-KERNEL\n1000000000 BRISC BRISC-KERNEL\n1 * no such zone\n")
    with open(log, encoding="utf-8") as f, open(cut, "w", encoding="utf-8") as out:
        text = f.read()
        out.write(text[:len(text) * 2 // 3])

    def of_a_report(*command):
        target = os.path.join(tmp, "json")
        assert run(*command[:1], "--format", "json", "-o", target, *command[1:], cwd=tmp).returncode in (0, 3)
        with open(os.path.join(target, "ops_perf_results.json"), encoding="utf-8") as f:
            return f.read()

    def report_of_ranks(folder, report):
        for rank in ("rank0", "rank1"):
            os.makedirs(os.path.join(folder, "ranks", rank))
            shutil.copy(report, os.path.join(folder, "ranks", rank))
        return os.path.join(folder, "ranks")

    archive = ("-a", os.path.join(tmp, "runs.archive"))

    def of_an_archive(*args):
        if not os.path.exists(archive[1]):
            run("archive", "add", *archive, report)
        return lambda: run("archive", args[0], *archive, *args[1:], "--format", "json").stdout

    states = os.path.join(SOURCE, "tests", "fuzz", "corpus", "saved")
    return {
        ("annotate",): [(cycles,), ("--firmware", "--risc", "BRISC", cycles)],
        ("archive",): [of_an_archive("list"), of_an_archive("find", "board=wormhole_b0"), of_an_archive("history")],
        ("boards",): [(), ("fe310",), ("--transports",), ("/no/such/board.json",), ("fe310", "/no/such/board.json")],
        ("budget",): [("--log", cycles, budgets)],
        ("causes",): [(capture,), (waits,), (cut,), ("--tables", "path,waits", waits)],
        ("decode",): [(capture,), (log,), (cut,)],
        ("devices",): [()],
        ("diff",): [(folder, folder), (log, cut), ("--exact", "--fail-on", "op>+5%", "--fail-on", "missing", folder, folder)],
        ("dump",): [("--all", os.path.join(states, "hung")), (os.path.join(states, "done"),), ("--all", os.path.join(states, "done"))],
        ("memory",): [(folder,)],
        ("ops",): [lambda: of_a_report("ops", os.path.join(folder, "logs")), lambda: of_a_report("ops", "--columns", "reference", os.path.join(folder, "logs"))],
        ("ops", "compare"): [(report, report), ("--list", report, report)],
        ("ops", "summary"): [(report,), ("--list", report)],
        ("ranks",): [lambda: run("ranks", "--format", "json", report_of_ranks(tmp, report)).stdout],
        ("report",): [(folder,), (report,), (capture,), (cut,), ("--top", "2", folder), ("--tables", "verdict,zones", log)],
        ("run",): [lambda: of_a_report("run", "--", NN, "1")],
        ("selftest",): [(os.path.join(SOURCE, "tests", "boards", "made_up.json"),)],
        ("time",): [("-n", "2", "--", "true"), ("-n", "1", "--", NN, "1")],
        ("view",): [("--list-only", folder), ("--list-only", tmp)],
    }


# The op report is a list, as it is everywhere.
UNNAMED = {("ops",): "devlog-op-report-1", ("run",): "devlog-op-report-1"}


def main():
    try:
        import jsonschema
    except ImportError:
        print("SKIPPED: python3-jsonschema is missing")
        return 77
    if subprocess.run(["which", "riscv64-unknown-elf-gcc"], capture_output=True).returncode:
        print("SKIPPED: no riscv64-unknown-elf-gcc")
        return 77
    used = set()
    with open(os.path.join(SOURCE, "docs", "cli.md"), encoding="utf-8") as f:
        documented = dict(re.findall(r"^\| `([a-z -]+?)(?: --list-only)? --format json` \| `([a-z0-9-]+)` \|$", f.read(), re.M))
    with tempfile.TemporaryDirectory() as tmp:
        there = outputs(tmp)
        for command in commands_with_json():
            name, validated = " ".join(command), 0
            for args in there.get(command, ()):
                said = args() if callable(args) else run(*command, "--format", "json", *args, cwd=tmp).stdout
                what = "devlog %s %s" % (name, "" if callable(args) else " ".join(args))
                if not said.strip():
                    continue  # it failed, and says nothing: other tests are about that
                value = json.loads(said)
                schema_name = UNNAMED.get(command) or (value.get("format") if isinstance(value, dict) else None)
                path = os.path.join(SOURCE, "schema", "%s.json" % schema_name)
                if not schema_name or not os.path.exists(path):
                    bad.append("%s: its JSON names no schema that is there (%s)" % (what, schema_name))
                    continue
                with open(path, encoding="utf-8") as f:
                    schema = json.load(f)
                jsonschema.Draft202012Validator.check_schema(schema)
                for error in list(jsonschema.Draft202012Validator(schema).iter_errors(value))[:3]:
                    bad.append("%s: against %s: %s: %s" % (what, schema_name, list(error.path), error.message[:200]))
                validated += 1
                used.add(schema_name)
                if documented.get(name) != schema_name:
                    bad.append("docs/cli.md does not list %s for devlog %s --format json" % (schema_name, name))
                # A schema that takes anything is none.
                changed = [*value, 5] if isinstance(value, list) else dict(value, format="devlog-other-1")
                if jsonschema.Draft202012Validator(schema).is_valid(changed):
                    bad.append("%s takes what it should not" % schema_name)
            if not validated:
                bad.append("devlog %s --format json: no output of it was held against a schema" % name)
    # devlog_answer_print's has no command; tests/unit and python/tests print it.
    for file in sorted(os.listdir(os.path.join(SOURCE, "schema"))):
        if file.startswith("devlog-") and file[:-5] not in used and file != "devlog-op-rows-1.json":
            bad.append("schema/%s: no command prints what follows it" % file)
    for line in bad[:40]:
        print(line)
    print("%d schemas, %d findings" % (len(used), len(bad)))
    return 1 if bad else 0


sys.exit(main())
