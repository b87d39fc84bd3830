"""ON THE PATHS OF ALL LAUNCHES, worked out here of the lines of a device log by what docs/causes.md says: each launch as a graph of
what RISCs did and what they waited for, the way back from its end, and what the launch would take if a zone took no time. For the
checks of the example networks. Not a check itself."""
import csv
from collections import defaultdict

WAITS = {"DEVLOG-WAIT-FULL": "full", "DEVLOG-WAIT-EMPTY": "empty", "DEVLOG-WAIT-SEMAPHORE": "semaphore"}
RECORDS = ("DEVLOG-WANTS", "DEVLOG-GIVES", "DEVLOG-NOC-READ", "DEVLOG-NOC-WRITE")
OUTSIDE = "(no zone)"


def read(path):
    """Launch to RISC (core and name) to its lines, as they were recorded."""
    launches = defaultdict(lambda: defaultdict(list))
    with open(path, newline="", encoding="utf-8") as f:
        for row in list(csv.reader(f))[2:]:
            name, kind = row[10], row[11]
            if kind in ("ZONE_START", "ZONE_END", "TS_DATA"):
                launches[int(row[7])][(int(row[2]), int(row[1])), row[3]].append((int(row[5]), name, kind, int(row[6] or 0), (row[13], row[12])))
    return launches


class Lane:
    """A RISC in a launch: events [came, went on, kind, counter and number, why], and its time cut into parts of innermost zones."""

    def __init__(self, lines, core, reasons):
        self.core, self.events, self.parts, self.kernel_end = core, [], [], None
        stack, at, want = [], lines[0][0], None
        self.start, self.end = lines[0][0], lines[-1][0]

        def cut(until):
            nonlocal at
            if until > at:
                self.parts.append((at, until, stack[-1][0] if stack else OUTSIDE))
                at = until
        for time, name, kind, data, place in lines:
            counter = (core, data & 0xFFFFFFFF, data >> 32)
            if name == "DEVLOG-WANTS":
                want = [time, time, "want", counter, reasons.get(place, "other")]
                self.events.append(want)
            elif name == "DEVLOG-GIVES":
                self.events.append([time, time, "give", counter, None])
                want = None
            elif kind == "ZONE_START" and name != "DEVLOG-WAIT-NOC":
                cut(time)
                stack.append(((name, place), time))
            elif kind == "ZONE_END" and name != "DEVLOG-WAIT-NOC":
                cut(time)
                began = stack.pop()[1]
                if name.endswith("-KERNEL"):
                    self.kernel_end = time
                if name in WAITS and want:  # what lies before it is the price of looking
                    want[0], want[1], want[4] = began, time, WAITS[name]
                    want = None
        cut(self.end)
        # What a counter has before anybody gives anything is no wait.
        self.events = [e for e in self.events if e[2] == "give" or e[1] > e[0] or 0 < e[3][2] < 1 << 31]


