"""python -m devlog: runs a Python program and records its functions as zones of host code (docs/python.md)."""

import argparse
import atexit
import os
import runpy
import shutil
import sys
import types

from . import _native, _profile

_WAIT_MS = 10000 # a call is rather late than lost
_RING = 1 << 20  # records of a thread that are not written yet


def _parser():
    p = argparse.ArgumentParser(
        prog="python -m devlog", usage="python -m devlog [OPTION]... [--] SCRIPT|-m MODULE [ARGUMENT]...",
        description="Run a Python program and record its functions as zones, in host_<pid>.devlog of the log folder.",
        epilog="What the standard library and site-packages do belongs to who calls it, unless --include or --all says otherwise. Patterns are "
               "those of a shell, of a path or one of its parts: --include torch --exclude 'test_*'.")
    p.add_argument("-p", "--partial", action="store_true", help="only between devlog.Profiler().enable() and disable()")
    p.add_argument("-l", "--lines", action="store_true", help="every line that runs, too")
    p.add_argument("-r", "--report", action="store_true", help="by `devlog run`, with a report of its ops")
    p.add_argument("--no-device", action="store_true", help="with -r: a report of the host alone")
    p.add_argument("--op-stacks", metavar="FRAMES", type=int, choices=range(1, 65), help="each op of the log with its call stack, of so many frames (1 to 64)")
    p.add_argument("-o", "--output", metavar="FOLDER", help="where logs go; with -r, where the report goes")
    p.add_argument("-n", "--name", metavar="SUFFIX", help="with -r: what is added to the report's name")
    p.add_argument("--include", metavar="PATTERN", action="append", default=[], help="record these although they are a library's")
    p.add_argument("--exclude", metavar="PATTERN", action="append", default=[], help="do not record these")
    p.add_argument("--all", action="store_true", help="record the standard library and site-packages, too")
    p.add_argument("--no-c", action="store_true", help="record no functions of C")
    p.add_argument("-m", dest="module", action="store_true", help="run a module, as python -m does")
    p.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return p


def _devlog():
    """The program, of the PATH or of the build that the package is from."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bin", "devlog")
    found = shutil.which("devlog") or (beside if os.access(beside, os.X_OK) else None)
    if not found:
        sys.exit("python -m devlog: -r needs the program devlog, which is not on the PATH; without -r zones are recorded, and no report is made")
    return found


def _report(o, program):
    """The same without -r, run by `devlog run`."""
    command = [_devlog(), "run", "--host-only" if o.no_device else "--once"]
    for option, value in ("-o", o.output), ("-n", o.name), ("--op-stacks", o.op_stacks):
        command += [option, str(value)] if value else []
    command += ["--", sys.executable, "-m", "devlog"]
    for option, wanted in ("-p", o.partial), ("-l", o.lines), ("--all", o.all), ("--no-c", o.no_c):
        command += [option] if wanted else []
    for option, patterns in ("--include", o.include), ("--exclude", o.exclude):
        for pattern in patterns:
            command += [option, pattern]
    command += ["-m"] if o.module else []
    sys.stdout.flush()
    os.execv(command[0], command + ["--"] + program)


def _file_in(folder):
    """What the library records into: host_<pid>.devlog, or another where a process of another container has that number."""
    there = os.path.realpath(folder)
    for fd in os.listdir("/proc/self/fd"):
        try:
            above, name = os.path.split(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            continue # listdir's own
        if above == there and name.startswith("host_"):
            return os.path.join(folder, name)
    return os.path.join(folder, f"host_{os.getpid()}.devlog")


def _finish(path, absolute):
    """The last thing that happens: threads that are waited for have ended. The program may have changed its folder."""
    whole.disable()
    try:
        _native.zones_stop()
    except _native.Error as error:
        print(f"devlog: host zones: {error}", file=sys.stderr)
        return
    if os.path.exists(absolute):
        print(f"devlog: what was recorded is in {path}: devlog decode {path}", file=sys.stderr)
    else:
        print("devlog: nothing was recorded", file=sys.stderr)


def _trimmed(trace):
    """A traceback without this file and what runs modules."""
    while trace and (trace.tb_frame.f_code.co_filename == __file__ or "runpy" in trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _runner(module, program):
    """What runs the program, as __main__, with its arguments."""
    sys.argv[:] = program
    if module:
        sys.path.insert(0, os.getcwd())
        return lambda: runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    path = program[0]
    with open(path, "rb") as f:
        code = compile(f.read(), path, "exec")
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = path, __builtins__
    sys.modules["__main__"] = main
    return lambda: exec(code, main.__dict__)


def _main():
    global whole
    parser = _parser()
    o = parser.parse_args()
    program = o.program[1:] if o.program[:1] == ["--"] else o.program
    if not program:
        parser.error("a program is missing")
    for option, given in ("-n", o.name), ("--no-device", o.no_device):
        if given and not o.report:
            parser.error(f"{option} is of the report that -r makes")
    if o.report:
        _report(o, program)
    _profile._defaults.update(lines=o.lines, include=o.include, exclude=o.exclude, everything=o.all, c_functions=not o.no_c)
    try:
        run = _runner(o.module, program)
    except (OSError, SyntaxError) as error:
        sys.exit(f"python -m devlog: {error}")
    if o.op_stacks:
        os.environ["DEVLOG_OP_STACKS"] = str(o.op_stacks)
    folder = o.output or os.environ.get("DEVLOG_LOG_FOLDER") or "generated/profiler/logs"
    try:
        _native.zones_start(folder, _RING, _WAIT_MS)
    except _native.Error as error:
        sys.exit(f"python -m devlog: {error}")
    whole = _profile.Profiler()
    mine, path = os.getpid(), _file_in(folder)
    absolute = os.path.abspath(path)
    atexit.register(lambda: _finish(path, absolute) if os.getpid() == mine else None)
    if not o.partial:
        whole.enable()
    try:
        run()
    except SystemExit:
        raise
    except BaseException as error:
        if not o.partial:
            _native.trace_leave()
        error = error.with_traceback(_trimmed(error.__traceback__))
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)
    finally:
        _native.trace_leave() # other threads go on


whole = None
if __name__ == "__main__":
    _main()
