"""What `python3 -m build` and pip call (PEP 517): a source archive of what git knows, and a wheel of what CMake builds and installs: the
package, the program devlog, and share/devlog, which both find from their own places. Only the standard library is used, so that nothing
is fetched. Not a way to build devlog without its Debian packages (docs/dependencies.md)."""

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _version():
    with open(os.path.join(SOURCE, "include/devlog/version.h"), encoding="utf-8") as f:
        return re.search(r'#define DEVLOG_VERSION +"(.*)"', f.read())[1]


def _metadata():
    with open(os.path.join(SOURCE, "docs/python.md"), encoding="utf-8") as f:
        text = f.read()
    return f"""Metadata-Version: 2.1
Name: devlog
Version: {_version()}
Summary: Profiler of device code on many-core RISC-V accelerators
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: Implementation :: CPython
Description-Content-Type: text/markdown

{text}"""


def _date():
    """Of everything in an archive: the same sources give the same bytes."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", 315532800)), 315532800)


def _run(*command):
    """Its output goes to stderr: stdout is the caller's."""
    subprocess.run(command, check=True, stdout=sys.stderr)


def build_sdist(sdist_directory, config_settings=None):
    """All that git knows; of sources without git (of such an archive, too) all but what was built."""
    name = f"devlog-{_version()}"
    if os.path.exists(os.path.join(SOURCE, ".git")):
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], check=True, capture_output=True).stdout
        files = [os.fsdecode(f) for f in listed.split(b"\0") if f]
    else:
        files = []
        for folder, folders, names in os.walk(SOURCE):
            folders[:] = [f for f in folders if f not in ("build", "dist", "__pycache__")]
            files += [os.path.relpath(os.path.join(folder, n), SOURCE) for n in names]
        files = [f for f in files if f != "PKG-INFO"]

    def add(archive, path, entry, data):
        entry.name, entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = f"{name}/{path}", _date(), 0, 0, "", ""
        archive.addfile(entry, data)

    with open(os.path.join(sdist_directory, f"{name}.tar.gz"), "wb") as out, gzip.GzipFile("", "wb", 9, out, _date()) as packed, \
         tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            full = os.path.join(SOURCE, path)
            if not os.path.lexists(full): # it was removed, and git has not been told
                continue
            entry = archive.gettarinfo(full)
            if entry.isreg():
                with open(full, "rb") as f:
                    add(archive, path, entry, f)
            else:
                add(archive, path, entry, None)
        info = _metadata().encode()
        entry = tarfile.TarInfo()
        entry.size = len(info)
        add(archive, "PKG-INFO", entry, io.BytesIO(info))
    return f"{name}.tar.gz"


def _installed(prefix, build, build_type):
    """Builds the package and the program, and installs them below prefix."""
    _run("cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=" + build_type, "-DDEVLOG_TESTS=OFF", "-DDEVLOG_WERROR=OFF",
         f"-DPython3_EXECUTABLE={sys.executable}", "-DDEVLOG_PYTHON_FOLDER=python", "-DCMAKE_INSTALL_PREFIX=" + prefix)
    _run("cmake", "--build", build)
    if not os.path.exists(os.path.join(build, "python/devlog/_native" + sysconfig.get_config_var("EXT_SUFFIX"))):
        raise SystemExit(f"devlog: no extension was built for {sys.executable}: it needs the headers of this Python (Debian: python3-dev)")
    _run("cmake", "--install", build, "--strip")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The package at the wheel's top; program and share/devlog go to the environment's bin and share. Setting: build-type, as CMake's."""
    tag = "cp{0}{1}-cp{0}{1}".format(*sys.version_info) + "-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    stem = f"devlog-{_version()}"
    name = f"{stem}-{tag}.whl"
    here = tempfile.mkdtemp()
    try:
        prefix = os.path.join(here, "prefix")
        _installed(prefix, os.path.join(SOURCE, "build/wheel"), (config_settings or {}).get("build-type", "Release")) # kept: another wheel of these sources takes seconds
        files = {}
        for folder, place in (("python", ""), ("bin", f"{stem}.data/scripts/"), ("share/devlog", f"{stem}.data/data/share/devlog/"),
                              ("share/man", f"{stem}.data/data/share/man/")):
            top = os.path.join(prefix, folder)
            for at, _, names in os.walk(top):
                for n in names:
                    path = os.path.join(at, n)
                    with open(path, "rb") as f:
                        files[place + os.path.relpath(path, top)] = f.read(), stat.S_IMODE(os.stat(path).st_mode)
        with open(os.path.join(SOURCE, "LICENSE"), "rb") as f:
            files[f"{stem}.dist-info/LICENSE"] = f.read(), 0o644
        about = {"METADATA": _metadata(), "WHEEL": f"Wheel-Version: 1.0\nGenerator: devlog\nRoot-Is-Purelib: false\nTag: {tag}\n",
                 "entry_points.txt": "[pytest11]\ndevlog = devlog.pytest_plugin\n"}
        for key, text in about.items():
            files[f"{stem}.dist-info/{key}"] = text.encode(), 0o644
        record = ""
        for path, (data, _) in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
        record += f"{stem}.dist-info/RECORD,,\n"
        with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
            for path, (data, mode) in [*sorted(files.items()), (f"{stem}.dist-info/RECORD", (record.encode(), 0o644))]:
                entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
                entry.external_attr = (stat.S_IFREG | mode) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                wheel.writestr(entry, data)
    finally:
        shutil.rmtree(here)
    return name
