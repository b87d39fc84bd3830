"""devlog: device logs and captures in Python, and the log of what a Python program asks the device for.

    import devlog

    log = devlog.decode("generated/profiler/logs/profile_log_device.csv", zones=["add*"])
    slow = log.zones.where(risc="TRISC_1").duration.max()
    for row in log.statistics():
        print(row.risc, row.zone, row.count, row.average)

    report = devlog.report("generated/profiler/logs")
    print(report.verdict.busy_share, [row["what"] for row in report.savings])

    with devlog.op("Matmul", inputs=[a, b]):   # a row of the op report: `devlog run -- python3 program.py`
        ...

    with devlog.zone("prepare"):               # host code, recorded with DEVLOG_HOST=1
        ...

Columns are numpy arrays that share the memory they were read into (memoryviews where numpy is missing). All times are
cycles of a chip's clock, continued over wraps. Everything is read by the library behind `devlog decode`; both say the same.
"""

from ._answers import Answer, AnswerTable, Column, Diff, Fact, Facts, causes, diff, memory, ops, report
from ._budget import budget
from ._clocks import clock_now, exchange_clocks, keep_clocks
from ._log import (NO_LAUNCH, Chip, Error, Finding, Launches, Log, Statistics, Stream, Values, Zone, ZoneStream, Zones, decode,
                   stream)
from ._ops import append_meta_data, close_ops, op, open_ops, signpost, step
from ._profile import Profiler
from ._zones import frame, message, start_zones, stop_zones, value, zone
from ._native import version as __version__

__all__ = ["Answer", "AnswerTable", "Chip", "Column", "Diff", "Error", "Fact", "Facts", "Finding", "Launches", "Log",
           "NO_LAUNCH", "Profiler", "Statistics", "Stream", "Values", "Zone", "Zones", "ZoneStream", "append_meta_data",
           "budget", "causes", "clock_now", "close_ops", "decode", "diff", "exchange_clocks", "frame", "keep_clocks", "memory",
           "message", "op", "open_ops", "ops", "report", "signpost", "start_zones", "step", "stop_zones", "stream", "value",
           "zone"]
