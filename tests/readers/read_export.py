"""Reads what `devlog export` wrote, with readers that are not devlog's: Python's json, csv and sqlite3, protoc,
and babeltrace2. Prints a line per zone name: the name's UTF-8 in hex, count, total cycles, total ns, the sum of its
starts in ns since the first zone of all, and that of its starts in cycles, separated by tabs; "-" where the format does not hold a number. A line "=dropped" has the number of markers that the device had
no room for. Anything that the format does not allow ends it with a message.

usage: read_export.py FORMAT PATH PROTO_FOLDER"""
import collections
import csv
import gzip
import json
import re
import sqlite3
import subprocess
import sys

csv.field_size_limit(1 << 30)


class Totals:
    def __init__(self):
        self.zones = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
        self.dropped = 0
        self.first = None

    def add(self, name, cycles, ns, start=None, start_cycle=None, count=1):
        t = self.zones[name]
        for i, value in enumerate((count, cycles, ns, start, start_cycle)):
            t[i] = None if value is None or t[i] is None else t[i] + value
        if start is not None:
            self.first = start if self.first is None else min(start, self.first)

    def line(self, name):
        count, cycles, ns, start, start_cycle = self.zones[name]
        return count, cycles, ns, None if start is None else start - count * self.first, start_cycle


def check(condition, *what):
    if not condition:
        sys.exit("read_export: " + " ".join(str(w) for w in what))


