"""How far a run is, and at what: every bar ends at 100%, also what follows the reading."""

from __future__ import annotations

import io
import threading
import time

import pytest
from rich.console import Console
from rich.progress import Progress

from mipaudit.output import terminal


@pytest.fixture
def bars(monkeypatch):
    """Bars on a terminal in memory; empty where none was drawn."""
    drawn = []

    def draw(doing, *, estimate):
        console = Console(file=io.StringIO(), force_terminal=True)
        drawn.append(Progress(console=console, auto_refresh=False))
        drawn[0].add_task(doing, total=None)
        return drawn[0]

    monkeypatch.setattr(terminal, "can_show_progress", lambda: True)
    monkeypatch.setattr(terminal, "_draw", draw)
    return drawn


def seen(bars):
    return [(one.description, one.total, one.completed) for (bar,) in [bars] for one in bar.tasks]


def test_what_follows_the_reading_has_a_bar_and_all_end_at_100(bars, monkeypatch):
    monkeypatch.setattr(terminal, "_PATIENCE", 0.0)
    with terminal.progress_bar(quiet=False) as advance:
        advance(1, 4)
        assert seen(bars) == [("reading", 4, 1)]
        advance(4, 4)
        assert seen(bars) == [("reading", 4, 4), ("computing the answer", None, 0)]
        advance(5, 4)  # a hint was too low
        assert len(seen(bars)) == 2
    assert [one.percentage for one in bars[0].tasks] == [100, 100]


def test_where_nobody_knows_how_much_there_is_it_says_how_much_was_read(bars, monkeypatch):
    monkeypatch.setattr(terminal, "_PATIENCE", 0.0)
    with terminal.progress_bar(quiet=False) as advance:
        advance(70_000, None)
        assert seen(bars) == [("reading, 70,000 rows", None, 70_000)]
    assert [one.percentage for one in bars[0].tasks] == [100]


def test_a_long_computation_is_told_though_nothing_is_read_any_more(bars, monkeypatch):
    monkeypatch.setattr(terminal, "_PATIENCE", 0.05)
    with terminal.progress_bar(quiet=False) as advance:
        advance(4, 4)
        assert bars == []
        end = time.monotonic() + 20
        while not bars and time.monotonic() < end:
            time.sleep(0.01)
    assert [one.description for one in bars[0].tasks] == ["reading", "computing the answer"]


def test_a_short_run_shows_nothing_and_leaves_no_thread(bars):
    before = threading.active_count()
    with terminal.progress_bar(quiet=False) as advance:
        advance(2, 4)
        assert threading.active_count() == before  # reading may make copies of the process
        advance(4, 4)
    assert bars == []
    assert threading.active_count() == before


def test_nobody_sees_a_bar_who_asked_for_none(bars):
    with terminal.progress_bar(quiet=True) as advance:
        assert advance is None
