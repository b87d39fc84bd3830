"""What python -m devlog and devlog.Profiler record of Python programs is what cProfile and a trace function count. Run by ctest:
test_profile.py DEVLOG SOURCE."""

import collections
import json
import os
import pstats
import random
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import devlog

FUNCTIONS = 1000

HEAD = '''
import functools, json, math, os, sys
class Sometimes(Exception): pass
def decorated(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner
class Base:
    def method(self, n): return len(str(n))
    @staticmethod
    def static(n): return sorted([n, 2, 1], key=lambda x: -x)[0]
    @classmethod
    def of_class(cls, n): return cls().method(n)
    @property
    def prop(self): return math.sqrt(16)
'''

REGION = '''
how = os.environ["HOW"]
if how == "cprofile":
    import cProfile
    profiler = cProfile.Profile()
else:
    import devlog
    profiler = devlog.Profiler()
def main():
    for i in range(len(FUNCTIONS)):
        try: FUNCTIONS[i](i % 4)
        except Sometimes: pass
def before(): return 1
before()
profiler.enable()
main()
profiler.disable()
before()
if how == "cprofile": profiler.dump_stats(os.environ["STATS"])
'''


def bodies(seed):
    """A program of functions that call later ones: recursion, exceptions, generators, methods, closures and functions of C."""
    random.seed(seed)
    lines = [HEAD]
    for i in range(FUNCTIONS):
        calls = sorted(random.sample(range(i + 1, min(i + 60, FUNCTIONS)), min(2, FUNCTIONS - 1 - i)))
        kind = random.randrange(8)
        if kind == 7:
            lines.append("@decorated")
        lines.append(f"def f{i}(n):")
        lines.append(f"    if n <= 0: return {i}")
        lines.append("    got = []")
        for c in calls:
            lines.append(f"    try: got.append(f{c}(n - 1))")
            lines.append("    except Sometimes: got.append(0)")
        lines += {0: ["    if n % 3 == 2: raise Sometimes(n)"],
                  1: ["    def count(k):", "        yield from range(k)", "    got += list(count(n))"],
                  2: ["    got.append(Base().method(n) + Base.static(n) + Base.of_class(n))"],
                  3: ["    g = (x for x in range(9))", "    next(g)", "    g.close()"],
                  4: ["    try: json.loads('{')", "    except ValueError: got.append(len(json.dumps([n])))"],
                  5: ["    got.append(Base().prop)", "    try: math.sqrt(-1)", "    except ValueError: pass"],
                  6: ["    def rec(k): return 0 if k == 0 else 1 + rec(k - 1)", "    got.append(rec(n))"],
                  7: ["    got.extend(map(lambda x: x + 1, [1, 2]))"]}[kind]
        lines.append("    return len(got)")
    lines.append("FUNCTIONS = [" + ", ".join(f"f{i}" for i in range(FUNCTIONS)) + "]")
    return "\n".join(lines) + REGION


def python(*args, folder, **environment):
    r = subprocess.run([sys.executable, *args], cwd=folder, capture_output=True, text=True, env={**os.environ, "HOW": "", **environment})
    return r


def host_files(folder):
    return [os.path.join(d, n) for d, _, names in os.walk(folder) for n in sorted(names) if n.startswith("host_") and n.endswith(".devlog")]


def last(name):
    return name.rsplit(".", 1)[-1]


def counts(log):
    """How often each site was met: {(file, line, name): n}."""
    zones, names = log.zones, log.zone_names
    n = collections.Counter(int(z) for z in zones.zone)
    return {(names[i].file, names[i].line, names[i].name): k for i, k in n.items()}


def c_name(label):
    """cProfile's name of a function of C as ours."""
    m = re.fullmatch(r"<built-in method (?:builtins\.)?(.*)>", label) or re.fullmatch(r"<method '(.*)' of '(.*)' objects>", label)
    return f"{m[2]}.{m[1]}" if len(m.groups()) == 2 else m[1]


