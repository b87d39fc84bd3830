"""What tt-metal's own tests of its scripts ask for, as folders: tests/ttnn/tracy/test_process_ops_logs.py (at 027558d,
c1d1ba5, and two branches of 2026), test_process_device_log.py (9ee5795), test_device_log_schema.py (28511ee),
test_perf_counter_analysis.py (7805459), test_noc_bandwidth.py (697b27b), test_streaming_profiler_ops_csv.py (1b9cc16),
test_perf_op_report.py (033ac20). The inputs are facts of theirs, written anew. Where they expect a result the report has
it; where they expect an assertion there is a whole report with that finding.

Not here: tests that need a device, and those of the scripts' inside (shared markers, options of a command line).
Usage: script_tests.py DEVLOG."""
import json

from small import COLUMNS, HEAD, PERF, Run, main, messages, op, program_rows, tensor, times

tests = []


def test(function):
    tests.append(function)
    return function


# ---- test_process_ops_logs.py: cached ops


def reshape(*more):
    first = op(41, op_hash=777, input_tensors=[tensor("32[32]")], output_tensors=[tensor("32[32]")],
               kernel_info={"compute_kernels": [{"source": "reshape.cpp", "name": "k", "math_fidelity": "HiFi2"}],
                            "datamovement_kernels": [], "kernel_sizes": {}})
    return messages((first, 100), *more)


@test
def cached_invocation_tensor_metadata():
    """A cached op with JSON of its own: its tensors are of this call, the rest of the first."""
    own = json.dumps({"input_tensors": [tensor("64[64]")], "output_tensors": [tensor("64[64]")]})
    r = Run({"tracy_ops_data.csv": reshape(("TT_METAL_TRACE_BEGIN: 0, 9", 150),
                                           ('TT_DNN_DEVICE_OP: "reshape", 777, 0, true, 42 ->\n' + own, 200),
                                           ("TT_METAL_TRACE_REPLAY: 0, 9", 300)),
             "tracy_ops_times.csv": times(41, 42),
             "cpp_device_perf_report.csv": PERF + "41,,,0,8,5\n42,9,1,0,8,6\n"})
    (first,), (replay,) = r.of(41), r.of(42, True)
    assert first["INPUT_0_X_PAD[LOGICAL]"] == "32[32]" and first["METAL TRACE ID"] == ""
    assert replay["INPUT_0_X_PAD[LOGICAL]"] == replay["OUTPUT_0_X_PAD[LOGICAL]"] == "64[64]"
    assert replay["PROGRAM CACHE HIT"] == "True" and replay["METAL TRACE ID"] == "9"
    assert replay["ATTRIBUTES"] == first["ATTRIBUTES"] == "{'axis': '-1'}"
    assert replay["COMPUTE KERNEL SOURCE"] == first["COMPUTE KERNEL SOURCE"] == "['reshape.cpp']"
    assert r.status == 0, r.said


@test
def legacy_cached_message():
    r = Run({"tracy_ops_data.csv": reshape(('TT_DNN_DEVICE_OP: "reshape", 777, 0, true, 43', 300)),
             "tracy_ops_times.csv": times(41, 43), "cpp_device_perf_report.csv": PERF + "41,,,0,8,5\n43,,,0,8,6\n"})
    (row,) = r.of(43)
    assert row["INPUT_0_X_PAD[LOGICAL]"] == "32[32]" and row["PROGRAM CACHE HIT"] == "True" and row["METAL TRACE ID"] == ""
    assert r.status == 0, r.said


@test
def times_without_most_columns():
    """Their file of times has name, zone_text, exec_time_ns and special_parent_text: without starts it is none."""
    text = "name,zone_text,exec_time_ns,special_parent_text\nTT_DNN_DEVICE_OP,id:41,1,\n"
    r = Run({"tracy_ops_data.csv": reshape(), "tracy_ops_times.csv": text, "cpp_device_perf_report.csv": PERF + "41,,,0,8,5\n"})
    assert r.status == 3 and r.of(41)[0]["DEVICE KERNEL DURATION [ns]"] == "5" and "tracy_ops_times.csv:1" in r.said


# ---- sub-devices


