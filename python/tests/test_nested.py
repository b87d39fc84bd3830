"""Ops of C stand in the report inside the ops of Python around them: of a C library that Python calls, of what it calls back, of programs
that Python starts, with launches on a device. Run by ctest: test_nested.py DEVLOG SOURCE; the programs that are profiled are this file, too."""

import csv
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import devlog

C = r"""
#include <devlog/devlog.h>
#include <pthread.h>
static devlog_ops *ops;
static devlog_error err;
static devlog_status open_log(void)
{
    devlog_ops_options o = DEVLOG_OPS_OPTIONS(.log_folder = NULL);
    return ops ? DEVLOG_OK : devlog_ops_open(&o, &ops, &err);
}
__attribute__((visibility("default"))) int work(int depth, void (*back)(void))
{
    if (open_log() || !ops) return 1;
    devlog_op op = {.name = "C outer", .type = DEVLOG_OP_TT_DNN_CPU};
    uint32_t id = devlog_op_start(ops, &op);
    devlog_tensor t = {.w = 1, .z = 1, .y = 2, .x = 3};
    devlog_op_input(ops, id, &t);
    for (int i = 0; i < depth; i++) {
        op.name = "C inner";
        uint32_t inner = devlog_op_start(ops, &op);
        if (back) back();
        devlog_op_end(ops, inner);
    }
    devlog_op_end(ops, id);
    return 0;
}
static void *alone(void *back)
{
    work(1, (void (*)(void))back);
    return 0;
}
/* On a thread that Python knows nothing of. */
__attribute__((visibility("default"))) int work_on_thread(void)
{
    pthread_t thread;
    return pthread_create(&thread, 0, alone, 0) || pthread_join(thread, 0);
}
/* What a library does on a device without ops of its own: it belongs to the op of Python. */
__attribute__((visibility("default"))) void about(void)
{
    if (!open_log() && ops) devlog_op_append_meta_data(ops, 0, "{\"told\": \"by C\"}");
}
__attribute__((visibility("default"))) int end(void)
{
    int lost = devlog_ops_close(ops, &err);
    ops = NULL;
    return lost;
}
"""


