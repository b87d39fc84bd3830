"""The Python of docs/python.md runs as it stands, on the log of a demo. Run by ctest: test_docs.py DEVLOG SOURCE."""

import os
import re
import subprocess
import sys
import tempfile

DEVLOG, SOURCE = sys.argv[1:3]
try:
    import pandas  # noqa: F401
except ImportError:
    print("SKIPPED: pandas is missing")
    sys.exit(77)

with open(os.path.join(SOURCE, "docs/python.md"), encoding="utf-8") as f:
    blocks = re.findall(r"```python\n(.*?)```", f.read(), re.S)
assert len(blocks) == 5, f"{len(blocks)} blocks of Python"
environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([os.path.join(os.path.dirname(DEVLOG), "demo")], check=True, stdout=subprocess.DEVNULL, cwd=folder,
                   env={**environment, "TT_METAL_DEVICE_PROFILER": "1", "DEVLOG_HOME": SOURCE})
    with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as f:
        f.write(blocks[1])
    subprocess.run([DEVLOG, "run", "--host-only", "-o", "report", "--", sys.executable, "program.py"], cwd=folder, check=True, capture_output=True)
    reports = [os.path.join(d, n) for d, _, names in os.walk(os.path.join(folder, "report")) for n in names if n.endswith(".csv")]
    with open(reports[0], encoding="utf-8") as f:
        text = f.read()
    assert text.count("\nMatmul,") == 2 and text.count("\nSoftmax,") == 2, text
    said = [subprocess.run([sys.executable, "-c", block], cwd=folder, check=True, capture_output=True, text=True).stdout for block in blocks]
promised = re.search(r"# (<devlog\.Log.*>)", blocks[0]).group(1)
assert said[0].startswith(promised + "\n"), f"docs/python.md promises {promised}; it is {said[0].splitlines()[0]}"
assert re.match(r"[0-9.]+ [0-9.]+\n", said[3]) and said[3].endswith("passed []\n"), said[3]
assert "add block" in said[4], said[4]
