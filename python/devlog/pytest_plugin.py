"""For pytest: the fixture devlog_capture, and the captures of tests that fail (docs/budgets.md). `pytest -p devlog.pytest_plugin`, or
pytest_plugins = ["devlog.pytest_plugin"] in conftest.py; a wheel that is installed needs neither."""

import os

import pytest

from . import _budget


def pytest_addoption(parser):
    """--devlog-keep."""
    parser.getgroup("devlog").addoption("--devlog-keep", metavar="FOLDER",
                                        help="where captures of tests that fail are kept (generated/profiler/failed)")


def pytest_configure(config):
    """Takes --devlog-keep; tests may change the working directory."""
    _budget._kept = os.path.abspath(config.getoption("--devlog-keep") or _budget._kept)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Keeps what a test that failed has left, before fixtures are torn down, and says where."""
    report = (yield).get_result()
    capture = item.funcargs.get("devlog_capture") if hasattr(item, "funcargs") else None
    if capture and call.when == "call" and report.failed and capture.keep():
        report.sections.append(("devlog", f"the capture of this test is kept in {capture.kept}"))


@pytest.fixture
def devlog_capture(request):
    """Devices that the test opens, itself or in programs that it starts, are profiled into devlog_capture.folder;
    devlog_capture.capture is the file. It is removed when the test has passed, and kept when it has failed.
    devlog_capture.judge(zone, cycles, risc) holds a zone to a budget."""
    with _budget._captured(request.node.nodeid) as capture:
        yield capture
