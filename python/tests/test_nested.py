"""Ops of C stand in the report inside the ops of Python around them: of a C library that Python calls, of what it calls back, of programs
that Python starts, with launches on a device. Run by ctest: test_nested.py DEVLOG SOURCE; the programs that are profiled are this file, too."""

import csv
import ctypes
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


def child_program(nn):
    with devlog.op("Python net", type="tt_dnn_device"):
        with devlog.op("Python step"):
            subprocess.run([nn, "1", "1", "2", "2"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["sh", "-c", f"'{nn}' 1 1 2 2; true"], check=True, stdout=subprocess.DEVNULL)


def report(*command, host_only, **environment):
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run([DEVLOG, "run", "--host-only" if host_only else "--once", "-o", "out", "--", *command], cwd=folder, capture_output=True, text=True,
                           env={**os.environ, "DEVLOG_HOME": SOURCE, **environment})
        if r.returncode:
            raise AssertionError(f"{command}: {r.returncode}\n{r.stdout}{r.stderr}")
        with open(os.path.join(folder, "out", "ops_perf_results.csv"), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))


class Nested(unittest.TestCase):
    def test_library(self):
        cc = shutil.which("cc")
        if not cc:
            self.skipTest("no C compiler")
        build = os.path.dirname(os.path.dirname(DEVLOG))
        with tempfile.TemporaryDirectory() as folder:
            source, path = os.path.join(folder, "work.c"), os.path.join(folder, "libwork.so")
            with open(source, "w", encoding="utf-8") as f:
                f.write(C)
            subprocess.run([cc, "-shared", "-fPIC", "-Wall", "-Werror", source, "-o", path, "-I" + os.path.join(SOURCE, "include"), "-L" + os.path.join(build, "lib"),
                            "-ldevlog", "-Wl,-rpath," + os.path.join(build, "lib"), "-Wl,--allow-shlib-undefined"], check=True,
                           env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
            rows = report(sys.executable, os.path.abspath(__file__), "--library", path, host_only=True)
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


if __name__ == "__main__":
    if sys.argv[1] == "--library":
        library_program(sys.argv[2])
    elif sys.argv[1] == "--child":
        child_program(sys.argv[2])
    else:
        DEVLOG, SOURCE = sys.argv[1:3]
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
