"""Every finding of devlog ops in a folder of tt-metal's, each in the smallest folder that has it: what is said, the cure,
the exit status, and that the rest of the report is there. The findings are read from host/tt_metal/found.c: one without a
folder here fails. Usage: findings.py DEVLOG."""
import json
import os
import re

from extras import with_one_hash
from small import COLUMNS, HEAD, PERF, Run, main, messages, op, program_rows, times

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "host", "tt_metal", "found.c")
DATA, TIMES, REPORT, LOG = "tracy_ops_data.csv", "tracy_ops_times.csv", "cpp_device_perf_report.csv", "profile_log_device.csv"
HEADER = HEAD % ("wormhole_b0", 1000, 64) + COLUMNS


def findings():
    """Key: text, cure, whether nothing is missing."""
    with open(SOURCE) as f:
        table = f.read().partition("troubles[TT_TROUBLES] = {")[2].partition("\n};")[0]
    string = r'((?:\s*"(?:[^"\\]|\\.)*")+)'
    found = {}
    for key, text, cure, repaired in re.findall(r"\[TT_(\w+)\] =\s*\{%s,\s*%s,\s*(true|false)\}" % (string, string), table):
        join = lambda s: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', s)).replace('\\"', '"')
        found[key] = join(text), join(cure), repaired == "true"
    assert len(found) == table.count("[TT_"), (len(found), table.count("[TT_"))
    return found


def good(**changes):
    """Ops 1 and 2, which ran; _data=None leaves a file out."""
    files = {DATA: messages((op(1), 5), (op(2), 6)), TIMES: times(1, 2), REPORT: PERF + "1,,,0,8,100\n2,,,0,8,200\n"}
    for key, value in changes.items():
        name = {"data": DATA, "times": TIMES, "report": REPORT, "log": LOG}.get(key, key)
        files[name] = value
    return {name: text for name, text in files.items() if text is not None}


def with_files(files, **more):
    return dict(good(**more), **files)


def trace(*said):
    return messages(("TT_METAL_TRACE_BEGIN: 0, 4", 1), (op(1), 5), (op(2), 6), ("TT_METAL_TRACE_END: 0, 4", 7), *said)


def counters(record):
    return HEADER + program_rows(1, 100) + program_rows(2, 300) + "0,2,2,BRISC,9090,165,0,1,,,,TS_DATA_16B,0,,%s\n" % record


def replayed_log():
    """NCRISC says another trace than BRISC."""
    rows = HEADER
    for risc, number in (("BRISC", 4), ("NCRISC", 9)):
        for zone, kind, at in (("FW", "ZONE_START", 100), ("KERNEL", "ZONE_START", 110), ("KERNEL", "ZONE_END", 150), ("FW", "ZONE_END", 160)):
            rows += "0,2,2,%s,7,%d,0,1,%d,1,%s-%s,%s,1,b.cc,\n" % (risc, at, number, risc, zone, kind)
    return rows


def dispatch(program):
    rows = ""
    for risc in ("BRISC", "NCRISC"):
        for at, kind, meta in ((1, "ZONE_START", ""), (2, "TS_DATA", "{'workers_runtime_id': %d}" % program), (4, "ZONE_END", "")):
            rows += "0,0,9,%s,9,%d,0,0,,,CQ-DISPATCH,%s,1,d.cc,%s\n" % (risc, at, kind, meta)
    return rows


def sync(frequency):
    head = "device id,core_x, core_y,device,host_tracy,host_real,write_overhead,host_start,delay,frequency,tracy_ratio,tracy_base_time,device_frequency_ratio,device_shift\n"
    return head + "0,1,1,5,6,7,8,9,10,%s,0.5,3,1.0,0\n" % frequency


def noc(count, size=64, name="noc_trace_dev0_ID1.json", more=""):
    event = {"run_host_id": 1, "proc": "BRISC", "noc": "NOC_0", "num_bytes": size, "sx": 1, "sy": 1, "type": "WRITE_", "timestamp": 1}
    return {name: json.dumps([event] * count) + more}


def zones(*names):
    return "".join("k.cpp:1:9: note: '#pragma message: %s'\n" % n for n in names)


