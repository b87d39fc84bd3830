"""Files of a folder as tt-metal's profiler writes them. Not for what is run, nor for what is lost (folders.py)."""
import json
import os
import random

RISCS = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")
LOG_HEADER = (
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
    "trace id, trace id counter, zone name, type, source line, source file, meta data"
)
PERF_HEADER = (
    "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE ARCH,OP NAME,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,DEVICE TRACE FIRMWARE DURATION [ns],DEVICE TRACE KERNEL DURATION [ns],"
    "DEVICE KERNEL FIRST TO LAST START [ns],DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
    "DEVICE KERNEL DURATION [ns],DEVICE KERNEL START CYCLE,DEVICE KERNEL END CYCLE,"
    "DEVICE KERNEL DURATION DM START [ns],DEVICE KERNEL DM START CYCLE,DEVICE KERNEL DM END CYCLE,"
    "DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],DEVICE TRISC0 KERNEL DURATION [ns],"
    "DEVICE TRISC1 KERNEL DURATION [ns],DEVICE TRISC2 KERNEL DURATION [ns],DEVICE ERISC KERNEL DURATION [ns],"
    "OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns]"
)


def to_even(numerator, denominator):
    """The nearest integer, halves to even, exactly."""
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2))


NOC_SUMS = ("NOC BYTES", "NOC READ BYTES", "NOC WRITE BYTES", "NOC FABRIC BYTES", "NOC 0 BYTES", "NOC 1 BYTES", "NOC TRANSFERS",
            "NOC READ WAIT [cycles]", "NOC WRITE WAIT [cycles]")


class Sums(dict):
    """Of all, and of the zone whose turn it is."""

    def __init__(self):
        super().__init__(dict.fromkeys(NOC_SUMS, 0))
        self.zone = {}

    def turn(self, zones, proc, name):
        self.zone = zones.setdefault((proc, name), dict.fromkeys(("ZONE COUNT",) + NOC_SUMS, 0))
        return self.zone

    def __setitem__(self, name, value):
        self.zone[name] += value - self[name]
        super().__setitem__(name, value)


