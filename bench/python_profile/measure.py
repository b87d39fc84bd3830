"""./dev bench python_profile: what profiling the functions of a Python program costs, as a ratio to the program alone, beside cProfile
and beside recorders that append each event to a list in Python (as simple tracers do); in time of the program's thread,
the best of several rounds."""

import cProfile
import sys
import tempfile
import time

import devlog

ROUNDS = 7


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def add(self, other):
        return Point(self.x + other.x, self.y + other.y)


def mixed():
    at, total = Point(0, 0), []
    for i in range(30000):
        at = at.add(Point(i, 1))
        total.append(len(str(i)))
    return sum(x for x in total)


def calls():
    fib(21)


class Plain:
    """A recorder in Python: events in a list."""

    def __init__(self):
        self.events = []

    def hook(self, frame, event, arg):
        self.events.append((time.perf_counter_ns(), event, frame.f_code if arg is None or event[0] != "c" else arg))

    def enable(self):
        sys.setprofile(self.hook)

    def disable(self):
        sys.setprofile(None)


def best(work, profiler):
    found = 1e9
    for _ in range(ROUNDS):
        p = profiler() if profiler else None
        time.sleep(.05) # rings are emptied meanwhile
        if p:
            p.enable()
        begin = time.thread_time()
        work()
        took = time.thread_time() - begin
        if p:
            p.disable()
        found = min(found, took)
    return found


WAYS = [("cProfile", cProfile.Profile),
        ("cProfile, builtins=False", lambda: cProfile.Profile(builtins=False)),
        ("a list in Python", Plain),
        ("devlog.Profiler()", devlog.Profiler),
        ("devlog.Profiler(everything=True)", lambda: devlog.Profiler(everything=True)),
        ("devlog.Profiler(c_functions=False)", lambda: devlog.Profiler(c_functions=False)),
        ("devlog.Profiler(lines=True)", lambda: devlog.Profiler(lines=True))]

with tempfile.TemporaryDirectory() as folder:
    devlog._native.zones_start(folder, 1 << 20, 10000)
    for name, work in ("calls of Python functions", calls), ("calls, methods, functions of C", mixed):
        alone = best(work, None)
        print(f"{name}: {alone * 1e3:.1f} ms alone")
        reference = None
        for way, profiler in WAYS:
            took = best(work, profiler)
            added = took - alone
            reference = reference or added
            print(f"    {way:36s} {took / alone:5.2f} times, adds {added * 1e3:7.1f} ms, {added / reference:.2f} of what cProfile adds")
    devlog.stop_zones()
