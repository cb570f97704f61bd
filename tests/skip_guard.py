"""No silent skips: with ``STRICT_SKIPS=1`` a skip must be listed, with its very reason.

A skip that ``allowed_skips.txt`` does not list fails the session: a test that stops running
must be noticed.
"""

from __future__ import annotations

import os

import pytest


class SkipGuard:
    """Fails a session in which a test was skipped that no list allows."""

    def __init__(self, allowed):
        """Keep the allowed (nodeid, reason) pairs."""
        self.allowed, self.offences = allowed, set()

    def note(self, report):
        """Remember a skip that is not on the list; an expected failure is no skip."""
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        # The reason as it was given, without pytest's prefix.
        self.offences |= {(report.nodeid, text.removeprefix("Skipped: "))} - self.allowed

    def pytest_runtest_logreport(self, report):
        """See a test that was skipped."""
        self.note(report)

    def pytest_collectreport(self, report):
        """See a module that was skipped as a whole."""
        self.note(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """Turn a passing session with offences into a failing one."""
        if self.offences and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Name the offences."""
        if self.offences:
            terminalreporter.section("skips that tests/allowed_skips.txt does not list")
            for nodeid, reason in sorted(self.offences):
                terminalreporter.write_line(f"{nodeid}\t{reason}")


def pytest_configure(config):
    """Start the guard in strict mode, in the process that sees every worker's reports."""
    if os.environ.get("STRICT_SKIPS") != "1" or hasattr(config, "workerinput"):
        return
    path = config.rootpath / "tests" / "allowed_skips.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    # Lines that start with # are comments.
    allowed = {tuple(line.split("\t", 1)) for line in lines if line and line[0] != "#"}
    config.pluginmanager.register(SkipGuard(allowed), "skip-guard")