class Exact(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.path = os.path.join(cls.folder, "prog.py")
        with open(cls.path, "w", encoding="utf-8") as f:
            f.write(bodies(1))

    def decode(self, *args, **environment):
        """Runs python -m devlog with the arguments on the program; its log."""
        with tempfile.TemporaryDirectory() as out:
            r = python("-m", "devlog", "-o", out, *args, "--", self.path, folder=self.folder, **environment)
            self.assertEqual(r.returncode, 0, r.stderr)
            paths = host_files(out)
            self.assertEqual(len(paths), 1)
            log = devlog.decode(paths[0])
            self.assertTrue(log.complete, log.findings)
            return log

    def cprofile(self, *args, **environment):
        """cProfile's counts of the program."""
        stats = os.path.join(self.folder, "stats")
        r = python(*args, self.path, folder=self.folder, STATS=stats, **environment)
        self.assertEqual(r.returncode, 0, r.stderr)
        return {key: value[1] for key, value in pstats.Stats(stats).stats.items()}

    def own(self, counted):
        """Those of the program's file; names are the last part."""
        found = collections.Counter()
        for (file, line, name), n in counted.items():
            if file == self.path:
                found[(1, "<module>") if name in ("<module>", os.path.basename(file)) else (line, last(name))] += n
        return found

    def test_whole(self):
        ours = self.own(counts(self.decode()))
        theirs = self.own(self.cprofile("-m", "cProfile", "-o", os.path.join(self.folder, "stats")))
        self.assertGreater(len(ours), FUNCTIONS)
        self.assertEqual(ours, theirs)

    def test_region_with_everything(self):
        ours, theirs = collections.Counter(), collections.Counter()
        for (file, line, name), n in counts(self.decode("-p", "--all")).items():
            ours[file, line, last(name) if file else name] += n
        for (file, line, name), n in self.cprofile(HOW="cprofile").items():
            if "_lsprof.Profiler" not in name:
                theirs[("", 0, c_name(name)) if file == "~" else (file, line, name)] += n
        self.assertIn(("", 0, "list.append"), ours)
        self.assertIn(("", 0, "math.sqrt"), ours)
        self.assertTrue(any("json/decoder.py" in key[0] for key in ours))
        self.assertNotIn("before", [key[2] for key in ours])
        self.assertEqual({k: (n, theirs[k]) for k, n in ours.items() if theirs[k] != n}, {})
        self.assertEqual(ours, theirs)

    def test_lines(self):
        ours = self.decode("-l", "-p")
        code = textwrap.dedent("""
            import json, sys, collections
            path, out = sys.argv[1:3]
            counted = collections.Counter()
            class Profiler:
                def enable(self): sys.settrace(trace)
                def disable(self): sys.settrace(None)
            def trace(frame, event, arg):
                if frame.f_code.co_filename != path: return None
                if event == "line": counted[frame.f_lineno] += 1
                return trace
            import types
            sys.modules["devlog"] = types.SimpleNamespace(Profiler=Profiler)
            exec(compile(open(path).read(), path, "exec"), {"__name__": "__main__"})
            json.dump(counted, open(out, "w"))
        """)
        out = os.path.join(self.folder, "lines.json")
        r = python("-c", code, self.path, out, folder=self.folder)
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(out, encoding="utf-8") as f:
            theirs = {int(k): n for k, n in json.load(f).items()}
        lines, functions = collections.Counter(), collections.Counter()
        for (file, line, name), n in counts(ours).items():
            (lines if re.search(r":\d+$", name) else functions)[line if re.search(r":\d+$", name) else (line, last(name))] += n
        with open(self.path, encoding="utf-8") as f:
            text = f.read().split("\n")
        end = text.index("profiler.disable()") + 1 # the line of the module that the trace function is not told
        self.assertEqual(lines.pop(end), 1)
        lines.pop(text.index("profiler.enable()") + 2, 0), theirs.pop(text.index("profiler.enable()") + 2, 0)
        self.assertGreater(len(lines), 5 * FUNCTIONS)
        self.assertEqual(lines, theirs)
        stats = self.cprofile(HOW="cprofile")
        self.assertEqual(functions, {(line, name): n for (file, line, name), n in stats.items() if file == self.path})

    def test_monitoring(self):
        """sys.monitoring, which this Python may not have: the same events by a model of it."""
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "monitoring.py")
        ordinary = counts(self.decode("-p", "--all"))
        with tempfile.TemporaryDirectory() as out:
            r = python(path, self.path, folder=self.folder, DEVLOG_HOST="1", DEVLOG_LOG_FOLDER=out)
            self.assertEqual(r.returncode, 0, r.stderr)
            log = devlog.decode(host_files(out)[0])
        self.assertTrue(log.complete, log.findings)
        ours = {k: n for k, n in counts(log).items() if not k[0].endswith("monitoring.py") and k[2] != "set.clear"} # the model's own
        self.assertEqual({k: (ours.get(k), ordinary.get(k)) for k in {*ours, *ordinary} if ours.get(k) != ordinary.get(k)}, {})


