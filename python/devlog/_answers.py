"""What took the time of a run, why it waited, and what has changed: the tables of `devlog report`, `causes` and `diff`, and the rows of
op reports. The library works them out; here they get the shape that users see."""

from typing import NamedTuple, Optional, Union

from . import _native
from ._log import _listed, _names, _pairs, _whole

_GROUPS = ("code", "shape", "memory", "category", "none", "stack")
_SORTS = ("time", "gap", "count", "average", "max", "host", "name", "order", "min", "share", "cores", "flop_rate", "bandwidth", "bound_by", "ideal",
          "runs_on", "total", "op", "slowest")
_FORMS = ("text", "json", "csv", "md")


class Column(NamedTuple):
    """A column of an AnswerTable."""
    key: str
    title: str
    unit: str      # "ns", "cycles", "percent", "bytes/s", ...; "" for counts and texts
    is_text: bool


class Fact(NamedTuple):
    """A fact of Facts."""
    key: str
    title: str
    value: Union[int, float, str, None]  # None: nobody knows
    note: Optional[str]                  # how it is known
    unit: str


class AnswerTable:
    """Rows: len(), iteration and table[i] give dicts by the columns' keys; table["time"] is a column. What nobody knows is
    None. `more`: rows that were left out (top); `notes`: what is said below the table."""

    def __init__(self, key, title, more, columns, rows, notes):
        self.key, self.title, self.more, self.notes = key, title, more, notes
        self.columns = [Column(*c) for c in columns]
        self._at = {c.key: i for i, c in enumerate(self.columns)}
        self._rows = rows

    def __len__(self):
        return len(self._rows)

    def keys(self):
        """The keys of the columns: dict(table) has all of them."""
        return self._at.keys()

    def __iter__(self):
        keys = list(self._at)
        return (dict(zip(keys, row)) for row in self._rows)

    def __getitem__(self, what):
        if not isinstance(what, str):
            rows = self._rows[what]
            keys = list(self._at)
            return [dict(zip(keys, r)) for r in rows] if isinstance(what, slice) else dict(zip(keys, rows))
        try:
            at = self._at[what]
        except KeyError:
            raise KeyError(f"no column {what!r}; there are: {', '.join(self._at)}") from None
        return [row[at] for row in self._rows]

    def to_pandas(self):
        """A DataFrame; its attrs["units"] has the unit of each column."""
        import pandas
        frame = pandas.DataFrame({key: self[key] for key in self._at})
        frame.attrs["units"] = {c.key: c.unit for c in self.columns}
        return frame

    def __repr__(self):
        return f"<devlog.AnswerTable {self.key}: {len(self)} rows of {', '.join(self._at)}>"


class Facts(AnswerTable):
    """Facts by name: facts.busy is the value, facts["busy"] the Fact. len(), iteration: all of them, in order."""

    def __init__(self, key, title, more, columns, rows, notes):
        super().__init__(key, title, more, columns, rows, notes)
        self._facts = {row[0]: Fact(*row) for row in rows}

    def keys(self):
        """The names of the facts: dict(facts) has all of them."""
        return self._facts.keys()

    def __iter__(self):
        return iter(self._facts.values())

    def __getitem__(self, key):
        try:
            return self._facts[key]
        except KeyError:
            raise KeyError(f"no fact {key!r}; there are: {', '.join(self._facts)}") from None

    def __getattr__(self, key):
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self._facts[key].value
        except KeyError:
            raise AttributeError(f"no fact {key!r}; there are: {', '.join(self._facts)}") from None

    def to_pandas(self):
        """A DataFrame with a row for each fact."""
        import pandas
        return pandas.DataFrame(list(self))


