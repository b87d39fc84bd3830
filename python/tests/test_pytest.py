"""Budgets and the fixture under pytest. Run by ctest: test_pytest.py DEVLOG SOURCE; pytest is Debian's python3-pytest, if this Python has
none."""

import os
import subprocess
import sys
import tempfile
import unittest

import devlog

DEVLOG, SOURCE = sys.argv[1:3]


def with_pytest():
    """A Python of this version that has pytest."""
    for python in sys.executable, "/usr/bin/python3":
        said = subprocess.run([python, "-c", "import pytest, devlog, sys; print(sys.version_info[:2])"], capture_output=True, text=True)
        if said.returncode == 0 and said.stdout.strip() == str(sys.version_info[:2]):
            return python
    return None


PYTHON = with_pytest()
TESTS = '''
import os, shutil, subprocess
import pytest, devlog
DEMO, MADE = %r, os.path.abspath("made")
def demo():
    """The real one once; then what it left."""
    if os.path.exists(MADE):
        shutil.copytree(MADE, os.environ["DEVLOG_LOG_FOLDER"], dirs_exist_ok=True)
        return
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    subprocess.run([DEMO], check=True, stdout=subprocess.DEVNULL, env=environment)
    shutil.copytree(os.environ["DEVLOG_LOG_FOLDER"], MADE)

@devlog.budget("add block", 10**9, risc="BRISC")
@devlog.budget("add block", 10**9)
def test_kept():
    demo()

@devlog.budget("add block", 10**9)
@devlog.budget("add block", 3, risc="BRISC")
def test_exceeded():
    demo()

@devlog.budget("no such zone", 3)
def test_never_ran():
    demo()

@devlog.budget("add block", 3)
def test_no_device():
    pass

@devlog.budget("add block", 10**9)
def test_fails_itself():
    demo()
    raise KeyError("mine")

def test_fixture_passes(devlog_capture):
    demo()
    assert devlog_capture.judge("add block", 10**9) > 3
    assert devlog.decode(devlog_capture.capture).zones

@pytest.mark.parametrize("n", [1, 2])
def test_fixture_fails(devlog_capture, n):
    demo()
    assert n == 1

@devlog.budget("add block", 4)
def test_both(devlog_capture, tmp_path):
    demo()

def test_environment_is_as_before():
    assert "DEVLOG_LOG_FOLDER" not in os.environ and devlog._budget._current is None
'''


@unittest.skipUnless(PYTHON, "no pytest")
class Pytest(unittest.TestCase):
    def test_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_it.py"), "w", encoding="utf-8") as f:
                f.write(TESTS % os.path.join(os.path.dirname(DEVLOG), "demo"))
            environment = {k: v for k, v in os.environ.items() if k != "DEVLOG_LOG_FOLDER"}
            r = subprocess.run([PYTHON, "-m", "pytest", "-p", "devlog.pytest_plugin", "-p", "no:cacheprovider", "--devlog-keep", "kept", "-rA"],
                               cwd=folder, capture_output=True, text=True, env={**environment, "DEVLOG_HOME": SOURCE})
            said = r.stdout + r.stderr
            self.assertEqual(r.returncode, 1, said)
            for name in "kept", "fixture_passes", "fixture_fails[1]", "environment_is_as_before":
                self.assertIn(f"PASSED test_it.py::test_{name}", said)
            for name in "exceeded", "never_ran", "no_device", "fails_itself", "fixture_fails[2]", "both":
                self.assertIn(f"FAILED test_it.py::test_{name}", said)
            self.assertRegex(said, r"budget of zone 'add block', 3 cycles, is not kept: exceeded\n.*add block")
            self.assertIn("budget of zone 'no such zone', 3 cycles, is not kept: never ran", said)
            self.assertIn("no device was profiled in this test", said)
            self.assertIn("KeyError: 'mine'", said)
            kept = sorted(os.listdir(os.path.join(folder, "kept")))
            self.assertEqual(kept, ["test_it.py_test_both", "test_it.py_test_fixture_fails[2]", "test_it.test_exceeded",
                                    "test_it.test_fails_itself", "test_it.test_never_ran"])
            for name in kept:
                log = devlog.decode(os.path.join(folder, "kept", name, "capture.devlog"))
                self.assertGreater(len(log.zones), 0)
            self.assertIn(f"the capture of this test is kept in {os.path.join(folder, 'kept', 'test_it.py_test_both')}", said)


class Wrong(unittest.TestCase):
    def test_wrong_use(self):
        for args, error in ((len, 3), TypeError), (("zone", "3"), ValueError), (("zone", -1), ValueError), (("", 1), TypeError):
            with self.assertRaises(error):
                devlog.budget(*args)
        with self.assertRaises(TypeError):
            @devlog.budget("zone", 3)
            async def test():
                pass


if __name__ == "__main__":
    if not PYTHON:
        print("SKIPPED: no pytest")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
