"""Small folders of tt-metal's, file by file, and what devlog ops makes of them. For the tests beside it."""
import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

DEVLOG = sys.argv[1]
HEAD = "ARCH: %s, CHIP_FREQ[MHz]: %d, Max Compute Cores: %d\n"
COLUMNS = (
    "PCIe slot,core_x,core_y,RISC processor type,timer_id,time[cycles since reset],data,run host ID,"
    "trace id,trace id counter,zone name,type,source line,source file,meta data\n"
)
PERF = "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,CORE COUNT,DEVICE KERNEL DURATION [ns]\n"
class Run:
    """devlog ops of a folder with these files, or of an archive ("zip", "tar.gz") with them."""

    def __init__(self, files, *options, kind="csv", archive=None):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                opened = gzip.open if name.endswith(".gz") else open
                with opened(os.path.join(folder, name), "wt", encoding="utf-8", newline="") as f:
                    f.write(text)
            where = shutil.make_archive(os.path.join(folder, "all"), {"tar.gz": "gztar"}.get(archive, archive), folder) if archive else folder
            out = os.path.join(folder, "out")
            p = subprocess.run([DEVLOG, "ops", where, "-o", out, *options], capture_output=True, text=True)
            assert "Sanitizer" not in p.stderr and "runtime error" not in p.stderr, p.stderr
            self.status, self.said, self.wrong = p.returncode, p.stdout, p.stderr
            self.rows, self.columns = [], []
            path = os.path.join(out, "ops_perf_results." + kind)
            if os.path.exists(path):
                with open(path, newline="", encoding="utf-8") as f:
                    reader = csv.DictReader(f)
                    self.rows, self.columns = list(reader), reader.fieldnames

    def of(self, count, with_data=None):
        found = [r for r in self.rows if r["GLOBAL CALL COUNT"] == str(count)]
        if with_data is not None:
            found = [r for r in found if bool(r["CORE COUNT"]) == with_data]
        return found


def messages(*texts):
    return "MessageName;total_ns\n" + "".join("`%s`;%d\n" % t for t in texts)


def times(*ids, start=10, ns=20):
    head = "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text\n"
    return head + "".join("TT_DNN_DEVICE_OP,o.hpp,1,,id:%d,%d,%d,1,\n" % (i, start + n, ns) for n, i in enumerate(ids))


def op(count, device=0, **members):
    j = {"global_call_count": count, "op_code": "reshape", "op_type": "tt_dnn_device", "device_id": device, "op_hash": 1000 + count,
         "program_cache_hit": False, "input_tensors": [], "output_tensors": [], "attributes": {"axis": "-1"}}
    j.update(members)
    return 'TT_DNN_DEVICE_OP: "%s", %d, %d, false, %d ->\n%s' % (j["op_code"], j["op_hash"], device, count, json.dumps(j))


def tensor(x):
    return {
        "storage_type": {"device_id": 0, "memory_config": {"buffer_type": "DRAM", "memory_layout": "INTERLEAVED"}},
        "shape": {"W": "1[1]", "Z": "1[1]", "Y": "1[1]", "X": x}, "layout": "TILE", "dtype": "BFLOAT16",
    }


def program_rows(program, at):
    rows = ""
    for zone, kind, t in (("BRISC-FW", "ZONE_START", at), ("BRISC-KERNEL", "ZONE_START", at + 10),
                          ("BRISC-KERNEL", "ZONE_END", at + 60), ("BRISC-FW", "ZONE_END", at + 70)):
        rows += "0,2,2,BRISC,7,%d,0,%d,,,%s,%s,1,b.cc,\n" % (t, program, zone, kind)
    return rows


def main(tests):
    failed = 0
    for function in tests:
        try:
            function()
        except (AssertionError, KeyError, ValueError, IndexError) as e:
            failed += 1
            print("%s: %s %s" % (function.__name__, type(e).__name__, str(e)[:900]))
    print("%d passed, %d failed" % (len(tests) - failed, failed))
    sys.exit(1 if failed else 0)
