"""The neural network of examples/nn gives the same report from C and from Python: the same columns, and rows that say the same but for what
only a device can tell. Run by ctest: test_nn.py DEVLOG SOURCE."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy # noqa: F401
except ImportError:
    print("SKIPPED: no numpy")
    sys.exit(77)

DEVLOG, SOURCE = sys.argv[1:3]
NN_C, NN_PY = os.path.join(os.path.dirname(DEVLOG), "nn"), os.path.join(SOURCE, "examples", "nn", "nn.py")
SIZE = ["2", "3", "2", "2"]

# What a program without a device cannot have: what it was asked to be, and where its tensors are. All that is measured differs, too.
OF_THE_DEVICE = {"OP TYPE", "MATH FIDELITY", "CORE COUNT", "PARALLELIZATION STRATEGY"}
TELLS = ("OP CODE", "ATTRIBUTES", "CALL DEPTH")


def report(*command, host_only=False):
    """(columns, rows) of the report of a program."""
    with tempfile.TemporaryDirectory() as folder:
        # The package's extension is built with sanitizers when its test is; programs have their runtime, and no use for it twice.
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" or command[0] == sys.executable}
        r = subprocess.run([DEVLOG, "run", "--host-only" if host_only else "--once", "-o", "out", "--", *command], cwd=folder,
                           capture_output=True, text=True, env={**environment, "DEVLOG_HOME": SOURCE})
        if r.returncode:
            raise AssertionError(f"{command}: {r.returncode}\n{r.stdout}{r.stderr}")
        with open(os.path.join(folder, "out", "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
            rows = csv.DictReader(f)
            return rows.fieldnames, list(rows)


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.c_columns, cls.c = report(NN_C, *SIZE)
        cls.python_columns, cls.python = report(sys.executable, NN_PY, *SIZE, host_only=True)

    def test_columns(self):
        self.assertEqual(self.python_columns, self.c_columns)
        self.assertIn("INPUT_1_X_PAD[LOGICAL]", self.c_columns)

    def test_rows(self):
        told = [c for c in self.c_columns if c in TELLS or (c.startswith(("INPUT_", "OUTPUT_")) and not c.endswith("MEMORY"))]
        self.assertGreater(len(told), 20)
        self.assertEqual([[row[c] for c in told] for row in self.python], [[row[c] for c in told] for row in self.c])
        self.assertEqual(len(self.c), 2 * (1 + 1 + 3 * 6 + 2))
        # Tokens are the results of all that was computed: among the attributes, and not the same in all steps.
        tokens = [row["ATTRIBUTES"] for row in self.python if row["OP CODE"] == "ArgMax"]
        self.assertEqual(len(set(tokens)), 2)

    def test_filled(self):
        """Columns that the host fills are filled in both, row by row."""
        for column in self.c_columns:
            if column in OF_THE_DEVICE or not column.startswith(("OP CODE", "GLOBAL", "HOST", "INPUT", "OUTPUT", "CALL", "ATTRIBUTES")):
                continue
            for one, other in zip(self.c, self.python):
                self.assertEqual(bool(one[column]), bool(other[column]), (column, one["OP CODE"]))

    def test_nested(self):
        for rows in self.c, self.python:
            inside = [row["OP CODE"] for row in rows if row["CALL DEPTH"] == "2"]
            self.assertEqual(inside, ["Matmul", "Softmax", "Matmul"] * 6)

    def test_wrong(self):
        for arguments in (["0"], ["x"], ["1", "1", "1"], ["1", "1", "9", "9"], ["-1"], ["99999999999999999999"], ["1"] * 5):
            r = subprocess.run([sys.executable, NN_PY, *arguments], capture_output=True, text=True)
            self.assertEqual((r.returncode, r.stdout), (2, ""), arguments)
            self.assertIn("usage: nn.py", r.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
