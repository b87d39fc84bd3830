"""What devlog._native reads, in the shape that users see. Works nothing out that the library does not say; only
durations are subtracted here, and names are looked up by number."""

import operator
import os
import re
import stat
from typing import NamedTuple, Optional

from . import _native
from ._native import Error

NO_LAUNCH = 0xFFFFFFFF


class Stream(NamedTuple):
    """One RISC of one core."""
    chip: int
    core_x: int
    core_y: int
    risc: str


class Zone(NamedTuple):
    """A kind of zone: its name and place in the source ("" and 0: the log does not say)."""
    name: str
    file: str
    line: int
    role: str  # user, firmware, kernel


class Chip(NamedTuple):
    """What a log says of a chip: its clock, and how well that is known."""
    chip: int
    arch: str                 # "" when the log does not say
    mhz: float                # 0: unknown
    core_error_cycles: float  # bound of the error between markers of two cores; 0: one core, or unknown
    host_error_ns: float      # bound of the error against the host's clock; 0: unknown


class Finding(NamedTuple):
    """What is not as it should be in a log."""
    key: str
    text: str
    first: str  # where it was met first
    count: int
    loss: bool  # something that was recorded is not in the result


class Statistics(NamedTuple):
    """Durations of a group of zones, in cycles; exact."""
    chip: int
    launch: Optional[int]      # by="launch": index into Log.launches
    stream: Optional[Stream]   # by="core"
    risc: str
    zone: str
    role: str
    count: int
    total: int
    min: int
    max: int
    average: float
    median: float
    p90: int  # nearest rank; 0 with quantiles=False
    p95: int
    p99: int


def _array(column):
    try:
        import numpy
    except ImportError:
        return memoryview(column)
    return numpy.asarray(column)


def _numpy(what):
    try:
        import numpy
    except ImportError:
        raise ImportError(f"{what} needs numpy (Debian: python3-numpy)") from None
    return numpy