def sub_device_log(trace, counter, number):
    return (HEAD % ("wormhole_b0", 1000, 64) + COLUMNS
            + '0,0,0,BRISC,1,100,0,42,%s,%s,BRISC-FW,ZONE_START,1,k.cpp,{"sub_device_id":%d;"sub_device_manager_id":7}\n'
            % (trace, counter, number))


@test
def sub_device_id_column():
    """The log ends in mid-program: its sub-device is known all the same, and that its end is missing is said."""
    r = Run({"tracy_ops_data.csv": messages((op(42), 15)), "tracy_ops_times.csv": times(42),
             "profile_log_device.csv": sub_device_log("", "", 1)})
    assert r.of(42)[0]["SUB DEVICE ID"] == "1" and "SUB DEVICE MANAGER ID" not in r.columns
    assert r.status == 3 and "zones whose end is missing" in r.said, r.said


@test
def sub_device_id_beside_the_report():
    """Beside the C++ report, whose ids are those by which it is found; and number 0."""
    r = Run({"tracy_ops_data.csv": messages(("TT_METAL_TRACE_BEGIN: 0, 0", 5), (op(42), 15), ("TT_METAL_TRACE_END: 0, 0", 18),
                                            ("TT_METAL_TRACE_REPLAY: 0, 0", 20)), "tracy_ops_times.csv": times(42),
             "cpp_device_perf_report.csv": PERF + "42,0,1,0,8,5\n", "profile_log_device.csv": sub_device_log("0", "1", 0)})
    (row,) = r.of(42, True)
    assert row["SUB DEVICE ID"] == "0", row
    assert r.status == 0, r.said


# ---- columns of NoC simulation


@test
def noc_columns_of_messages():
    values = {"NOC UTIL (%)": 50.0, "MULTICAST NOC UTIL (%)": 25.0, "DRAM BW UTIL (%)": 75.0, "NPE CONG IMPACT (%)": 1.25}
    r = Run({"tracy_ops_data.csv": messages((op(1, **values), 15)), "tracy_ops_times.csv": times(1),
             "cpp_device_perf_report.csv": PERF + "1,,,0,8,5\n"})
    assert r.of(1)[0]["MULTICAST NOC UTIL (%)"] == "25.0" and r.of(1)[0]["NPE CONG IMPACT (%)"] == "1.25"


# ---- traces beside the C++ report


def traced(ids, replays, report):
    """ids: (device, trace, ids of ops)."""
    said, all_ids = [], []
    for device, trace, ops in ids:
        if trace is not None:
            said.append(("TT_METAL_TRACE_BEGIN: %d, %d" % (device, trace), 5))
        said += [(op(i, device), 15) for i in ops]
        if trace is not None:
            said.append(("TT_METAL_TRACE_END: %d, %d" % (device, trace), 25))
        all_ids += ops
    said += [("TT_METAL_TRACE_REPLAY: %d, %d" % (d, t), ns) for d, t, ns in replays]
    return Run({"tracy_ops_data.csv": messages(*said), "tracy_ops_times.csv": times(*all_ids),
                "cpp_device_perf_report.csv": PERF + report})


@test
def never_replayed_trace():
    r = traced([(0, 0, [10, 11]), (0, 1, [20, 21])], [(0, 0, 12345)], "10,0,1,0,8,5\n11,0,1,0,8,5\n")
    assert [row["GLOBAL CALL COUNT"] for row in r.rows if row["CORE COUNT"]] == ["10", "11"]
    assert all(row["HOST REPLAY TS"] == "12345" for row in r.rows if row["CORE COUNT"])
    assert [row["NOTE"] for row in r.of(20) + r.of(21)] == ["captured in a trace that was never replayed"] * 2
    assert r.status == 3 and "never replayed" in r.said and "execute_trace" in r.said


@test
def replayed_trace_missing_one_row():
    r = traced([(0, 0, [10, 11])], [(0, 0, 12345)], "10,0,1,0,8,5\n")
    assert len(r.of(10, True)) == 1 and not r.of(11, True)
    assert any("no device data of this replay" in row["NOTE"] for row in r.of(11))
    assert r.status == 3 and "TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT" in r.said


@test
def host_replayed_trace_without_rows():
    r = traced([(0, 0, [10]), (0, 1, [20])], [(0, 0, 12345), (0, 1, 23456)], "10,0,1,0,8,5\n")
    assert len(r.of(10, True)) == 1
    assert any("no device data of this replay" in row["NOTE"] for row in r.of(20)), r.rows
    assert r.status == 3 and "ops of a replay that have no device data" in r.said


