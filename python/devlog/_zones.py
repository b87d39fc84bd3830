"""Zones of Python code: what a part of a program takes, beside what its kernels do on the device (docs/host.md)."""

import functools
import inspect
import os
import sys

from . import _native
from ._log import _whole

__all__ = ["frame", "message", "start_zones", "stop_zones", "value", "zone"]


def start_zones(folder=None):
    """Starts to record zones, in host_<pid>.devlog in `folder` (the log folder of devices unless told); does nothing while they are recorded.
    DEVLOG_HOST=1 in the environment does the same. Raises Error when the file cannot be written."""
    _native.zones_start(folder)


def stop_zones():
    """Writes what was recorded and ends the file; the end of the program does it, too. Raises Error when not all of it could be written."""
    _native.zones_stop()


_ends = [_native.zones_stop] # what ends the files of a process


def _end_of_worker():
    for end in _ends:
        end()


def _after_fork():
    """Children of multiprocessing end without the interpreter's exit: their files are ended by them."""
    util = sys.modules.get("multiprocessing.util")
    if util:
        util.register_after_fork(_after_fork, lambda _: util.Finalize(None, _end_of_worker, exitpriority=-1000))


os.register_at_fork(after_in_child=_after_fork)
_after_fork() # those of a fork server import it behind their fork


def _caller():
    return sys._getframe(2)


_ARTICLE = {"zone": "a zone", "op": "an op"}


def _qualified(function):
    return getattr(function, "__func__", function).__qualname__


def _in_one_piece(function, what):
    """A TypeError unless a function is called and returns: what is measured of it begins and ends there, on one thread."""
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"{function!r:.200}: {_ARTICLE[what]} is of a function")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__qualname__} gives up its thread in the middle: {_ARTICLE[what]} ends where it began; put `with devlog.{what}()` "
                        "around what does not")


class _Zone:
    """What zone() gives: `with` opens it, and it decorates functions."""

    __slots__ = ("name", "inner")

    def __init__(self, name, inner):
        self.name, self.inner = name, inner

    def __enter__(self):
        self.inner.__enter__()
        return self

    def __exit__(self, *what):
        self.inner.__exit__()

    def __call__(self, function):
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(self(function.__func__))
        _in_one_piece(function, "zone")
        code, name = getattr(function, "__code__", None), self.name
        where = (getattr(function, "__qualname__", ""), code.co_filename if code else "", code.co_firstlineno if code else 0)

        @functools.wraps(function)
        def traced(*args, **kwargs):
            if not _native.zones_on() or code and _native.trace_records(code, name):
                return function(*args, **kwargs)
            with _native.Zone(name, *where):
                return function(*args, **kwargs)

        return traced


def zone(name):
    """A zone of that name: `with devlog.zone("prepare"): ...`, or `@devlog.zone("prepare")` before a function; `@devlog.zone` is called as
    the function. It costs little while nothing is recorded. A zone is opened once: make one for each `with`."""
    if type(name) is not str and inspect.isroutine(name):
        return _Zone(_qualified(name), None)(name)
    if type(name) is not str and callable(name):
        raise TypeError(f"{name!r:.200} is no function: give the zone a name, @devlog.zone(\"name\")")
    frame = _caller()
    return _Zone(name, _native.Zone(name, frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno))


def value(name, number):
    """An unsigned integer of 64 bits as of now."""
    if _native.zones_on():
        frame = _caller()
        _native.zones_value(name, _whole("number", number), frame.f_code.co_filename, frame.f_lineno)


def frame(name="frame"):
    """The end of one round of the program's main loop: a point in time."""
    if _native.zones_on():
        caller = _caller()
        _native.zones_message("", caller.f_code.co_filename, caller.f_lineno, name)


def message(text):
    """A text at a point in time."""
    if _native.zones_on():
        frame = _caller()
        _native.zones_message(text, frame.f_code.co_filename, frame.f_lineno)