class Table:
    """Columns of equal length, by name: table["start"] or table.start; dict(table) and list(table) have all of them, and their names.
    len() counts rows."""

    def __init__(self, log, columns):
        self._log = log
        self._columns = columns

    def __getitem__(self, name):
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; there are: {', '.join(self._columns)}") from None

    def __iter__(self):
        return iter(self._columns)

    def __contains__(self, name):
        return name in self._columns

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._columns[name]
        except KeyError:
            raise AttributeError(f"no column {name!r}; there are: {', '.join(self._columns)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self._columns]

    def keys(self):
        """The names of the columns."""
        return self._columns.keys()

    def __len__(self):
        return len(next(iter(self._columns.values())))

    def __repr__(self):
        return f"<devlog.{type(self).__name__}: {len(self)} rows of {', '.join(self._columns)}>"

    def _mask(self, mask):
        return type(self)(self._log, {name: column[mask] for name, column in self._columns.items()})

    def to_pandas(self, names=True):
        """A DataFrame; columns of numbers share memory with this table. With `names` chip, core_x, core_y, and
        categories risc and zone stand before them."""
        import pandas
        frame = pandas.DataFrame(dict(self._columns), copy=False)
        for at, (name, column) in enumerate(self._named().items() if names else ()):
            if name in frame: # the number of a zone gives way to its name
                del frame[name]
            frame.insert(at, name, column)
        return frame

    def _named(self):
        return {}


class _Recorded(Table):
    """Rows that belong to a stream, a zone and a launch."""

    def where(self, zone=None, risc=None, core=None, chip=None, launch=None):
        """The rows of that zone (a name), RISC (its name as logs spell it), core ((x, y)), chip and launch (index into
        Log.launches), as a table of its own. A name that the log does not know is a ValueError."""
        numpy = _numpy("where()")
        log = self._log
        streams = numpy.ones(len(log.streams), bool)
        for wanted, field, of in ((risc, "RISC", lambda s: s.risc), (core, "core", lambda s: (s.core_x, s.core_y)),
                                  (chip, "chip", lambda s: s.chip)):
            if wanted is None:
                continue
            wanted = tuple(wanted) if field == "core" else wanted
            match = numpy.fromiter((of(s) == wanted for s in log.streams), bool, len(log.streams))
            if not match.any():
                there = ", ".join(sorted({str(of(s)) for s in log.streams})[:20])
                raise ValueError(f"no {field} {wanted!r} in this log; there are: {there}")
            streams &= match
        mask = streams[self.stream] if len(streams) else numpy.ones(len(self), bool)
        if zone is not None:
            match = numpy.fromiter((z.name == zone for z in log.zone_names), bool, len(log.zone_names))
            if not match.any():
                raise ValueError(f"no zone {zone!r} in this log")
            mask = mask & match[self.zone]
        if launch is not None:
            if not 0 <= launch < len(log.launches):
                raise ValueError(f"no launch {launch}; there are {len(log.launches)}")
            mask = mask & (self.launch == launch)
        return self._mask(mask)

    def _named(self):
        import pandas
        numpy = _numpy("to_pandas()")
        log = self._log

        def category(names, codes):
            known = {}
            numbers = numpy.fromiter((known.setdefault(n, len(known)) for n in names), numpy.int32, len(names))
            return pandas.Categorical.from_codes(numbers[codes] if len(names) else [], categories=list(known))

        fields = numpy.array([(s.chip, s.core_x, s.core_y) for s in log.streams], numpy.uint32).reshape(-1, 3)
        chips, xs, ys = (fields[:, i][self.stream] if len(fields) else [] for i in range(3))
        return {"chip": chips, "core_x": xs, "core_y": ys, "risc": category([s.risc for s in log.streams], self.stream),
                "zone": category([z.name for z in log.zone_names], self.zone)}


class Zones(_Recorded):
    """Closed zones: start, end (cycles), stream, zone, launch (numbers: Log.streams, Log.zone_names, Log.launches;
    NO_LAUNCH), depth, own_cost (cycles that markers inside took; captures). duration is end - start. Within a stream
    they are in the order in which they ended."""

    @property
    def duration(self):
        """end - start, as an array: cycles."""
        return _numpy("duration").subtract(self.end, self.start)


class Values(_Recorded):
    """What was recorded at a point in time: time (cycles), data, kind (EVENT, DATA, SUM, DROPPED), stream, zone, launch
    and text (a number: Log.text)."""

    EVENT, DATA, SUM, DROPPED = range(4)


class Launches(Table):
    """Launches: chip, number (0, 1, ... on its chip), run_host_id (0: none), trace_id, trace_counter (2**64 - 1: none),
    first_start and last_end of firmware over all RISCs (cycles; 2**64 - 1 and 0 when there was none)."""


def _whole(what, number, below=2**64):
    """A whole number, of numpy's too, as one that C takes without cutting it."""
    try:
        whole = operator.index(number)
    except TypeError:
        raise TypeError(f"{what}: {number!r}: a whole number is wanted") from None
    if not 0 <= whole < below:
        raise ValueError(f"{what}: {number!r}: a number from 0 " + ("on is wanted" if whole < 0 else f"to {below - 1} is wanted"))
    return whole


def _pairs(what, wanted):
    """Numbers, ranges and pairs (both ends included) as pairs; or a text as the program's options have it, "3,5-9"."""
    if wanted is None:
        return None
    if isinstance(wanted, str):
        if not re.fullmatch(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", wanted, re.ASCII):
            raise ValueError(f"{what}: {wanted!r}: numbers are wanted, or a text like '3,5-9'")
        wanted = [tuple(int(n) for n in (item + "-" + item).split("-")[:2]) for item in wanted.split(",")]
    if isinstance(wanted, range) or not hasattr(wanted, "__iter__"):
        wanted = [wanted]
    pairs = []
    for item in wanted:
        if isinstance(item, range):
            if item.step != 1 or not len(item):
                raise ValueError(f"{what}: {item!r}: a range counts up by one and is not empty")
            item = (item[0], item[-1])
        elif not isinstance(item, tuple):
            item = (item, item)
        low, high = (_whole(what, n) for n in item)
        if low > high:
            raise ValueError(f"{what}: {item!r} is no range of numbers from 0 on")
        pairs.append((low, high))
    return pairs


def _names(wanted):
    return [wanted] if isinstance(wanted, str) else wanted


def _no_archive(path):
    """Many files, of which one log would be made."""
    try:
        if not os.path.isfile(path): # a pipe can be opened once
            return
        with open(path, "rb") as f:
            head = f.read(512)
    except (OSError, TypeError, ValueError):
        return # that is said where it is read
    name = os.fsdecode(path)
    if head.startswith(b"PK\x03\x04") or head[257:262] == b"ustar" or name.endswith((".tgz", ".tar.gz", ".tar.xz", ".tar.zst")):
        raise Error(f"{name} is an archive, which ops, report, diff, causes and memory read: unpack it, and name a log in it")


def _listed(paths):
    """One path, or several, as a list. An open file is no list of paths, although it can be gone through."""
    one = isinstance(paths, (str, bytes, os.PathLike)) or hasattr(paths, "read") or not hasattr(paths, "__iter__")
    return [paths] if one else list(paths)


def _apart(paths):
    """What would count twice: a file that is named twice, and a capture and the device log beside it, of one run (glob("logs/*"))."""
    names = [os.fsdecode(p) for p in paths if isinstance(p, (str, bytes, os.PathLike))]
    met = {}
    for name in names:
        try:
            st = os.stat(name)
        except (OSError, ValueError):
            continue # that is said where it is read
        if not stat.S_ISREG(st.st_mode):
            continue # each opening of a pipe has something else
        if (st.st_dev, st.st_ino) in met:
            raise Error(f"{met[st.st_dev, st.st_ino]} and {name} are one file, which would count twice: leave one of them out")
        met[st.st_dev, st.st_ino] = name
    captures = {os.path.dirname(n): n for n in names if os.path.basename(n) == "capture.devlog"}
    for log in names:
        capture = captures.get(os.path.dirname(log))
        if not capture or not os.path.basename(log).startswith("profile_log_device.csv"):
            continue
        try:
            apart = abs(int(os.stat(log).st_mtime) - int(os.stat(capture).st_mtime))
        except OSError:
            continue # that is said where it is read
        if apart <= 60:
            raise Error(f"{capture} and {log} are of one run, which would count twice: name one of them")


def _wishes(paths, chips=None, cores=None, riscs=None, zones=None, launches=None, start=0, until=0, min_cycles=0,
            skip_launches=0, subtract_cost=False, quantiles=True, threads=0, elf_folder=None):
    paths = _listed(paths)
    for path in paths:
        _no_archive(path)
    _apart(paths)
    return ((paths,), dict(chips=_pairs("chips", chips), riscs=_names(riscs), zones=_names(zones), launches=_pairs("launches", launches),
                           cores=None if cores is None else [tuple(_whole("cores", n, 2**32) for n in c) for c in cores],
                           start=_whole("start", start), until=_whole("until", until), min_cycles=_whole("min_cycles", min_cycles),
                           skip_launches=_whole("skip_launches", skip_launches), subtract_cost=subtract_cost, quantiles=quantiles,
                           threads=_whole("threads", threads, 2**16), elf_folder=elf_folder))


class ZoneStream:
    """The zones of a log for whoever takes streams of Arrow (pyarrow, Polars, DuckDB), batch by batch: a log of any
    size, in little memory. It is read anew each time that somebody asks."""

    def __init__(self, args, kwargs):
        self._args, self._kwargs = args, kwargs

    def __arrow_c_stream__(self, requested_schema=None):
        """Columns as devlog_log_arrow says in devlog/decode.h; another schema is not made."""
        return _native.arrow_stream(*self._args, **self._kwargs)


class Log(ZoneStream):
    """A log that was read to its end. See decode()."""

    def __init__(self, args, kwargs):
        super().__init__(args, kwargs)
        log = self._log = _native.Log(*args, **kwargs)
        zones, values = log.take_columns()
        self.streams = [Stream(*s) for s in log.streams()]
        self.zone_names = [Zone(*z) for z in log.zones()]
        self.chips = [Chip(*c) for c in log.chips()]
        self.findings = [Finding(*f) for f in log.findings()]
        self.complete = log.complete()  # nothing was lost, as far as the files can tell
        self.rows = log.rows()          # rows or records that were read
        self.zones = Zones(self, {name: _array(c) for name, c in zones.items()})
        self.values = Values(self, {name: _array(c) for name, c in values.items()})
        self.launches = Launches(self, {name: _array(c) for name, c in log.launches().items()})

    def __repr__(self):
        lost = "nothing was lost" if self.complete else "something was lost (findings)"
        return f"<devlog.Log: {len(self.zones)} zones, {len(self.values)} values, {len(self.launches)} launches; {lost}>"

    def statistics(self, by="risc"):
        """A list of Statistics per "risc" (chip, RISC and zone name), "core" (the same for every core) or "launch"
        (firmware and kernels of each launch)."""
        try:
            grouping = ("risc", "core", "launch").index(by)
        except ValueError:
            raise ValueError(f"by={by!r}: risc, core or launch") from None
        rows = []
        for chip, launch, stream, risc, zone, role, count, low, high, total_low, total_high, *rest in self._log.statistics(grouping):
            rows.append(Statistics(chip, launch, None if stream is None else self.streams[stream], risc, zone, role, count,
                                   total_high << 64 | total_low, low, high, *rest))
        return rows

    def text(self, number):
        """The text of a value (Values.text)."""
        return self._log.text(_whole("text", number, 2**32))

    def host_ns(self, chip, cycles):
        """(ns, error_ns): when a chip's clock showed `cycles`, in nanoseconds of the host's CLOCK_MONOTONIC, and the
        bound of the error; None when that is not known."""
        return self._log.host_ns(_whole("chip", chip, 2**32), _whole("cycles", cycles))


def decode(paths, **options):
    """Reads a device log or capture (a path, or several that are one log; plain, compressed or packed) to its end.

    chips, launches: numbers, ranges or (first, last) pairs, or a text as of the program's options, "3,5-9"; cores: (x, y) pairs; riscs, zones: names, a '*' at the end
    for what begins so; start, until: cycles; min_cycles; skip_launches: of each chip, those that began first (it reads
    files twice); subtract_cost: statistics without what markers took (captures); quantiles=False: statistics without
    percentiles, in less memory; threads; elf_folder.

    Raises Error when a file cannot be read. A damaged one is read as far as it goes: see Log.complete, Log.findings. A
    filter that matches nothing gives empty tables: Log.rows says what was read."""
    return Log(*_wishes(paths, **options))


def stream(paths, **options):
    """The zones of a log as a stream of Arrow, without reading it first: ZoneStream. Options as decode()'s."""
    return ZoneStream(*_wishes(paths, **options))