@test
def device_whose_only_trace_was_never_replayed():
    r = traced([(0, None, [10]), (1, 0, [20, 21])], [], "10,,,0,8,5\n")
    assert [row["GLOBAL CALL COUNT"] for row in r.rows if row["CORE COUNT"]] == ["10"]
    assert all("never replayed" in row["NOTE"] for row in r.of(20) + r.of(21))
    assert r.status == 3 and "without any device data" not in r.said, r.said


@test
def device_missing_from_the_report():
    r = traced([(0, None, [10]), (1, None, [20])], [], "10,,,0,8,5\n")
    assert r.of(20)[0]["NOTE"] == "no device data"
    assert r.status == 3 and "devices with ops and without any device data" in r.said and "TT_METAL_PROFILER_FILTER_CHIPS" in r.said


# ---- a host alone


@test
def host_only():
    """No device's columns are filled, and the option says that this was asked for: nothing is missing."""
    files = {"tracy_ops_data.csv": messages((op(7, op_code="ttnn::multiply"), 15)), "tracy_ops_times.csv": times(7, start=100, ns=25)}
    r = Run(dict(files, **{"cpp_device_perf_report.csv": PERF + "7,,,0,8,5\n"}), "--host-only")
    (row,) = r.rows
    assert row["DEVICE ID"] == "0" and row["HOST START TS"] == "100" and row["HOST END TS"] == "125"
    filled = [c for c in r.columns if c.startswith("DEVICE ") and c not in ("DEVICE ID", "DEVICE ARCH") and row[c]]
    assert not filled and row["OP TO OP LATENCY [ns]"] == "" and r.status == 0, (filled, r.said)
    r = Run(files)
    assert r.status == 3 and "TT_METAL_DEVICE_PROFILER=1" in r.said and len(r.rows) == 1


# ---- test_process_device_log.py


def dispatch_row(core, risc, timer, at, kind, meta=""):
    return "0,%d,%d,%s,%d,%d,0,0,,,CQ-DISPATCH,%s,433,/x/src.cc,%s\n" % (core + (risc, timer, at, kind, meta))


def dispatch_zone(core, risc, at, program, command):
    return (dispatch_row(core, risc, 900, at, "ZONE_START")
            + dispatch_row(core, risc, 910, at + 1, "TS_DATA", "{'workers_runtime_id': %d}" % program)
            + dispatch_row(core, risc, 911, at + 2, "TS_DATA", "{'dispatch_command_type': '%s'}" % command)
            + dispatch_row(core, risc, 901, at + 3, "ZONE_END"))


