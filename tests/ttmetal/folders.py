"""Folders as tt-metal's profiler writes them, with known truth: several chips, cached, host and fallback ops, nested
zones, calls inside ops, signposts, traces with replays, both forms of device data, and losses of every kind. The same
seed gives the same folder. Not for judging reports (check.py does that)."""
import json
import os
import random

import extras
import files
from files import LOG_HEADER, PERF_HEADER, RISCS, to_even

LOSSES = (
    "drop_exec",  # device data of some ops are lost
    "late",  # device data begin late
    "never_replayed",  # a trace is captured and never replayed
    "cut_message",  # Tracy cut a message, the closing backtick with it
    "lost_message",
    "lost_zone",
    "orphan",  # a cached op whose full message is missing
    "lost_device",  # a device without any data
    "extra_launch",  # a launch that no op asked for
    "wrong_trace_id",  # NCRISC's markers carry another trace id
    "twice",  # two ops with one id
    "lost_replay",  # the host does not tell of the last replay
    "no_times",
)
# Groups of hardware counters as a run chooses them (TT_METAL_PROFILE_PERF_COUNTERS).
COUNTERS = {
    "fpu": {"FPU_COUNTER": 1, "SFPU_COUNTER": 2, "MATH_COUNTER": 3},
    "pack": {"PACKER_DEST_READ_AVAILABLE": 17, "PACKER_BUSY": 18, "AVAILABLE_MATH": 19, "DEST_READ_GRANTED_0": 156,
             "DEST_READ_GRANTED_1": 157, "PACKER_BUSY_0": 153, "MATH_NOT_STALLED_DEST_WR_PORT": 160},
    "unpack": {"MATH_INSTRN_STARTED": 7, "MATH_INSTRN_AVAILABLE": 8, "SRCB_WRITE_AVAILABLE": 9, "SRCA_WRITE_AVAILABLE": 10,
               "UNPACK0_BUSY_THREAD0": 11, "UNPACK1_BUSY_THREAD0": 12, "SRCB_WRITE": 15, "SRCA_WRITE": 16, "DATA_HAZARD_STALLS_MOVD2A": 5,
               "FIDELITY_PHASE_STALLS": 6, "INSTRN_2_HF_CYCLES": 139, "INSTRN_1_HF_CYCLE": 140, "SRCB_WRITE_ACTUAL": 141,
               "SRCA_WRITE_NOT_BLOCKED_OVR": 142, "SRCA_WRITE_ACTUAL": 143, "SRCB_WRITE_NOT_BLOCKED_PORT": 144,
               "MATH_INSTRN_NOT_BLOCKED_SRC": 149},
    "l1_0": dict({name: 81 + i for i, name in enumerate((
        "L1_0_UNPACKER_0", "L1_0_UNPACKER_1_ECC_PACK1", "L1_0_TDMA_BUNDLE_0_RISC", "L1_0_TDMA_BUNDLE_1_TRISC",
        "L1_0_NOC_RING0_OUTGOING_0", "L1_0_NOC_RING0_OUTGOING_1", "L1_0_NOC_RING0_INCOMING_0", "L1_0_NOC_RING0_INCOMING_1"))},
        **{name: 99 + i for i, name in enumerate((
            "L1_0_UNPACKER_0_GRANT", "L1_0_PORT1_GRANT", "L1_0_TDMA_BUNDLE_0_GRANT", "L1_0_TDMA_BUNDLE_1_GRANT",
            "L1_0_NOC_RING0_OUTGOING_0_GRANT", "L1_0_NOC_RING0_OUTGOING_1_GRANT", "L1_0_NOC_RING0_INCOMING_0_GRANT",
            "L1_0_NOC_RING0_INCOMING_1_GRANT"))}),
    "instrn": {"CFG_INSTRN_AVAILABLE_0": 20, "FPU_INSTRN_AVAILABLE_1": 36, "THREAD_STALLS_0": 44, "THREAD_STALLS_1": 45, "THREAD_STALLS_2": 46,
               "WAITING_FOR_SRCA_VALID": 49, "WAITING_FOR_MATH_IDLE_1": 61, "WAITING_FOR_NONZERO_SEM_0": 63,
               "WAITING_FOR_NONFULL_SEM_2": 68, "UNPACK_INSTRN_ISSUED_0": 133, "FPU_INSTRN_ISSUED_1": 131},
}


