# Types of the package devlog, for type checkers and editors; python/tests/test_types.py holds them against the package. What the names
# are for is in their docstrings: help(devlog).
import os
from typing import (Any, Callable, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, SupportsIndex, Tuple, TypeVar, Union,
                    overload)

import numpy
import pandas

_F = TypeVar("_F", bound=Callable[..., Any])
_Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
_Paths = Union[_Path, Iterable[_Path]]
_Whole = SupportsIndex  # numpy's numbers, too
_Numbers = Union[str, _Whole, range, Iterable[Union[_Whole, range, Tuple[_Whole, _Whole]]]]
_Names = Union[str, Iterable[str]]
_Cell = Union[int, float, str, None]

__version__: str
NO_LAUNCH: int

class Error(Exception):
    status: int

class Stream(NamedTuple):
    chip: int
    core_x: int
    core_y: int
    risc: str

class Zone(NamedTuple):
    name: str
    file: str
    line: int
    role: str

class Chip(NamedTuple):
    chip: int
    arch: str
    mhz: float
    core_error_cycles: float
    host_error_ns: float

class Finding(NamedTuple):
    key: str
    text: str
    first: str
    count: int
    loss: bool

class Statistics(NamedTuple):
    chip: int
    launch: Optional[int]
    stream: Optional[Stream]
    risc: str
    zone: str
    role: str
    count: int
    total: int
    min: int
    max: int
    average: float
    median: float
    p90: int
    p95: int
    p99: int

class _Table:
    def __getitem__(self, name: str) -> numpy.ndarray[Any, Any]: ...
    def __len__(self) -> int: ...
    def keys(self) -> Iterable[str]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: object) -> bool: ...
    def to_pandas(self, names: bool = True) -> pandas.DataFrame: ...

class Zones(_Table):
    start: numpy.ndarray[Any, Any]
    end: numpy.ndarray[Any, Any]
    stream: numpy.ndarray[Any, Any]
    zone: numpy.ndarray[Any, Any]
    launch: numpy.ndarray[Any, Any]
    depth: numpy.ndarray[Any, Any]
    own_cost: numpy.ndarray[Any, Any]
    @property
    def duration(self) -> numpy.ndarray[Any, Any]: ...
    def where(self, zone: Optional[str] = None, risc: Optional[str] = None, core: Optional[Sequence[int]] = None,
              chip: Optional[int] = None, launch: Optional[int] = None) -> Zones: ...

class Values(_Table):
    EVENT: int
    DATA: int
    SUM: int
    DROPPED: int
    time: numpy.ndarray[Any, Any]
    data: numpy.ndarray[Any, Any]
    kind: numpy.ndarray[Any, Any]
    stream: numpy.ndarray[Any, Any]
    zone: numpy.ndarray[Any, Any]
    launch: numpy.ndarray[Any, Any]
    text: numpy.ndarray[Any, Any]
    def where(self, zone: Optional[str] = None, risc: Optional[str] = None, core: Optional[Sequence[int]] = None,
              chip: Optional[int] = None, launch: Optional[int] = None) -> Values: ...

class Launches(_Table):
    chip: numpy.ndarray[Any, Any]
    number: numpy.ndarray[Any, Any]
    run_host_id: numpy.ndarray[Any, Any]
    trace_id: numpy.ndarray[Any, Any]
    trace_counter: numpy.ndarray[Any, Any]
    first_start: numpy.ndarray[Any, Any]
    last_end: numpy.ndarray[Any, Any]

class ZoneStream:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class Log(ZoneStream):
    streams: List[Stream]
    zone_names: List[Zone]
    chips: List[Chip]
    findings: List[Finding]
    complete: bool
    rows: int
    zones: Zones
    values: Values
    launches: Launches
    def statistics(self, by: str = "risc") -> List[Statistics]: ...
    def text(self, number: _Whole) -> str: ...
    def host_ns(self, chip: _Whole, cycles: _Whole) -> Optional[Tuple[float, float]]: ...

def decode(paths: _Paths, *, chips: Optional[_Numbers] = None, cores: Optional[Iterable[Tuple[_Whole, _Whole]]] = None,
           riscs: Optional[_Names] = None, zones: Optional[_Names] = None, launches: Optional[_Numbers] = None, start: _Whole = 0,
           until: _Whole = 0, min_cycles: _Whole = 0, skip_launches: _Whole = 0, subtract_cost: bool = False, quantiles: bool = True,
           threads: _Whole = 0, elf_folder: Optional[str] = None) -> Log: ...
def stream(paths: _Paths, *, chips: Optional[_Numbers] = None, cores: Optional[Iterable[Tuple[_Whole, _Whole]]] = None,
           riscs: Optional[_Names] = None, zones: Optional[_Names] = None, launches: Optional[_Numbers] = None, start: _Whole = 0,
           until: _Whole = 0, min_cycles: _Whole = 0, skip_launches: _Whole = 0, subtract_cost: bool = False, quantiles: bool = True,
           threads: _Whole = 0, elf_folder: Optional[str] = None) -> ZoneStream: ...

class Column(NamedTuple):
    key: str
    title: str
    unit: str
    is_text: bool

class Fact(NamedTuple):
    key: str
    title: str
    value: _Cell
    note: Optional[str]
    unit: str

