"""The same folder in other forms, all at once: every file plain, with CR LF, packed by gzip, xz, zstd or devlog pack, by
chance; loose, as generated/profiler/.logs, by rank, in a tar or a zip; of runs with losses and files that are cut; with
and without a selection. Reports, words and exit status are those of the plain folder, to the byte. A small seeded part;
DEVLOG_TT_FORMS asks for more, DEVLOG_TT_FIRST for other seeds. Usage: forms.py DEVLOG PACK_SMALL."""
import gzip
import io
import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import folders

DEVLOG, PACK_SMALL = sys.argv[1:3]
NUMBER = int(os.environ.get("DEVLOG_TT_FORMS", "30"))
FIRST = int(os.environ.get("DEVLOG_TT_FIRST", "0"))
FORMS = ["plain", "gz", "xz", "pack", "crlf", "crlf.gz"] + (["zst"] if shutil.which("zstd") else [])
REPORTS = ("ops_perf_results.csv", "noc_zones.csv", "per_core_op_to_op_times.csv")


def packed(form, data):
    """A file's name behind its own, and its bytes."""
    if form.startswith("crlf"):
        data, form = data.replace(b"\n", b"\r\n"), form[5:]
    if form == "gz":
        return ".gz", gzip.compress(data, 1)
    if form == "xz":
        return ".xz", lzma.compress(data, preset=0)
    if form == "zst":
        return ".zst", subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    if form == "pack":
        with tempfile.TemporaryDirectory() as top:
            a, b = os.path.join(top, "a"), os.path.join(top, "b")
            with open(a, "wb") as f:
                f.write(data)
            subprocess.run([PACK_SMALL, "4000", a, b], check=True)
            with open(b, "rb") as f:
                return ".pack", f.read()
    return "", data


def read(folder):
    files = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as f:
            files[name] = f.read()
    return files


def write(folder, files):
    os.makedirs(folder)
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)


def archive(path, files, inside):
    if path.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
            for name, data in files.items():
                z.writestr(inside + name, data)
        return
    with tarfile.open(path, "w:gz" if path.endswith("gz") else "w") as t:
        for name, data in files.items():
            member = tarfile.TarInfo(inside + name)
            member.size = len(data)
            t.addfile(member, io.BytesIO(data))


def answer(where, options):
    """Reports, words without places, and exit status."""
    with tempfile.TemporaryDirectory() as top:
        out = os.path.join(top, "out")
        p = subprocess.run([DEVLOG, "ops", where, "-o", out, "--no-tar", *options], capture_output=True, text=True, errors="replace")
        for word in ("AddressSanitizer", "runtime error", "LeakSanitizer", "UndefinedBehavior"):
            assert word not in p.stderr, p.stderr
        reports = {}
        for folder, _, names in os.walk(out):
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    reports[os.path.relpath(os.path.join(folder, name), out)] = f.read()
        words = (p.stdout + p.stderr).replace(out, "OUT")
        return reports, words, p.returncode


def without_places(words, where):
    words = words.replace(where, "WHERE")
    words = re.sub(r"(?:WHERE|OUT)/(?:[^ :,]*/)?", "", words)
    words = re.sub(r"(GLOBAL CALL COUNT \d+), \d+ bytes", r"\1", words)  # of a message, CRs among them
    words = re.sub(r"(?m)^( +)(?:\.logs|\.unpacked-\d+)$", r"\1", words)
    return re.sub(r"(\.csv|\.json|\.log)\.(?:gz|xz|zst|pack)\b", r"\1", words).replace("WHERE", "").replace("OUT", "")


def same(plain, other, what):
    assert sorted(plain[0]) == sorted(other[0]), "%s: %s, plain %s\n%s\nplain:\n%s" % (what, sorted(other[0]), sorted(plain[0]), other[1], plain[1])
    for name in sorted(set(plain[0]) | set(other[0])):
        a, b = (x[0].get(name, b"").decode(errors="replace").split("\n") for x in (plain, other))
        lines = [n for n in range(max(len(a), len(b))) if a[n : n + 1] != b[n : n + 1]]
        assert not lines, "%s: %s, line %d:\n%s\nplain:\n%s" % (what, name, lines[0] + 1, b[lines[0] : lines[0] + 1], a[lines[0] : lines[0] + 1])
    assert plain[1] == other[1], "%s, words:\n%s\nplain:\n%s" % (what, other[1], plain[1])
    assert plain[2] == other[2], "%s: exit status %d, plain %d" % (what, other[2], plain[2])


def options_of(f, r):
    """A selection by chance, one that leaves nothing among them."""
    traces = sorted({x.trace for x in f.runs if x.trace is not None})
    choices = [[], [], ["--chips", str(r.choice(f.devices))], ["--skip-launches", "1"], ["--skip-warm-up"], ["--host-only"],
               ["--from-signpost", "step 1"], ["--to-signpost", "step 1"], ["--op", "ttnn::Op1"], ["--trace-sessions", "1"],
               ["--columns", "reference"], ["--traces", str(r.choice(traces))] if traces else ["--op", "no such op"]]
    return r.choice(choices)