class Files:
    # ---- files

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.write_data(os.path.join(folder, "tracy_ops_data.csv"))
        if "no_times" not in self.losses:
            self.write_times(os.path.join(folder, "tracy_ops_times.csv"))
        if self.noc:
            self.write_noc(folder)
        if self.sync:
            self.write_sync(os.path.join(folder, "sync_device_info.csv"))
        if self.zone_sources:
            self.write_zone_sources(os.path.join(folder, "zone_src_locations.log"))
        if self.form == "report":
            self.write_report(os.path.join(folder, "cpp_device_perf_report.csv"))
        else:
            self.write_log(os.path.join(folder, "profile_log_device.csv"))

    def write_data(self, path):
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write("MessageName;total_ns\n")
            for op, text, ns in self.messages:
                if text == "again":
                    text = next(t for o, t, _ in self.messages if o is op)
                if text.startswith("MLIR"):
                    f.write("%s;%d\n" % (text, ns))
                elif op is not None and op.cut and " ->\n" in text:
                    f.write("`%s;%d\n" % (self.cut(text), ns))
                elif op is None or op.message:
                    f.write("`%s`;%d\n" % (text, ns))

    def cut(self, text):
        body = text.index("{")
        return text[: body + 30 + (len(text) - body) * 2 // 3]

    def write_times(self, path):
        rows = list(self.times)
        for op in self.ops:
            if op.zone:
                name = "TT_DNN_DEVICE_OP" if op.device is not None else "TT_DNN_FALL_BACK_OP"
                rows.append((name, "op.hpp", 33, "", "id:%d" % op.id, op.start, op.ns, 1, ""))
        for i in range(20):
            rows.append(("noise", "n.cpp", i, "z", "", i, i, 2, ""))
        self.r.shuffle(rows)
        with open(path, "w") as f:
            f.write("name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text\n")
            for row in rows:
                f.write(",".join(str(c) for c in row) + "\n")

    def ns(self, cycles):
        return to_even(cycles * 1000, self.mhz)

    def write_report(self, path):
        with open(path, "w") as f:
            f.write(PERF_HEADER + "\n")
            for device in sorted(self.devices):
                last = None
                for run in self.runs:
                    if run.device != device or run.lost:
                        continue
                    cells = self.report_cells(run)
                    start, end = min(run.all("start")), max(run.all("end"))
                    cells["OP TO OP LATENCY [ns]"] = 0 if last is None else self.ns(start - last) if self.seed % 3 else ""
                    cells["OP TO OP LATENCY BR/NRISC START [ns]"] = ""
                    last = end
                    f.write(",".join(str(cells.get(name, "")) for name in PERF_HEADER.split(",")) + "\n")

    def report_cells(self, run):
        start, end = run.all("start"), run.all("end")
        fw = min(run.all("start", None, "FW")), max(run.all("end", None, "FW"))
        dm = min(run.all("start", ("BRISC", "NCRISC", "ERISC")))
        none = lambda v: "" if v is None else v
        cells = {
            "GLOBAL CALL COUNT": run.id,
            "METAL TRACE ID": none(run.trace),
            "METAL TRACE REPLAY SESSION ID": none(run.session),
            "DEVICE ID": run.device,
            "DEVICE ARCH": "wormhole_b0",
            "OP NAME": "some_op",
            "CORE COUNT": len(run.cores),
            "AVAILABLE WORKER CORE COUNT": 64,
            "DEVICE KERNEL FIRST TO LAST START [ns]": self.ns(max(start) - min(start)),
            "DEVICE FW DURATION [ns]": self.ns(fw[1] - fw[0]),
            "DEVICE FW START CYCLE": fw[0],
            "DEVICE FW END CYCLE": fw[1],
            "DEVICE KERNEL DURATION [ns]": self.ns(max(end) - min(start)),
            "DEVICE KERNEL DURATION DM START [ns]": self.ns(max(end) - dm),
        }
        if self.seed % 2:  # the newer form
            cells["DEVICE KERNEL START CYCLE"] = min(start)
            cells["DEVICE KERNEL END CYCLE"] = max(end)
            cells["DEVICE KERNEL DM START CYCLE"] = dm
            cells["DEVICE KERNEL DM END CYCLE"] = max(end)
        for risc in RISCS + ("ERISC",):
            s, e = run.all("start", (risc,)), run.all("end", (risc,))
            if s:
                cells["DEVICE %s KERNEL DURATION [ns]" % risc.replace("_", "")] = self.ns(max(e) - min(s))
        return cells

    def write_log(self, path):
        by_core = {}
        for run in self.runs:
            if run.lost:
                continue
            for core in run.cores:
                by_core.setdefault((run.device, core["place"]), []).append((run, core))
        with open(path, "w") as f:
            f.write("ARCH: %s, CHIP_FREQ[MHz]: %d, Max Compute Cores: 64\n%s\n" % (self.arch, self.mhz, LOG_HEADER))
            for device in sorted(self.dispatch_rows):
                self.write_dispatch(f, device)
            for (device, place), launches in sorted(by_core.items()):
                for risc in RISCS + ("ERISC",):
                    for run, core in launches:
                        zones = [z for z in core["zones"] if z["risc"] == risc]
                        self.write_zones(f, device, place, risc, run, zones, core["counted"] if risc == "BRISC" else {})

    def write_zones(self, f, device, place, risc, run, zones, counted):
        if not zones:
            return
        fw, kernel = zones
        trace = counter = ""
        if run.session is not None and self.form == "log":
            trace, counter = run.trace, run.session
            if "wrong_trace_id" in self.losses and risc == "NCRISC" and run.session == 1:
                trace = run.trace + 1000

        def row(zone, kind, at, data=0, meta=""):
            f.write(
                "%d,%d,%d,%s,%d,%d,%d,%d,%s,%s,%s,%s,%d,k.cpp,%s\n"
                % (device, place[0], place[1], risc, 1000 + len(zone), at, data, run.id, trace, counter, zone, kind, 44, meta)
            )

        row(fw["name"], "ZONE_START", fw["start"], 0, self.meta_of(run))
        row(kernel["name"], "ZONE_START", kernel["start"])
        row(kernel["name"], "ZONE_END", kernel["end"])
        for name, amount in fw["sums"]:
            row(name, "ZONE_TOTAL", kernel["end"], amount)
        for name, (value, ref) in counted.items():
            kind = '"%s"' % name if self.counter_names else self.counters[name]
            f.write(
                '%d,%d,%d,%s,9090,%d,%d,%d,%s,%s,,TS_DATA_16B,0,,{"counter type":%s;"ref cnt":%d;"value":%d}\n'
                % (device, place[0], place[1], risc, kernel["end"] + 1, value | ref << 32, run.id, trace, counter, kind, ref, value)
            )
        row(fw["name"], "ZONE_END", fw["end"])


    def noc_trace(self, run):
        """What a program moved, as an array of objects, and what that adds up to."""
        r = random.Random(run.id * 31 + (run.session or 0))
        z = random.Random(run.id * 37 + (run.session or 0))
        begin, end = ("ZONE_START", "ZONE_END") if self.seed % 3 else ("begin", "end")
        run.noc_zones = {}
        sums = Sums()
        objects, links, unrouted = [], {}, 0
        for core in run.cores:
            for proc in ("BRISC", "NCRISC"):
                at = 1000 + r.randrange(1000)
                common = {"run_host_id": run.id, "op_name": "a{b}\"c", "proc": proc, "src_device_id": run.device}
                place = {"sx": core["place"][0], "sy": core["place"][1]}
                opened = [""]
                sums.turn(run.noc_zones, proc, "")

                def zone(name, phase):
                    objects.append(dict(common, zone=name, zone_phase=phase, timestamp=at, **place))
                    if phase == begin:
                        opened.append(name)
                        sums.turn(run.noc_zones, proc, name)["ZONE COUNT"] += 1
                    else:
                        while name in opened and opened.pop() != name:
                            pass
                        sums.turn(run.noc_zones, proc, opened[-1])

                if self.seed % 5:
                    zone(proc + "-KERNEL", begin)
                states = {}
                for _ in range(r.randrange(6)):
                    kind = r.choice(("READ", "WRITE_", "WRITE_MULTICAST", "READ_SET_STATE", "READ_WITH_STATE", "FABRIC_UNICAST_WRITE",
                                     "SEMAPHORE_INC"))
                    if z.random() < 0.4:
                        zone(z.choice(("read, \"x\"", "INNER", "Größe")), begin)
                    noc, size = r.choice((0, 1)), 0 if kind[0] == "S" else r.randrange(1, 9000)
                    moved = written = size
                    at += r.randrange(1, 500)
                    x, y = r.choice((r.randrange(10), r.randrange(10), 25)), r.randrange(12)
                    to = dict(dx=x, dy=y)
                    box = (x, y, x, y)
                    if kind == "WRITE_MULTICAST":
                        box = (x, y, (x + r.randrange(3)) % 10 if x < 10 else x, (y + r.randrange(3)) % 12)
                        if noc == 1:
                            box = box[2:] + box[:2]
                        to = dict(mcast_start_x=box[0], mcast_start_y=box[1], mcast_end_x=box[2], mcast_end_y=box[3])
                    elif kind == "READ_WITH_STATE":
                        # One packet: the state has the size. Else each call has its own.
                        to, (box, moved) = {}, states.get(noc, (None, 0))
                        written = 0 if moved else size
                        moved = moved or size
                    elif "SET_STATE" in kind:
                        written = r.choice((0, size))
                        states[noc] = box, written
                        moved = 0
                    objects.append(dict(common, noc="NOC_%d" % noc, vc=-1, num_bytes=written, type=kind, timestamp=at, **to, **place))
                    sums["NOC BYTES"] += moved
                    sums["NOC TRANSFERS"] += moved > 0
                    sums["NOC %s BYTES" % ("FABRIC" if kind[0] == "F" else "READ" if kind[0] == "R" else "WRITE")] += moved
                    sums["NOC %d BYTES" % noc] += moved
                    ways = None if kind[0] == "F" else routed(noc, core["place"], box, kind)
                    for link in ways or ():
                        links[link] = links.get(link, 0) + moved
                    unrouted += moved if ways is None else 0
                    if z.random() < 0.4:
                        zone(z.choice(opened[1:] + ["INNER", "never begun"]), end)
                for way in r.sample(("READ", "WRITE"), r.randrange(3)):
                    wait = r.randrange(5000)
                    for phase, stamp in (("START", at + 1), ("END", at + 1 + wait)):
                        objects.append(dict(common, noc="NOC_0", num_bytes=0, type="%s_BARRIER_%s" % (way, phase), timestamp=stamp, **place))
                    sums["NOC %s WAIT [cycles]" % way] += wait
                    at += 1 + wait
                if z.random() < 0.8:
                    zone(proc + "-KERNEL", end)
        sums = dict(sums)
        if self.grid:
            sums["NOC UNROUTED BYTES"] = unrouted
            sums["NOC BUSIEST LINK BYTES"] = max(links.values(), default=0)
            run.busiest = {"%s of %d-%d" % link for link, size in links.items() if size and size == max(links.values())}
        return objects, sums

    def write_noc(self, folder):
        self.grid = random.Random(self.seed + 5).random() < 0.6
        if self.grid:
            with open(os.path.join(folder, "topology.json"), "w") as f:
                json.dump({"mesh_shapes": [], "cluster_type": "N300", "fabric_config": "DISABLED"}, f, indent=2)
        for run in self.runs:
            if run.lost or (run.session is not None and self.form == "log_without_traces"):
                continue
            objects, run.noc = self.noc_trace(run)
            part = "" if run.session is None else "_traceID%d" % (run.trace << 32 | run.session)
            name = "noc_trace_dev%d_%sID%d%s.json" % (run.device, self.r.choice(("", "some_ID7_op_")), run.id, part)
            with open(os.path.join(folder, name), "w") as f:
                json.dump(objects, f, indent=self.r.choice((2, None)))


def routed(noc, here, box, kind, width=10, height=12):
    """The links of a Wormhole's torus that a transfer takes; None: its ends are not in it."""
    if box is None or not (here[0] < width and here[1] < height and box[0] < width and box[2] < width and box[1] < height and box[3] < height):
        return None
    if kind[0] == "R":
        return walked(noc, box[:2], here, width, height)
    if kind == "WRITE_MULTICAST":
        return tree(noc, here, box, width, height)
    return walked(noc, here, box[:2], width, height)


def tree(noc, here, box, width, height):
    """A broadcast with X as its major axis, as tt-isa-documentation's NoC/RoutingPaths draws it."""
    way, across, down = (1, "NOC_0 east", "NOC_0 south") if noc == 0 else (-1, "NOC_1 west", "NOC_1 north")

    def steps(begin, wanted, size):
        """Places from the one on which all that is wanted is met, the last of them behind."""
        left, at = set(wanted), begin
        while True:
            yield at
            left.discard(at)
            if not left:
                return
            at = (at + way) % size

    def between(begin, end, size):
        places = [begin]
        while places[-1] != end:
            places.append((places[-1] + way) % size)
        return places

    columns, rows = between(box[0], box[2], width), between(box[1], box[3], height)
    (x, y), links = here, set()
    if x not in columns:
        for at in between(x, box[0], width)[:-1]:
            links.add((across, at, y))
        x = box[0]
    for row in list(steps(y, rows, height)):
        if row in rows:
            links.update((across, at, row) for at in list(steps(x, columns, width))[:-1])
    links.update((down, x, at) for at in list(steps(y, rows, height))[:-1])
    return links


def walked(noc, here, to, width, height):
    (x, y), links = here, set()
    while noc == 0 and x != to[0]:
        links.add(("NOC_0 east", x, y))
        x = (x + 1) % width
    while y != to[1]:
        links.add(("NOC_0 south" if noc == 0 else "NOC_1 north", x, y))
        y = (y + (1 if noc == 0 else -1)) % height
    while noc == 1 and x != to[0]:
        links.add(("NOC_1 west", x, y))
        x = (x - 1) % width
    return links
