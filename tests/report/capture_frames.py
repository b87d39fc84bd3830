"""Captures made of the frames of others: several runs in one, frames that are missing, twice or elsewhere, ELF files that are not there, damage.
Not a check itself."""
import ctypes
import ctypes.util
import struct

CHIP, ELF, LAUNCH, CORE, WORDS, SAMPLES, OFFSETS, END = range(1, 9)
HEADER = 24
LIBRARY = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
LIBRARY.XXH64.restype = ctypes.c_uint64
LIBRARY.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def frames_of(path):
    with open(path, "rb") as f:
        content = f.read()
    frames, at = [], 8
    while at < len(content):
        kind, stored = content[at + 4], struct.unpack_from("<I", content, at + 8)[0]
        frames.append((kind, content[at:at + HEADER + stored]))
        at += HEADER + stored
    return frames


def sealed(frame):
    head, stored = frame[:16], frame[HEADER:]
    return head + struct.pack("<Q", LIBRARY.XXH64(stored, len(stored), LIBRARY.XXH64(head, 16, 0))) + stored


def without_elf(frame):
    """An ELF file that is not there: its path begins another way."""
    at = frame.index(b"/", HEADER)
    return sealed(frame[:at + 1] + b"#" + frame[at + 2:])


def random_capture(r, sources, path):
    """Of the frames of one or two captures, which are lists of frames."""
    frames = [frame for _ in range(r.choice((1, 1, 2))) for frame in r.choice(sources)]
    for _ in range(r.randint(0, 5) if r.random() < 0.5 else 0):
        at, how = r.randrange(len(frames)), r.random()
        if how < 0.4:
            kinds = [i for i, (kind, _) in enumerate(frames) if kind == r.choice((CHIP, ELF, LAUNCH, SAMPLES, OFFSETS, END))]
            at = r.choice(kinds) if kinds else at
        if how < 0.8:
            del frames[at]
        else:
            frames.insert(r.randrange(len(frames)), frames[at])
    if r.random() < 0.3:
        frames = [(kind, without_elf(frame) if kind == ELF and r.random() < 0.4 else frame) for kind, frame in frames]
    content = b"DEVLOGC1" + b"".join(frame for _, frame in frames)
    if r.random() < 0.1:
        at = r.randrange(8, len(content))
        content = content[:at] + bytes([content[at] ^ 4]) + content[at + 1:]
    with open(path, "wb") as f:
        f.write(content)