class AnswerTable:
    key: str
    title: str
    more: int
    notes: Any
    columns: List[Column]
    def __len__(self) -> int: ...
    def keys(self) -> Iterable[str]: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, what: Any) -> Any: ...
    def to_pandas(self) -> pandas.DataFrame: ...

class Facts(AnswerTable):
    def __getattr__(self, key: str) -> _Cell: ...

class Answer:
    complete: bool
    troubles: Any
    def keys(self) -> Iterable[str]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, key: object) -> bool: ...
    def __getitem__(self, key: str) -> AnswerTable: ...
    def __getattr__(self, key: str) -> Any: ...
    def format(self, form: str = "text") -> str: ...

class Diff(Answer):
    @property
    def judgement(self) -> str: ...

def report(run: _Path, *, group: str = "code", sort: str = "time", top: _Whole = 0, time: str = "kernel", board: Optional[str] = None,
           dram_bytes_per_s: float = 0.0, ops_table: Optional[str] = None, rules: Optional[str] = None,
           thresholds: Optional[str] = None, chips: Optional[_Numbers] = None, launches: Optional[_Numbers] = None,
           traces: Optional[_Numbers] = None, trace_sessions: Optional[_Numbers] = None, ops: Optional[_Names] = None,
           from_signpost: Optional[str] = None, to_signpost: Optional[str] = None, skip_launches: _Whole = 0,
           skip_warm_up: bool = False) -> Answer: ...
def causes(run: _Path, *, top: _Whole = 0, elf_folder: Optional[str] = None, chips: Optional[_Numbers] = None,
           launches: Optional[_Numbers] = None, traces: Optional[_Numbers] = None, trace_sessions: Optional[_Numbers] = None,
           ops: Optional[_Names] = None, from_signpost: Optional[str] = None, to_signpost: Optional[str] = None,
           skip_launches: _Whole = 0, skip_warm_up: bool = False) -> Answer: ...
def memory(run: _Path, *, top: _Whole = 0, steps: _Whole = 10) -> Answer: ...
def diff(old: _Paths, new: _Paths, *, exact: bool = False, time: str = "kernel", confidence: float = 99.9, min_share: float = 0.0,
         conditions: _Names = ()) -> Diff: ...
def ops(run: _Path) -> AnswerTable: ...

def open_ops(folder: Optional[str] = None, append: bool = False) -> str: ...
def close_ops() -> None: ...
def append_meta_data(data: Union[str, Mapping[str, Any]]) -> None: ...
def signpost(header: str, message: Optional[str] = None) -> None: ...
def step(number: Optional[_Whole] = None, name: Optional[str] = None) -> None: ...

class op:
    id: int
    @overload
    def __new__(cls, name: str, *, inputs: Iterable[Any] = (), outputs: Iterable[Any] = (),
                attributes: Union[str, Mapping[str, Any], None] = None, type: str = "python_fallback", fidelity: Optional[str] = None,
                strategy: Optional[str] = None, cores: _Whole = 0) -> op: ...
    @overload
    def __new__(cls, name: _F) -> _F: ...  # type: ignore[misc]
    def __init__(self, name: str, *, inputs: Iterable[Any] = (), outputs: Iterable[Any] = (),
                 attributes: Union[str, Mapping[str, Any], None] = None, type: str = "python_fallback", fidelity: Optional[str] = None,
                 strategy: Optional[str] = None, cores: _Whole = 0) -> None: ...
    def __enter__(self) -> op: ...
    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool: ...
    def __call__(self, function: _F) -> _F: ...
    def start(self, *inputs: Any) -> op: ...
    def stop(self, *outputs: Any) -> None: ...
    def input(self, *tensors: Any) -> None: ...
    def output(self, *tensors: Any) -> None: ...
    def append_meta_data(self, data: Union[str, Mapping[str, Any]]) -> None: ...

class _Zone:
    name: str
    def __enter__(self) -> _Zone: ...
    def __exit__(self, *what: Any) -> None: ...
    def __call__(self, function: _F) -> _F: ...

@overload
def zone(name: str) -> _Zone: ...
@overload
def zone(name: _F) -> _F: ...
def value(name: str, number: _Whole) -> None: ...
def message(text: str) -> None: ...
def frame(name: str = "frame") -> None: ...
def start_zones(folder: Optional[_Path] = None) -> None: ...
def stop_zones() -> None: ...

def clock_now() -> int: ...
def exchange_clocks(peer: _Whole, send: Callable[[bytes], Any], receive: Callable[[int], bytes], *, answer: bool = False, rounds: _Whole = 10,
                    most_ms: _Whole = 100, folder: Optional[_Path] = None) -> Optional[Tuple[int, int, int, int]]: ...
def keep_clocks(peer: _Whole, stamps: Iterable[Sequence[int]], *, folder: Optional[_Path] = None) -> None: ...

class Profiler:
    def __init__(self, *, lines: Optional[bool] = None, include: Optional[Iterable[str]] = None, exclude: Optional[Iterable[str]] = None,
                 everything: Optional[bool] = None, c_functions: Optional[bool] = None) -> None: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...
    def __enter__(self) -> Profiler: ...
    def __exit__(self, *what: Any) -> None: ...

def budget(zone: str, cycles: int, risc: Optional[str] = None) -> Callable[[_F], _F]: ...
