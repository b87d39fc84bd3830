"""Zones of Python code are zones of the decoder, nested as the program nested them. Run by ctest: test_zones.py DEVLOG SOURCE; the
program that is profiled is this file, too: test_zones.py --program."""

import functools
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import devlog


class Like:
    """A whole number of a library's own, as numpy's are."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


@devlog.zone("fib")
def fib(n):
    devlog.value("n", n if n % 2 else Like(n))
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@devlog.zone
def bare():
    """Kept."""
    return devlog.frame(), devlog.frame("step")


def program():
    with devlog.zone("all"):
        assert bare() == (None, None) and bare.__doc__ == "Kept."
        assert fib(10) == 55
        threads = [threading.Thread(target=fib, args=(6,)) for _ in range(5)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        devlog.message("text, \"quoted\"; \u00e9 \ud800")
        try:
            with devlog.zone("fails \u00e9"):
                raise KeyError("no")
        except KeyError:
            pass
        child = os.fork()
        if child == 0:
            with devlog.zone("child"):
                pass
            devlog.stop_zones()
            os._exit(0)
        os.waitpid(child, 0)


def run(on):
    folder = tempfile.mkdtemp()
    r = subprocess.run([sys.executable, __file__, "--program"], capture_output=True, text=True,
                       env=dict(os.environ, DEVLOG_HOST="1" if on else "0", DEVLOG_LOG_FOLDER=os.path.join(folder, "logs")))
    assert r.returncode == 0, r.stderr
    logs = os.path.join(folder, "logs")
    return [os.path.join(logs, name) for name in sorted(os.listdir(logs))] if os.path.isdir(logs) else []


class Zones(unittest.TestCase):
    def test_what_is_recorded(self):
        paths = run(True)
        self.assertEqual(len(paths), 2)
        seen, riscs = {}, set()
        for path in paths:
            log = devlog.decode(path)
            self.assertTrue(log.complete)
            for row in log.statistics():
                seen[row.zone] = seen.get(row.zone, 0) + row.count
                riscs.add((path, row.risc))
        self.assertEqual(seen, {"all": 1, "fib": 177 + 5 * 25, "fails \u00e9": 1, "child": 1, "bare": 1})
        self.assertEqual(len(riscs), 1 + 5 + 1)
        text = subprocess.run([sys.argv[1], "export", "-f", "csv", "-o", "-", *paths], capture_output=True, text=True).stdout
        self.assertIn("test_zones.py", text)
        self.assertIn("quoted", text)
        self.assertEqual((text.count(",frame,"), text.count(",step,")), (1, 1))
        self.assertEqual(text.count("\nvalue,"), 177 + 5 * 25)

    def test_nothing_is_left_when_it_is_off(self):
        self.assertEqual(run(False), [])

    def test_what_is_called(self):
        """Methods of classes, in either order of decorators, and what has no code of Python."""
        class Class:
            @devlog.zone("static")
            @staticmethod
            def static(n):
                return n
            @devlog.zone("class")
            @classmethod
            def of(cls, n):
                return cls, n
        with tempfile.TemporaryDirectory() as folder:
            devlog.start_zones(folder)
            self.assertEqual((Class.static(1), Class().static(2), Class.of(3), Class().of(4)), (1, 2, (Class, 3), (Class, 4)))
            self.assertEqual((devlog.zone("builtin")(len)("abc"), devlog.zone("partial")(functools.partial(max, 7))(5)), (3, 7))
            devlog.stop_zones()
            log = devlog.decode(os.path.join(folder, os.listdir(folder)[0]))
            self.assertEqual({row.zone: row.count for row in log.statistics()}, {"static": 2, "class": 2, "builtin": 1, "partial": 1})

    def test_wrong_use(self):
        with tempfile.TemporaryDirectory() as folder:
            devlog.start_zones(folder)
            zone = devlog.zone("twice")
            with zone:
                with self.assertRaises(RuntimeError):
                    zone.__enter__()
            for wrong in ("value", None), ("value", -1), ("value", 2**64), ("value", 0.5), (7, 1):
                with self.assertRaises((TypeError, ValueError)):
                    devlog.value(*wrong)
            with self.assertRaises(TypeError):
                devlog.zone(3)
            with self.assertRaisesRegex(TypeError, "is no function: give the zone a name"):
                devlog.zone(functools.partial(program))
            with self.assertRaises(TypeError):
                @devlog.zone("generator")
                def generator():
                    yield 1
            for no_function in (type, 3):
                with self.assertRaisesRegex(TypeError, "a zone is of a function"):
                    devlog.zone("x")(no_function)
            devlog.stop_zones()
            self.assertEqual(len(os.listdir(folder)), 1)
        with self.assertRaises(devlog.Error):
            devlog.start_zones("/proc/no/such/folder")


if __name__ == "__main__":
    if sys.argv[1:] == ["--program"]:
        program()
    else:
        unittest.main(argv=sys.argv[:1])
