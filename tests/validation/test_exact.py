"""Exact shares of wrong limits: beside a plain enumeration, and where a lot decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mipaudit.evidence.scores.evidence import Evidence
from mipaudit.validation import coverage as exact
from mipaudit.validation.coverage import enumerated, exact_rows, settings_of
from mipaudit.validation.estimands.estimand import AuditedFile

SMALL = next(one for one in settings_of("quick", strict=False))


def alone(size=20, tpr=1.0, prior=0.5, *, strict=False, asked=("advantage",)):
    return size, tpr, prior, strict, asked


def row(rows, label, side):
    (found,) = (one for one in rows if (one.label, one.side) == (label, side))
    return found


@pytest.mark.parametrize(("prior", "strict"), [(0.5, False), (0.1, False), (0.5, True)])
def test_the_advantage_beside_a_plain_enumeration(prior, strict):
    """Members all score 1, and the truth is 1 - 2 (1 - p) F."""
    counts = np.arange(21)
    limits = []
    for alarms in counts.tolist():
        audited = AuditedFile(
            member=np.arange(40) < 20,
            score=np.concatenate([np.ones(20), np.arange(20) < alarms]),
            prior=prior,
            seed=0,
            strict=strict,
            discrete=True,
        )
        limits.append(audited.evidence.upper("any", 0.025))
    worst = 0.0
    for limit in limits:
        fpr = (1 - limit - 1e-9) / (2 * (1 - prior))
        if 0 <= fpr <= 1 and limit > abs(2 * prior - 1):
            worst = max(worst, stats.binom.pmf(counts, 20, fpr)[np.array(limits) <= limit].sum())
    rows = exact_rows(alone(prior=prior, strict=strict))
    found = row(rows, "advantage", "upper")
    assert found.coverage == pytest.approx(1 - worst, abs=2e-5)
    assert found.finite_sample == strict
    assert not found.falls_short


def test_every_printed_limit_is_enumerated_and_none_falls_short():
    rows = exact_rows((20, *SMALL[1:]))
    labels = {one.label for one in rows}
    assert labels >= {
        *("advantage", "advantage_thresholds", "advantage_intervals(4)", "advantage_bins", "auc"),
        *("tpr@0.1, either side", "metric ppv, any", "metric f1, thresholds", "record_risk"),
        *("advantage, counted", "auc, counted", "named_attack(best-threshold)"),
    }
    assert [one for one in rows if one.falls_short] == []


def test_a_limit_that_leaves_rows_out_by_lot_is_caught(monkeypatch):
    """The control: the rows outside one burn-in, which each content has for ever."""
    upper = Evidence.upper

    def by_lot(self, attackers, alpha):
        late = replace(self.counts, everyone=self.counts.evaluated, ranked=None)
        return upper(replace(self, counts=late), attackers, alpha)

    monkeypatch.setattr(Evidence, "upper", by_lot)
    found = row(exact_rows(alone(30)), "advantage", "upper")
    assert found.falls_short
    assert found.coverage < 0.95


def test_rates_below_one_take_both_counts(monkeypatch):
    settings = [alone(4), alone(3, 0.95)]
    monkeypatch.setattr(exact, "settings_of", lambda form, *, strict: settings)
    found = enumerated("quick", strict=False, jobs=1)
    assert [*dict.fromkeys((one.records, one.tpr) for one in found)] == [(8, 1.0), (6, 0.95)]


def test_the_long_form_enumerates_more():
    assert len(settings_of("full", strict=False)) > len(settings_of("quick", strict=False))


@pytest.mark.parametrize(("size", "prior"), [(150, 0.5), (110, 0.5), (83, 0.1)])
def test_no_lower_limit_rests_on_the_luck_of_the_blocks(size, prior):
    """Counted rows once missed 2.3 times as often as they say, costs 1.14 times."""
    rows = exact_rows(alone(size, prior=prior, asked=("advantage", "metric")))
    lower = [one for one in rows if one.side == "lower"]
    assert any(one.label == "advantage, counted" for one in lower)
    assert all(1 - one.coverage <= 1 - one.nominal for one in lower)
