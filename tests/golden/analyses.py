#!/usr/bin/env python3
"""The default analyses once more, by definition and without any cleverness: sorts all markers, merges them per core and
chip, and looks for starts and ends. Compares with what `devlog decode --format json` says.
usage: analyses.py DEVLOG LOG...   prints every difference; exit status 1 when there is one"""
import collections
import json
import statistics
import subprocess
import sys

Marker = collections.namedtuple("Marker", "time risc role phase launch core")
OLD_IDS = {1: ("FW", "S"), 2: ("KERNEL", "S"), 3: ("KERNEL", "E"), 4: ("FW", "E")}


def read(path):
    """Markers by chip. Rows that are no rows are left out; the C tests look at those."""
    markers = collections.defaultdict(list)
    starts = collections.Counter()
    for line in open(path):
        cells = [c.strip() for c in line.rstrip("\n").split(",")]
        if len(cells) < 6 or not cells[0].isdigit() or not cells[5].isdigit():
            continue
        core, risc = tuple(int(c) for c in cells[:3]), cells[3].replace("_", "")
        if len(cells) == 6:
            role, phase = OLD_IDS.get(int(cells[4]), ("", ""))
            starts[core, risc] += (role, phase) == ("FW", "S")
            launch = starts[core, risc]
        else:
            role = {"FW": "FW", "KERNEL": "KERNEL"}.get(cells[10].rpartition("-")[2], "")
            phase = {"ZONE_START": "S", "ZONE_END": "E"}.get(cells[11], "")
            launch = tuple(cells[7:10])
        markers[core[0]].append(Marker(int(cells[5]), risc, role, phase, launch, core))
    return markers


def matches(role, phase, *riscs):
    return lambda m: m.role == role and m.phase == phase and (not riscs or m.risc in riscs)


def adjacent(series, start, end):
    found, open_since = [], None
    for m in sorted(series, key=lambda m: m.time):
        if open_since is not None and end(m):
            found.append(m.time - open_since)
            open_since = None
        elif start(m):
            open_since = m.time
    return found


def first_last(series, start, end):
    starts, ends = [m.time for m in series if start(m)], [m.time for m in series if end(m)]
    return [max(ends) - min(starts)] if starts and ends and max(ends) >= min(starts) else []


def split(series, key):
    parts = collections.defaultdict(list)
    for m in series:
        parts[key(m)].append(m)
    return parts.values()


def analyse(series):
    t0 = min(m.time for m in series)
    cores, ops = split(series, lambda m: m.core), split(series, lambda m: m.launch)
    op_cores = split(series, lambda m: (m.launch, m.core))
    fw_start, fw_end = matches("FW", "S"), matches("FW", "E")
    kernel_start, kernel_end = matches("KERNEL", "S"), matches("KERNEL", "E")
    brisc_fw, dm_start = matches("FW", "S", "BRISC"), matches("KERNEL", "S", "BRISC", "NCRISC", "ERISC")

    def over(parts, how, start, end):
        return [d for part in parts for d in how(part, start, end)]

    found = {
        "T0 -> BRISC FW start": [min(m.time for m in c if brisc_fw(m)) - t0 for c in cores if any(map(brisc_fw, c))],
        "ANY RISC FW start -> ANY RISC FW end": over(op_cores, first_last, fw_start, fw_end),
        "ANY RISC FW end -> BRISC FW start": over(cores, adjacent, fw_end, brisc_fw),
        "T0 -> ANY RISC FW end": [max(m.time for m in c if fw_end(m)) - t0 for c in cores if any(map(fw_end, c))],
        "T0 -> ANY CORE ANY RISC FW end": [max(m.time for m in series if fw_end(m)) - t0],
        "op2op": over(cores, adjacent, kernel_end, matches("KERNEL", "S", "BRISC", "NCRISC")),
        "device_fw_duration": over(ops, first_last, fw_start, fw_end),
        "device_kernel_duration": over(ops, first_last, kernel_start, kernel_end),
        "device_kernel_duration_per_core": over(op_cores, first_last, kernel_start, kernel_end),
        "device_kernel_duration_dm_start": over(ops, first_last, dm_start, kernel_end),
        "device_kernel_first_to_last_start": over(ops, first_last, kernel_start, kernel_start),
    }
    for risc in ("TRISC0", "TRISC1", "TRISC2", "BRISC", "NCRISC", "ERISC"):
        start, end = matches("KERNEL", "S", risc), matches("KERNEL", "E", risc)
        found[f"{risc} kernel start -> {risc} kernel end"] = over(cores, adjacent, start, end)
        found[f"device_{risc.lower()}_kernel_duration"] = over(ops, first_last, start, end)
    return {name: d for name, d in found.items() if d}


def compare(devlog, log):
    ran = subprocess.run([devlog, "decode", "-f", "json", log], capture_output=True, text=True)
    theirs = {
        (a["name"], a["chip"]): (a["count"], a["min"], a["max"], a["sum"], a["median"])
        for a in json.loads(ran.stdout)["analyses"]
        if a["type"] != "sum"
    }
    ours = {
        (name, chip): (len(d), min(d), max(d), sum(d), statistics.median(d))
        for chip, series in read(log).items()
        for name, d in analyse(series).items()
    }
    wrong = [key for key in sorted(set(ours) | set(theirs)) if ours.get(key) != theirs.get(key)]
    for key in wrong:
        print(f"{log}: {key}: by definition {ours.get(key)}, devlog {theirs.get(key)}")
    print(f"{log}: {len(ours)} analyses compared")
    return bool(wrong) or not ours


if __name__ == "__main__":
    sys.exit(max([compare(sys.argv[1], log) for log in sys.argv[2:]]))
