"""What a pipeline shows beside a change: GitHub's workflow commands, GitLab's code quality.

Only what is failed, open or waived is annotated, and the outcome. Both servers cut long lists,
and show what stands first.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from mipaudit.report.blocks import Case, plain
from mipaudit.report.exchange.stored import case_name
from mipaudit.report.forms import answer_of
from mipaudit.report.messages.told import told
from mipaudit.statements.verdict import UNMATCHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.report.exchange.stored import Stored

# GitHub shows ten of each severity in a step: one is the outcome.
_MOST: Final = 9
_GITHUB: Final = {"failed": "error", "open": "warning", "waived": "warning"}
_GITLAB: Final = {"failed": "critical", "open": "minor", "waived": "minor"}
_OUTCOMES: Final = {"bad": "error", "open": "warning", "good": "notice", "plain": "notice"}
_LONGEST: Final = 1_000


def github(stored: Stored) -> str:
    """Return workflow commands: the outcome, then what is failed, open and waived."""
    walk = stored.walk
    answer = f"{answer_of(stored.report)} {stored.file.name}, sha256 {stored.file.sha256}."
    commands = [_command(_OUTCOMES[walk.mood], walk.title, answer)]
    cases = _cases(stored, walk.cases)
    for severity in dict.fromkeys(_GITHUB.values()):
        some = [one for one in cases if _GITHUB[one.status] == severity]
        rest = len(some) - _MOST
        ends = [""] * (_MOST - 1) + [f" And {rest} more." if rest > 0 else ""]
        commands += (
            _command(severity, plain(one.name), _text(one) + end)
            for one, end in zip(some, ends, strict=False)
        )
    return "\n".join(commands) + "\n"


def gitlab(stored: Stored) -> str:
    """Return a code quality report: an issue for what is failed, open or waived.

    An issue is known again, in another run, by what it is about and not by its figures.
    """
    command = stored.report.command
    issues = [
        {
            "description": _text(case),
            "check_name": plain(case.name),
            "fingerprint": sha256(f"{command}\0{case.group}\0{case.name}".encode()).hexdigest(),
            "severity": _GITLAB[case.status],
            "location": {"path": stored.file.name, "lines": {"begin": 1}},
        }
        for case in _cases(stored, stored.walk.cases)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _cases(stored: Stored, cases: Sequence[Case]) -> list[Case]:
    """Return what is failed, then what is open, then what is waived, and waivers of nothing."""
    idle = [
        Case(stored.report.command, one.code, "waived", told(one))
        for one in stored.report.findings
        if one.code == UNMATCHED
    ]
    return [one for status in _GITHUB for one in (*cases, *idle) if one.status == status]


def _text(case: Case) -> str:
    return f"{case_name(case).removeprefix(': ')}: {plain(case.text)}"[:_LONGEST]


def _command(severity: str, title: str, text: str) -> str:
    """Return one command; a text can neither end it nor begin another."""
    named = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{severity} title={named}::{_escaped(plain(text))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
