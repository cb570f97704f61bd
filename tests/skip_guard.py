"""No silent skips: with ``STRICT_SKIPS=1`` a skip must be listed, with its very reason.

A skip that ``allowed_skips.txt`` does not list fails the session: a test that stops running
must be noticed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SKIP_PREFIX: Final = "Skipped: "


class SkipGuard:
    """Fails a session in which a test was skipped that no list allows."""

    def __init__(self, allowed: frozenset[tuple[str, str]]) -> None:
        """Keep the allowed (nodeid, reason) pairs."""
        self.allowed = allowed
        self.offences: set[tuple[str, str]] = set()

    def note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Remember a skip that is not on the list; an expected failure is no skip."""
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        skip = (report.nodeid, skip_reason(report))
        if skip not in self.allowed:
            self.offences.add(skip)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See a test that was skipped."""
        self.note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """See a module that was skipped as a whole."""
        self.note(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn a passing session with offences into a failing one."""
        if self.offences and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the offences."""
        if self.offences:
            terminalreporter.section("skips that tests/allowed_skips.txt does not list")
            for nodeid, reason in sorted(self.offences):
                terminalreporter.write_line(f"{nodeid}\t{reason}")


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the reason as it was given, without pytest's prefix."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix(SKIP_PREFIX)


def allowed_skips(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the (nodeid, reason) pairs of the list; lines that start with # are comments."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            nodeid, _, reason = line.partition("\t")
            yield nodeid, reason


def pytest_configure(config: pytest.Config) -> None:
    """Start the guard in strict mode, in the process that sees every worker's reports."""
    if os.environ.get("STRICT_SKIPS") == "1" and not hasattr(config, "workerinput"):
        allowed = frozenset(allowed_skips(config.rootpath / "tests" / "allowed_skips.txt"))
        config.pluginmanager.register(SkipGuard(allowed), "skip-guard")