class Programs(unittest.TestCase):
    def run_program(self, text, *args, status=0, files=1, **environment):
        """What a program leaves, by process: counters of names; and its result."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "prog.py")
            with open(path, "w", encoding="utf-8") as f:
                f.write(textwrap.dedent(text))
            r = python("-m", "devlog", *args, "--", "prog.py", folder=folder, **environment)
            self.assertEqual(r.returncode, status, r.stdout + r.stderr)
            paths = host_files(folder)
            self.assertEqual(len(paths), files, r.stderr)
            found = []
            for p in paths:
                log = devlog.decode(p)
                self.assertTrue(log.complete, log.findings)
                c = collections.Counter()
                for (_, _, name), n in counts(log).items():
                    c[name] += n
                found.append((c, log))
            return found, r

    def test_decorated_functions_are_counted_once(self):
        """By their own names, as they are recorded anyway; a zone of another name is one, and so is that of a function that is not recorded."""
        text = """
            import devlog, threading
            @devlog.zone
            def plain(): return 1
            @devlog.zone("named")
            def named(): return plain()
            @devlog.zone("other")
            def third(): return 1
            class Thing:
                @devlog.zone
                def method(self): return 1
                @devlog.zone
                @staticmethod
                def static(): return 1
            def main():
                for _ in range(3):
                    named(); third(); Thing().method(); Thing.static()
            main()
            thread = threading.Thread(target=main)
            thread.start(); thread.join()
        """
        ((c, _),), _ = self.run_program(text)
        expected = {"plain": 6, "named": 6, "other": 6, "third": 6, "Thing.method": 6, "Thing.static": 6, "main": 2}
        self.assertEqual({name: c[name] for name in expected}, expected)
        ((c, _),), _ = self.run_program(text, "--exclude", "prog.py")
        for name in ("third", "main"):
            del expected[name]
        self.assertEqual({name: n for name, n in c.items() if name in expected or name in ("third", "main")}, expected)

    def test_generators_and_coroutines(self):
        ((c, log),), _ = self.run_program("""
            import asyncio
            def numbers():
                try:
                    while True: yield 1
                except ValueError: yield 2
            g = numbers(); next(g); next(g); g.throw(ValueError); g.close()
            async def leaf(n):
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                if n == 3: raise KeyError
            async def main():
                await asyncio.gather(*[leaf(i) for i in range(5)], return_exceptions=True)
            async def stream():
                for i in range(4): yield i
            async def reads():
                return [i async for i in stream()]
            asyncio.run(main())
            asyncio.run(reads())
            """)
        self.assertEqual(c["numbers"], 4) # twice resumed, thrown at and closed
        self.assertEqual(c["leaf"], 3 * 5)
        self.assertEqual(c["stream"], 5)
        self.assertNotIn("gather", c)
        depth = {log.zone_names[int(z)].name: int(d) for z, d in zip(log.zones.zone, log.zones.depth)}
        self.assertEqual(depth["leaf"], 1) # in prog.py: what asyncio does is not recorded

    def test_threads(self):
        ((c, log),), _ = self.run_program("""
            import threading
            started, go = threading.Event(), threading.Event()
            def leaf(): pass
            def work(n):
                for _ in range(n): leaf()
            def waits():
                started.set(); go.wait(); work(7)
            early = threading.Thread(target=waits); early.start(); started.wait()
            import devlog
            with devlog.Profiler():
                go.set(); early.join()
                threads = [threading.Thread(target=work, args=(100,), name=f"worker {i}") for i in range(8)]
                [t.start() for t in threads]; [t.join() for t in threads]
            work(5)
            """, "-p")
        self.assertEqual((c["work"], c["leaf"]), (9, 807))
        riscs = {s.risc.split(" #")[0] for s in log.streams}
        self.assertLessEqual({f"worker {i}" for i in range(8)}, riscs)

    def test_fork(self):
        found, _ = self.run_program("""
            import os, multiprocessing
            def both(): pass
            def in_child(): both()
            def outer():
                child = os.fork()
                if child == 0:
                    in_child()
                    raise SystemExit(0)
                os.waitpid(child, 0)
                both()
            outer()
            p = multiprocessing.get_context("fork").Process(target=in_child); p.start(); p.join()
            """, files=3)
        self.assertEqual(sorted((c["outer"], c["in_child"], c["both"]) for c, _ in found), [(0, 1, 1), (0, 1, 1), (1, 0, 1)])

    def test_other_interpreters(self):
        ((c, _),), r = self.run_program("""
            try: import _interpreters as interpreters # 3.13
            except ImportError: import _xxsubinterpreters as interpreters
            def here(): pass
            here()
            other = interpreters.create()
            interpreters.run_string(other, '''if 1:
                def there(): pass
                there()
                try:
                    import devlog
                    devlog.Profiler().enable()
                except (ImportError, RuntimeError) as error: print(error)
            ''')
            interpreters.destroy(other)
            here()
            """)
        self.assertEqual((c["here"], c["there"]), (2, 0))
        # Interpreters that share nothing (3.12) do not load the extension at all.
        self.assertIn("does not support loading in subinterpreters" if sys.version_info >= (3, 12) else
                      "functions of another interpreter of this process are profiled already", r.stdout)

    def test_functions_of_c(self):
        text = """
            import math, json
            def f(x): return x
            def g(): raise ValueError
            sorted([3, 1], key=f)
            try: list(map(lambda x: g(), [1]))
            except ValueError: pass
            for i in range(6): math.floor(i)
            json.dumps([1])
            """
        ((c, _),), _ = self.run_program(text)
        self.assertEqual((c["f"], c["g"], c["sorted"], c["math.floor"], c["dumps"]), (2, 1, 0, 0, 0))
        ((c, _),), _ = self.run_program(text, "--include", "math")
        self.assertEqual((c["math.floor"], c["sorted"], c["dumps"]), (6, 0, 0))
        ((c, _),), _ = self.run_program(text, "--include", "json")
        self.assertEqual((c["dumps"], c["math.floor"]), (1, 0))
        ((c, _),), _ = self.run_program(text, "--all", "--exclude", "prog", "--no-c")
        self.assertEqual((c["dumps"], c["f"], c["sorted"]), (1, 0, 0))

    def test_libraries(self):
        """The standard library and site-packages are not recorded by default, by whom they are asked for, and what they call is who called them."""
        site = os.path.join("env", "lib", "python3", "site-packages")
        with tempfile.TemporaryDirectory() as folder:
            for path, text in ((os.path.join(site, "installed", "__init__.py"), "from .inner import deep\ndef outer(back):\n    return deep(back)\n"),
                               (os.path.join(site, "installed", "inner.py"), "import textwrap\ndef deep(back):\n    textwrap.dedent(' x')\n    return back()\n"),
                               (os.path.join("dist-packages", "other.py"), "def of_other(): pass\n"),
                               ("own.py", "def of_own(): pass\n"),
                               ("prog.py", "import collections, textwrap, installed, other, own\n"
                                           "def called_back(): own.of_own()\n"
                                           "def main():\n"
                                           "    installed.outer(called_back)\n"
                                           "    other.of_other()\n"
                                           "    textwrap.dedent(' a')\n"
                                           "    collections.namedtuple('T', 'x')(1)\n"
                                           "main()\n")):
                os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
                    f.write(text)

            def found(*arguments):
                out = tempfile.mkdtemp(dir=folder)
                python_path = os.pathsep.join([os.path.join(folder, site), os.path.join(folder, "dist-packages"), os.environ.get("PYTHONPATH", "")])
                r = python("-m", "devlog", "-o", out, "--no-c", *arguments, "--", "prog.py", folder=folder, PYTHONPATH=python_path)
                self.assertEqual(r.returncode, 0, r.stderr)
                log = devlog.decode(host_files(out)[0])
                c, depth = collections.Counter(), {}
                for (file, _, name), n in counts(log).items():
                    c[name if file.startswith(folder) or not os.path.isabs(file) else "stdlib"] += n
                for z, d in zip(log.zones.zone, log.zones.depth):
                    depth[log.zone_names[int(z)].name] = int(d)
                return c, depth

            mine = {"prog.py", "own.py", "main", "called_back", "of_own"}
            c, depth = found()
            self.assertEqual(set(c), mine)
            self.assertEqual((depth["main"], depth["called_back"], depth["of_own"]), (1, 2, 3)) # what is between them is not there
            c, depth = found("--include", "installed")
            self.assertEqual(set(c), mine | {"__init__.py", "inner.py", "outer", "deep"})
            self.assertEqual((depth["outer"], depth["deep"], depth["called_back"]), (2, 3, 4))
            self.assertEqual(set(found("--include", "inner", "--exclude", "own")[0]), mine - {"own.py", "of_own"} | {"inner.py", "deep"})
            c, _ = found("--include", "textwrap")
            self.assertEqual(set(c), mine | {"stdlib"})
            c, _ = found("--all")
            self.assertLess(mine | {"outer", "deep", "of_other", "stdlib"}, set(c))
            self.assertGreater(c["stdlib"], 20)

    def test_how_it_ends(self):
        ((c, _),), r = self.run_program("def f(): raise KeyError('no')\nf()", status=1)
        self.assertEqual(c["f"], 1)
        self.assertIn("KeyError: 'no'", r.stderr)
        self.assertNotIn("__main__.py", r.stderr)
        ((c, _),), r = self.run_program("import sys\ndef f(): sys.exit(7)\nf()", status=7)
        self.assertEqual((c["f"], c["prog.py"]), (1, 1))
        ((c, _),), r = self.run_program("""
            import threading, time
            def late(): time.sleep(.1); end()
            def end(): pass
            threading.Thread(target=late).start()
            """)
        self.assertEqual((c["late"], c["end"]), (1, 1))
        ((c, _),), r = self.run_program("""
            import devlog
            def f(): p.disable(); g()
            def g(): pass
            p = devlog.Profiler()
            p.enable(); p.enable(); g(); p.disable(); g(); f(); p.disable()
            """, "-p")
        self.assertEqual((c["g"], c["f"]), (2, 1))
        ((c, _),), r = self.run_program("import os\ndef f(): os.chdir('/')\nf()")
        self.assertEqual(c["f"], 1)
        self.assertIn("what was recorded is in ", r.stderr)
        _, r = self.run_program("x = (", status=1, files=0)
        self.assertIn("python -m devlog: ", r.stderr)
        with tempfile.TemporaryDirectory() as folder:
            for args, says in ((["no.py"], "no.py"), ([], "a program is missing"), (["-o", "/proc/no", "-m", "this"], "/proc/no"),
                               (["-n", "x", "-m", "this"], "-n is of the report that -r makes"), (["--no-device", "-m", "this"], "--no-device is of the report")):
                r = python("-m", "devlog", *args, folder=folder)
                self.assertNotEqual(r.returncode, 0)
                self.assertIn(says, r.stderr)
                self.assertNotIn("Traceback", r.stderr)

    def test_many_calls_wait_for_room(self):
        ((c, _),), _ = self.run_program("""
            def leaf(): pass
            def main():
                for _ in range(700000): leaf()
            main()
            """)
        self.assertEqual(c["leaf"], 700000)

    def test_module_and_report(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "mod.py"), "w", encoding="utf-8") as f:
                f.write("import sys, devlog\ndef f():\n    with devlog.op('Op'): pass\nf()\nassert sys.argv[1:] == ['-p', 'x'] and __name__ == '__main__'\n")
            environment = {"PATH": os.path.dirname(sys.argv[1]) + ":" + os.environ["PATH"]}
            r = python("-m", "devlog", "-r", "--no-device", "-o", "out", "-m", "mod", "-p", "x", folder=folder, **environment)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(len(host_files(folder)), 1, r.stderr)
            self.assertTrue([n for _, _, names in os.walk(folder) for n in names if n.startswith("ops_perf_results")], r.stderr)

    def test_nothing_is_recorded_unless_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            r = python("-c", "import devlog, sys\nwith devlog.Profiler(): print(sys.getprofile())", folder=folder)
            self.assertEqual((r.stdout, os.listdir(folder)), ("None\n", []))
        with self.assertRaises(TypeError):
            devlog.Profiler(include="torch")


ARGUMENTS = sys.argv[1:3]
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
