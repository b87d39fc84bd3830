"""What lies in some folders of tt-metal's profiler besides ops and their data: dispatch cores, sub-devices, the comparison
of clocks, where zones stand in the sources. Each is known to the generator (folders.py), which is drawn from a random
number of its own."""
import random

DISPATCH_CORE = (0, 9)


class Extras:
    def draw_extras(self):
        x = self.x = random.Random(self.seed * 31 + 7)
        log = self.form != "report"
        self.dispatch = log and x.random() < 0.3
        self.sub_devices = x.random() < 0.3
        self.sync = x.random() < 0.3
        self.zone_sources = x.random() < 0.3

    def sub_device_of(self, run):
        return (run.id >> 10) % 3 if self.sub_devices and (run.id >> 10) % 5 else None

    def meta_of(self, run):
        number = self.sub_device_of(run)
        return "" if number is None else '{"sub_device_id":%d;"sub_device_manager_id":7}' % number

    # ---- dispatch cores

    def draw_dispatch(self):
        """Commands of the two RISCs of a dispatch core for each program, in the order in which programs ran; a program's
        first run only is told of. run.commands and run.go are what they took."""
        self.dispatch_rows = {}
        seen = set()
        clock = {}
        for run in self.runs:
            if not self.dispatch or run.id in seen:
                continue
            seen.add(run.id)
            x = self.x
            at = max(clock.get(run.device, 0), min(run.all("start", None, "FW")) - 5000 - x.randrange(3000))
            rows = self.dispatch_rows.setdefault(run.device, {"BRISC": [], "NCRISC": []})
            quote = x.choice("'\"")
            begin = at + 1
            for number in range(x.randrange(1, 4)):
                last = number == 0 and x.random() < 0.3
                at = self.command(rows["BRISC"], at, run.id if number == 0 else None, x.choice(("WAIT", "WRITE_LINEAR")), quote)
                if last:
                    break
            at = self.command(rows["BRISC"], at, None, None, quote)
            run.commands = at - begin
            go = begin + x.randrange(20)
            end = self.command(rows["NCRISC"], go, run.id, "SEND_GO_SIGNAL", quote)
            run.go = end - go - 1
            clock[run.device] = max(at, end) + 1
        for run in self.runs:
            if not self.dispatch or hasattr(run, "commands"):
                continue
            run.commands = run.go = None

    def command(self, rows, at, program, kind, quote):
        x = self.x
        meta = lambda key, value: "{%s%s%s: %s}" % (quote, key, quote, value)
        at += 1
        rows.append((at, "CQ-DISPATCH", "ZONE_START", ""))
        if program is not None:
            at += x.randrange(20)
            rows.append((at, "", "TS_DATA", meta("workers_runtime_id", program)))
        at += x.randrange(20)
        name = "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL" if kind is None else "CQ_DISPATCH_CMD_" + kind
        rows.append((at, "", "TS_DATA", meta("dispatch_command_type", quote + name + quote)))
        at += 1 + x.randrange(500)
        rows.append((at, "CQ-DISPATCH", "ZONE_END", ""))
        return at

    def write_dispatch(self, f, device):
        for risc, rows in self.dispatch_rows.get(device, {}).items():
            for at, zone, kind, meta in rows:
                f.write("%d,%d,%d,%s,%d,%d,0,0,,,%s,%s,1,dispatch.cpp,%s\n" % ((device,) + DISPATCH_CORE + (risc, 77, at, zone, kind, meta)))

    # ---- clocks

    def write_sync(self, path):
        """The first device is compared with the host, the others with the one before them."""
        x, self.clocks = self.x, {}
        base, ratio, start = x.randrange(10**12), 0.4, x.randrange(10**12)
        frequency, delay = self.mhz / 1000 * (1 + x.uniform(-1e-5, 1e-5)), x.randrange(10**9)
        with open(path, "w") as f:
            f.write("device id,core_x, core_y,device,host_tracy,host_real,write_overhead,host_start,delay,frequency,"
                    "tracy_ratio,tracy_base_time,device_frequency_ratio,device_shift\n")
            for number, device in enumerate(self.devices):
                scale, shift = (1.0, 0) if number == 0 else (1 + x.uniform(-1e-6, 1e-6), x.randrange(-(10**6), 10**6))
                for _ in range(2 if number == 0 else 0):
                    f.write("%5d,%5d,%5d,%20d,%20d,%20.2f,%20d,%20d,%20.2f,%20.15f,%20.15f,%20d,1.0,0\n"
                            % (device, 1, 1, 5, 6, 7, 8, start, delay, frequency, ratio, base))
                if number:
                    f.write("%5d,,,,,,,,,,,,%20.15f,%20d\n" % (device, scale, shift))
                self.clocks[device] = (scale, shift, frequency, delay, (start - base) * ratio)

    def on_host(self, run):
        scale, shift, frequency, delay, origin = self.clocks[run.device]
        return origin + (min(run.all("start", None, "FW")) * scale + shift - delay) / frequency

    # ---- sources of zones

    def write_zone_sources(self, path):
        """Two of 327 zones have one hash (PROFILE_A and PROFILE_B are made so)."""
        names = ["ZONE-%d,k.cpp,%d,KERNEL_PROFILER" % (i, i) for i in range(self.x.randrange(2, 60))]
        known = {hash16(n): n for n in names}
        self.same_hash = len(known) < len(names)
        with open(path, "w") as f:
            for name in names + names[:3]:
                f.write("k.cpp:1:9: note: '#pragma message: %s'\n" % name)


def hash16(text):
    h = 2166136261
    for byte in text.encode():
        h = (h ^ byte) * 16777619 & 0xFFFFFFFF
    return (h ^ h >> 16) & 0xFFFF


def with_one_hash():
    """Two zones that tt-metal's profiler cannot tell apart."""
    known = {}
    for i in range(100000):
        name = "ZONE-%d,k.cpp,%d,KERNEL_PROFILER" % (i, i)
        if hash16(name) in known:
            return known[hash16(name)], name
        known[hash16(name)] = name
