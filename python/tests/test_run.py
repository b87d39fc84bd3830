"""A run of a Python program that starts devices has its zones of host code, its ops and the device in one report and one time line. Run by
ctest: test_run.py DEVLOG SOURCE."""

import base64
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

DEVLOG, SOURCE = sys.argv[1:3]
PROGRAM = """
import os, subprocess, sys
import devlog
with devlog.zone("prepare"):
    devlog.message("begins")
with devlog.op("Demo"):
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    with devlog.zone("runs the demo"):
        subprocess.run([sys.argv[1]], check=True, stdout=subprocess.DEVNULL, env=environment)
"""


def devlog(*arguments, status=0, folder=None):
    r = subprocess.run([DEVLOG, *arguments], capture_output=True, text=True, cwd=folder, env={**os.environ, "DEVLOG_HOME": SOURCE})
    if r.returncode != status:
        raise AssertionError(f"devlog {arguments}: {r.returncode}\n{r.stdout}{r.stderr}")
    return r


def answers_of(page):
    """What `devlog report` says, in a page."""
    with open(page, encoding="utf-8") as f:
        for packed in re.findall("[A-Za-z0-9+/]{40,}={0,2}", f.read()):
            try:
                text = zlib.decompress(base64.b64decode(packed))
            except (ValueError, zlib.error):
                continue
            if text.startswith(b"{"):
                return json.loads(text)
    raise AssertionError(f"{page} has no answers")


