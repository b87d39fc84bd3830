"""Functions and lines of Python programs as zones of host code (docs/python.md): which of them are recorded, and what they are called. The
recording itself is in C, over the interpreter's profile and trace functions, or sys.monitoring where that is (3.12)."""

import fnmatch
import functools
import os
import sys
import sysconfig
import threading
import types

from . import _native

__all__ = ["Profiler"]

_HERE = os.path.dirname(os.path.abspath(__file__))
_lock = threading.Lock()
_depth = 0       # how often it was enabled
_at_fork = False # whether os knows
# What Profiler() does unless told; `python -m devlog` sets it.
_defaults = {"lines": False, "include": (), "exclude": (), "everything": False, "c_functions": True}


def _library_folders():
    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if name in paths}
    found |= {os.path.dirname(os.__file__)}
    return tuple(sorted({os.path.join(os.path.realpath(p), "") for p in found} | {os.path.join(p, "") for p in found}))


def _library_modules():
    names = getattr(sys, "stdlib_module_names", None) # 3.10
    if names is None:
        folder = os.path.dirname(os.__file__)
        names = set(sys.builtin_module_names)
        for place in folder, os.path.join(folder, "lib-dynload"):
            names |= {n.split(".")[0] for n in os.listdir(place)} if os.path.isdir(place) else set()
    return frozenset(names) | {"builtins"}


class _Filter:
    """What is recorded of a program. Patterns are those of fnmatch, of a whole path or of one of its parts, with or without .py; of a
    function in C, of its module or one of that name's parts."""

    def __init__(self, include, exclude, everything, c_functions):
        self.include, self.exclude, self.everything, self.c_functions = tuple(include), tuple(exclude), everything, c_functions
        self.folders, self.modules = _library_folders(), _library_modules()
        self.wants = functools.lru_cache(maxsize=None)(self._wants)

    def _matches(self, patterns, whole, parts):
        return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns for text in (whole, *parts))

    def _wants(self, path):
        if path.startswith(os.path.join(_HERE, "")):
            return False
        parts = [p for part in path.split("/") for p in (part, part[:-3] if part.endswith(".py") else part)]
        if self._matches(self.exclude, path, parts):
            return False
        if self.everything or self._matches(self.include, path, parts):
            return True
        if path.startswith("<") or "site-packages" in parts or "dist-packages" in parts: # <frozen os>, <string> of namedtuple
            return path in ("<stdin>", "<console>")
        return not path.startswith(self.folders)

    def describe(self, code):
        """The name of a function's zone; None: it is not recorded."""
        if not self.wants(code.co_filename):
            return None
        if code.co_name == "<module>":
            return os.path.basename(code.co_filename)
        return getattr(code, "co_qualname", code.co_name) # 3.11

    def describe_c(self, function):
        """The same of a function in C."""
        if not self.c_functions:
            return None
        module, name, of = function.__module__, function.__name__, function.__self__
        if isinstance(of, type):
            module, name = of.__module__, f"{of.__qualname__}.{name}"
        elif of is not None and not isinstance(of, types.ModuleType) and type(of).__name__ != "PyCapsule": # pybind11's functions
            owner = next((k for k in type(of).__mro__ if name in k.__dict__), type(of))
            module, name = owner.__module__, f"{owner.__qualname__}.{name}"
        module = module if isinstance(module, str) else ""
        parts = module.split(".")
        if parts[0] == "devlog" or self._matches(self.exclude, module, parts):
            return None
        if not self.everything and parts[0] in self.modules and not self._matches(self.include, module, parts):
            return None
        return f"{module}.{name}" if module and module != "builtins" else name


def _thread_begins(*_):
    """threading calls it first in a new thread."""
    _native.zones_thread(threading.current_thread().name)
    if hasattr(sys, "monitoring"):
        sys.setprofile(None)
    else:
        _native.trace_thread()