def read_json_file(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as f:
        return json.load(f)


def read_chrome(path, totals):
    last = {}
    for e in read_json_file(path)["traceEvents"]:
        check(e["ph"] in "MXiC", "unknown phase", e)
        if e["ph"] == "i":
            totals.dropped += int(e["args"].get("dropped_markers", 0))
        if e["ph"] != "X":
            continue
        # Readers cut off what is below a nanosecond.
        start, ns = int(e["ts"] * 1000.0), int(e["dur"] * 1000.0)
        key = (e["pid"], e["tid"])
        stack = last.setdefault(key, [])
        check(not stack or stack[-1][2] <= start, "starts are out of order", e)
        while stack and stack[-1][1] <= start:
            top = stack.pop()
        check(not stack or stack[-1][1] >= start + ns, "zones of a thread do not nest", e)
        stack.append((start, start + ns, start))
        if e["cat"] != "launch":
            totals.add(e["name"], e["args"]["cycles"], ns, start)


def read_fxt(path, totals):
    """By the published layout of the Fuchsia trace format."""
    with open(path, "rb") as f:
        raw = f.read()
    check(len(raw) % 8 == 0, "not whole words")
    words = list(memoryview(raw).cast("Q"))
    check(words[0] == 0x0016547846040010, "no magic number")
    check(words[1] == 0x21 and words[2] == 1000000000, "no initialization")
    strings, objects, stacks, at = {0: ""}, {}, {}, 3

    def text(ref, place):
        """(text, words that it takes) of a reference."""
        if not ref & 0x8000:
            check(ref in strings, "a string that was not told", ref)
            return strings[ref], 0
        n = ref & 0x7FFF
        size = (n + 7) // 8
        raw = b"".join(w.to_bytes(8, "little") for w in words[place:place + size])
        check(n and not any(raw[n:]), "padding")
        return raw[:n].decode("utf-8"), size

    def arguments(n, place, end):
        found = {}
        for _ in range(n):
            kind, size = words[place] & 15, words[place] >> 4 & 0xFFF
            check(size and place + size <= end, "an argument beyond its record")
            name, used = text(words[place] >> 16 & 0xFFFF, place + 1)
            if kind == 6:
                value, more = text(words[place] >> 32 & 0xFFFF, place + 1 + used)
                check(1 + used + more == size, "size of an argument")
            else:
                check(kind in (4, 8) and used + 2 == size, "type of an argument", kind)
                value = words[place + 1 + used]
            found[name] = value
            place += size
        return found, place

    while at < len(words):
        header = words[at]
        size, end = header >> 4 & 0xFFF, at + (header >> 4 & 0xFFF)
        check(size and end <= len(words), "a record beyond the file")
        if header & 15 == 2:
            strings[header >> 16 & 0x7FFF] = text(0x8000 | header >> 32 & 0x7FFF, at + 1)[0]
        elif header & 15 == 7:
            name, used = text(header >> 24 & 0xFFFF, at + 2)
            more, place = arguments(header >> 40 & 15, at + 2 + used, end)
            check(place == end, "size of an object")
            objects[header >> 16 & 0xFF, words[at + 1]] = (name, more)
        else:
            check(header & 15 == 4, "an unknown record", header & 15)
            kind, n = header >> 16 & 15, header >> 20 & 15
            check(header >> 24 & 0xFF == 0, "a thread by number")
            start, process, thread = words[at + 1:at + 4]
            check((1, process) in objects and objects[2, thread][1]["process"] == process, "a thread that was not told")
            category, used = text(header >> 32 & 0xFFFF, at + 4)
            name, more = text(header >> 48 & 0xFFFF, at + 4 + used)
            found, place = arguments(n, at + 4 + used + more, end)
            check(place + (kind in (1, 4)) == end, "size of an event")
            check(kind in (0, 1, 4), "type of an event", kind)
            if kind == 0:
                totals.dropped += found.get("dropped markers", 0)
            if kind == 4:
                stop = words[place]
                stack = stacks.setdefault((process, thread), [])
                check(stop >= start and (not stack or stack[-1][0] <= start), "starts are out of order")
                while stack and stack[-1][1] <= start:
                    stack.pop()
                check(not stack or stack[-1][1] >= stop, "zones of a thread do not nest")
                stack.append((start, stop))
            if kind == 4 and category != "launch":
                totals.add(name, found["cycles"], stop - start, start)
        at = end


def read_json(path, totals):
    for e in read_json_file(path)["events"]:
        if e["kind"] == "zone":
            totals.add(e["name"], e["cycles"], e.get("ns"), e.get("start_ns"), e["start_cycle"])
        if e["kind"] == "dropped":
            totals.dropped += int(e["data"])


def read_csv(path, totals):
    with open(path, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f, strict=True):
            check(None not in row and None not in row.values(), "a row of another length", row)
            if row["kind"] == "zone":
                totals.add(row["name"], int(row["cycles"]), *(int(row[c]) if row[c] else None for c in ("ns", "start_ns")), int(row["start_cycle"]))
            if row["kind"] == "dropped":
                totals.dropped += int(row["data"])


def read_sqlite(path, totals):
    db = sqlite3.connect(path)
    check(db.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the database is damaged")
    for row in db.execute("SELECT name, cycles, ns, start_ns, start_cycle FROM zone_list"):
        totals.add(*row)
    sums = db.execute("SELECT name, sum(count), sum(total_cycles), sum(total_ns) FROM zone_sum GROUP BY name").fetchall()
    check(sums == [(name, *totals.zones[name][:3]) for name in sorted(totals.zones, key=lambda n: n.encode("utf-8"))], "zone_sum is not the sum of zones")
    totals.dropped = db.execute("SELECT total(data) FROM markers WHERE kind = 'dropped'").fetchone()[0]
    check(db.execute("SELECT count FROM losses WHERE what = 'dropped_on_device'").fetchone()[0] == totals.dropped, "losses")
    for view in ("core_sum", "op_sum", "gap_sum", "zone_list"):
        db.execute("SELECT * FROM " + view).fetchall()


def read_speedscope(path, totals):
    file = read_json_file(path)
    totals.dropped = None
    check(file["$schema"] == "https://www.speedscope.app/file-format-schema.json", "schema")
    frames = file["shared"]["frames"]
    for f in frames:
        check(isinstance(f["name"], str) and isinstance(f.get("file", ""), str), "frame", f)
        check(isinstance(f.get("line", 0), int), "frame", f)
    for p in file["profiles"]:
        check(p["type"] == "evented" and isinstance(p["name"], str), "profile", p["type"])
        check(p["unit"] in ("none", "nanoseconds"), "unit", p["unit"])
        check(p["startValue"] <= p["endValue"], "profile ends before it starts", p["name"])
        stack, at = [], p["startValue"]
        for e in p["events"]:
            check(e["at"] >= at, "events are out of order", e)
            at = e["at"]
            if e["type"] == "O":
                stack.append((e["frame"], at))
                continue
            check(e["type"] == "C" and stack and stack[-1][0] == e["frame"], "closes what is not open", e)
            frame, start = stack.pop()
            if not p["name"].endswith(" launches"):
                totals.add(frames[frame]["name"], None, at - start, start)
        check(not stack and at <= p["endValue"], "profile", p["name"], "leaves frames open")


def read_collapsed(path, totals):
    totals.dropped = None
    with open(path, encoding="utf-8", newline="\n") as f:
        for line in f:
            stack, _, value = line.rstrip("\n").rpartition(" ")
            frames = stack.split(";")
            check(frames[0].startswith("chip ") and frames[1].startswith("core "), "stack", line)
            for name in set(frames[3:]):
                totals.add(name, None, int(value), count=None)


def unescape(text):
    """A string as protoc prints it, or babeltrace2: C's escapes."""
    simple = {"n": b"\n", "r": b"\r", "t": b"\t", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v", "e": b"\x1b"}

    def one(m):
        code = m.group(1).decode()
        if code[0] in "01234567":
            return bytes([int(code, 8)])
        if code[0] == "x":
            return bytes([int(code[1:], 16)])
        return simple.get(code, code.encode())

    return re.sub(rb"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", one, text.encode("utf-8")).decode("utf-8")


def protoc(path, message, proto_folder, proto):
    command = ["protoc", "--decode=" + message, "-I", proto_folder, proto_folder + "/" + proto]
    with open(path, "rb") as f:
        done = subprocess.run(command, stdin=f, stdout=subprocess.PIPE, check=True)
    root = collections.defaultdict(list)
    stack = [root]
    for line in done.stdout.decode("utf-8").splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            check(not line[0].isdigit(), "a field that the schema does not have:", line)
            child = collections.defaultdict(list)
            stack[-1][line[:-2]].append(child)
            stack.append(child)
        else:
            key, _, value = line.partition(": ")
            check(not key[0].isdigit(), "a field that the schema does not have:", line)
            stack[-1][key].append(unescape(value[1:-1]) if value[0] == '"' else value)
    return root


def read_perfetto(path, totals, proto_folder):
    trace = protoc(path, "devlog.perfetto.Trace", proto_folder, "perfetto.proto")
    sequences, events, tracks = {}, [], {}
    for p in trace["packet"]:
        sequence = int(p["trusted_packet_sequence_id"][0])
        flags = int(p["sequence_flags"][0]) if "sequence_flags" in p else 0
        if flags & 1:
            sequences[sequence] = {"names": {}, "arguments": {}, "categories": {}, "sources": {}}
        if flags & 2:
            check(sequence in sequences, "packets before the sequence's first: readers drop them")
        for d in p["interned_data"]:
            for field, to in (("event_names", "names"), ("debug_annotation_names", "arguments"),
                              ("event_categories", "categories")):
                for n in d[field]:
                    sequences[sequence][to][n["iid"][0]] = n["name"][0]
            for n in d["source_locations"]:
                check(n["file_name"][0] and "line_number" in n, "a source location without a place", n)
                sequences[sequence]["sources"][n["iid"][0]] = n
        for d in p["track_descriptor"]:
            if "parent_uuid" in d:
                check(d["parent_uuid"][0] in tracks, "a track before its parent", d)
            check(d["uuid"][0] not in tracks, "a track twice", d)
            tracks[d["uuid"][0]] = d
        for e in p["track_event"]:
            check(e["track_uuid"][0] in tracks, "an event of a track that nobody described")
            events.append((sequence, int(p["timestamp"][0]), len(events), e))
    events.sort(key=lambda e: (e[0], e[1], e[2]))
    stacks = collections.defaultdict(list)
    flows, kernels, with_flows, values, samples = set(), 0, 0, 0, 0
    for sequence, time, _, e in events:
        state, kind, track = sequences[sequence], e["type"][0], e["track_uuid"][0]
        if kind == "1":
            name = e["name"][0] if "name" in e else state["names"][e["name_iid"][0]]
            arguments = {state["arguments"][a["name_iid"][0]]: int(a["uint_value"][0])
                         for a in e["debug_annotations"]}
            category = state["categories"][e["category_iids"][0]]
            if "source_location_iid" in e:
                check(e["source_location_iid"][0] in state["sources"], "a source location that nobody described")
            if category == "launch":
                flows.update(e["flow_ids"])
            kernels += category == "kernel"
            with_flows += category == "kernel" and bool(e["flow_ids"]) and set(e["flow_ids"]) <= flows
            stacks[track].append((name, time, arguments["cycles"], category))
        elif kind == "3":
            for a in e["debug_annotations"]:
                what = state["arguments"][a["name_iid"][0]]
                totals.dropped += int(a["uint_value"][0]) if what == "dropped_markers" else 0
                values += what == "data"
        elif kind == "4":
            check("counter" in tracks[track], "a sample on a track that is no counter")
            samples += 1
        elif kind == "2":
            check(stacks[track], "a slice ends that never began")
            name, start, cycles, category = stacks[track].pop()
            if category != "launch":
                totals.add(name, cycles, time - start, start)
    check(not any(stacks.values()), "slices that never end")
    check(values == samples, values, "values, but", samples, "samples of counters")
    check(kernels == with_flows, kernels, "kernels, but", with_flows, "with an arrow from their launch")


def read_xplane(path, totals, proto_folder):
    file = path + "/plugins/profile/devlog/devlog.xplane.pb"
    planes = protoc(file, "devlog.xplane.XSpace", proto_folder, "xplane.proto")["planes"]
    check(len({int(p["id"][0]) for p in planes} - {0}) == len(planes), "two planes have one id, or one has none")
    for plane in planes:
        check(len({int(line["id"][0]) for line in plane["lines"]} - {0}) == len(plane["lines"]), "two lines have one id, or one has none")
        names = {e["key"][0]: e["value"][0]["name"][0] for e in plane["event_metadata"]}
        stats = {e["key"][0]: e["value"][0]["name"][0] for e in plane["stat_metadata"]}
        check(len(set(stats.values())) == len(stats), "two stats have one name")
        lines = [line["name"][0] for line in plane["lines"]]
        check(len(set(lines)) == len(lines), "two lines have one name:", lines)
        for line in plane["lines"]:
            open_ends, last = [], 0
            for e in line["events"]:
                start, ps = int(e["offset_ps"][0]), int(e["duration_ps"][0])
                check(start >= last, "events of a line are out of order")
                last = start
                values = {stats[s["metadata_id"][0]]: s for s in e["stats"]}
                while open_ends and open_ends[-1] <= start:
                    open_ends.pop()
                kind = stats[values["kind"]["ref_value"][0]] if "kind" in values else "zone"
                if kind == "dropped":
                    totals.dropped += int(values["data"]["uint64_value"][0])
                check(kind not in ("value", "sum") or "uint64_value" in values["data"], "a value without its data", names[e["metadata_id"][0]])
                if kind not in ("zone", "launch"):
                    continue
                check(not open_ends or open_ends[-1] >= start + ps, "events of a line do not nest")
                open_ends.append(start + ps)
                if kind == "zone":
                    check(ps % 1000 == 0, "not whole nanoseconds")
                    totals.add(names[e["metadata_id"][0]], int(values["cycles"]["uint64_value"][0]), ps // 1000,
                               int(line["timestamp_ns"][0]) + start // 1000, int(values["cycle"]["uint64_value"][0]))


def read_ctf(path, totals):
    done = subprocess.run(["babeltrace2", "--clock-seconds", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    for line in done.stderr.decode("utf-8").splitlines():
        m = re.match(r".*Tracer discarded (\d+) event", line)
        check(m, "babeltrace2 says:", line)
        totals.dropped += int(m.group(1))
    pattern = re.compile(r'^\[(\d+)\.(\d{9})\] .* zone: \{.*?, cycle = (\d+) \}.*name = \( "((?:[^"\\]|\\.)*)" : container = \d+ \), source = .*'
                         r"cycles = (\d+), duration = (\d+), lane = \d+, depth = \d+, data = \d+ \}$")
    for line in done.stdout.decode("utf-8").split("\n"):
        if "] (" not in line or ") zone: " not in line:
            continue
        m = pattern.search(line)
        check(m, "a zone that was not understood:", line)
        totals.add(unescape(m.group(4)), int(m.group(5)), int(m.group(6)), int(m.group(1)) * 10**9 + int(m.group(2)), int(m.group(3)))


def main():
    form, path, proto_folder = sys.argv[1:4]
    totals = Totals()
    if form in ("perfetto", "xplane"):
        globals()["read_" + form](path, totals, proto_folder)
    else:
        globals()["read_" + form](path, totals)
    print("=dropped", "-" if totals.dropped is None else int(totals.dropped), "-", "-", sep="\t")
    for name in sorted(totals.zones):
        print(name.encode("utf-8").hex(), *("-" if v is None else v for v in totals.line(name)), sep="\t")


main()
