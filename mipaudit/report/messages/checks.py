"""Why a limit is kept, is not, or is open."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.entry import Entry

_OPEN: Final = "{quantity:checked}{lower:known}; the limit is {limit:number}: "
_RISKS: Final = "the largest risk is at least {lower:least}"
_AT_LEAST: Final = "{quantity:checked} is at least {lower:least}"
_AT_MOST: Final = "{quantity:checked} is at most {upper:most} {against:class}"
_EXPLAINED: Final = (
    _AT_LEAST + ", but the records alone may explain all of it, since no limit holds for every "
    "attacker on them; the limit is {limit:number}: "
)
_HIDDEN: Final = (
    _AT_MOST + ", but members and holdout differ by themselves, and that can hide a leak; the "
    "limit is {limit:number}: "
)
_ANEW: Final = "draw members and holdout anew, at random from the same records"
_ADVANTAGE: Final = "the advantage is at least {lower:least}"
_BROKEN: Final = ("more records do not help; what may", "choose-a-limit")
_RECORDS: Final = ("more records", "choose-a-limit")
_UNLIMITED: Final = ("what may settle it", "choose-a-limit")
_EXPLAIN: Final = ("what the records explain", "members-and-holdout")

ENTRIES: Final = {
    "above_limit": Entry(
        "{quantity:checked} is at least {lower:above}, above the limit of {limit:number}",
        next=_BROKEN,
    ),
    "above_limit_beside_records": Entry(
        "{quantity:checked} is at least {lower:above} among records that are alike, though the "
        "records alone may tell {blind:most}, above the limit of {limit:number}",
        next=_BROKEN,
    ),
    "within_limit": Entry(
        "{quantity:checked} is at most {upper:within} {against:class}, within the limit of "
        "{limit:number}"
    ),
    "no_upper_limit": Entry(
        "{quantity:checked}{lower:known}, and has no upper limit {against:class}: the limit of "
        "{limit:number} cannot be shown to be met; name a class with `against`",
        next=_UNLIMITED,
    ),
    "open_beside_records": Entry(_OPEN + "open even if records explain nothing", next=_EXPLAIN),
    "open": Entry(
        _OPEN
        + "the best estimate is too close to the limit to promise that more records settle it",
        next=_RECORDS,
    ),
    "open_settled_by": Entry(
        _OPEN + "about {records_to_settle:count} records in all would settle this one",
        next=_RECORDS,
    ),
    "open_unpromised": Entry(
        "{quantity:checked}{lower:known}; the limit is {limit:number}", next=_RECORDS
    ),
    "open_in_report": Entry(_OPEN + "the limits in the report cannot tell", next=_UNLIMITED),
    "difference_shown": Entry(
        "the exact test shows a difference of the groups (membership, or another), and nothing may "
        "show",
        next=_BROKEN,
    ),
    "difference_unknown": Entry("whether anything shows at all is not known", next=_UNLIMITED),
    "difference_not_shown": Entry(
        "the exact test shows no difference of the groups: that is no proof that there is none, "
        "and the limit of 0 cannot be shown to be met",
        next=_UNLIMITED,
    ),
    "copies_untold": Entry(
        "how many members the release holds word for word is not told of all records: the input "
        "lacks the column exact_copy, which `mipaudit query` writes, or it is neither 0 nor 1",
        next=("what may settle it", "synthetic-data"),
    ),
    "copies_above_limit": Entry(
        "{members:count} of {of_members:count} members stand in the release word for word, above "
        "the limit of {limit:number} (and {holdout:count} of {of_holdout:count} holdout records)",
        next=("leave the copies out of the release", "synthetic-data"),
    ),
    "copies_within_limit": Entry(
        "{members:count} of {of_members:count} members stand in the release word for word, "
        "{members:count} of at most {limit:count} accepted (and {holdout:count} of "
        "{of_holdout:count} holdout records)"
    ),
    # Of the largest risk in any cell.
    "risk_above_limit": Entry(_RISKS + ", above the limit of {limit:number}", next=_BROKEN),
    "risk_within_limit": Entry(
        "the risk of every {cells} is at most {upper:most}, within the limit of {limit:number}"
    ),
    "risk_uncounted": Entry(
        _RISKS + ", and {uncounted:count} records are in cells without a counted record, so that "
        "nothing limits their risk from above; the limit is {limit:number}",
        next=_UNLIMITED,
    ),
    "risk_open": Entry(
        _RISKS + " and that of every {cells} at most {upper:most}; the limit is {limit:number}: "
        "the best estimate is too close to the limit to promise that more records settle it",
        next=_RECORDS,
    ),
    "risk_open_settled_by": Entry(
        _RISKS + " and that of every {cells} at most {upper:most}; the limit is {limit:number}: "
        "about {records_to_settle:count} records in all would settle this one",
        next=_RECORDS,
    ),
    # Beside what the records alone may tell.
    "difference_of_records": Entry(
        "the exact test shows a difference of the groups, which may be one of the records: how "
        "much of it they may explain is not known",
        next=_EXPLAIN,
    ),
    "texts_not_seen": Entry(
        "most texts of a column were not looked at (see the findings): how much the records tell "
        "has no upper limit",
        next=_EXPLAIN,
    ),
    # A limit that is exceeded, and not held against the model.
    "perhaps_of_records": Entry(
        _AT_LEAST + "; the limit is {limit:number}: how much of it the records alone may explain "
        "is not known",
        next=_EXPLAIN,
    ),
    "explained_by_records": Entry(
        _AT_LEAST + ", of which the records alone may explain {most:most}; the limit is "
        "{limit:number}: only what goes beyond the records is held against the model",
        next=_EXPLAIN,
    ),
    "beyond_records": Entry(
        _AT_LEAST + ", of which the records alone may explain {most:most}, at least {beyond:least} "
        "among records that are alike; the limit is {limit:number}: only what goes beyond the "
        "records is held against the model",
        next=_EXPLAIN,
    ),
    "unbounded_records": Entry(_EXPLAINED + _ANEW, next=_EXPLAIN),
    "unbounded_records_or_assert": Entry(
        _EXPLAINED + _ANEW + ", or assert what they tell at most with `blind_bound`", next=_EXPLAIN
    ),
    "unbounded_records_or_assert_under": Entry(
        _EXPLAINED + _ANEW + ", or assert with `blind_bound` what they tell at most: under "
        "{under:number} it is not met",
        next=_EXPLAIN,
    ),
    # A limit that is kept over all records, and not shown to be by like ones.
    "hidden_by_records": Entry(
        _AT_MOST + " of all records, since the records alone may tell {most:most} and that can "
        "hide a leak; the limit is {limit:number}",
        next=_EXPLAIN,
    ),
    "hidden_by_records_alike": Entry(
        _AT_MOST + " of all records, {alike:most} of those that are alike, since the records alone "
        "may tell {most:most} and that can hide a leak; the limit is {limit:number}",
        next=_EXPLAIN,
    ),
    "hidden_by_difference": Entry(_HIDDEN + _ANEW, next=_EXPLAIN),
    "hidden_by_difference_or_assert": Entry(
        _HIDDEN + _ANEW + ", or assert with `blind_bound` what the records alone tell at most: up "
        "to {up_to:number} it is met",
        next=_EXPLAIN,
    ),
    # Of a quantity that is named in words.
    "named_above": Entry(
        "{subject} is at least {lower:above}{among:whom}, above the limit of {limit:number}",
        next=_BROKEN,
    ),
    "named_within": Entry(
        "{subject} is at most {upper:within}{among:whom}, within the limit of {limit:number}"
    ),
    "named_open": Entry(
        "{subject}{lower:known}{among:whom}; the limit is {limit:number}", next=_RECORDS
    ),
    "named_without_limits": Entry(
        "{subject} has no limits{among:whom}; the limit is {limit:number}", next=_UNLIMITED
    ),
    "named_unknown": Entry(
        "{subject} is not known ({why}){among:whom}; the limit is {limit:number}", next=_UNLIMITED
    ),
    "increase": Entry("the increase"),
    "attribute_advantage": Entry("the attribute advantage of these guesses"),
    "membership_advantage": Entry("the membership advantage of these guesses"),
    "attack_advantage": Entry("the advantage of the attack {attack:quoted}"),
    "best_advantage": Entry("the advantage of the best attacker who sees the score"),
    "score_only_in_new": Entry("the old report does not have this score", next=_UNLIMITED),
    "score_only_in_old": Entry("the new report does not have this score", next=_UNLIMITED),
    # Claims of differential privacy.
    "claim_contradicted": Entry(
        _ADVANTAGE + ", above the {allowed:most} that the claim allows: the claim is false, or "
        "members and holdout differ, or records depend",
        next=_BROKEN,
    ),
    "claim_not_comparable": Entry(
        _ADVANTAGE + ": above the {by_substitution:most} allowed by substitution, not above the "
        "{allowed:most} allowed by add-remove; say which adjacency the claim is about"
    ),
    "claim_vacuous": Entry(
        "the claim allows an advantage of {allowed:most}: it excludes next to nothing"
    ),
    "claim_consistent": Entry(
        _ADVANTAGE + ", not above the {allowed:most} that the claim allows: this does not prove "
        "the claim"
    ),
    "claim_beside_unbounded_records": Entry(
        "{reason} (nothing is known beyond what the records alone may explain: no limit holds for "
        "every attacker on them)"
    ),
    "claim_beside_records": Entry(
        "{reason} (beyond the {most:most} that the records alone may tell)"
    ),
    # Why an attack, a mean or guesses have no figure.
    "mean_of_infinite": Entry("a mean needs finite scores"),
    "mean_of_missing": Entry("a missing score has no size; leave these rows out with `nan` drop"),
    "mean_of_few": Entry(
        "a mean is not shown of fewer than {least:number} members or holdout records (`min_cell`)"
    ),
    "mean_without_bound": Entry(
        "the mean of a loss without a bound has no valid limits; give `loss_bound` B if the loss "
        "cannot exceed B"
    ),
    "all_clipped": Entry("every score is below 0 or above the bound"),
    "nothing_to_learn": Entry("the burn-in has no row to learn it from"),
    "told_of_these_rows": Entry(
        "what it is told is what these very records have, on which it would be judged; untold, it "
        "learns that from records of their own"
    ),
    "empty_class": Entry("no member or no holdout record is left to judge it on"),
    "no_common_value": Entry("no value of the attribute is in both classes"),
}
