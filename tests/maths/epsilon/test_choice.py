from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.epsilon.choice import Candidates, Sizes, choose_attacks, predicted_limits
from mipaudit.maths.epsilon.conditional import GuessCounts, conditional_lower, usual_slack

DELTA, ALPHA = 0.01, 0.05


@pytest.mark.parametrize("rows", [(20_000, 20_000), (20_000, 2_000), (2_000, 20_000)])
@pytest.mark.parametrize("kind", ["member", "holdout", "both"])
@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_what_is_predicted_is_the_limit_of_rows_like_those_that_were_seen(rows, kind, delta):
    shares = {"tp": 0.4, "fp": 0.05, "tn": 0.3, "fn": 0.04}
    none = {"member": ("tn", "fn"), "holdout": ("tp", "fp"), "both": ()}[kind]
    shares |= dict.fromkeys(none, 0.0)
    of = {"tp": rows[0], "fn": rows[0], "fp": rows[1], "tn": rows[1]}
    counts = {name: round(share * of[name]) for name, share in shares.items()}
    exposed = {"member": rows[0], "holdout": rows[1], "both": sum(rows)}[kind]
    slack = usual_slack(exposed, delta, ALPHA)
    judged = GuessCounts(**counts, n_members=rows[0], n_holdout=rows[1])
    predicted = predicted_limits(
        np.array([[counts["tp"]], [counts["fp"]]]),
        np.array([[counts["tn"]], [counts["fn"]]]),
        burn_in=np.array(rows),
        judged=np.array(rows),
        beyond=slack.guesses,
        alpha=slack.alpha,
        margin=0.0,
    )
    assert predicted.item() == pytest.approx(conditional_lower(judged, slack), rel=0.02)


@pytest.mark.parametrize("members_high", [True, False])
def test_guesses_of_the_small_class_do_not_pay_for_the_large_one(members_high):
    # The upper set finds half of the small class, and delta allows 250 rows of the large one.
    small, large = 250, 25_000
    found = np.array([[small // 2, 0], [large // 100, 0]])
    cleared = np.array([[large // 2, 0], [small // 100, 0]])
    order = [0, 1] if members_high else [1, 0]
    burn_in = tuple(np.array([small, large])[order].tolist())
    (attack,) = choose_attacks(
        Candidates(thresholds=np.array([1.0, np.nan]), counts=found[order]),
        Candidates(thresholds=np.array([0.0, np.nan]), counts=cleared[order[::-1]]),
        Sizes(burn_in=burn_in, judged=burn_in),
        {
            kind: usual_slack(exposed, DELTA, ALPHA)
            for kind, exposed in zip(
                ("member", "holdout", "both"), (*burn_in, sum(burn_in)), strict=True
            )
        },
        (0.0,),
    )
    assert attack.members_high == members_high
    assert attack.numerator == ("member" if members_high else "holdout")