class Launch:
    def __init__(self, riscs, reasons):
        order = sorted(riscs, key=lambda key: key[0])  # by core; RISCs of one as they came
        self.names = [key[1] for key in order]
        self.lanes = [Lane(riscs[key], key[0], reasons) for key in order]
        self.cores = {}
        for lane in self.lanes:
            self.cores[lane.core] = max(self.cores.get(lane.core, 0), lane.end)
        for lane, name in zip(self.lanes, self.names):  # BRISC waits for the others of its core
            if name == "BRISC" and lane.end == self.cores[lane.core] and sum(o.core == lane.core for o in self.lanes) > 1:
                lane.end = max([lane.kernel_end or lane.start] + [e[1] for e in lane.events[-1:]])
        self.start, self.end = min(lane.start for lane in self.lanes), max(self.cores.values())
        self.link()

    def link(self):
        """Who ended each wait, and how long a hand-over takes."""
        gives = {e[3]: (n, i) for n, lane in enumerate(self.lanes) for i, e in enumerate(lane.events) if e[2] == "give"}
        assert len(gives) == sum(e[2] == "give" for lane in self.lanes for e in lane.events)
        self.by, self.over, self.waited = {}, {}, set()
        usual = {}
        wants = [(n, i, e) for n, lane in enumerate(self.lanes) for i, e in enumerate(lane.events) if e[2] == "want"]
        for n, i, e in wants:
            assert e[3] in gives, e
            self.by[n, i] = gives[e[3]]
            gave = self.time(gives[e[3]])
            if e[1] > e[0] and gave > e[0]:
                for why in (e[4], "any"):
                    usual[why] = min(usual.get(why, e[1] - gave), e[1] - gave)
        for n, i, e in wants:
            gave, least = self.time(self.by[n, i]), usual.get(e[4], usual.get("any", 0))
            if e[1] > e[0] and e[0] - gave < least:
                self.waited.add((n, i))
            self.over[n, i] = e[1] - gave if (n, i) in self.waited else min(e[1] - gave, least)

    def time(self, node):
        """When what is behind an event began; -1 is the start of a lane, and the one behind the last its end."""
        lane = self.lanes[node[0]]
        return lane.start if node[1] < 0 else lane.end if node[1] == len(lane.events) else lane.events[node[1]][1]

    def work(self, node):
        """From and until: what the lane did in front of it."""
        until = self.lanes[node[0]].events[node[1]][0] if node in self.waited else self.time(node)
        return self.time((node[0], node[1] - 1)), until

    def inside(self, lane, begin, end):
        return [(max(f, begin), min(u, end), zone) for f, u, zone in self.lanes[lane].parts if f < end and u > begin]

    def path(self):
        """Back from the end: pieces (RISC, zone, cycles)."""
        core = max(sorted(self.cores), key=self.cores.get)
        lane = max((n for n, l in enumerate(self.lanes) if l.core == core), key=lambda n: self.lanes[n].end)
        node = (lane, len(self.lanes[lane].events))
        back = [(lane, "(core ends)", self.end - self.time(node))]
        while node[1] >= 0:
            if node in self.waited:
                back.append((node[0], "(hand-over)", self.over[node]))
                node = self.by[node]
            else:
                back += [(node[0], zone, u - f) for f, u, zone in reversed(self.inside(node[0], *self.work(node)))]
                node = (node[0], node[1] - 1)
        back.append((node[0], "(not started yet)", self.time(node) - self.start))
        pieces = []
        for n, zone, cycles in reversed(back):
            if cycles and pieces and pieces[-1][:2] == (n, zone) and not isinstance(zone, str):
                pieces[-1] = (n, zone, pieces[-1][2] + cycles)
            elif cycles:
                pieces.append((n, zone, cycles))
        assert sum(p[2] for p in pieces) == self.end - self.start
        return [((self.names[n], zone), cycles) for n, zone, cycles in pieces]

    def without(self, key):
        """How long it takes when a zone of a RISC takes no time: every event as early as its causes let it."""
        done, new = {}, {}

        def when(node):
            todo = [node]
            while todo:
                n = todo[-1]
                if n in done:
                    todo.pop()
                    continue
                if n[1] < 0:
                    done[n] = self.time(n)
                    continue
                needs = [(n[0], n[1] - 1)] + ([self.by[n]] if n in self.by else [])
                missing = [m for m in needs if m not in done]
                todo += missing
                if missing:
                    continue
                took = sum(u - f for f, u, zone in self.inside(n[0], *self.work(n)) if (self.names[n[0]], zone) != key)
                done[n] = done[needs[0]] + took
                if n in self.by:
                    done[n] = max(done[n], done[needs[1]] + self.over[n])
            return done[node]
        for n, lane in enumerate(self.lanes):
            end = when((n, len(lane.events)))
            tail = self.cores[lane.core] - max(l.end for l in self.lanes if l.core == lane.core)
            new[lane.core] = max(new.get(lane.core, 0), end + tail)
        return max(new.values()) - self.start


def shown(rows):
    """Rows of JSON as on_the_paths has them. What takes the same is in no order that matters here."""
    return sorted((r["risc"], r["zone"], r["parts"], r["launches"], r["cycles"], r["saves"]) for r in rows)


def shares_add_up(rows):
    whole = sum(r["cycles"] for r in rows)
    return all(abs(r["share"] - 100 * r["cycles"] / whole) < 1e-9 and
               (r["saves"] is None or abs(r["saves_share"] - 100 * r["saves"] / whole) < 1e-9) for r in rows)


def on_the_paths(path, most=12):
    """Rows as devlog causes has them: (RISC, zone, parts, launches, cycles, saves); saves of the first rows only, None: not asked."""
    reasons, launches = defaultdict(set), read(path)
    for riscs in launches.values():
        for lines in riscs.values():
            for _, name, _, _, place in lines:
                if name in WAITS:
                    reasons[place].add(WAITS[name])
    reasons = {place: next(iter(names)) for place, names in reasons.items() if len(names) == 1}
    graphs = [Launch(riscs, reasons) for _, riscs in sorted(launches.items())]
    parts, cycles, seen = defaultdict(int), defaultdict(int), defaultdict(set)
    for number, graph in enumerate(graphs):
        for key, took in graph.path():
            parts[key] += 1
            cycles[key] += took
            seen[key].add(number)
    rows = []
    for place, key in enumerate(sorted(cycles, key=cycles.get, reverse=True)):
        is_zone = not isinstance(key[1], str)
        saves = sum(g.end - g.start - g.without(key) for g in graphs) if is_zone and place < most else None
        rows.append((key[0], key[1][0] if is_zone else key[1], parts[key], len(seen[key]), cycles[key], saves))
    return sorted(rows)
