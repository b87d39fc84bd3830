"""devlog.report, causes, diff and ops: the same figures as the program's JSON and the op report's cells, of a run of the example network and
of one that was cut off; bad input. Run by ctest: test_answers.py DEVLOG SOURCE."""

import csv
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import devlog

DEVLOG, SOURCE = sys.argv[1:3]
folder = tempfile.TemporaryDirectory()
RUN, CUT = os.path.join(folder.name, "run"), os.path.join(folder.name, "cut")
REPORT, CAPTURE = os.path.join(RUN, "ops_perf_results.csv"), os.path.join(RUN, "logs_device", "capture.devlog")
TAR = os.path.join(RUN, "ops_perf_results.tar")
WAITS = os.path.join(SOURCE, "tests", "fuzz", "corpus", "causes", "waits.csv")


def plain():
    """The environment without what the sanitizers' runtime needs inside of Python."""
    return {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


def setUpModule():
    subprocess.run([DEVLOG, "run", "-o", RUN, "--", os.path.join(os.path.dirname(DEVLOG), "nn"), "2"], check=True, capture_output=True,
                   cwd=folder.name, env={**plain(), "DEVLOG_HOME": SOURCE})
    shutil.copytree(RUN, CUT)
    path = os.path.join(CUT, "logs_device", "capture.devlog")
    os.truncate(path, os.path.getsize(path) * 2 // 3)


def program(*arguments):
    run = subprocess.run([DEVLOG, arguments[0], "--format", "json", *arguments[1:]], capture_output=True, env={**plain(), "DEVLOG_HOME": SOURCE})
    return json.loads(run.stdout), run.returncode


class Answers(unittest.TestCase):
    def same_tables(self, answer, arguments):
        said, status = program(*arguments)
        self.assertEqual(list(answer), list(said["sections"]))
        figures = 0
        for key, section in said["sections"].items():
            table = answer[key]
            self.assertIs(getattr(answer, key), table)
            self.assertEqual((table.title, table.notes), (section["title"], section["notes"]))
            if "facts" in section:
                self.assertEqual([(f.key, f.value, f.note) for f in table], [(k, f["value"], f["note"]) for k, f in section["facts"].items()])
                for name, fact in section["facts"].items():
                    self.assertEqual(getattr(table, name), fact["value"])
                    self.assertEqual(table[name].unit, {"count": "", None: ""}.get(fact["unit"], fact["unit"]))
                figures += len(table)
                continue
            self.assertEqual(list(table), section["rows"])
            self.assertEqual(table.more, section["more"])
            for column in section["columns"]:
                self.assertEqual(table[column["key"]], [row[column["key"]] for row in section["rows"]])
                figures += len(table)
        self.assertEqual(answer.complete, status != 3)
        self.assertEqual(json.loads(answer.format("json")), said)
        return figures

    def test_the_same_as_the_program(self):
        figures = 0
        for run in (RUN, REPORT, CAPTURE, CUT, WAITS, TAR):
            figures += self.same_tables(devlog.report(run), ("report", run))
        for run in (CAPTURE, CUT, WAITS, TAR):
            figures += self.same_tables(devlog.causes(run), ("causes", run))
        figures += self.same_tables(devlog.memory(RUN), ("memory", RUN))
        figures += self.same_tables(devlog.memory(RUN, top=2, steps=3), ("memory", "--top", "2", "--steps", "3", RUN))
        figures += self.same_tables(devlog.report(RUN, group="shape", sort="gap", top=3, time="fw"),
                                    ("report", "--group", "shape", "--sort", "gap", "--top", "3", "--time", "fw", RUN))
        figures += self.same_tables(devlog.report(RUN, ops=["Matmul", "Soft*"]), ("report", "--op", "Matmul", "--op", "Soft*", RUN))
        figures += self.same_tables(devlog.report(CAPTURE, launches=range(3, 10)), ("report", "--launches", "3-9", CAPTURE))
        figures += self.same_tables(devlog.causes(CAPTURE, launches=[(3, 9)], top=2), ("causes", "--launches", "3-9", "--top", "2", CAPTURE))
        self.assertGreater(figures, 2000)
        self.assertIn("VERDICT", str(devlog.report(REPORT)))

    def test_odd_logs(self):
        """Logs from which fuzzing starts, with selections, most of which leave nothing: the same bytes, or the same words of what is wrong."""
        selections = (([], {}), (["--launches", "0-1030"], dict(launches=[(0, 1030)])), (["--skip-launches", "1"], dict(skip_launches=1)),
                      (["--skip-warm-up"], dict(skip_warm_up=True)), (["--traces", "0-9"], dict(traces=[(0, 9)])), (["--op", "A*"], dict(ops="A*")))
        answers = refusals = 0
        path = os.path.join(folder.name, "odd.csv")
        for corpus, before in (("device_log", 1), ("report", 1), ("causes", 0)):
            for i, input in enumerate(sorted(glob.glob(os.path.join(SOURCE, "tests", "fuzz", "corpus", corpus, "*")))[::6]):
                with open(input, "rb") as f, open(path, "wb") as out:
                    out.write(f.read()[before:]) # the first byte of some is the fuzz target's
                arguments, selection = selections[i % len(selections)]
                for name, answer in (("report", devlog.report), ("causes", devlog.causes)):
                    run = subprocess.run([DEVLOG, name, "--format", "json", *arguments, path], capture_output=True, env={**plain(), "DEVLOG_HOME": SOURCE})
                    what = (name, input, arguments, run.stderr)
                    try:
                        said = answer(path, **selection)
                    except devlog.Error as refused:
                        self.assertEqual(run.returncode, 1, what)
                        self.assertIn(str(refused).split("\n")[0], run.stderr.decode(errors="replace"), what)
                        refusals += 1
                    else:
                        self.assertEqual((run.returncode, said.complete), (0 if said.complete else 3, run.returncode == 0), what)
                        self.assertEqual(said.format("json").encode("utf-8", "surrogateescape").strip(), run.stdout.strip(), what)
                        answers += 1
        self.assertGreater(answers, 20)
        self.assertGreater(refusals, 20)

    def test_diff(self):
        conditions = ["op>+5%", "missing", "count>+0%"]
        for old, new in ((RUN, RUN), (RUN, CUT), (WAITS, WAITS)):
            diff = devlog.diff(old, new, exact=True, conditions=conditions)
            said, status = program("diff", "--exact", "--fail-on", conditions[0], "--fail-on", conditions[1], "--fail-on", conditions[2], old, new)
            self.assertEqual(len(diff.lines), len(said["lines"]))
            causes = iter(diff.causes)
            for row, line in zip(diff.lines, said["lines"]):
                self.same_line(row, line)
                for cause in line.get("causes", ()):
                    self.same_line(next(causes), cause)
            self.assertEqual(next(causes, None), None)
            self.assertEqual(diff.judgement, said["result"])
            self.assertEqual([(c["condition"], c["result"]) for c in diff.conditions], [(g["condition"], g["result"]) for g in said["gates"]])
            self.assertEqual(status, {"failed": 4, "undecided": 5, "passed": 0 if diff.complete else 3}[diff.judgement])
            self.assertEqual(json.loads(diff.format("json")), said)
        self.assertEqual(len(devlog.diff([WAITS, WAITS], WAITS).runs), 3)

    def same_line(self, row, line):
        for key in ("kind", "name", "verdict", "unit", "difference_per_run", "change_percent", "p", "p_corrected"):
            self.assertEqual(row[key], line[key])
        for side in ("old", "new"):
            for key, value in line[side].items():
                self.assertEqual(row[f"{side}_{key}"], value)

    def test_ops(self):
        table = devlog.ops(REPORT)
        with open(REPORT, encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([c.key for c in table.columns], list(rows[0]))
        self.assertEqual(len(table), len(rows))
        for mine, theirs in zip(table, rows):
            for key, text in theirs.items():
                if text in ("", "-"):
                    self.assertIsNone(mine[key])
                elif isinstance(mine[key], str):
                    self.assertEqual(mine[key], text)
                else:
                    self.assertEqual(float(mine[key]), float(text))
                    self.assertIsInstance(mine[key], float if "." in text and float(text) % 1 else int)
        self.assertTrue(table.complete)
        # The same of a folder that has only what a report is made of.
        bare = os.path.join(folder.name, "bare")
        shutil.copytree(RUN, bare)
        for name in os.listdir(bare):
            if name.startswith("ops_perf"):
                os.remove(os.path.join(bare, name))
        made = devlog.ops(bare)
        self.assertEqual(made["OP CODE"], table["OP CODE"])
        self.assertEqual(made["DEVICE KERNEL DURATION [ns]"], table["DEVICE KERNEL DURATION [ns]"])
        path = os.path.join(folder.name, "wide.csv")
        with open(path, "w", encoding="utf-8") as f:
            f.write('OP CODE,HOST START TS,DEVICE KERNEL DURATION [ns],W\n7,1758190000123456789,12,"32[32]"\n\n8,-,x,\nAdd,5,3')
        table = devlog.ops(path)
        self.assertEqual(list(table), [{"OP CODE": "7", "HOST START TS": 1758190000123456789, "DEVICE KERNEL DURATION [ns]": 12, "W": "32[32]"},
                                       {"OP CODE": "8", "HOST START TS": None, "DEVICE KERNEL DURATION [ns]": "x", "W": None},
                                       {"OP CODE": "Add", "HOST START TS": 5, "DEVICE KERNEL DURATION [ns]": None, "W": None}])
        self.assertFalse(table.complete)
        self.assertIn("cut off", table.troubles)

    def test_ops_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is missing")
        with open(os.path.join(SOURCE, "schema", "devlog-op-rows-1.json"), encoding="utf-8") as f:
            schema = json.load(f)
        said = json.loads(devlog._answers.Answer(devlog._native.ops([REPORT])).format("json"))
        jsonschema.Draft202012Validator(schema).validate(said)
        self.assertFalse(jsonschema.Draft202012Validator(schema).is_valid(dict(said, format="devlog-report-1")))

    def test_what_is_wrong(self):
        for call in (lambda: devlog.report("/no/such/run"), lambda: devlog.report(RUN, ops=["no such op"]), lambda: devlog.causes(REPORT),
                     lambda: devlog.diff(RUN, RUN, conditions=["op is slow"]), lambda: devlog.diff(RUN, []), lambda: devlog.ops(WAITS),
                     lambda: devlog.report(RUN, rules="/no/rules.json"), lambda: devlog.diff(RUN, RUN, confidence=20)):
            with self.assertRaises(devlog.Error) as raised:
                call()
            self.assertNotIn("\n", str(raised.exception))
            self.assertGreater(raised.exception.status, 0)
        for call in (lambda: devlog.report(RUN, group="colour"), lambda: devlog.report(RUN, top=-1), lambda: devlog.report(RUN, chips=-1)):
            self.assertRaises(ValueError, call)
        for call in (lambda: devlog.report(5), lambda: devlog.report(RUN, colour=1), lambda: devlog.report(RUN, ops=[5])):
            self.assertRaises(TypeError, call)
        report = devlog.report(REPORT)
        self.assertRaises(AttributeError, lambda: report.no_table)
        self.assertRaises(KeyError, lambda: report["no_table"])
        self.assertRaises(AttributeError, lambda: report.verdict.no_fact)
        self.assertRaises(KeyError, lambda: report.op_statistics["no_column"])
        # As dicts, whatever they are.
        self.assertEqual(dict(report)["op_statistics"], report.op_statistics)
        self.assertEqual(dict(report.verdict)["busy"].value, report.verdict.busy)
        self.assertEqual(dict(report.op_statistics)["total"], report.op_statistics["total"])

    def test_threads(self):
        wanted, found = devlog.report(REPORT).format("json"), []
        threads = [threading.Thread(target=lambda: found.append(devlog.report(REPORT).format("json"))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 4)

    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is missing")
        report = devlog.report(REPORT)
        frame = report.op_statistics.to_pandas()
        self.assertEqual(list(frame.op), report.op_statistics["op"])
        self.assertEqual(frame.attrs["units"]["total"], "ns")
        self.assertEqual(len(report.verdict.to_pandas()), len(report.verdict))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
