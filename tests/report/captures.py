"""Captures (docs/file-formats.md), written as that page says, for checks that want clocks which they know. Not a check itself."""
import struct

M = (1 << 64) - 1
P1, P2, P3, P4, P5 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261
UNKNOWN = M
CHIP, SAMPLES, OFFSETS, END, RANK, HOST_CLOCKS, EXCHANGES = 1, 6, 7, 8, 15, 16, 17


def _rol(x, n):
    return ((x << n) | (x >> (64 - n))) & M


def _round(acc, word):
    return _rol((acc + word * P2) & M, 31) * P1 & M


def xxh64(data, seed=0):
    """XXH64, by its specification (github.com/Cyan4973/xxHash, doc/xxhash_spec.md)."""
    at, n = 0, len(data)
    if n >= 32:
        v = [(seed + P1 + P2) & M, (seed + P2) & M, seed, (seed - P1) & M]
        while n - at >= 32:
            v = [_round(a, w) for a, w in zip(v, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = (_rol(v[0], 1) + _rol(v[1], 7) + _rol(v[2], 12) + _rol(v[3], 18)) & M
        for a in v:
            h = ((h ^ _round(0, a)) * P1 + P4) & M
    else:
        h = (seed + P5) & M
    h = (h + n) & M
    while n - at >= 8:
        h = (_rol(h ^ _round(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & M
        at += 8
    if n - at >= 4:
        h = (_rol(h ^ (struct.unpack_from("<I", data, at)[0] * P1 & M), 23) * P2 + P3) & M
        at += 4
    for byte in data[at:]:
        h = _rol(h ^ (byte * P5 & M), 11) * P1 & M
    h = ((h ^ (h >> 33)) * P2) & M
    h = ((h ^ (h >> 29)) * P3) & M
    return h ^ (h >> 32)


def frame(kind, payload, version=1):
    head = struct.pack("<IBBBBII", 0x31464C44, kind, version, 0, 0, len(payload), len(payload))
    return head + struct.pack("<Q", xxh64(payload, xxh64(head))) + payload


def text(s):
    return struct.pack("<I", len(s)) + s.encode()


def chip(slot, khz, boot, arch="wormhole_b0", transport="kmd"):
    return frame(CHIP, struct.pack("<IIQI", slot, 1, khz, 0) + text(arch) + text("board") + text(transport) + text(boot))


def rank(slot, number, ranks, host):
    return frame(RANK, struct.pack("<III", slot, number, ranks) + text(host))


def samples(slot, items):
    """(before, after, cycles, burst) each."""
    return frame(SAMPLES, struct.pack("<III", slot, 0xFFFFFFFF, len(items)) + b"".join(struct.pack("<QQQI", *i) for i in items))


def host_clocks(slot, namespace, items):
    """(before, after, real, most, likely) each."""
    return frame(HOST_CLOCKS, struct.pack("<IQI", slot, namespace, len(items)) + b"".join(struct.pack("<5Q", *i) for i in items))


def exchanges(slot, peer, boot, namespace, items):
    """(sent, received, answered, arrived) each."""
    return frame(EXCHANGES, struct.pack("<II", slot, peer) + text(boot) + struct.pack("<QI", namespace, len(items)) + b"".join(struct.pack("<4Q", *i) for i in items))


def write(path, *frames):
    with open(path, "wb") as f:
        f.write(b"DEVLOGC1" + b"".join(frames))


def read_exchanges(path):
    """Of a capture: (peer, boot, [(sent, received, answered, arrived)]) of each such frame that is not packed, and readings of clocks."""
    with open(path, "rb") as f:
        data = f.read()
    out, readings, at = [], [], 8
    while at + 24 <= len(data):
        magic, kind, _, packed, _, stored, _ = struct.unpack_from("<IBBBBII", data, at)
        assert magic == 0x31464C44
        body = data[at + 24:at + 24 + stored]
        assert struct.unpack_from("<Q", data, at + 16)[0] == xxh64(body, xxh64(data[at:at + 16]))
        if kind == EXCHANGES and not packed:
            peer, n = struct.unpack_from("<4xII", body)
            boot = body[12:12 + n].decode()
            (count,) = struct.unpack_from("<8xI", body, 12 + n)
            out.append((peer, boot, [struct.unpack_from("<4Q", body, 24 + n + 32 * i) for i in range(count)]))
        if kind == HOST_CLOCKS and not packed:
            readings += [struct.unpack_from("<5Q", body, 16 + 40 * i) for i in range(struct.unpack_from("<I", body, 12)[0])]
        at += 24 + stored
    return out, readings
