"""The report that travels in its page: put in so that no text of it can end it, and taken out.

The page is for people and the report for programs; whoever has the page has both.
"""

from __future__ import annotations

import json
import re
from typing import Final

from mipaudit.errors import InputError

_NAME: Final = "mipaudit-report"
_OPENING: Final = f'<script type="application/json" id="{_NAME}">'
_CLOSING: Final = "</script>"
_MARK: Final = b"\xef\xbb\xbf"  # what some editors put before UTF-8
_START: Final = 64
_HINT: Final = "Make the page again: mipaudit render report.json -o report.html."


def carried(report: bytes) -> str:
    """Return the element of a page that holds a report's JSON: data, which no browser runs.

    JSON has ``<``, ``>`` and ``&`` in texts alone, where it can spell them otherwise.
    """
    text = json.dumps(json.loads(report), separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f"{_OPENING}{text}{_CLOSING}"


def is_page(data: bytes) -> bool:
    """Tell whether the bytes of a file are a page, and not JSON."""
    return data[:_START].removeprefix(_MARK).lstrip().startswith(b"<")


def taken_out(data: bytes) -> bytes:
    """Return the JSON of a report, of its file or of its page.

    Raises:
        InputError: ``bad_report``: a page without a report, or with more than one.
    """
    if not is_page(data):
        return data
    found = re.findall(
        re.escape(_OPENING.encode()) + rb"([^<]*)" + re.escape(_CLOSING.encode()), data
    )
    if len(found) != 1 or data.count(f'id="{_NAME}"'.encode()) != 1:
        raise InputError("bad_report", "The page holds no report, or several.", hint=_HINT)
    one: bytes = found[0]
    return one