def damage(files, r):
    """As a run leaves them that was killed or whose disk was full."""
    for name in r.sample(sorted(files), min(r.choice((0, 0, 1, 2)), len(files) - 1)):
        data = files[name]
        kind = r.choice(("cut", "cut", "empty", "doubled", "hole", "missing"))
        at, to = sorted((r.randrange(len(data) + 1), r.randrange(len(data) + 1)))
        if kind == "missing":
            del files[name]
        else:
            files[name] = {"cut": data[:to], "empty": b"", "doubled": data + data, "hole": data[:at] + data[to:]}[kind]


def one(seed):
    r = random.Random(seed)
    f = folders.Folder(seed, [] if seed % 3 == 0 else None)
    with tempfile.TemporaryDirectory() as top:
        place = lambda name: os.path.join(top, name)
        f.write(place("made"))
        files = read(place("made"))
        damage(files, r)
        write(place("plain"), files)
        options = options_of(f, r)
        plain = answer(place("plain"), options)
        plain = plain[0], without_places(plain[1], place("plain")), plain[2]
        for number in range(3):
            forms = {name: r.choice(FORMS) for name in files}
            others = dict((lambda suffix, data: (name + suffix, data))(*packed(form, files[name])) for name, form in forms.items())
            layout = r.choice(("folder", "logs", "tar", "tar.gz", "zip", "packed folder"))
            where = place("other%d" % number)
            if layout == "folder":
                write(where, others)
            elif layout == "logs":
                write(os.path.join(where, "generated", "profiler", ".logs"), others)
            elif layout == "packed folder":
                forms = {}
                subprocess.run([DEVLOG, "pack", place("plain"), "-o", where], check=True, capture_output=True)
            else:
                where += "." + layout
                archive(where, others, r.choice(("", "a/.logs/")))
            have = answer(where, options)
            same(plain, (have[0], without_places(have[1], where), have[2]), (seed, layout, options, forms))


def ranks(seed):
    """Two ranks: the same of each, whatever forms its files have, loose and in an archive."""
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as top:
        other = {}
        for rank in (0, 3):
            made = os.path.join(top, "made%d" % rank)
            folders.Folder(seed * 7 + rank, None).write(made)
            files = read(made)
            damage(files, r)
            write(os.path.join(top, "plain", "rank%d" % rank), files)
            for name, data in files.items():
                suffix, data = packed(r.choice(FORMS), data)
                other["rank%d/%s%s" % (rank, name, suffix)] = data
        options = r.choice(([], ["--skip-launches", "1"], ["--host-only"]))
        plain = answer(os.path.join(top, "plain"), options)
        plain = plain[0], without_places(plain[1], os.path.join(top, "plain")), plain[2]
        where = os.path.join(top, "ranks." + r.choice(("tar", "zip")))
        archive(where, other, "")
        have = answer(where, options)
        same(plain, (have[0], without_places(have[1], where), have[2]), (seed, "ranks", options, sorted(other)))


def report_alone(seed):
    """A folder with nothing but a report, packed; and with several."""
    with tempfile.TemporaryDirectory() as top:
        place = lambda name: os.path.join(top, name)
        folders.Folder(seed, []).write(place("made"))
        report = answer(place("made"), [])[0]["ops_perf_results.csv"]
        write(place("plain"), {"ops_perf_results_of_mine.csv": report})
        plain = answer(place("plain"), [])
        assert plain[0]["ops_perf_results.csv"] == report
        for form in FORMS[1:4]:
            suffix, data = packed(form, report)
            write(place(form), {"ops_perf_results_of_mine.csv" + suffix: data})
            have = answer(place(form), [])
            same((plain[0], without_places(plain[1], place("plain")), plain[2]), (have[0], without_places(have[1], place(form)), have[2]), form)
        # Of several the last by name is taken, and the others are told.
        others = {"ops_perf_results_of_mine_2025_%02d_01.csv" % month: report[:report.index(b"\n") + 1] for month in (3, 1, 11, 2)}
        write(place("several"), dict(others, **{"ops_perf_results_of_mine_2025_12_01.csv": report, "ops_perf_results.csv": b"X\n"}))
        have = answer(place("several"), [])
        assert have[0]["ops_perf_results.csv"] == report, "another of several reports"
        assert "the last by name of 6 reports" in have[1], have[1]


def main():
    failed = 0
    for seed in range(FIRST, FIRST + NUMBER):
        for test in (one, ranks, report_alone) if seed % 6 == 0 else (one, ranks) if seed % 3 == 0 else (one,):
            try:
                test(seed)
            except AssertionError as e:
                failed += 1
                print("%s %d: %s" % (test.__name__, seed, str(e)[:2500]))
    print("%d failed" % failed)
    sys.exit(1 if failed else 0)


main()