def _after_fork():
    """In a child: what is open is the parent's."""
    _native.trace_forget()


def _monitor(lines):
    """Asks sys.monitoring for events."""
    m = sys.monitoring
    try:
        m.use_tool_id(m.PROFILER_ID, "devlog")
    except ValueError:
        raise RuntimeError(f"another profiler is running: {m.get_tool(m.PROFILER_ID)}") from None
    callbacks = {"PY_START": _native.trace_on_start, "PY_RESUME": _native.trace_on_start, "PY_THROW": _native.trace_on_throw,
                 "PY_RETURN": _native.trace_on_return, "PY_YIELD": _native.trace_on_return, "PY_UNWIND": _native.trace_on_unwind,
                 "CALL": _native.trace_on_call, "C_RETURN": _native.trace_on_c_return, "C_RAISE": _native.trace_on_c_return}
    if lines:
        callbacks["LINE"] = _native.trace_on_line
    wanted = 0
    for name, callback in callbacks.items():
        m.register_callback(m.PROFILER_ID, getattr(m.events, name), callback)
        wanted |= getattr(m.events, name)
    m.set_events(m.PROFILER_ID, wanted)
    m.restart_events() # what another session did not want


def _monitor_no_more():
    m = sys.monitoring
    m.set_events(m.PROFILER_ID, 0)
    m.free_tool_id(m.PROFILER_ID)


def _start(lines, include, exclude, everything, c_functions):
    global _at_fork
    chosen = _Filter(include, exclude, everything, c_functions)
    monitoring = hasattr(sys, "monitoring")
    if not _at_fork:
        os.register_at_fork(after_in_child=_after_fork)
        _at_fork = True
    threading.setprofile(_thread_begins) # threads that begin from now on
    if not monitoring:
        _native.trace_start(chosen.describe, chosen.describe_c, lines, None)
        return
    _native.trace_start(chosen.describe, chosen.describe_c, lines, sys.monitoring.DISABLE)
    try:
        _monitor(lines)
    except BaseException:
        threading.setprofile(None)
        _native.trace_stop()
        raise


def _stop():
    _native.trace_stop() # first: the rest is not the program's
    threading.setprofile(None)
    if hasattr(sys, "monitoring"):
        _monitor_no_more()


class Profiler:
    """Records the functions that a part of a program calls, as zones, while zones are recorded (DEVLOG_HOST=1, start_zones(), or
    `python -m devlog -p`); costs nothing otherwise:

        with devlog.Profiler():                  # or enable() and disable()
            model(inputs)

    Of all threads of the interpreter. lines: a zone for each line that runs, too. What the standard library, site-packages and functions
    of C of the standard library do belongs to who calls them, unless everything=True; include and exclude are patterns, of files and
    modules or their parts: include=["torch"]. c_functions=False: none of C. Without an argument it does what `python -m devlog` was
    told. Regions may nest; the outermost decides what is recorded."""

    def __init__(self, *, lines=None, include=None, exclude=None, everything=None, c_functions=None):
        given = {"lines": lines, "include": include, "exclude": exclude, "everything": everything, "c_functions": c_functions}
        for name in "include", "exclude":
            if isinstance(given[name], str):
                raise TypeError(f"{name}={given[name]!r}: it is a list of patterns")
        self._settings = {name: _defaults[name] if value is None else value for name, value in given.items()}
        self._enabled = 0

    def enable(self):
        """Begins to record functions. Those that are running are not told."""
        global _depth
        if not _native.zones_on():
            return
        with _lock:
            if _depth == 0:
                _start(**self._settings)
            _depth += 1
            self._enabled += 1

    def disable(self):
        """Ends what enable() began; zones of functions that are running end here. Does nothing when that did nothing."""
        global _depth
        with _lock:
            if not self._enabled:
                return
            self._enabled -= 1
            _depth -= 1
            if _depth == 0:
                _stop()

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *what):
        self.disable()
