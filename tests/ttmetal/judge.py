"""A report, or the waits of cores, against what the generator knows of the folder (folders.py)."""
import statistics

import files


def text(value):
    """As a cell holds what Python prints."""
    return str(value).replace(",", ";")


class Judge:
    def __init__(self, folder, rows, status, said):
        self.f, self.rows, self.status, self.said = folder, rows, status, said
        self.by_id = {}
        for row in rows:
            self.by_id.setdefault(row["GLOBAL CALL COUNT"], []).append(row)
        # Which replay it was can only be told by the log's own count when data of others are missing.
        lossy = folder.losses & {"drop_exec", "late", "lost_device", "lost_replay"}
        self.sessions_known = folder.form != "log_without_traces" or not lossy

    def equal(self, row, column, value):
        have = row[column]
        assert have == text(value), "%s of %s: %r, should be %r" % (column, row["GLOBAL CALL COUNT"], have, text(value))

    def runs(self):
        """Everything that ran and whose data were not lost is there, once, under its op."""
        f, seen = self.f, 0
        ops = {op.id: op for op in f.ops if op.device is not None}
        for run in f.runs:
            if run.lost:
                continue
            start = min(run.all("start", None, "FW"))
            there = [r for r in self.by_id.get(str(run.id), ()) if r["DEVICE FW START CYCLE"] == str(start)]
            assert len(there) == 1, "run of %d at %d: %d rows" % (run.id, start, len(there))
            row, op = there[0], ops.get(run.id)
            seen += 1
            self.device(row, run)
            if op is None:
                assert "launch without an op" in row["NOTE"]
                continue
            if not op.message and not (op.zone and "no_times" not in f.losses):
                assert "launch without an op" in row["NOTE"]
                continue
            self.host(row, op)
            if run.session is not None and op.message and self.sessions_known:
                self.equal(row, "METAL TRACE ID", run.trace)
                self.equal(row, "METAL TRACE REPLAY SESSION ID", run.session)
                replay = [ns for d, t, s, ns in f.replays if (d, t, s) == (run.device, run.trace, run.session)]
                if replay:
                    self.equal(row, "HOST REPLAY TS", replay[0])
                else:
                    assert "host does not tell of this replay" in row["NOTE"]
        with_data = sum(1 for r in self.rows if r["DEVICE FW START CYCLE"])
        assert with_data == seen, "%d rows with device data, %d runs" % (with_data, seen)

    def device(self, row, run):
        f = self.f
        start, end = run.all("start"), run.all("end")
        fw = min(run.all("start", None, "FW")), max(run.all("end", None, "FW"))
        self.equal(row, "DEVICE ID", run.device)
        self.equal(row, "CORE COUNT", len(run.cores))
        self.equal(row, "DEVICE FW END CYCLE", fw[1])
        self.equal(row, "DEVICE FW DURATION [ns]", f.ns(fw[1] - fw[0]))
        self.equal(row, "DEVICE KERNEL DURATION [ns]", f.ns(max(end) - min(start)))
        for risc in files.RISCS + ("ERISC",):
            s, e = run.all("start", (risc,)), run.all("end", (risc,))
            self.equal(row, "DEVICE %s KERNEL DURATION [ns]" % risc.replace("_", ""), f.ns(max(e) - min(s)) if s else "")
        if f.noc and hasattr(run, "noc") and self.sessions_known:
            for name, value in run.noc.items():
                self.equal(row, name, value)
            assert ("NOC BUSIEST LINK" in row) == f.grid
            if f.grid:
                assert row["NOC BUSIEST LINK"] in (run.busiest or {""}), (row["NOC BUSIEST LINK"], run.busiest)
        if f.sync:
            assert abs(float(row["DEVICE START HOST TS"]) - f.on_host(run)) <= 2, (row["DEVICE START HOST TS"], f.on_host(run))
        if f.form == "report":
            return
        self.counters(row, run)
        self.dispatched(row, run)
        if f.sub_devices:
            number = f.sub_device_of(run)
            assert row.get("SUB DEVICE ID", "") == ("" if number is None else str(number)), (row.get("SUB DEVICE ID"), number)
        if len(start) > 1:
            self.equal(row, "DEVICE KERNEL FIRST TO LAST START [ns]", f.ns(max(start) - min(start)))
        spans = []
        for core in run.cores:
            kernels = [z for z in core["zones"] if z["kind"] == "KERNEL"]
            spans.append(max(z["end"] for z in kernels) - min(z["start"] for z in kernels))
        for name, value in (("MIN", min(spans)), ("MAX", max(spans))):
            # Halves fall either way, as in tt-metal's arithmetic; the script is equal to the last digit.
            have = int(row["DEVICE KERNEL DURATION PER CORE %s [ns]" % name])
            assert abs(have * f.mhz - value * 1000) * 2 <= f.mhz, (have, value)

    def dispatched(self, row, run):
        """Where a program ran once: of replays the script pairs what belongs to different ones, and so do we."""
        ids = [r.id for r in self.f.runs if r.device == run.device]
        if not self.f.dispatch or len(set(ids)) < len(ids):
            return
        self.equal(row, "DISPATCH TOTAL CQ CMD OP TIME [ns]", self.f.ns(run.commands))
        self.equal(row, "DISPATCH GO SEND WAIT TIME [ns]", self.f.ns(run.go))

    def counters(self, row, run):
        """Some of the figures from hardware counters, from their definitions."""
        f = self.f
        if not f.counters or (f.form == "log_without_traces" and not self.sessions_known):
            return
        ratios = {
            "FPU Util": lambda c: (c["FPU_COUNTER"][0], c["FPU_COUNTER"][1]),
            "Thread 1 Stall Rate": lambda c: (c["THREAD_STALLS_1"][0], c["THREAD_STALLS_1"][1]),
            "FPU Execution Efficiency": lambda c: (c["FPU_COUNTER"][0], c["FPU_INSTRN_AVAILABLE_1"][0]),
            "L1 TDMA Bundle Util": lambda c: (
                (c["L1_0_TDMA_BUNDLE_0_RISC"][0] + c["L1_0_TDMA_BUNDLE_1_TRISC"][0]) / 2, c["L1_0_TDMA_BUNDLE_0_RISC"][1]),
            "Math Scoreboard Stall Rate": lambda c: (c["MATH_INSTRN_AVAILABLE"][0] - c["AVAILABLE_MATH"][0], c["MATH_INSTRN_AVAILABLE"][0]),
        }
        for name, ratio in ratios.items():
            values = []
            try:
                for core in run.cores:
                    if core["counted"]:
                        a, b = ratio(core["counted"])
                        if b:
                            values.append(a / b * 100)
            except KeyError:
                continue
            for stat, want in (("Min", min), ("Max", max), ("Avg", lambda v: sum(v) / len(v)), ("Median", statistics.median)):
                column = "%s %s (%%)" % (name, stat)
                if column not in row:  # over the full grid, instead
                    continue
                have = row[column]
                assert (have == "nan") == (not values), (column, have, values)
                assert not values or abs(float(have) - want(values)) <= 1e-9 * max(1, abs(want(values))), (column, have, want(values))

    def host(self, row, op):
        f = self.f
        if op.zone and "no_times" not in f.losses:
            self.equal(row, "HOST START TS", op.start)
            self.equal(row, "HOST END TS", op.start + op.ns)
            self.equal(row, "HOST DURATION [ns]", op.ns)
        else:
            self.equal(row, "HOST START TS", "")
        if not op.message:
            assert "its message is missing" in row["NOTE"], row["NOTE"]
            return
        if "no_times" not in f.losses and (op.zone or not hasattr(f, "twice")):  # of two ops the last has them
            for name, ns in op.children.items():
                self.equal(row, name + "_TT_HOST_FUNC [ns]", ns)
        if op.device is None:
            self.equal(row, "OP CODE", op.code)
            self.equal(row, "OP TYPE", op.type)
            return
        self.equal(row, "OP CODE", op.definition["code"])
        if op.orphan:
            assert "its full message is missing" in row["NOTE"], row["NOTE"]
            return
        self.equal(row, "ATTRIBUTES", op.definition["attributes"])
        if op.cut:
            assert "its message was cut" in row["NOTE"]
            return
        self.tensors(row, op)
        self.equal(row, "OP TYPE", "tt_dnn_device")
        self.equal(row, "PROGRAM HASH", op.definition["hash"])
        self.equal(row, "PROGRAM CACHE HIT", op.cached)
        self.equal(row, "COMPUTE KERNEL HASH", [k["name"] for k in op.definition["compute"]])
        self.equal(row, "DATA MOVEMENT KERNEL SOURCE", [k["source"] for k in op.definition["dm"]])
        if op.definition["pm"] is not None:
            self.equal(row, "PM COMPUTE [ns]", op.definition["pm"])

    def tensors(self, row, op):
        d = op.definition
        for kind, tensors in (("INPUT", d["in"] + d["optional"]), ("OUTPUT", d["out"])):
            for i, t in enumerate(tensors):
                for k in "WZYX":
                    self.equal(row, "%s_%d_%s_PAD[LOGICAL]" % (kind, i, k), t["shape"][k])
                self.equal(row, "%s_%d_LAYOUT" % (kind, i), t["layout"])

    def ops(self):
        """Every op that the host tells of is a row; one that did not run says why."""
        f = self.f
        for op in f.ops:
            zone = op.zone and "no_times" not in f.losses
            rows = self.by_id.get(str(op.id), [])
            if not op.message and not zone:
                continue
            assert rows, "op %d is missing" % op.id
            there = [run for run in op.runs if not run.lost]
            if op.message and op.device is not None and not there:
                row = rows[0]
                self.host(row, op)
                replayed = [1 for d, t, _, _ in f.replays if (d, t) == (op.device, op.trace)]
                why = "no device data of this replay" if replayed else "never replayed" if op.trace is not None else "no device data"
                assert any(why in r["NOTE"] for r in rows), (why, [r["NOTE"] for r in rows])
            if not zone and op.message and "no_times" not in f.losses:
                assert any("no host times" in r["NOTE"] for r in rows)
            if op.device is not None and op.trace is None and op.message and not hasattr(f, "twice"):
                assert len(rows) == 1, "op %d has %d rows" % (op.id, len(rows))
            if op.device is None:
                self.host(rows[0], op)

    def signposts(self):
        have = [(r["OP CODE"], r["ATTRIBUTES"], r["HOST START TS"]) for r in self.rows if r["OP TYPE"] == "signpost"]
        want = []
        for said, ns in self.f.signposts:
            lines = said.split(": ")[-1].split("\n")
            want.append((text(lines[0]), text(lines[1]) if len(lines) > 1 else "", str(ns)))
        assert have == want, (have, want)

    def order(self):
        """By the host's time: of the zone, of the replay."""
        last = -1
        for row in self.rows:
            if "launch without an op" in row["NOTE"] or "host does not tell" in row["NOTE"] or not row["HOST START TS"]:
                continue
            at = int(row["HOST REPLAY TS"] or row["HOST START TS"])
            assert at >= last, "rows out of order at %d" % at
            last = at

    def exit_status(self):
        f = self.f
        happened = (
            any(run.lost for run in f.runs)
            or any(op.cut or op.orphan or not op.message or not op.zone for op in f.ops)
            or any(op.device is not None and not op.runs for op in f.ops)
            or hasattr(f, "twice")
            or hasattr(f, "ghost")
            or "lost_replay" in f.losses
            or "no_times" in f.losses
            or (f.zone_sources and f.same_hash)
        )
        if happened:
            assert self.status == 3, "exit %d\n%s" % (self.status, self.said)
        else:
            assert self.status == 0, "exit %d\n%s" % (self.status, self.said)

    def all(self):
        self.runs()
        self.ops()
        self.signposts()
        if "no_times" not in self.f.losses and not any(not op.zone for op in self.f.ops):
            self.order()
        if not (self.f.losses & {"lost_replay"}):  # which may be of a trace that nothing was captured in
            self.exit_status()


def waits(f):
    """What per_core_op_to_op_times.csv holds: between kernels of programs that follow each other on a core."""
    want = {}
    cores = {}
    for run in f.runs:
        for core in run.cores:
            cores.setdefault((run.device, core["place"]), []).append((run, core))
    for (device, place), launches in cores.items():
        last = None
        for run, core in sorted(launches, key=lambda l: min(z["start"] for z in l[1]["zones"])):
            kernels = [z for z in core["zones"] if z["kind"] == "KERNEL"]
            movers = [z["start"] for z in kernels if z["risc"] in ("BRISC", "NCRISC")]
            if movers and last:
                want.setdefault((str(device), "%d -> %d" % (last[0], run.id), "%d; %d [ns]" % place), []).append(min(movers) - last[1] - 1500)
            if movers:
                last = None
            if kernels:
                last = run.id, max(z["end"] for z in kernels)
    return want