@test
def dispatch_commands_keep_their_names():
    """Zones whose markers are the same belong to different commands: each program's time is its own."""
    log = HEAD % ("blackhole", 1000, 120) + COLUMNS
    for risc in ("BRISC", "NCRISC"):
        go = risc == "NCRISC"
        log += dispatch_zone((1, 1), risc, 1000, 1024, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL" if go else "CQ_DISPATCH_CMD_WRITE_LINEAR")
        log += dispatch_zone((1, 1), risc, 2000, 2048, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL" if go else "CQ_PREFETCH_OTHER")
    log += program_rows(1024, 5000) + program_rows(2048, 6000)
    r = Run({"tracy_ops_data.csv": messages((op(1024), 1), (op(2048), 2)), "tracy_ops_times.csv": times(1024, 2048),
             "profile_log_device.csv": log})
    (a,), (b,) = r.of(1024), r.of(2048)
    assert a["DISPATCH TOTAL CQ CMD OP TIME [ns]"] == a["DISPATCH GO SEND WAIT TIME [ns]"] == "3", a
    assert b["DISPATCH TOTAL CQ CMD OP TIME [ns]"] == "" and b["DISPATCH GO SEND WAIT TIME [ns]"] == "3"
    assert r.status == 0, r.said


@test
def dispatch_of_a_program_without_data():
    """There: 'Unrecognized dispatch OPs are presented by dispatch cores'."""
    log = HEAD % ("blackhole", 1000, 120) + COLUMNS
    for risc in ("BRISC", "NCRISC"):
        log += dispatch_zone((1, 1), risc, 1000, 4096, "CQ_DISPATCH_CMD_WAIT")
    r = Run({"tracy_ops_data.csv": messages((op(1024), 1)), "tracy_ops_times.csv": times(1024),
             "profile_log_device.csv": log + program_rows(1024, 5000)})
    assert r.status == 3 and "programs that dispatch cores tell of" in r.said and len(r.of(1024, True)) == 1


# ---- test_device_log_schema.py


@test
def schema():
    """Ten rows are read; what the schema refuses is a report that says what is wrong."""
    good = HEAD % ("wormhole_b0", 1000, 64) + COLUMNS + program_rows(1, 100) + program_rows(2, 300)
    r = Run({"profile_log_device.csv": good})
    assert r.status == 0 and [x["GLOBAL CALL COUNT"] for x in r.rows] == ["1", "2"], r.said + r.wrong
    for text in (good.partition("\n")[2], good.replace(",b.cc,\n", ",b.cc\n", 1)):
        r = Run({"profile_log_device.csv": text})
        assert r.status == 0 and len(r.rows) == 2, r.said + r.wrong
    r = Run({"profile_log_device.csv": good.replace("core_x", "coreX")})
    assert r.status == 3 and not r.rows and "the header has no column 'core_x'" in r.said and "8  lines skipped" in r.said, r.said


# ---- test_perf_counter_analysis.py


@test
def request_counters():
    counters = {"SRCA_WRITE_REQ": 100, "SRCA_WRITE_NOT_BLOCKED_PORT": 80, "SRCA_WRITE_NOT_BLOCKED_OVR": 90, "SRCB_WRITE_REQ": 200,
                "SRCB_WRITE_NOT_BLOCKED_PORT": 150, "SRCB_WRITE_NOT_BLOCKED_OVR": 180, "PACKER0_DEST_READ_REQ": 50,
                "DEST_READ_GRANTED_0": 35, "PACKER_BUSY": 40, "UNPACK0_BUSY_THREAD0": 50, "UNPACK1_BUSY_THREAD0": 50}
    want = {"Packer Efficiency": 125, "Unpacker-to-Math Data Flow": 300, "SrcA Write Port Blocked Rate": 20,
            "SrcB Write Port Blocked Rate": 25, "SrcA Write Overwrite Blocked Rate": 10, "SrcB Write Overwrite Blocked Rate": 10,
            "SrcA Write Actual Efficiency": 80, "SrcB Write Actual Efficiency": 75, "Dest Read Backpressure": 30}
    log = HEAD % ("wormhole_b0", 1000, 64) + COLUMNS + program_rows(1, 100)
    for name, value in counters.items():
        log += '0,2,2,BRISC,9090,165,0,1,,,,TS_DATA_16B,0,,{"counter type":"%s";"ref cnt":1;"value":%d}\n' % (name, value)
    host = {"tracy_ops_data.csv": messages((op(1), 1)), "tracy_ops_times.csv": times(1), "profile_log_device.csv": log}
    # The device log alone, and beside the C++ report.
    for files in (host, dict(host, **{"cpp_device_perf_report.csv": PERF + "1,,,0,1,5\n"})):
        r = Run(files)
        for name, value in want.items():
            assert float(r.rows[0][name + " Avg (%)"]) == value, (name, r.rows[0][name + " Avg (%)"])
        assert r.status == 0, r.said


@test
def grants_of_every_run_count():
    """Figures of grants are there when more than a tenth of requests is granted in half of all records, also where a log without
    trace ids has several runs of a program on one core, one behind the other."""
    for grants, there in (((900, 50, 50), False), ((50, 900, 900), True), ((50, 900, 50), False)):
        log = HEAD % ("wormhole_b0", 1000, 64) + COLUMNS + "".join(program_rows(1, 100 * (i + 1)) for i in range(3))
        for i, grant in enumerate(grants):
            for name, value in (("L1_0_UNPACKER_0", 1000), ("L1_0_UNPACKER_0_GRANT", grant)):
                log += '0,2,2,BRISC,9090,%d,0,1,,,,TS_DATA_16B,0,,{"counter type":"%s";"ref cnt":5000;"value":%d}\n' % (
                    100 * (i + 1) + 65, name, value)
        host = messages(("TT_METAL_TRACE_BEGIN: 0, 1", 1), (op(1), 2), ("TT_METAL_TRACE_END: 0, 1", 3),
                        *(("TT_METAL_TRACE_REPLAY: 0, 1", 4 + i) for i in range(3)))
        r = Run({"tracy_ops_data.csv": host, "tracy_ops_times.csv": times(1), "profile_log_device.csv": log})
        assert ("L1 Unpacker Backpressure Avg (%)" in r.columns) == there, (grants, r.said)


# ---- test_noc_bandwidth.py


@test
def noc_bytes():
    """402,653,184 bytes of an addition of 8192 x 8192, by 120 cores; and by NoC and op."""
    total = 3 * 8192 * 8192 * 2
    event = lambda ident, noc, n, x=0: {"run_host_id": ident, "noc": noc, "num_bytes": n, "sx": x, "sy": 0, "type": "WRITE_",
                                        "proc": "BRISC", "timestamp": 1}
    seven = [event(7, "NOC_0", total // 120, c) for c in range(120)] + [event(7, "NOC_0", total - total // 120 * 120)]
    one = [event(1, "NOC_0", 1024), event(1, "NOC_0", 1024, 1), event(1, "NOC_1", 512)]
    report = PERF.replace("\n", ",NOC BYTES FROM COUNTERS\n") + "7,,,0,120,785000,%d\n1,,,0,2,5,2560\n2,,,0,1,5,4097\n" % total
    r = Run({"tracy_ops_data.csv": messages((op(7), 1), (op(1), 2), (op(2), 3)), "tracy_ops_times.csv": times(7, 1, 2),
             "cpp_device_perf_report.csv": report, "noc_trace_dev0_ID7.json": json.dumps(seven),
             "noc_trace_dev0_ID1.json": json.dumps(one), "noc_trace_dev0_ID2.json": json.dumps([event(2, "NOC_0", 4096)])})
    assert r.of(7)[0]["NOC BYTES"] == str(total) == "402653184"
    assert (r.of(1)[0]["NOC 0 BYTES"], r.of(1)[0]["NOC 1 BYTES"], r.of(1)[0]["NOC BYTES"]) == ("2048", "512", "2560")
    assert r.of(2)[0]["NOC BYTES"] == "4096" and r.status == 3 and "GLOBAL CALL COUNT 2, device 0: 4096 in the trace, 4097" in r.said


# ---- RISCs that are none of the six


def rows_of_risc(core, risc, zone, program, ids, at, kernel):
    return "".join("0,%d,%d,%s,7,%d,0,%d,%s,%s,%s,1,k.cc,\n" % (core, core, risc, t, program, ids, zone + end, kind) for end, kind, t in (
        ("-FW", "ZONE_START", at), ("-KERNEL", "ZONE_START", at + 10), ("-KERNEL", "ZONE_END", at + 10 + kernel),
        ("-FW", "ZONE_END", at + 20 + kernel)))


@test
def riscs_of_quasar():
    """Data movers, and the compute RISCs of four engines: a column each."""
    riscs = [("DM%d" % i, "DM%d" % i) for i in range(8)] + [("NEO%d_TRISC%d" % (n, t), "TRISC") for n in range(4) for t in range(4)]
    log = HEAD % ("quasar", 1000, 32) + COLUMNS
    for i, (risc, zone) in enumerate(riscs):
        log += rows_of_risc(2, risc, zone, 1, ",", 100 + i, 50 + i)
    r = Run({"tracy_ops_data.csv": messages((op(1), 1)), "tracy_ops_times.csv": times(1), "profile_log_device.csv": log})
    (row,) = r.of(1)
    for i, (risc, _) in enumerate(riscs):
        assert row["DEVICE %s KERNEL DURATION [ns]" % risc.replace("_", " ")] == str(50 + i), (risc, row)
    last = len(riscs) - 1
    assert r.status == 0 and row["CORE COUNT"] == "1" and row["DEVICE FW DURATION [ns]"] == str(last + 20 + 50 + last), row


@test
def whole_replays():
    """TENSIX_RISC_AGG, by TT_METAL_TRACE_PROFILER=1: how long a whole replay took."""
    log = HEAD % ("wormhole_b0", 1000, 64) + COLUMNS
    for session in (1, 2):
        log += rows_of_risc(2, "TENSIX_RISC_AGG", "TRACE", 1, "4,%d" % session, 1000 * session, 300 + session)
    host = messages(("TT_METAL_TRACE_BEGIN: 0, 4", 1), (op(1), 2), ("TT_METAL_TRACE_END: 0, 4", 3),
                    ("TT_METAL_TRACE_REPLAY: 0, 4", 4), ("TT_METAL_TRACE_REPLAY: 0, 4", 5))
    r = Run({"tracy_ops_data.csv": host, "tracy_ops_times.csv": times(1), "profile_log_device.csv": log})
    rows = [x for x in r.of(1) if x["METAL TRACE REPLAY SESSION ID"]]
    assert [(x["DEVICE TRACE FIRMWARE DURATION [ns]"], x["DEVICE TRACE KERNEL DURATION [ns]"]) for x in rows] == [
        ("321", "301"), ("322", "302")], (rows, r.said)


# ---- test_streaming_profiler_ops_csv.py

STREAMED = (
    "DEVICE ID,GLOBAL CALL COUNT,EXECUTION,CORE COUNT,DEVICE KERNEL START CYCLE,DEVICE KERNEL END CYCLE,"
    "DEVICE KERNEL DURATION [ns],DEVICE KERNEL DURATION DM START [ns],DEVICE KERNEL DURATION PER CORE MIN [ns],"
    "DEVICE KERNEL DURATION PER CORE MAX [ns],DEVICE KERNEL DURATION PER CORE AVG [ns],DEVICE KERNEL FIRST TO LAST START [ns],"
    "DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],DEVICE TRISC0 KERNEL DURATION [ns],"
    "DEVICE TRISC1 KERNEL DURATION [ns],DEVICE TRISC2 KERNEL DURATION [ns],DEVICE ERISC0 KERNEL DURATION [ns],"
    "DEVICE ERISC1 KERNEL DURATION [ns]\n"
)


@test
def streamed_ops():
    """Any name; a row per launch; executions of an op in a trace are its replays."""
    rows = "0,1024,0,64,1000,2000,741,700,500,741,600,20,1,2,3,4,5,,\n0,2048,0,64,3000,4000,741,700,500,741,600,20,1,2,3,4,5,6,\n"
    rows += "0,2048,1,64,5000,6000,742,700,500,742,600,20,1,2,3,4,5,,7\n"
    host = {"tracy_ops_data.csv": messages((op(1024), 1), ("TT_METAL_TRACE_BEGIN: 0, 3", 2), (op(2048), 3),
                                           ("TT_METAL_TRACE_END: 0, 3", 4), ("TT_METAL_TRACE_REPLAY: 0, 3", 50),
                                           ("TT_METAL_TRACE_REPLAY: 0, 3", 60)), "tracy_ops_times.csv": times(1024, 2048)}
    r = Run(dict(host, **{"my_ops.csv": STREAMED + rows}))
    (one,) = r.of(1024)
    assert one["DEVICE KERNEL DURATION [ns]"] == "741" and one["DEVICE KERNEL DURATION PER CORE MIN [ns]"] == "500"
    replays = r.of(2048, True)
    assert [(x["METAL TRACE REPLAY SESSION ID"], x["DEVICE KERNEL DURATION [ns]"], x["HOST REPLAY TS"]) for x in replays] == [
        ("1", "741", "50"), ("2", "742", "60")], replays
    assert replays[1]["DEVICE ERISC1 KERNEL DURATION [ns]"] == "7" and r.status == 0, r.said
    alone = Run({"ops.csv": STREAMED + rows})
    assert [x["GLOBAL CALL COUNT"] for x in alone.rows] == ["1024", "2048", "2048"] and alone.status == 0, alone.said
    # Out of an archive, beside CSVs that are nobody's.
    for form in ("zip", "tar.gz"):
        for ending in ("", ".gz"):
            packed = Run(dict(host, **{"my_ops.csv" + ending: STREAMED + rows, "notes.csv" + ending: "a,b\n1,2\n", "old.csv": ""}), archive=form)
            assert packed.rows == r.rows and packed.status == 0, (form, ending, packed.said, packed.wrong)


@test
def streamed_zones():
    """Its zones are a device log with the process in place of the program and the program in place of the trace."""
    head = "ARCH: blackhole, CHIP_FREQ[MHz]: 1350, Max Compute Cores: 0\n" + COLUMNS.replace(",", ", ").replace("\n", ", logical_x, logical_y\n")
    rows = ""
    for prog, at in ((1024, 1000), (2048, 5000)):
        for risc, name in (("BRISC", "BRISC-KERNEL"), ("TRISC_1", "TRISC-KERNEL")):
            for kind, t in (("ZONE_START", at), ("ZONE_END", at + 1350)):
                rows += "0, 3, 4, %s, 99, %d, 0, 31337, %d, 0, %s, %s, 0, streaming, , 1, 2\n" % (risc, t, prog, name, kind)
    r = Run({"tracy_ops_data.csv": messages((op(1024), 1), (op(2048), 2)), "tracy_ops_times.csv": times(1024, 2048),
             "zones_of_mine.csv": head + rows})
    assert [x["DEVICE KERNEL DURATION [ns]"] for x in r.rows] == ["1000", "1000"], (r.rows, r.said, r.wrong)
    assert r.rows[0]["DEVICE TRISC1 KERNEL DURATION [ns]"] == "1000" and r.rows[0]["METAL TRACE ID"] == "" and r.status == 0, r.said
    packed = Run({"tracy_ops_data.csv": messages((op(1024), 1), (op(2048), 2)), "tracy_ops_times.csv": times(1024, 2048),
                  "zones_of_mine.csv": head + rows}, archive="zip")
    assert packed.rows == r.rows and packed.status == 0, packed.said


# ---- test_perf_op_report.py: what its columns hold


@test
def performance_model_and_tensors():
    shape = lambda y, x: {"W": "1[1]", "Z": "1[1]", "Y": y, "X": x}
    io = lambda y, x: dict(tensor("1"), shape=shape(y, x))
    model = {"ideal_ns": 7, "compute_ns": 1, "bandwidth_ns": 7, "input_bws": [292.5714416503906, 292.5714416503906],
             "output_bws": [292.5714416503906]}
    r = Run({"tracy_ops_data.csv": messages((op(5, performance_model=model, input_tensors=[io("32[1]", "96[65]"), io("96[65]", "32[16]")],
                                                output_tensors=[io("32[1]", "32[16]")]), 1)),
             "tracy_ops_times.csv": times(5), "cpp_device_perf_report.csv": PERF + "5,,,0,1,1000\n"})
    row = r.rows[0]
    assert (row["CORE COUNT"], row["PM IDEAL [ns]"], row["PM COMPUTE [ns]"], row["PM BANDWIDTH [ns]"]) == ("1", "7", "1", "7")
    assert row["PM REQ I BW"] == "[292.5714416503906; 292.5714416503906]" and row["PM REQ O BW"] == "[292.5714416503906]"
    assert row["INPUT_0_Y_PAD[LOGICAL]"] == "32[1]" and row["INPUT_1_Y_PAD[LOGICAL]"] == "96[65]" and row["OUTPUT_0_X_PAD[LOGICAL]"] == "32[16]"


@test
def an_input_always_has_columns():
    """ttnn-visualizer's parser asks for INPUT_0's columns, and refuses the script's reports of runs whose ops have none."""
    wanted = ["INPUT_0_" + field for field in
              ("W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]", "LAYOUT", "DATATYPE", "MEMORY")]
    log = HEAD % ("blackhole", 1000, 130) + COLUMNS + program_rows(5, 1000)
    for files in ({"profile_log_device.csv": log}, {"profile_log_device.csv": log, "tracy_ops_times.csv": times(5)},
                  {"tracy_ops_data.csv": messages((op(5), 1)), "profile_log_device.csv": log}):
        r = Run(files)
        assert [c for c in r.columns if c.startswith(("INPUT_", "OUTPUT_"))] == wanted, r.columns
        assert r.rows and not any(row[c] for row in r.rows for c in wanted)
    # As soon as one op has a tensor there are as many as ops have.
    r = Run({"tracy_ops_data.csv": messages((op(5, input_tensors=[tensor("32[32]"), tensor("64[64]")]), 1)), "profile_log_device.csv": log})
    assert [c for c in r.columns if c.endswith("_MEMORY")] == ["INPUT_0_MEMORY", "INPUT_1_MEMORY"], r.columns


if __name__ == "__main__":
    main(tests)