def change(path, header, is_time):
    """Doubles the columns of a CSV file whose names say times."""
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    columns = [i for i, name in enumerate(rows[header]) if is_time(name)]
    for row in rows[header + 1:]:
        for i in columns:
            row[i] = str(2 * int(row[i])) if row[i] else ""
    with open(path, "w", encoding="utf-8", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        with open(os.path.join(cls.folder, "prog.py"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        stale = os.path.join(cls.folder, "out", "logs")
        os.makedirs(stale)
        for name in "host_1.devlog", "host_mine.devlog":
            with open(os.path.join(stale, name), "w", encoding="utf-8") as f:
                f.write("no log")
        cls.said = devlog("run", "--once", "-o", "out", "--", sys.executable, "prog.py", os.path.join(os.path.dirname(DEVLOG), "demo"), folder=cls.folder)
        os.remove(os.path.join(stale, "host_mine.devlog")) # a name that no program gives is nobody's
        cls.logs = stale

    def test_what_is_left(self):
        hosts = [n for n in os.listdir(self.logs) if n.startswith("host_")]
        self.assertEqual(len(hosts), 1, self.said.stderr)
        self.assertNotIn("host_1.devlog", hosts)

    def test_time_line(self):
        r = devlog("export", "-f", "csv", "-o", "-", self.logs, folder=self.folder)
        rows = list(csv.DictReader(r.stdout.splitlines()))
        self.assertIn("with zones of host code of 1 process", r.stderr)
        names = {row["zone"] if "zone" in row else row["name"] for row in rows}
        self.assertLessEqual({"prepare", "runs the demo", "add block", "BRISC-FW"}, names)

    def test_tables(self):
        r = devlog("decode", "--no-files", self.logs, folder=self.folder)
        self.assertIn("process ", r.stdout)
        self.assertIn("runs the demo", r.stdout)
        self.assertIn("add block", r.stdout)
        named = devlog("decode", "--no-files", os.path.join(self.logs, "capture.devlog"), folder=self.folder)
        self.assertNotIn("runs the demo", named.stdout)
        text = devlog("decode", "--no-files", "--chips", "77", self.logs, status=1, folder=self.folder).stderr
        self.assertRegex(text, r"the log has 0, \d+ \(process \d+\)")

    def test_page(self):
        """The page of a run with zones of host code has what is said of the run."""
        for command, page in (("decode", "-o", "page", self.logs), "page"), (("view", "-x", "looked", self.logs), "looked"):
            devlog(*command, folder=self.folder)
            shown = answers_of(os.path.join(self.folder, page, "device_perf.html"))
            self.assertEqual(shown["notes"], [])
            said = json.loads(devlog("report", "--format", "json", self.logs, folder=self.folder).stdout)["sections"]
            for sections in said, shown["report"]["sections"]:
                sections["verdict"]["facts"].pop("input")
            self.assertEqual(shown["report"]["sections"], said)
            self.assertIn("host_zones", said)
            self.assertIn("1 Demo", [row["op"] for row in shown["by_op"]["sections"]["op_statistics"]["rows"]])

    def test_following(self):
        """A folder stands for its device log, which is the one that can grow."""
        r = devlog("decode", "--follow", "--idle", "1", "--no-print", self.logs, folder=self.folder)
        self.assertEqual(r.stderr, f"devlog decode: {self.logs}/profile_log_device.csv\n")
        self.assertIn("Nothing was lost", r.stdout)

    def test_report(self):
        report = json.loads(devlog("report", "--format", "json", "out", folder=self.folder).stdout)["sections"]
        zones = {row["zone"] for row in report["zones"]["rows"]}
        hosts = {row["zone"]: row for row in report["host_zones"]["rows"]}
        self.assertIn("add block", zones)
        self.assertEqual(set(hosts), {"prepare", "runs the demo"})
        self.assertEqual(hosts["prepare"]["count"], 1)
        self.assertEqual(hosts["prepare"]["where"], "prog.py:4")
        self.assertGreater(hosts["runs the demo"]["total"], 1e6) # ns
        self.assertIn("Demo", [row["op"] for row in report["op_statistics"]["rows"]])
        selected = json.loads(devlog("report", "--format", "json", "--launches", "3-5", "out", folder=self.folder).stdout)["sections"]
        self.assertNotIn("host_zones", selected)
        text = devlog("report", "out", folder=self.folder).stdout
        self.assertIn("HOST ZONES", text)

    def test_launches_of_c_without_log_beside_ops(self):
        """Their numbers are those of ops that launched nothing, by accident: they stand under none of these."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "prog.py"), "w", encoding="utf-8") as f:
                f.write("import devlog\nfor i in range(6):\n    with devlog.op(f'Host{i}'): pass\n" + PROGRAM)
            devlog("run", "--once", "-o", "out", "--", sys.executable, "prog.py", os.path.join(os.path.dirname(DEVLOG), "demo"), folder=folder)
            report = json.loads(devlog("report", "--format", "json", "out", folder=folder).stdout)["sections"]
            ran = {row["op"]: row["count"] for row in report["op_statistics"]["rows"] if row["runs_on"] == "device"}
            self.assertEqual(ran, {"(launch without op)": 20})
            counts = {}
            for row in report["zones"]["rows"]:
                counts[row["op"], row["zone"]] = counts.get((row["op"], row["zone"]), 0) + row["count"]
            self.assertEqual({op for op, _ in counts}, {"(launch without op)"})
            log = json.loads(devlog("report", "--format", "json", os.path.join("out", "logs", "capture.devlog"), folder=folder).stdout)["sections"]
            alone = {}
            for row in log["zones"]["rows"]:
                alone[row["zone"]] = alone.get(row["zone"], 0) + row["count"]
            self.assertGreater(alone["add block"], 7 * 64)
            self.assertEqual({zone: n for (_, zone), n in counts.items()}, alone) # none is left out
            self.pages_go_by_time(folder)
            self.diff_goes_by_time(os.path.join(folder, "out"), os.path.join(folder, "slow"))
            chosen = json.loads(devlog("report", "--format", "json", "--launches", "8-10", "out", folder=folder).stdout)["sections"]
            zones = {row["zone"]: row["count"] for row in chosen["zones"]["rows"]}
            self.assertEqual(zones["add block"], 3 * 64) # the first ten launches are of this program
            self.assertEqual([row["count"] for row in chosen["op_statistics"]["rows"]], [3])
            self.assertRegex(devlog("report", "--launches", "21", "out", status=1, folder=folder).stderr, "the log has 1-20")

    def pages_go_by_time(self, folder):
        """Launches 1 to 20 are rows 8 to 27 of the report, of the page with filters, too."""
        devlog("decode", "-o", "all", os.path.join("out", "logs", "capture.devlog"), folder=folder)
        found = answers_of(os.path.join(folder, "all", "device_perf.html"))
        self.assertEqual(found["owners"], [[0, i, i + 7] for i in range(1, 21)])
        with open(os.path.join(folder, "out", "ops_perf_results.csv"), encoding="utf-8") as f:
            half = next(int(row["DEVICE FW START CYCLE"]) for row in csv.DictReader(f) if row["GLOBAL CALL COUNT"] == "16")
        devlog("decode", "--riscs", "BRISC", "--until", str(half - 1), "-o", "some", os.path.join("out", "logs", "capture.devlog"), folder=folder)
        found = answers_of(os.path.join(folder, "some", "device_perf.html"))
        rows = found["by_op"]["sections"]["op_statistics"]["rows"]
        self.assertEqual([row["op"] for row in rows], [f"{i} (launch without op)" for i in range(8, 16)])
        zones = {row["zone"]: row["count"] for row in found["report"]["sections"]["zones"]["rows"]}
        self.assertEqual(zones["add block"], 8 * 64)

    def diff_goes_by_time(self, out, slow):
        """Everything takes twice as long: zones of each of the launches are among the causes."""
        shutil.copytree(out, slow)
        os.remove(os.path.join(slow, "logs", "capture.devlog"))
        change(os.path.join(slow, "ops_perf_results.csv"), 0, lambda name: name.startswith("DEVICE") and ("DURATION" in name or "CYCLE" in name))
        change(os.path.join(slow, "logs", "profile_log_device.csv"), 1, lambda name: name.strip().startswith("time["))
        lines = json.loads(devlog("diff", "--format", "json", "--top", "0", out, slow).stdout)["lines"]
        causes = {c["name"]: (c["old"]["count"], c["new"]["count"]) for line in lines if line["name"] == "(launch without op)" for c in line["causes"]}
        self.assertEqual(causes["add block"], (10, 10))

    def test_of_the_host_alone(self):
        """Zones of all processes of a run without a device are in its report, and on the page."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "prog.py"), "w", encoding="utf-8") as f:
                f.write("import os, devlog\nwith devlog.op('Step'):\n    pid = os.fork()\n    with devlog.zone('work'): pass\n"
                        "    if not pid: os._exit(devlog.stop_zones() or 0)\n    os.waitpid(pid, 0)\n")
            devlog("run", "--host-only", "-o", "out", "--", sys.executable, "prog.py", folder=folder)
            logs = os.path.join(folder, "out", "logs")
            self.assertEqual(len([n for n in os.listdir(logs) if n.startswith("host_")]), 2)
            for words in ["out"], [os.path.join("out", "logs")], ["--latest", "."]:
                said = json.loads(devlog("report", "--format", "json", *words, folder=folder).stdout)["sections"]
                self.assertEqual([(row["zone"], row["count"]) for row in said["host_zones"]["rows"]], [("work", 1)] * 2, words)
                self.assertEqual(len({row["process"] for row in said["host_zones"]["rows"]}), 2)
                self.assertEqual(said["verdict"]["facts"]["ops"]["value"], 1)
            r = devlog("decode", "--no-files", "-f", "csv", "out", folder=folder)
            self.assertIn(", with zones of host code of 1 more process\n", r.stderr)
            self.assertEqual(len(re.findall("(?m)^zones,.*,work,", r.stdout)), 2, r.stdout)
            devlog("view", "-x", "looked", "out", folder=folder)
            shown = answers_of(os.path.join(folder, "looked", "device_perf.html"))["report"]["sections"]
            self.assertEqual(len({row["process"] for row in shown["host_zones"]["rows"]}), 2)

    def test_processes_of_one_program(self):
        """Workers of multiprocessing, however they are started, end their files, and are one run with the program; another run in the folder is another."""
        program = ("import multiprocessing, sys\nimport devlog\n"
                   "def work(n):\n    with devlog.zone('work'): return n\n"
                   "if __name__ == '__main__':\n    with devlog.zone('all'), multiprocessing.get_context(sys.argv[1]).Pool(3) as pool:\n"
                   "        pool.map(work, range(30), 1)\n        pool.close()\n        pool.join()\n")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "prog.py"), "w", encoding="utf-8") as f:
                f.write(program)
            for how in "fork", "spawn", "forkserver":
                environment = {**os.environ, "DEVLOG_HOST": "1", "DEVLOG_LOG_FOLDER": how}
                subprocess.run([sys.executable, "prog.py", how], check=True, cwd=folder, env=environment)
                said = json.loads(devlog("report", "--format", "json", how, folder=folder).stdout)["sections"]
                self.assertEqual(sum(row["count"] for row in said["host_zones"]["rows"] if row["zone"] == "work"), 30)
                processes = len({row["process"] for row in said["host_zones"]["rows"]})
                self.assertGreater(processes, 1)
                r = devlog("decode", "--no-files", how, folder=folder)
                self.assertIn("Nothing was lost", r.stdout)
                self.assertRegex(r.stderr, f", with zones of host code of {processes - 1} more process")
            devlog("view", "-x", "looked", "fork", folder=folder)
            shown = answers_of(os.path.join(folder, "looked", "device_perf.html"))["report"]["sections"]["host_zones"]["rows"]
            self.assertEqual(sum(row["count"] for row in shown if row["zone"] == "work"), 30)
            lines = json.loads(devlog("diff", "--exact", "--format", "json", "fork", "spawn", folder=folder).stdout)["lines"]
            self.assertEqual([(row["old"]["count"], row["new"]["count"]) for row in lines if row["name"] == "work"], [(30, 30)])
            subprocess.run([sys.executable, "-c", "import devlog\nwith devlog.zone('again'): pass"], check=True, cwd=folder,
                           env={**os.environ, "DEVLOG_HOST": "1", "DEVLOG_LOG_FOLDER": "fork"})
            self.assertRegex(devlog("report", "fork", status=1, folder=folder).stderr, r"fork holds \d runs")
            self.assertRegex(devlog("decode", "fork", status=1, folder=folder).stderr, r"\d logs are in fork")

    def test_a_file_without_zones(self):
        with tempfile.TemporaryDirectory() as folder:
            code = "import devlog; devlog.start_zones('.'); devlog.stop_zones()"
            subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
            text = devlog("decode", os.listdir(folder)[0], status=1, folder=folder).stderr
            self.assertIn("no rows; the program recorded no zone of host code", text)
            self.assertNotIn("PROFILE_DEVICE", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