class Op:
    """A call on the host."""

    def __init__(self, ident, device, definition, trace):
        self.id, self.device, self.definition, self.trace = ident, device, definition, trace
        self.start = self.ns = self.sent = 0
        self.zone = self.message = True
        self.cut = self.orphan = self.shadow = self.cached = False
        self.children = {}
        self.runs = []


class Run:
    """A program that ran on a device."""

    def __init__(self, ident, device, trace, session, cores):
        self.id, self.device, self.trace, self.session, self.cores = ident, device, trace, session, cores
        self.lost = False

    def all(self, kind, riscs=None, which="KERNEL"):
        return [z[kind] for c in self.cores for z in c["zones"] if z["kind"] == which and (not riscs or z["risc"] in riscs)]


class Folder(files.Files, extras.Extras):
    def __init__(self, seed, losses=None, form=None):
        r = self.r = random.Random(seed)
        self.seed = seed
        self.mhz = r.choice((1000, 1200, 1202, 800, 1350))
        self.devices = r.sample(range(8), r.choice((1, 1, 2, 3)))
        self.form = form or r.choice(("report", "log", "log_without_traces"))
        self.losses = set(r.sample(LOSSES, r.choice((1, 1, 2, 3)))) if losses is None else set(losses)
        if self.form != "log":
            self.losses.discard("wrong_trace_id")
        self.ops, self.runs, self.signposts, self.replays = [], [], [], []
        self.messages, self.times = [], []
        self.now = 1000 + r.randrange(10**9)
        self.clock = {d: 10**6 + r.randrange(10**11) for d in self.devices}
        self.base = 0
        self.sessions = {}
        self.seen = set()
        self.arch = r.choice(("wormhole_b0", "blackhole"))
        self.counters = {}
        if self.form != "report" and r.random() < 0.3:
            for group in r.sample(sorted(COUNTERS), r.choice((1, 3, 5))):
                self.counters.update(COUNTERS[group])
        self.counter_names = r.random() < 0.5  # names, or numbers
        self.noc = random.Random(seed).random() < 0.2
        self.definitions = [self.definition(i) for i in range(r.randrange(2, 9))]
        self.draw_extras()
        self.program()
        self.lose()
        self.draw_dispatch()

    # ---- what is run

    def tick(self, most=5000):
        self.now += 1 + self.r.randrange(most)
        return self.now

    def definition(self, i):
        r = self.r
        memory = lambda d: {
            "device_id": d,
            "memory_config": {"buffer_type": r.choice(("DRAM", "L1")), "memory_layout": r.choice(("INTERLEAVED", "HEIGHT_SHARDED"))},
        }
        attributes = {
            "program_config": r.choice(("std::nullopt", "MatmulProgramConfig(a=1; b='x')", 'it says "a", isn\'t it')),
            "bcast": r.choice((True, False, None)),
            "scale": r.choice((0.1, 1.0, 1e-7, 1e22, -0.0, 123456789.125, 5)),
            "grid": [r.randrange(9), r.randrange(9)],
            "note": r.choice(("plain", "tab\there", "größe µ→", "a\\b", "x" * r.randrange(200))),
            "nested": {"k": [1, 2.5, "q"], "empty": {}, "none": []},
        }
        tensor = lambda: {
            "layout": r.choice(("TILE", "ROW_MAJOR")),
            "dtype": r.choice(("BFLOAT16", "BFLOAT8_B", "UINT32")),
            "shape": {k: r.choice((1, 32, "32[32]", "64[33]", r.randrange(1, 4096))) for k in "WZYX"},
            "storage_type": memory if r.random() < 0.8 else "HOST",
        }
        kernel = lambda n, compute: dict(
            {"name": "k%d/%d" % (n, r.randrange(10**9)), "source": "ttnn/kernels/k%d.cpp" % n},
            **({"math_fidelity": r.choice(("HiFi2", "HiFi4", "LoFi"))} if compute else {}),
        )
        return {
            "code": "ttnn::Op%d" % i if r.random() < 0.97 else "Op<%d, float>" % i,
            "hash": r.randrange(2**64),
            "attributes": attributes,
            "in": [tensor() for _ in range(r.randrange(0, 4))],
            "optional": [tensor() for _ in range(r.choice((0, 0, 1)))],
            "out": [tensor() for _ in range(r.randrange(0, 3))],
            "compute": [kernel(j, True) for j in range(r.randrange(0, 3))],
            "dm": [kernel(j + 5, False) for j in range(r.randrange(0, 3))],
            "pm": r.choice((None, r.randrange(1, 10**5), float(r.randrange(1, 10**5)) / 7)),
            "cores": r.sample([(x, y) for x in range(1, 6) for y in range(1, 5)], r.randrange(1, 5)),
            "ethernet": r.random() < 0.15,
            "compute_riscs": r.random() < 0.7,
        }

    def next_id(self, device):
        return self.base << 10 | device

    def json_of(self, op):
        d = op.definition
        fill = lambda t: dict(t, storage_type=t["storage_type"](op.device) if callable(t["storage_type"]) else t["storage_type"])
        j = {
            "attributes": d["attributes"],
            "device_id": op.device,
            "global_call_count": op.id,
            "input_tensors": [fill(t) for t in d["in"]],
            "kernel_info": {
                "compute_kernels": d["compute"],
                "datamovement_kernels": d["dm"],
                "kernel_sizes": {"TENSIX_DM_0_max_kernel_size": 100 + len(d["dm"]), "TENSIX_COMPUTE_2_max_kernel_size": 7},
            },
            "op_code": d["code"],
            "op_hash": d["hash"],
            "op_type": "tt_dnn_device",
            "optional_input_tensors": [fill(t) for t in d["optional"]],
            "output_tensors": [fill(t) for t in d["out"]],
            "program_cache_hit": False,
        }
        if d["pm"] is not None:
            j["performance_model"] = {"compute_ns": d["pm"], "ideal_ns": 5, "bandwidth_ns": 1.5, "input_bws": [1.0, 2], "output_bws": []}
        return j

    def message_of(self, op):
        d = op.definition
        key = (op.device, d["hash"])
        op.cached = key in self.seen
        head = "TT_DNN_DEVICE_OP: %s, %d, %d, %s, %d" % (json.dumps(d["code"]), d["hash"], op.device, str(op.cached).lower(), op.id)
        if op.cached:
            return head
        self.seen.add(key)
        return head + " ->\n" + json.dumps(self.json_of(op), indent=self.r.choice((4, None)), ensure_ascii=False)

    def calls(self, op):
        """Calls inside an op."""
        for _ in range(self.r.choice((0, 0, 1, 3))):
            name = self.r.choice(("CompileProgram", "EnqueueProgram", "Tensor::to<int>"))
            ns = self.r.randrange(1, 10**6)
            op.children[name] = op.children.get(name, 0) + ns
            self.times.append((name, "host.cpp", 12, "", "", self.tick(), ns, 7, "id:%d" % op.id))

    def device_op(self, device, definition, trace):
        op = Op(self.next_id(device), device, definition, trace)
        op.start = self.tick()
        self.calls(op)
        op.sent = self.tick()
        self.messages.append((op, self.message_of(op), op.sent))
        op.ns = self.tick() - op.start
        self.ops.append(op)
        if trace is None:
            self.launch(op, None)
        return op

    def host_op(self):
        self.base += 1
        op = Op(1 << 31 | self.base, None, None, None)
        op.start = self.tick()
        op.code = self.r.choice(("(torch) torch.add", "ttnn.to_torch"))
        op.type = self.r.choice(("python_fallback", "tt_dnn_cpu"))
        inner = self.r.random() < 0.4
        if inner:  # a nested op
            self.base += 1
            self.device_op(self.devices[0], self.r.choice(self.definitions), None)
        op.sent = self.tick()
        j = {"global_call_count": op.id, "op_code": op.code, "op_type": op.type, "attributes": {"a": "1"}, "input_tensors": []}
        kind = "TT_DNN_FALL_BACK_OP" if op.type == "python_fallback" else "TT_DNN_HOST_OP"
        self.messages.append((op, "%s: %s ->\n%s" % (kind, op.code, json.dumps(j)), op.sent))
        op.ns = self.tick() - op.start
        self.ops.append(op)

    def launch(self, op, session):
        """What a device does for it."""
        r, d = self.r, op.definition
        begin = self.clock[op.device] + r.randrange(50, 3000)
        cores, latest = [], begin
        for number, place in enumerate(d["cores"] + ([(9, 0)] if d["ethernet"] else [])):
            ethernet = number == len(d["cores"])
            at = begin + r.randrange(200)
            end = at + 400 + r.randrange(20000)
            zones = []
            riscs = ("ERISC",) if ethernet else RISCS if d["compute_riscs"] else RISCS[:2]
            for risc in riscs:
                inside = r.randrange(5, 60), r.randrange(5, 60)
                first = risc in ("BRISC", "ERISC")
                fw = (at, end) if first else (at + 2, end - 2)
                kernel = (fw[0] + inside[0], fw[1] - inside[1])
                name = "TRISC" if risc.startswith("TRISC") else risc
                sums = []
                if risc in ("TRISC_0", "TRISC_2") and r.random() < 0.4:
                    sums.append(("CB-COMPUTE-WAIT-FRONT" if risc == "TRISC_0" else "CB-COMPUTE-RESERVE-BACK", r.randrange(0, 300)))
                zones.append({"risc": risc, "kind": "FW", "name": name + "-FW", "start": fw[0], "end": fw[1], "sums": sums})
                zones.append({"risc": risc, "kind": "KERNEL", "name": name + "-KERNEL", "start": kernel[0], "end": kernel[1]})
            ref = end - at
            counted = {} if ethernet else {c: (r.choice((0, r.randrange(ref), r.randrange(ref))), ref) for c in self.counters}
            cores.append({"place": place, "zones": zones, "counted": counted})
            latest = max(latest, end)
        self.clock[op.device] = latest
        run = Run(op.id, op.device, op.trace, session, cores)
        op.runs.append(run)
        self.runs.append(run)

    def trace(self, number):
        r = self.r
        devices = self.devices if r.random() < 0.5 else self.devices[:1]
        captured = []
        for d in devices:
            self.messages.append((None, "TT_METAL_TRACE_BEGIN: %d, %d" % (d, number), self.tick()))
        for _ in range(r.randrange(1, 5)):
            self.base += 1
            definition = r.choice(self.definitions)
            captured += [self.device_op(d, definition, number) for d in devices]
        for d in devices:
            self.messages.append((None, "TT_METAL_TRACE_END: %d, %d" % (d, number), self.tick()))
        return devices, captured

    def replay(self, number, devices, captured):
        for d in devices:
            session = self.sessions[d, number] = self.sessions.get((d, number), 0) + 1
            self.replays.append((d, number, session, self.tick()))
            self.messages.append((None, "TT_METAL_TRACE_REPLAY: %d, %d" % (d, number), self.now))
            for op in captured:
                if op.device == d:
                    self.launch(op, session)

    def program(self):
        r = self.r
        traces = []
        for step in range(r.randrange(3, 14)):
            what = r.random()
            if what < 0.5:
                self.base += 1
                definition = r.choice(self.definitions)
                for d in self.devices if r.random() < 0.6 else [r.choice(self.devices)]:
                    self.device_op(d, definition, None)
            elif what < 0.6:
                self.host_op()
            elif what < 0.7:
                text = "TT_SIGNPOST: step %d" % step + r.choice(("", "\nmessage, with a comma", "\nmore: %d\nlines" % step))
                self.signposts.append((text, self.tick()))
                self.messages.append((None, text, self.now))
            elif what < 0.8 or not traces:
                number = len(traces) * 3 + r.randrange(3)
                traces.append((number,) + self.trace(number))
            else:
                self.replay(*r.choice(traces))
        for t in traces:  # every trace runs, unless its loss is wanted
            self.replay(*t)
        self.messages.append((None, "MLIR_OP_LOCATION;loc(\"a\")", self.tick()))

    # ---- what is lost

    def lose(self):
        r = self.r
        device_ops = [op for op in self.ops if op.device is not None]
        if not device_ops:
            self.losses &= {"no_times"}
            return
        if "never_replayed" in self.losses:
            self.base += 1
            self.trace(77)
            device_ops = [op for op in self.ops if op.device is not None]
        if "drop_exec" in self.losses:
            for run in r.sample(self.runs, min(len(self.runs), r.randrange(1, 4))):
                run.lost = True
        if "late" in self.losses:
            for run in self.runs[: r.randrange(1, 6)]:
                run.lost = True
        if "lost_device" in self.losses:
            for run in self.runs:
                run.lost |= run.device == self.devices[-1]
        victims = [op for op in device_ops if not op.cached]
        if "cut_message" in self.losses and victims:
            op = r.choice(victims)
            op.cut = True
        plain = [op for op in device_ops if op.trace is None and op.zone and not op.cut]
        full = {}
        for op in device_ops:
            full.setdefault((op.device, op.definition["hash"]), []).append(op)
        if "lost_message" in self.losses:
            single = [ops[0] for ops in full.values() if len(ops) == 1 and ops[0].trace is None and not ops[0].cut]
            if single:
                r.choice(single).message = False
        if "orphan" in self.losses:
            several = [ops for ops in full.values() if len(ops) > 1 and not ops[0].cut and ops[0].message]
            if several:
                chosen = r.choice(several)
                chosen[0].message = False
                for op in chosen[1:]:
                    op.orphan = True
        if "lost_zone" in self.losses:
            r.choice(device_ops).zone = False
        # What follows a cut message has what is whole of it.
        for ops in full.values():
            if ops[0].cut:
                for op in ops[1:]:
                    op.cut = True
        if "twice" in self.losses and len(plain) > 1:
            first, second = r.sample(plain, 2)
            if first.message and second.message and not first.orphan and first.id < second.id and first.device == second.device:
                self.messages.append((first, "again", self.tick()))
                self.twice = first
        if "lost_replay" in self.losses and self.replays:
            gone = self.replays.pop()
            for i in range(len(self.messages) - 1, -1, -1):
                if self.messages[i][1] == "TT_METAL_TRACE_REPLAY: %d, %d" % gone[:2]:
                    del self.messages[i]
                    break
        if "extra_launch" in self.losses:
            definition = r.choice(self.definitions)
            device = r.choice(self.devices)
            self.base += 1
            ghost = Op(self.next_id(device), device, definition, None)
            self.launch(ghost, None)
            self.ghost = ghost



if __name__ == "__main__":
    import sys

    Folder(int(sys.argv[1]), None if len(sys.argv) < 4 else sys.argv[3].split(",") if sys.argv[3] else []).write(sys.argv[2])
