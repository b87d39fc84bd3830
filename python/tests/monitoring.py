"""A model of sys.monitoring (3.12) over sys.setprofile, for test_profile.py: monitoring.py PROGRAM runs it with the events that are
defined for sys.monitoring, and checks what its callbacks give back."""

import sys
import types


class Monitoring:
    PROFILER_ID = 2
    DISABLE = object()
    events = types.SimpleNamespace(**{name: 1 << i for i, name in enumerate(
        "PY_START PY_RESUME PY_RETURN PY_YIELD CALL LINE INSTRUCTION JUMP BRANCH STOP_ITERATION RAISE EXCEPTION_HANDLED PY_UNWIND PY_THROW "
        "RERAISE C_RETURN C_RAISE".split())})

    def __init__(self):
        self.tools, self.callbacks, self.disabled, self.mask = {}, {}, set(), 0

    def use_tool_id(self, tool, name):
        if tool in self.tools:
            raise ValueError("tool is in use")
        self.tools[tool] = name

    def free_tool_id(self, tool):
        del self.tools[tool]

    def get_tool(self, tool):
        return self.tools.get(tool)

    def register_callback(self, _, event, callback):
        self.callbacks[event] = callback

    def restart_events(self):
        self.disabled.clear()

    def set_events(self, tool, mask):
        assert tool in self.tools
        self.mask = mask
        sys.setprofile(self.hook if mask else None)

    def tell(self, name, code, *args):
        event = getattr(self.events, name)
        if not self.mask & event or (event, code, args[0]) in self.disabled:
            return
        if self.callbacks[event](code, *args) is self.DISABLE:
            assert name in ("PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "CALL", "LINE"), name
            self.disabled.add((event, code, args[0]))

    def hook(self, frame, event, arg):
        code, at = frame.f_code, frame.f_lasti
        if event == "call":
            self.tell("PY_START" if at <= 0 else "PY_RESUME", code, at)
        elif event == "return":
            self.tell("PY_UNWIND" if arg is None and not at % 4 else "PY_RETURN", code, at, arg)
        else:
            of = arg.__self__
            if of is not None and not isinstance(of, (type, types.ModuleType)):
                arg = getattr(type(of), arg.__name__, arg) # as a call of a method is told
            else:
                of = None
            self.tell({"c_call": "CALL", "c_return": "C_RETURN", "c_exception": "C_RAISE"}[event], code, at, arg, of)


sys.monitoring = Monitoring()
path = sys.argv[1]
with open(path, "rb") as f:
    program = compile(f.read(), path, "exec")
import devlog  # noqa: E402

devlog._profile._defaults.update(everything=True)
exec(program, {"__name__": "__main__"})
assert not sys.monitoring.tools
