"""The verdict where records of a site are missing."""

from __future__ import annotations

from mipaudit.model.message import Finding, Message
from mipaudit.report.messages.told import told
from mipaudit.statements.verdict import SITES_MISSING, Verdict, settled


def test_a_missing_site_comes_first_in_an_open_verdict():
    missing = Finding(SITES_MISSING)
    open_one = Verdict(status="inconclusive", reasons=(Message("increase"),))
    found = settled(open_one, [missing])
    assert found.status == "inconclusive"
    assert told(found.reasons[0]).startswith("sites whose cuts were used are missing")
    assert found.reasons[1:] == open_one.reasons
    assert settled(found, [missing]) == found
    assert settled(open_one, []) == open_one
    met = settled(Verdict(status="met", reasons=(Message("increase"),)), [missing])
    assert met.status == "inconclusive"
    assert settled(met, [missing]) == met