class Answer:
    """Tables by name: answer.op_statistics, answer["op_statistics"]; list(answer) has their names. str() is what the program
    prints for people."""

    def __init__(self, native):
        self._native = native
        self._tables = {}
        for key, title, facts, more, columns, rows, notes in native.tables():
            self._tables[key] = (Facts if facts else AnswerTable)(key, title, more, columns, rows, notes)
        self.complete, self.troubles, self._judgement = native.as_a_whole()

    def __iter__(self):
        return iter(self._tables)

    def keys(self):
        """The names of the tables: dict(answer) has all of them."""
        return self._tables.keys()

    def __contains__(self, key):
        return key in self._tables

    def __getitem__(self, key):
        try:
            return self._tables[key]
        except KeyError:
            raise KeyError(f"no table {key!r}; there are: {', '.join(self._tables)}") from None

    def __getattr__(self, key):
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self._tables[key]
        except KeyError:
            raise AttributeError(f"no table {key!r}; there are: {', '.join(self._tables)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self._tables]

    def format(self, form="text"):
        """As the program prints it: "text", "json", "csv" or "md"."""
        return self._native.print(_index("format", form, _FORMS))

    def __str__(self):
        return self.format()

    def __repr__(self):
        lost = "nothing was lost" if self.complete else "something was lost"
        return f"<devlog.{type(self).__name__}: {', '.join(self._tables)}; {lost}>"


class Diff(Answer):
    """What has changed. judgement: "passed", "failed" or "undecided", of all conditions together."""

    @property
    def judgement(self):
        """ "passed", "failed" or "undecided"."""
        return self._judgement


def _index(what, wanted, names):
    try:
        return names.index(wanted)
    except ValueError:
        raise ValueError(f"{what}={wanted!r}; there are: {', '.join(names)}") from None


def _selection(chips=None, launches=None, traces=None, trace_sessions=None, ops=None, from_signpost=None, to_signpost=None,
               skip_launches=0, skip_warm_up=False):
    return dict(chips=_pairs("chips", chips), launches=_pairs("launches", launches), traces=_pairs("traces", traces),
                trace_sessions=_pairs("trace_sessions", trace_sessions), ops=_names(ops), from_signpost=from_signpost,
                to_signpost=to_signpost, skip_launches=_whole("skip_launches", skip_launches), skip_warm_up=skip_warm_up)


def report(run, *, group="code", sort="time", top=0, time="kernel", board=None, dram_bytes_per_s=0.0, ops_table=None, rules=None,
           thresholds=None, **selection):
    """What took the time of a run, and what would save most: an Answer with the tables of `devlog report` (docs/report.md).

    run: an op report, a device log or capture, or the folder of a run. group, sort: of op_statistics, as the program's options;
    top: rows of each table (0: all); time: "kernel" or "fw"; ops_table, rules, thresholds: files of one's own. Selection: chips,
    launches, traces, trace_sessions (numbers, ranges, pairs), ops (names, a '*' at the end), from_signpost, to_signpost,
    skip_launches, skip_warm_up.

    Raises Error when the run cannot be read, or a selection leaves nothing. Answer.complete: nothing was lost."""
    return Answer(_native.report([run], group=_index("group", group, _GROUPS), sort=_index("sort", sort, _SORTS),
                                 top=_whole("top", top), firmware_time=_index("time", time, ("kernel", "fw")) == 1, board=board,
                                 dram_bytes_per_s=dram_bytes_per_s, ops_table=ops_table, rules=rules, thresholds=thresholds,
                                 **_selection(**selection)))


def causes(run, *, top=0, elf_folder=None, **selection):
    """Why RISCs waited, and which path decided how long launches took: an Answer with the tables of `devlog causes`
    (docs/causes.md). run: a capture, a device log, or the folder of a run; selection as report()'s."""
    return Answer(_native.causes([run], top=_whole("top", top), elf_folder=elf_folder, **_selection(**selection)))


def memory(run, *, top=0, steps=10):
    """Who held what memory of devices, when, and what was not freed: an Answer with the tables of `devlog memory` (docs/memory.md).

    run: a log of ops, or the folder of a run whose program made buffers; steps: of "timeline". Answer.complete: nothing leaked,
    and all of the log could be read."""
    return Answer(_native.memory([run], top=_whole("top", top), steps=_whole("steps", steps)))


def diff(old, new, *, exact=False, time="kernel", confidence=99.9, min_share=0.0, conditions=()):
    """Two versions of a program: a Diff with the tables "diff", "runs", "conditions", "lines" and "causes" (docs/diff.md).

    old, new: a run, or several of one version; conditions: as --fail-on of `devlog diff`; exact: there is no chance in the times
    (a simulator's)."""
    return Diff(_native.diff(_listed(old), _listed(new), exact=exact, firmware_time=_index("time", time, ("kernel", "fw")) == 1,
                             confidence=confidence, min_share=min_share, conditions=_names(conditions)))


def ops(run):
    """The rows of a run's op report, with all of its columns: an AnswerTable. run: an op report, or the folder of a run, whose
    report is made when it has none. `complete` and `troubles` are as an Answer's."""
    answer = Answer(_native.ops([run]))
    table = answer.ops
    at = [i for i, c in enumerate(table.columns) if not c.is_text]
    # A whole number that a double has no room for comes as a text.
    for k, row in enumerate(table._rows):
        wide = [i for i in at if isinstance(row[i], str) and row[i].lstrip("-").isdecimal()]
        if wide:
            table._rows[k] = tuple(int(cell) if i in wide else cell for i, cell in enumerate(row))
    table.complete, table.troubles = answer.complete, answer.troubles
    return table