HALF = op(1, attributes={"a": "x" * 400})[:300]
WHAT = {
    "CUT_MESSAGE": good(data="MessageName;total_ns\n`%s;5\n`%s`;6\n" % (HALF, op(2))),
    "LOST_MESSAGE": good(data=messages((op(2), 6))),
    "NO_OPS_DATA": good(data=None),
    "NO_OPS_TIMES": good(times=None),
    "DEVICE_ONLY": good(data=None, times=None),
    "NO_DEVICE_FILE": good(report=None),
    "BAD_MESSAGE": good(data=messages((op(1), 5), (op(2), 6), ("TT_METAL_TRACE_BEGIN: nothing", 7))),
    "UNKNOWN_CACHED": good(data=messages((op(1), 5), ('TT_DNN_DEVICE_OP: "add", 99, 0, true, 2', 6))),
    "QUOTING": good(data="MessageName;total_ns\n`%s`;5\n`%s`;6\n" % (op(1, attributes={"a": "`tick`"}), op(2))),
    "ID_TWICE": good(data=messages((op(1), 5), (op(2), 6), (op(1, op_hash=5), 7))),
    "NO_ZONE": good(times=times(1)),
    "ZONE_WITHOUT_ID": good(times=times(1, 2) + "TT_DNN_DEVICE_OP,o.hpp,1,,none,1,2,1,\n"),
    "BAD_TIMES_LINE": good(times=times(1, 2) + "TT_DNN_DEVICE_OP,o.hpp\n"),
    "BAD_DEVICE_LINE": good(report=PERF + "1,,,0,8,100\n2,,,0,8,200\nx,,,0,8,9\n"),
    "NO_DEVICE": good(report=PERF + "1,,,0,8,100\n"),
    "NEVER_REPLAYED": good(data=trace(), report=PERF + "3,,,0,8,1\n"),
    "MISSING_REPLAY": good(data=trace(("TT_METAL_TRACE_REPLAY: 0, 4", 8)), report=PERF + "1,4,1,0,8,100\n"),
    "WHOLE_DEVICE": good(data=messages((op(1), 5), (op(2, 3), 6)), report=PERF + "1,,,0,8,100\n"),
    "NO_HOST_DEVICE": good(report=PERF + "1,,,0,8,100\n2,,,0,8,200\n9,,,6,8,200\n"),
    "NO_OP": good(report=PERF + "1,,,0,8,100\n2,,,0,8,200\n9,,,0,8,200\n"),
    "EXTRA_REPLAY": good(data=trace(("TT_METAL_TRACE_REPLAY: 0, 4", 8)), report=PERF + "1,4,1,0,8,100\n2,4,1,0,8,1\n1,4,2,0,8,2\n2,4,2,0,8,3\n"),
    "TWICE_ON_DEVICE": good(report=None, log=HEADER + program_rows(1, 100) + program_rows(2, 300) + program_rows(1, 500)),
    "TRACE_IDS": good(data=messages(("TT_METAL_TRACE_BEGIN: 0, 4", 1), (op(1), 5), ("TT_METAL_TRACE_END: 0, 4", 7),
                                    ("TT_METAL_TRACE_REPLAY: 0, 4", 8)), times=times(1), report=None, log=replayed_log()),
    "TRACE_NESTING": good(data=messages((op(1), 5), (op(2), 6), ("TT_METAL_TRACE_END: 0, 4", 7))),
    "UNKNOWN_COUNTER": good(report=None, log=counters('{"counter type":"NEVER_HEARD_OF";"ref cnt":1;"value":2}')),
    "NOC_BAD": with_files(noc(2, more='[{"proc":')),
    "NOC_SATURATED": with_files(noc(1, 8160)),
    "NOC_DIFFERS": with_files(noc(1), report=PERF.replace("\n", ",NOC BYTES FROM COUNTERS\n") + "1,,,0,8,100,65\n2,,,0,8,200,\n"),
    "DISPATCH": good(report=None, log=HEADER + program_rows(1, 100) + program_rows(2, 300) + dispatch(4096)),
    "BAD_SYNC": with_files({"sync_device_info.csv": sync("1.0") + "garbage\n"}),
    "SYNC_FREQUENCY": with_files({"sync_device_info.csv": sync("0.9")}, report=None, log=HEADER + program_rows(1, 100) + program_rows(2, 300)),
    "ZONE_NAMES": with_files({"zone_src_locations.log": zones(*with_one_hash())}),
    "BAD_ZONE_SOURCE": with_files({"new_zone_src_locations.log": zones("A,k.cpp,1,KERNEL_PROFILER") + "note: '#pragma message: A,/da'#pragma messa\n"}),
    "ENDS": good(report=None, log=HEADER + program_rows(1, 100) + "".join(program_rows(2, 300).splitlines(True)[:2])),
    "FILE_OF_ANOTHER": good(report=PERF + "71,,,0,8,100\n72,,,0,8,200\n"),
}


def finding(key, text, cure, repaired):
    def test():
        r = Run(WHAT[key])
        assert text in r.said, "%r is not in\n%s" % (text, r.said + r.wrong)
        assert cure and "-> " + cure in r.said, "%r is not in\n%s" % (cure, r.said)
        others = [k for k, (t, _, whole) in KNOWN.items() if k != key and not whole and t in r.said]
        assert r.status == (0 if repaired and not others else 3), (r.status, others, r.said)
        assert r.rows, "no rows"
        ids = {row["GLOBAL CALL COUNT"] for row in r.rows}
        asked = {"1"} if key == "TRACE_IDS" else {"1", "2"}
        assert asked <= ids, (asked, ids)

    test.__name__ = "finding_" + key
    return test


def stopped():
    """A packed file that breaks off: what came before is in the report."""
    import gzip
    import subprocess
    import tempfile

    from small import DEVLOG

    text, cure, _ = KNOWN["STOPPED"]
    with tempfile.TemporaryDirectory() as folder:
        files = good(data=messages(*[(op(i, op_hash=i), i) for i in range(1, 400)]))
        for name, content in files.items():
            data = content.encode()
            with open(os.path.join(folder, name + ".gz"), "wb") as f:
                packed = gzip.compress(data)
                f.write(packed[: len(packed) // 2] if name == DATA else packed)
        p = subprocess.run([DEVLOG, "ops", folder, "-o", folder + "/out"], capture_output=True, text=True)
        assert p.returncode == 3 and text in p.stdout and "-> " + cure in p.stdout, p.stdout + p.stderr
        assert "ops of tt-metal's host" in p.stdout


def all_have_a_folder():
    assert set(WHAT) | {"STOPPED"} == set(KNOWN), set(KNOWN) ^ (set(WHAT) | {"STOPPED"})


KNOWN = findings()
if __name__ == "__main__":
    main([finding(key, *KNOWN[key]) for key in WHAT if key in KNOWN] + [stopped, all_have_a_folder])
