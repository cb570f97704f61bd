"""A real browser, where one is installed: what it shows of a file, and what it asks for."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--allow-file-access-from-files", "--virtual-time-budget=5000", "--hide-scrollbars"),
    "--enable-logging=stderr",
)
NO_BROWSER = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


def browse(page, profile, *flags, query="", checked=True):
    """Return what the browser prints of a file."""
    done = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri() + query],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not checked or "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


def asked_by(page, profile, *, query=""):
    """Return the addresses that a file asks for beside files, by the browser's own log."""
    log = profile.with_suffix(".json")
    flags = (f"--log-net-log={log}", "--dump-dom")
    browse(page, profile, *flags, query=query, checked=False)
    started = r'"site_for_cookies":"SiteForCookies: {site=file://[^"]*","url":"([^"]*)"'
    return {url for url in re.findall(started, log.read_text("utf-8")) if url[:5] != "file:"}