def library_program(path):
    lib = ctypes.CDLL(path)
    back_type = ctypes.CFUNCTYPE(None)

    @devlog.op("Python back")
    def back():
        pass

    with devlog.op("Python outer"):
        lib.about()
        assert lib.work(2, back_type(back)) == 0
        with devlog.op("Python inner"):
            assert lib.work(1, None) == 0
    assert lib.work(0, None) == 0 # alone
    barrier = threading.Barrier(4)

    def thread(n):
        with devlog.op(f"Python thread {n}"):
            barrier.wait() # all have theirs open
            assert lib.work(1, None) == 0
    threads = [threading.Thread(target=thread, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert lib.end() == 0


def stack_program(path):
    lib, keeps = ctypes.CDLL(path), ctypes.PyDLL(path) # without and with the interpreter's lock

    @devlog.op("decorated")
    def decorated():
        call(lib)

    def call(library):
        assert library.work(1, None) == 0

    class Model:
        def forward(self):
            with devlog.op("with"):
                decorated()
    Model().forward()
    call(keeps)
    begun = devlog.op("begun").start()
    begun.stop()
    assert lib.work_on_thread() == 0
    threads = [threading.Thread(target=lambda: [call(lib) for _ in range(50)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert lib.end() == 0


def child_program(nn):
    with devlog.op("Python net", type="tt_dnn_device"):
        with devlog.op("Python step"):
            subprocess.run([nn, "1", "1", "2", "2"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["sh", "-c", f"'{nn}' 1 1 2 2; true"], check=True, stdout=subprocess.DEVNULL)


def report(*command, host_only, options=(), also=None, **environment):
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run([DEVLOG, "run", "--host-only" if host_only else "--once", *options, "-o", "out", "--", *command], cwd=folder, capture_output=True, text=True,
                           env={**os.environ, "DEVLOG_HOME": SOURCE, **environment})
        if r.returncode:
            raise AssertionError(f"{command}: {r.returncode}\n{r.stdout}{r.stderr}")
        if also:
            also(os.path.join(folder, "out"))
        with open(os.path.join(folder, "out", "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))


class Nested(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cc = shutil.which("cc")
        if not cc:
            raise unittest.SkipTest("no C compiler")
        build, folder = os.path.dirname(os.path.dirname(DEVLOG)), tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        source, cls.library = os.path.join(folder.name, "work.c"), os.path.join(folder.name, "libwork.so")
        with open(source, "w", encoding="utf-8") as f:
            f.write(C)
        subprocess.run([cc, "-shared", "-fPIC", "-Wall", "-Werror", source, "-o", cls.library, "-I" + os.path.join(SOURCE, "include"), "-L" + os.path.join(build, "lib"),
                        "-ldevlog", "-Wl,-rpath," + os.path.join(build, "lib"), "-Wl,--allow-shlib-undefined"], check=True,
                       env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})

    def test_library(self):
        rows = report(sys.executable, os.path.abspath(__file__), "--library", self.library, host_only=True)
        self.assertNotIn("CALL STACK", rows[0])
        tree = [(int(r["CALL DEPTH"]), r["OP CODE"]) for r in rows if "thread" not in r["OP CODE"]]
        self.assertEqual(tree[:10], [(1, "Python outer"), (2, "C outer"), (3, "C inner"), (4, "Python back"), (3, "C inner"), (4, "Python back"),
                                     (2, "Python inner"), (3, "C outer"), (4, "C inner"), (1, "C outer")])
        self.assertEqual([r["OP CODE"] for r in rows if "by C" in r["ATTRIBUTES"]], ["Python outer"])
        # One thread is one, whichever log it writes to; so host time is not counted twice.
        self.assertEqual(len({r["HOST THREAD"] for r in rows[:10]}), 1)
        by_thread = {}
        for r in rows[10:]:
            by_thread.setdefault(r["HOST THREAD"], []).append((int(r["CALL DEPTH"]), r["OP CODE"].rstrip("0123456789")))
        self.assertEqual(list(by_thread.values()), [[(1, "Python thread "), (2, "C outer"), (3, "C inner")]] * 4)

    def test_child_with_launches(self):
        nn = os.path.join(os.path.dirname(DEVLOG), "nn")
        rows = report(sys.executable, os.path.abspath(__file__), "--child", nn, host_only=False)
        plain = [(int(r["CALL DEPTH"] or 0), r["OP CODE"], r["DEVICE LAUNCHES"]) for r in report(nn, "1", "1", "2", "2", host_only=False)]
        self.assertTrue(any(launches for _, _, launches in plain))
        inside = [(depth and depth + 2, *rest) for depth, *rest in plain] # signposts and steps have no depth
        tree = [(int(r["CALL DEPTH"] or 0), r["OP CODE"], r["DEVICE LAUNCHES"]) for r in rows]
        self.assertEqual(tree, [(1, "Python net", ""), (2, "Python step", ""), *inside, *plain])

    def line_of(self, text):
        with open(__file__, encoding="utf-8") as f:
            return next(n for n, line in enumerate(f, 1) if line.strip().startswith(text))

    def check_stacks(self, rows, frames, below):
        """Files and lines of the stacks of stack_program(), of so many frames; below: what called it."""
        here, qualified = os.path.abspath(__file__), sys.version_info >= (3, 11)
        at = lambda text, name, plain=None: f"{here}:{self.line_of(text)} {name if qualified else plain or name.rsplit('.', 1)[-1]}"
        model = [at("decorated()", "stack_program.<locals>.Model.forward"), at("Model().forward()", "stack_program"), *below]
        by = {}
        for r in rows:
            by.setdefault(r["OP CODE"], []).append(r["CALL STACK"].split(" < ") if r["CALL STACK"] else [])
        # Where the block begins, or the function that is decorated was called; nothing of the package's own.
        self.assertEqual(by["with"], [[at('with devlog.op("with")', "stack_program.<locals>.Model.forward"), *model[1:]][:frames]])
        self.assertEqual(by["decorated"], [model[:frames]])
        self.assertEqual(by["begun"], [[at('begun = devlog.op', "stack_program"), *below][:frames]])
        work = at("assert library.work", "stack_program.<locals>.call")
        self.assertEqual(by["C outer"][0], [work, at("call(lib)", "stack_program.<locals>.decorated"), *model][:frames])
        self.assertEqual(by["C inner"], by["C outer"]) # by the library's log: without the lock, and with it
        self.assertEqual(by["C outer"][1], [work, at("call(keeps)", "stack_program"), *below][:frames])
        self.assertEqual(by["C outer"][2], []) # no Python there
        self.assertEqual([s[:1] for s in by["C outer"][3:]], [[work]] * 200)

    def test_stacks(self):
        program = os.path.abspath(__file__)
        main = f"{program}:{self.line_of('stack_program(sys.argv[2])')} <module>"
        for frames in 2, 64:
            rows = report(sys.executable, program, "--stacks", self.library, host_only=True, options=["--op-stacks", str(frames)])
            self.check_stacks(rows, frames, [main])

        def ways(out): # every way to see them, of one run
            logs = os.path.join(out, "logs")
            for how in [["ops", "-i", logs, "-o", os.path.join(out, "again"), "--format", "json", "--no-tar"]]:
                subprocess.run([DEVLOG, *how], check=True, capture_output=True)
            with open(os.path.join(out, "again", "ops_perf_results.json"), encoding="utf-8") as f:
                listed = json.load(f)
            self.check_stacks([{**r, "CALL STACK": r["CALL STACK"] or ""} for r in listed], 3, [main])
            self.check_stacks([{**r, "CALL STACK": r["CALL STACK"] or ""} for r in devlog.ops(out)], 3, [main])
            grouped = devlog.report(out, group="stack").op_statistics
            of_c = {row["op"]: row["count"] for row in grouped if row["op"].startswith("C outer")}
            self.assertEqual(sorted(of_c.values()), [1, 1, 1, 200])
            self.assertTrue(any(f"{program}:" in name and "decorated" in name for name in of_c), of_c)
            said = subprocess.run([DEVLOG, "report", "--group", "stack", "--format", "json", out], check=True, capture_output=True, text=True).stdout
            self.assertIn("stack_program < ", said)
        report(sys.executable, program, "--stacks", self.library, host_only=True, options=["--op-stacks", "3"], also=ways)

    def test_stacks_by_module(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.abspath(__file__)
            r = subprocess.run([sys.executable, "-m", "devlog", "-r", "--no-device", "--op-stacks", "64", "-o", "out", "--", program, "--stacks", self.library], cwd=folder,
                               capture_output=True, text=True, env={**os.environ, "PATH": os.path.dirname(DEVLOG) + os.pathsep + os.environ["PATH"]})
            self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
            with open(os.path.join(folder, "out", "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
                self.check_stacks(list(csv.DictReader(f)), 64, [f"{program}:{self.line_of('stack_program(sys.argv[2])')} <module>"])

    def test_stacks_of_nothing(self):
        """A program without Python has none, and says nothing of it; wrong numbers are refused."""
        nn = os.path.join(os.path.dirname(DEVLOG), "nn")
        self.assertNotIn("CALL STACK", report(nn, "1", "1", "2", "2", host_only=True, options=["--op-stacks", "5"])[0])
        for wrong in "0", "65", "x", "-1":
            r = subprocess.run([DEVLOG, "run", "--op-stacks", wrong, "--", "true"], capture_output=True, text=True)
            self.assertEqual(r.returncode, 2, r.stderr)
            r = subprocess.run([sys.executable, "-m", "devlog", "--op-stacks", wrong, "--", os.devnull], capture_output=True, text=True)
            self.assertEqual(r.returncode, 2, r.stderr)
        with tempfile.TemporaryDirectory() as folder:
            r = subprocess.run([DEVLOG, "run", "-o", folder, "--", "true"], capture_output=True, text=True, env={**os.environ, "DEVLOG_OP_STACKS": "1000"})
            self.assertNotEqual(r.returncode, 0)
            self.assertIn("DEVLOG_OP_STACKS=1000: it is a number from 0 to 64", r.stderr)



if __name__ == "__main__":
    if sys.argv[1] == "--library":
        library_program(sys.argv[2])
    elif sys.argv[1] == "--stacks":
        stack_program(sys.argv[2])
    elif sys.argv[1] == "--child":
        child_program(sys.argv[2])
    else:
        DEVLOG, SOURCE = sys.argv[1:3]
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
