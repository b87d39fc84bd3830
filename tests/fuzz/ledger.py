#!/usr/bin/env python3
"""Adds up the processor time that each fuzz target has had on the code as it is: tests/fuzz/ledger.csv.

  ledger.py add BUILD TARGET SECONDS RUNS    after a run that found nothing: one line more
  ledger.py table BUILD                      seconds of each target of BUILD/bin on its present code, and on any code

Not a part of any test. The code of a target is the machine code that its binary keeps, function by function, and its
constants, without addresses and without names of folders: a comment, another target's code or another clone makes no
difference, another compiler does.
"""
import csv, hashlib, os, re, subprocess, sys

LEDGER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ledger.csv")
COLUMNS = ["target", "code", "cpu_seconds", "runs"]


# What the compiler's own run time brings, and what instrumentation makes of paths (__unnamed_: its list of global variables).
FOREIGN = re.compile(r"^(_Z|__unnamed_|__?(asan|lsan|ubsan|sanitizer|interceptor|sancov|odr)|\.L|\.str|_GLOBAL_|__interceptor|.*san_gen_)")
FRAME = re.compile(rb"[0-9]+ [0-9]+ [0-9]+ [0-9]+ ")
FRAME_LINE = re.compile(rb"(?<=[A-Za-z_0-9]):[0-9]+(?=$| [0-9])")
ADDRESS = re.compile(r"-?0x[0-9a-f]+\(%rip\)|(?<=[ ])[0-9a-f]{3,}(?= <)|#.*|<[^>+]*san_gen_[^>]*>")


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=True).stdout


def functions(binary):
    """(name, instructions without addresses) of each function."""
    for block in run("objdump", "-d", "--no-show-raw-insn", "--no-addresses", binary).split("\n\n"):
        head, _, body = block.partition("\n")
        if (name := re.match(r"<(.*)>:$", head)) and not FOREIGN.match(name[1]):
            yield name[1], ADDRESS.sub("", body).encode()


def constants(binary):
    """(name, bytes) of each named object of the data sections, and the texts, of which paths are left out."""
    with open(binary, "rb") as file:
        image = bytearray(file.read())
    sections = re.findall(r"^ *\[ *(\d+)\] (\.\S+) +\w+ +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", run("readelf", "-SW", binary), re.M)
    of_number = {number: (name, int(at, 16), int(offset, 16), int(size, 16)) for number, name, at, offset, size in sections}
    data = [at_of for at_of in of_number.values() if at_of[0].startswith(".data")]
    for address in re.findall(r"^([0-9a-f]{16})  \S+ R_X86_64_RELATIVE", run("readelf", "-rW", binary), re.M):
        for _, at, offset, size in data:  # a pointer, which moves with what stands before it
            place = int(address, 16) - at
            if 0 <= place < size:
                image[offset + place : offset + place + 8] = bytes(8)
    for value, size, where, name in re.findall(r"^ *\d+: ([0-9a-f]+) +(\d+) OBJECT +\w+ +\w+ +(\d+) (\S+)", run("readelf", "-sW", binary), re.M):
        section, at, offset, _ = of_number.get(where, ("", 0, 0, 0))
        if section.startswith((".rodata", ".data")) and not FOREIGN.match(name):
            begin = offset + int(value, 16) - at
            yield name, bytes(image[begin : begin + int(size)])
    for name, at, offset, size in of_number.values():
        if name.startswith(".rodata"):
            for text in texts(bytes(image[offset : offset + size]), at):
                if b"/" not in text:  # a frame's variables are listed with their lines, for reports of faults
                    text = text.replace(b"_Bool", b"bool")  # in names of types: clang says bool in files that it has warned of
                    yield "", FRAME_LINE.sub(b"", text) if FRAME.match(text) else text


def texts(part, at):
    """The texts of a section that begins at an address. What the sanitizer watches begins at multiples of 32: printable bytes of a number
    that stands right before are no part of it, as they change with where the linker puts it."""
    for found in re.finditer(rb"[ -~\n\t]{4,}(?=\0)", part):
        begin, end = found.span()
        behind = part.rfind(b"\0", 0, begin) + 1
        aligned = behind + -(at + behind) % 32
        yield part[aligned if behind < begin < aligned <= end - 4 else begin : end]


def code(build, target):
    binary, digest = f"{build}/bin/fuzz_{target}", hashlib.sha256()
    for name, content in sorted({*functions(binary), *constants(binary)}):
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()[:16]


def rows():
    if not os.path.exists(LEDGER):
        return []
    with open(LEDGER, newline="") as file:
        return list(csv.DictReader(file))


def main(argv):
    if len(argv) == 5 and argv[0] == "add":
        build, target = os.path.abspath(argv[1]), argv[2]
        line = ",".join([target, code(build, target), str(round(float(argv[3]))), argv[4]]) + "\n"
        with open(LEDGER, "a") as file:  # one write: two targets may end at once
            file.write(line if file.tell() else ",".join(COLUMNS) + "\n" + line)
        return 0
    if len(argv) == 2 and argv[0] == "table":
        build = os.path.abspath(argv[1])
        names = sorted(name[5:] for name in os.listdir(f"{build}/bin") if name.startswith("fuzz_"))
        past = rows()
        print(f"{'target':<14} {'on this code':>12} {'on any code':>12} {'runs, on this code':>19}")
        for name in names:
            all_of = [row for row in past if row["target"] == name]
            now = code(build, name)
            same = [row for row in all_of if row["code"] == now]
            seconds = [sum(int(row["cpu_seconds"]) for row in some) for some in (same, all_of)]
            print(f"{name:<14} {seconds[0]:>10} s {seconds[1]:>10} s {sum(int(row['runs']) for row in same):>19,}")
        return 0
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main(sys.argv[1:]))
