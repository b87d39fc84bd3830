"""Ops told from Python are rows of the op report as ops told from C are. Run by ctest: test_ops.py DEVLOG SOURCE; the program
that is profiled is this file, too: test_ops.py --program."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import devlog


class Tensor:
    """As ttnn's and torch's look."""

    def __init__(self, shape, dtype, layout=None, device=None, padded=None):
        self.shape, self.dtype, self.layout, self.device = shape, dtype, layout, device
        if padded:
            self.padded_shape = padded


class Like:
    """A whole number of a library's own, as numpy's are."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


def program():
    host, stored = Tensor((3, 5), "torch.float32", "torch.strided", "cpu"), Tensor((1, 1, 30, 30), "DataType.BFLOAT16", "Layout.TILE",
                                                                                   padded=(1, 1, 32, 32))

    @devlog.op("Softmax `\"1\"`,\n;", type="tt_dnn_cpu", fidelity="hifi4", cores=Like(8), strategy="MULTI_CORE")
    def softmax(depth):
        devlog.append_meta_data({"depth": depth, "text": "a,b\n\"c\""})
        return softmax(depth - 1) if depth else 7

    devlog.signpost("warm", "two\nlines")
    for number in range(2):
        devlog.step(Like(number), f"batch {number}")
        with devlog.op("Matmul", inputs=[host, stored], attributes={"transpose": True, "big": 2**60}) as matmul:
            with devlog.op("Inner"):
                time.sleep(0.002)
            begun = devlog.op("Begun", inputs=[host]).start(stored)
            devlog.append_meta_data({"inside": number})
            begun.stop((1, 2, 3, 4))
            matmul.output((7, 6, 5, 4, 3))
            matmul.append_meta_data("plain text")
    assert softmax(2) == 7
    try:
        with devlog.op("Fails"):
            raise KeyError("no")
    except KeyError:
        pass
    threads = [threading.Thread(target=lambda: [softmax(0) for _ in range(5)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def report(folder, *arguments, environment=None):
    """Rows of the report of this program."""
    subprocess.run([DEVLOG, *arguments], check=True, capture_output=True, cwd=folder, env={**os.environ, **(environment or {})})
    paths = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files if f.startswith("ops_perf_results") and f.endswith(".csv")]
    if len(paths) != 1:
        raise AssertionError(paths)
    with open(paths[0], newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Ops(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, rows):
        by = {}
        for row in rows:
            by.setdefault(row["OP CODE"], []).append(row)
        self.assertEqual({k: len(v) for k, v in by.items()},
                         {"warm": 1, "Matmul": 2, "Inner": 2, "Begun": 2, "Softmax `\"1\"`,\n;": 23, "Fails": 1} | {k: len(v) for k, v in by.items() if "batch" in k})
        matmul, inner, begun = by["Matmul"][0], by["Inner"][0], by["Begun"][0]
        self.assertEqual((begun["INPUT_0_X_PAD[LOGICAL]"], begun["INPUT_1_X_PAD[LOGICAL]"], begun["OUTPUT_0_X_PAD[LOGICAL]"]),
                         ("5[5]", "32[30]", "4[4]"))
        self.assertIn("inside", begun["ATTRIBUTES"])
        self.assertEqual(matmul["OP TYPE"], "python_fallback")
        shape = [matmul[f"INPUT_{i}_{d}"] for i in (0, 1) for d in ("W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]")]
        self.assertEqual(shape, ["1[1]", "1[1]", "3[3]", "5[5]", "1[1]", "1[1]", "32[30]", "32[30]"])
        self.assertEqual([matmul[f"INPUT_0_{k}"] for k in ("LAYOUT", "DATATYPE", "MEMORY")], ["ROW_MAJOR", "FLOAT32", "HOST"])
        self.assertEqual([matmul[f"INPUT_1_{k}"] for k in ("LAYOUT", "DATATYPE")], ["TILE", "BFLOAT16"])
        self.assertEqual(matmul["OUTPUT_0_W_PAD[LOGICAL]"], "42[42]")
        self.assertIn("transpose", matmul["ATTRIBUTES"])
        self.assertIn(str(2**60), matmul["ATTRIBUTES"])
        self.assertIn("plain text", matmul["ATTRIBUTES"])
        self.assertEqual((int(inner["CALL DEPTH"]), int(matmul["CALL DEPTH"])), (2, 1))
        self.assertGreaterEqual(int(inner["HOST DURATION [ns]"]), 2_000_000)
        self.assertGreaterEqual(int(matmul["HOST DURATION [ns]"]), int(inner["HOST DURATION [ns]"]))
        self.assertIn("KeyError", by["Fails"][0]["ATTRIBUTES"])
        soft = by["Softmax `\"1\"`,\n;"]
        self.assertEqual(sorted(int(r["CALL DEPTH"]) for r in soft), [1] * 21 + [2, 3])
        self.assertEqual({r["MATH FIDELITY"] for r in soft}, {"HiFi4"})
        self.assertEqual({r["OP TYPE"] for r in soft}, {"tt_dnn_cpu"})

    def test_by_run(self):
        self.check(report(self.folder.name, "run", "--host-only", "-o", "out", "--", sys.executable, os.path.abspath(__file__), "--program"))

    def test_by_environment(self):
        subprocess.run([sys.executable, os.path.abspath(__file__), "--program"], check=True, cwd=self.folder.name,
                       env={**os.environ, "DEVLOG_OPS": "1", "DEVLOG_LOG_FOLDER": "logs"})
        self.check(report(self.folder.name, "ops", "-i", "logs", "-o", "out"))

    def test_off(self):
        environment = {k: v for k, v in os.environ.items() if k not in ("DEVLOG_OPS", "TT_METAL_DEVICE_PROFILER")}
        subprocess.run([sys.executable, os.path.abspath(__file__), "--program"], check=True, cwd=self.folder.name, env=environment)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_open_and_close(self):
        path = devlog.open_ops(os.path.join(self.folder.name, "logs"))
        with self.assertRaises(RuntimeError):
            devlog.open_ops(self.folder.name)
        with devlog.op("one"):
            devlog.close_ops() # inside of an op: what comes later does nothing
            devlog.append_meta_data("lost")
        with devlog.op("after"):
            pass
        with open(path, encoding="utf-8") as f:
            names = [json.loads(line).get("name") for line in f]
        self.assertIn("one", names)
        self.assertNotIn("after", names)
        second = devlog.open_ops(os.path.join(self.folder.name, "second"))
        devlog.close_ops()
        self.assertTrue(os.path.exists(second))
        with self.assertRaises(devlog.Error):
            devlog.open_ops("/proc/no/such/folder")

    def test_decorated(self):
        """@devlog.op alone is called as the function, and methods of all kinds are decorated."""
        class Layer:
            @devlog.op
            def method(self, x):
                return x
            @devlog.op
            @staticmethod
            def static(x):
                return x
            @devlog.op("Named")
            @classmethod
            def of_class(cls, x):
                return x if cls is Layer else None
            @staticmethod
            @devlog.op
            def outer(x):
                """Kept."""
                return x
        folder = os.path.join(self.folder.name, "decorated")
        devlog.open_ops(folder)
        self.assertEqual([Layer().method(1), Layer.static(2), Layer.of_class(3), Layer().outer(4)], [1, 2, 3, 4])
        self.assertEqual(Layer.outer.__doc__, "Kept.")
        devlog.close_ops()
        names = [row["OP CODE"] for row in devlog.ops(folder)]
        self.assertEqual([name.split("<locals>.")[-1] for name in names], ["Layer.method", "Layer.static", "Named", "Layer.outer"])

    def test_workers(self):
        """Workers of multiprocessing close the log, however they are started, whether the program has an op of its own or not."""
        program = ("import contextlib, multiprocessing, sys\nimport devlog\n"
                   "def work(n):\n    with devlog.op('Work'): return n\n"
                   "if __name__ == '__main__':\n    around = devlog.op('All') if sys.argv[2:] else contextlib.nullcontext()\n"
                   "    with around, multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:\n"
                   "        pool.map(work, range(8), 1)\n        pool.close()\n        pool.join()\n")
        path = os.path.join(self.folder.name, "workers.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(program)
        for number, how in enumerate([("fork",), ("fork", "all"), ("spawn",), ("forkserver",), ("forkserver", "all")]):
            folder = os.path.join(self.folder.name, f"workers{number}")
            subprocess.run([sys.executable, path, *how], check=True, env={**os.environ, "DEVLOG_OPS": "1", "DEVLOG_LOG_FOLDER": folder})
            rows = devlog.ops(folder)
            self.assertEqual((len(rows), rows.complete, rows.troubles), (8 + len(how) - 1, True, ""), how)

    def test_wrong(self):
        for wrong in (dict(type="gpu"), dict(fidelity="HiFi9")):
            with self.assertRaises(ValueError):
                devlog.op("x", **wrong)
        async def gives_up():
            pass
        def generates():
            yield
        for function in gives_up, generates, type:
            with self.assertRaisesRegex(TypeError, ": an op (is of a function|ends where it began)"):
                devlog.op("x")(function)
        with self.assertRaisesRegex(TypeError, "gives up its thread"):
            devlog.op(generates)
        devlog.open_ops(os.path.join(self.folder.name, "wrong"))
        for tensor in 3, "abc", None:
            matmul = devlog.op("x")
            with self.assertRaisesRegex(TypeError, "a tensor, or the shape of one, is wanted"):
                matmul.start(tensor)
            matmul.stop()
        devlog.close_ops()


if __name__ == "__main__":
    if sys.argv[1] == "--program":
        program()
    else:
        DEVLOG = sys.argv[1]
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
