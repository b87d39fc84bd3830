"""Budgets of zones for tests in Python (docs/budgets.md), and what a test that fails leaves. The judgement is the library's."""

import contextlib
import functools
import inspect
import os
import re
import shutil
import tempfile

from . import _native

__all__ = ["budget"]

_kept = "generated/profiler/failed" # the plugin's --devlog-keep says otherwise
_MOST_NAME = 150


class _Capture:
    """The logs that a part of a test makes: environment variables send them to a folder of their own."""

    def __init__(self, name):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="devlog_test_")
        self.kept = None # where it was kept

    @property
    def capture(self):
        """The path of the device's capture; None: no device was profiled."""
        path = os.path.join(self.folder, "capture.devlog")
        return path if os.path.exists(path) else None

    def judge(self, zone, cycles, risc=None):
        """AssertionError unless the zone took at most so many cycles; the most that it took."""
        __tracebackhide__ = True # pytest's word
        if not self.capture:
            raise AssertionError(f"budget of zone {zone!r}: no device was profiled in this test, so nobody knows what it took")
        result, most, why = _native.budget_judge(self.capture, zone, risc, cycles, True)
        if result != "kept":
            raise AssertionError(f"budget of zone {zone!r}, {cycles} cycles, is not kept: {result}\n{why.rstrip()}")
        return most

    def keep(self):
        """Puts the folder where it stays, and returns that."""
        if not self.kept and os.path.isdir(self.folder) and os.listdir(self.folder):
            name = re.sub(r"[^\w.\[\]-]+", "_", self.name)[-_MOST_NAME:]
            base = os.path.join(_kept, name)
            os.makedirs(os.path.dirname(base), exist_ok=True)
            if os.path.isdir(base): # of an earlier run
                shutil.rmtree(base)
            self.kept = shutil.move(self.folder, base)
        return self.kept

    def drop(self):
        """Removes what was not kept."""
        shutil.rmtree(self.folder, ignore_errors=True)


_current = None # the innermost one


@contextlib.contextmanager
def _captured(name):
    """The environment in which devices that are opened are profiled, with their cycles, into a folder."""
    global _current
    capture, outer = _Capture(name), _current
    wanted = {"DEVLOG_LOG_FOLDER": capture.folder, "TT_METAL_DEVICE_PROFILER": "1", "DEVLOG_ANNOTATE": os.environ.get("DEVLOG_ANNOTATE", "1")}
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    _current = capture
    try:
        yield capture
    finally:
        _current = outer
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
        capture.drop()


def budget(zone, cycles, risc=None):
    """A test that fails when a zone of the device takes more cycles, never runs, or records were lost:

        @devlog.budget("wait for page", 1200, risc="TRISC1")
        def test_pages():
            run_the_program()

    Devices that the test opens, itself or in programs that it starts, are profiled, and on the simulator it is said which lines took
    the cycles. Several budgets may be put before one test. The capture of a test that fails is kept in generated/profiler/failed. For pytest, unittest and bare functions; docs/budgets.md."""
    if not isinstance(zone, str) or not zone:
        raise TypeError(f"zone={zone!r}: it is the name of a zone; @devlog.budget(\"wait for page\", 1200)")
    if isinstance(cycles, bool) or not isinstance(cycles, int) or not 0 <= cycles < 2**64:
        raise ValueError(f"cycles={cycles!r}: it is a number of cycles")

    def decorate(function):
        known = getattr(function, "__devlog_budgets__", None)
        if known is not None:
            known.append((zone, cycles, risc))
            return function
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(f"{function.__qualname__} is no plain function: put the budget on what it runs")
        budgets = [(zone, cycles, risc)]

        @functools.wraps(function)
        def judged(*args, **kwargs):
            __tracebackhide__ = True # pytest's word
            with contextlib.ExitStack() as stack:
                # A test with the plugin's fixture has a folder already, which that keeps.
                own = _current is None
                capture = stack.enter_context(_captured(f"{function.__module__}.{function.__qualname__}")) if own else _current
                try:
                    result = function(*args, **kwargs)
                    for wanted in reversed(budgets): # as they are written
                        capture.judge(*wanted)
                except Exception as error:
                    kept = capture.keep() if own else None
                    if kept and isinstance(error, AssertionError):
                        raise AssertionError(f"{error}\nits capture is kept in {kept}") from error
                    raise
            return result

        judged.__devlog_budgets__ = budgets
        return judged

    return decorate
