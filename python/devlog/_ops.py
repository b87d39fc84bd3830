"""Telling ops to the profiler from Python: what the host asked for, beside what the device did (docs/op-reports.md). Shapes of
tensors are taken from whatever has a shape; the log itself is written by the library."""

import atexit
import functools
import inspect
import json
import sys
import threading

from . import _native
from ._log import _whole
from ._zones import _ends, _in_one_piece, _qualified

_TYPES = ("python_fallback", "tt_dnn_cpu", "tt_dnn_device")
_FIDELITIES = (None, "LoFi", "HiFi2", "HiFi3", "HiFi4")

_lock = threading.Lock()
_log = None    # _native.Ops; None: off, or not opened yet
_asked = False # whether the environment has been asked
_steps = 0


def open_ops(folder=None, append=False):
    """Starts the log of ops in `folder` (default $DEVLOG_LOG_FOLDER, else generated/profiler/logs), whatever the environment
    says. Without this call it is started by the first op when DEVLOG_OPS=1 or TT_METAL_DEVICE_PROFILER=1 is set, as
    `devlog run` does. Returns the path of the log."""
    global _log, _asked
    with _lock:
        if _log:
            raise RuntimeError(f"the log of ops is open already: {_log.path()}")
        _log = _native.ops_open(folder, append, True)
        _asked = True
        return _log.path()


def close_ops():
    """Ends the log; it is ended at exit otherwise. Raises Error when events could not be written; it says how many."""
    global _log, _asked
    with _lock:
        log, _log, _asked = _log, None, True
    if log:
        log.close()


def _current():
    """The log, or None when op profiling is off."""
    global _log, _asked
    if not _asked:
        with _lock:
            if not _asked:
                _log = _native.ops_open(None, False, False)
                _asked = True
    return _log


@atexit.register
def _at_exit():
    try:
        close_ops()
    except Exception as error: # nobody is left to catch it
        print(f"devlog: {error}", file=sys.stderr)


_ends.insert(0, _at_exit)


def _index(what, wanted, names):
    for i, name in enumerate(names):
        if wanted == name or (name and isinstance(wanted, str) and wanted.lower() == name.lower()):
            return i
    raise ValueError(f"{what}={wanted!r}; there are: {', '.join(str(n) for n in names)}")


def _shape(sizes):
    """As stored, of four dimensions: missing ones are 1, and more are folded into the first."""
    sizes = [int(s) for s in sizes]
    sizes = [1] * (4 - len(sizes)) + sizes
    while len(sizes) > 4:
        sizes[:2] = [sizes[0] * sizes[1]]
    return tuple(sizes)


def _word(value):
    """torch.bfloat16, DataType.BFLOAT16, dtype('float32'): the last word, in capitals."""
    return None if value is None else str(value).rsplit(".", 1)[-1].upper()


def _text(data):
    """Attributes as C programs write them: without spaces, so that reports of both say the same."""
    return data if isinstance(data, str) else json.dumps(data, default=str, separators=(",", ":"))


def _tensor(t):
    """(shape, logical, layout, data type, memory) of numpy's, torch's and ttnn's tensors, and of bare shapes."""
    sizes = getattr(t, "shape", t)
    if isinstance(sizes, str) or not hasattr(sizes, "__iter__"):
        raise TypeError(f"{t!r:.200}: a tensor, or the shape of one, is wanted")
    padded = getattr(t, "padded_shape", sizes)
    layout = _word(getattr(t, "layout", None))
    # torch's word; numpy says it by a flag
    if layout == "STRIDED" or (layout is None and getattr(getattr(t, "flags", None), "c_contiguous", False)):
        layout = "ROW_MAJOR"
    device = getattr(t, "device", None)
    device = device() if callable(device) else device
    memory = None
    if hasattr(t, "shape"):
        kind = getattr(device, "type", None)
        memory = "HOST" if device is None or device == "cpu" or kind == "cpu" else None
    return _shape(padded), _shape(sizes), layout, _word(getattr(t, "dtype", None)), memory


class op:
    """An op for as long as the block, or the function that it decorates, runs:

        with devlog.op("Matmul", inputs=[a, b], attributes={"transpose": True}) as matmul:
            c = ...
            matmul.output(c)

        @devlog.op("Softmax") # @devlog.op alone is called as the function
        def softmax(x): ...

        matmul = devlog.op("Matmul").start(a, b) # where no block fits
        matmul.stop(c)

    Ops nest per thread. An exception ends the op, and its type becomes the attribute `exception`. Tensors are whatever has
    shape and dtype (numpy, torch, ttnn), or bare shapes. Off, nothing is looked at."""

    def __new__(cls, name=None, **_):
        return cls(_qualified(name))(name) if inspect.isroutine(name) else super().__new__(cls)

    def __init__(self, name, *, inputs=(), outputs=(), attributes=None, type="python_fallback", fidelity=None, strategy=None, cores=0):
        self._told = (str(name), _index("type", type, _TYPES), _index("fidelity", fidelity, _FIDELITIES), strategy,
                      _whole("cores", cores, 2**32))
        self._inputs, self._outputs, self._attributes = inputs, outputs, attributes
        self._log, self.id = None, 0

    def __enter__(self):
        self._log = log = _current()
        if log:
            self.id = log.start(*self._told)
            self.input(*self._inputs)
            self.output(*self._outputs)
            if self._attributes is not None:
                self.append_meta_data(self._attributes)
        return self

    def __exit__(self, kind, value, trace):
        if self._log:
            if kind is not None:
                self.append_meta_data({"exception": kind.__name__})
            self._log.end(self.id)
        return False

    def __call__(self, function):
        if isinstance(function, (staticmethod, classmethod)):
            return function.__class__(self(function.__func__))
        _in_one_piece(function, "op")
        name, type, fidelity, strategy, cores = self._told

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            # One op for each call: calls may nest, and run in several threads.
            with op(name, inputs=self._inputs, outputs=self._outputs, attributes=self._attributes, type=_TYPES[type],
                    fidelity=_FIDELITIES[fidelity], strategy=strategy, cores=cores):
                return function(*args, **kwargs)
        return wrapped

    def start(self, *inputs):
        """Begins the op, as `with` does, with these inputs, too. Returns it."""
        self.__enter__()
        self.input(*inputs)
        return self

    def stop(self, *outputs):
        """Ends what start() began, with these outputs. The thread, and the order of nested ops, are those in which they began."""
        self.output(*outputs)
        self.__exit__(None, None, None)

    def input(self, *tensors):
        """Adds inputs to an op that is open."""
        for t in tensors if self._log else ():
            self._log.tensor(self.id, False, *_tensor(t))

    def output(self, *tensors):
        """Adds outputs to an op that is open."""
        for t in tensors if self._log else ():
            self._log.tensor(self.id, True, *_tensor(t))

    def append_meta_data(self, data):
        """Text, or a dict whose members become attributes of the op."""
        if self._log:
            self._log.append(self.id, _text(data))


def append_meta_data(data):
    """Attributes for the innermost op of this thread: text, or a dict."""
    log = _current()
    if log:
        log.append(0, _text(data))


def signpost(header, message=None):
    """A point in the run, by which parts of it are chosen and compared."""
    log = _current()
    if log:
        log.signpost(header, message)


def step(number=None, name=None):
    """The beginning of a step of the workload: a batch, a token, an iteration. Without a number they are counted."""
    global _steps
    log = _current()
    if log:
        with _lock:
            _steps = _steps + 1 if number is None else _whole("number", number) + 1
            number = _steps - 1
        log.step(number, name)
