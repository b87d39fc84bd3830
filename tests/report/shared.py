"""What the checks of reports share: where things are (the build folder is the first argument), figures that are compared and
counted, what a command prints on a terminal, and how a check ends. Not a check itself."""
import fcntl
import math
import os
import pty
import struct
import subprocess
import sys
import termios

BUILD = os.path.abspath(sys.argv[1])
DEVLOG, NN = os.path.join(BUILD, "bin", "devlog"), os.path.join(BUILD, "bin", "nn")
SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
os.environ.setdefault("DEVLOG_HOME", SOURCE)  # programs of the examples find their kernels there
bad = []
compared = 0


def same(what, found, wanted):
    global compared
    compared += 1
    numbers = all(isinstance(v, (int, float)) for v in (found, wanted))
    if not (math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9) if numbers else found == wanted):
        bad.append("%s: devlog says %r, it is %r" % (what, found, wanted))


def same_rows(what, found, wanted):
    """Both: key to a row of figures."""
    same(what + ": rows", sorted(found, key=str), sorted(wanted, key=str))
    for key, row in wanted.items():
        for name, value in row.items():
            same("%s, %s, %s" % (what, key, name), found.get(key, {}).get(name), value)


def run(*args, status=0):
    r = subprocess.run([DEVLOG, *args], capture_output=True, text=True)
    if r.returncode != status:
        bad.append("devlog %s: status %d, not %d: %s" % (" ".join(args), r.returncode, status, r.stderr.strip()))
    return r.stdout


def on_terminal(columns, args, env=None, **popen):
    """Status of a program, and what it prints on a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(args, stdout=slave, **{"stderr": slave, "env": dict(env or os.environ, TERM="xterm", NO_COLOR="1"), **popen}) as p:
        os.close(slave)
        out = b""
        while True:
            try:
                got = os.read(master, 65536)
            except OSError:
                break
            if not got:
                break
            out += got
        status = p.wait()
    os.close(master)
    return status, out.decode().replace("\r\n", "\n")


def missing(program):
    return subprocess.run(["which", program], capture_output=True).returncode != 0


def finish(validated=True):
    """What a check says at its end, and its exit status."""
    for line in bad[:60]:
        print(line)
    print("%d figures compared, %d differ" % (compared, len(bad)))
    if not bad and not validated:
        print("SKIPPED: python3-jsonschema is missing, so nothing was held against its schema")
        return 77
    return 1 if bad else 0
