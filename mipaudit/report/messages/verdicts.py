"""How an answer begins, what decided a verdict or withheld it, and why a figure is not there."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import Entry, Texts, entries

# What the messages of estimate say, too.
LITTLE: Final = "A small figure does not prove that little leaks."
COMMON: Final = "members and holdout records that cannot be told apart without the release"
# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "OF": "[ in {alike:count} of {limits:count} checks][ ({undecided:count} inconclusive)]",
    "LIMIT": ", limit {limit:number}",
    "LIMITED": "; the limit is {limit:number}",
    "BESIDE": "[, assuming that {assuming}][, with {waived:count} {waived:limit|limits} accepted "
    "by waiver][; records appear in the release unchanged{copies:said}][; columns that may be "
    "scores were left out{left_out:said}][; a waiver matches no limit{unmatched:said}]: {reason}.",
    "BETWEEN": "{quantity:checked}[ at least {lower:least}][, at most {upper:most} "
    "({against:attackers})]{LIMIT}",
    "IF": "[ on an assumption{assuming:said}][, exact copies released{copies:said}][, columns left "
    "out{left_out:said}]",
    "OPEN": "{quantity:checked}{lower:known}{LIMITED}, and ",
    "UNKNOWN": "it is unknown how many records would be enough to decide it, because the estimate "
    "is too close to the limit, or too uncertain",
    "ENOUGH": "about {records_to_settle:count} records in all would probably decide it",
    "OPEN_RISKS": "{RISKS}, and that of every {cells} at most {upper:most}{LIMITED}, and ",
    "RISKS": "the largest risk is at least {lower:least}",
    "AT_LEAST": "{quantity:checked} is at least {lower:least}",
    "AT_MOST": "{quantity:checked} is at most {upper:most} {against:class}",
    "EXPLAINED": "{AT_LEAST}, but the records alone may explain the whole figure, because "
    "{NO_MOST}{LIMITED}{ANEW}",
    "HIDDEN": "{AT_MOST}, but members and holdout differ even without the release, and "
    "{CANCEL}{LIMITED}{ANEW}",
    "ANEW": "; what can decide it: train anew on members drawn at random, or draw a new holdout "
    "from the members' source",
    "ASSERT": ", or assert with `blind_bound` the largest advantage from the records alone",
    "NO_MOST": "no 'at most' holds for all attackers who see only the records",
    "CANCEL": "this difference can hide a leak",
    "APART": ", but members and holdout may differ by {most:most} even without the release, and "
    "{CANCEL}{LIMITED}",
    "WITHIN": ", within the limit of {limit:number}",
    "ABOVE": ", above the limit of {limit:number}",
    "COMMON": f"for {COMMON}",
    "COPIES": "{members:count} of {of_members:count} members (and {holdout:count} of "
    "{of_holdout:count} holdout records) appear in the release unchanged",
    "ADVANTAGE": "the advantage is at least {lower:least}",
}

# How the answer of a report with limits begins, whatever the kind of report.
ANSWERS: Final[Texts] = {
    "answer_met": Entry(
        "+ MET[ for these attackers only{alone:said}]{OF}{BESIDE}",
        unsaid="Passing does not prove that nothing leaks.",
    ),
    "answer_waived": Entry(
        "? WAIVED{OF}{BESIDE}",
        unsaid="A waiver makes no release safer: the limit is not shown to be kept, and somebody "
        "accepts that.",
    ),
    "answer_not_met": Entry(
        "- NOT MET{OF}{BESIDE}", unsaid="More may leak than is shown: the figure is a lower limit."
    ),
    "answer_inconclusive": Entry(
        "? INCONCLUSIVE{OF}[, which this policy lets pass{passes:said}][, which this policy counts "
        "as a failure{fails:said}]{BESIDE}",
        unsaid="An open verdict does not mean that nothing leaks.",
    ),
    # Of a claim of differential privacy, where there is no limit.
    "answer_contradicted": "- CONTRADICTED{BESIDE}",
    "answer_consistent": Entry("CONSISTENT{BESIDE}", unsaid=LITTLE),
    "answer_vacuous": Entry("VACUOUS{BESIDE}", unsaid=LITTLE),
    "answer_not_comparable": Entry("? NOT COMPARABLE{BESIDE}", unsaid=LITTLE),
}

# The same in a line of a log, and what is added as room is left, the most important first.
LINES: Final[Texts] = {
    "answer_met.line": "MET[ for these attackers only{alone:said}]{IF}: {reason}",
    "answer_waived.line": "WAIVED{IF}: {reason}",
    "answer_not_met.line": "NOT MET{IF}: {reason}",
    "answer_inconclusive.line": "INCONCLUSIVE[, let pass by this policy{passes:said}][, counted as "
    "a failure{fails:said}]{IF}: {reason}",
    "answer_consistent.line": "CONSISTENT, not proved{IF}: {reason}",
    "answer_vacuous.line": "VACUOUS: {reason}",
    **dict.fromkeys(("of_score.line", "of_named.line"), "{score:quoted}: {reason}"),
    "of_query.line": "{query:quoted}: {reason}",
    "waived.line": "{reason}",
    "waiver_ended.line": "waiver expired {expires}: {reason}",
    **dict.fromkeys(
        ("open.line", "open_settled_by.line", "open_unpromised.line", "open_in_report.line"),
        "{BETWEEN}",
    ),
    "no_upper_limit.line": "{quantity:checked}[ at least {lower:least}], 'at most' unknown{LIMIT}",
    **dict.fromkeys(
        (
            "perhaps_of_records.line",
            "explained_by_records.line",
            "beyond_records.line",
            "unbounded_records.line",
            "unbounded_records_or_assert.line",
            "unbounded_records_or_assert_under.line",
        ),
        "{quantity:checked} at least {lower:least}{LIMIT}: the records alone may explain it",
    ),
    **dict.fromkeys(
        (
            "hidden_by_records.line",
            "hidden_by_records_alike.line",
            "hidden_by_difference.line",
            "hidden_by_difference_or_assert.line",
        ),
        "{quantity:checked} at most {upper:most} ({against:attackers}){LIMIT}: differing records "
        "may hide a leak",
    ),
    "open_beside_records.line": "{BETWEEN}: undecided, however much the records explain",
    **dict.fromkeys(
        ("risk_open.line", "risk_open_settled_by.line"),
        "largest risk at least {lower:least}, each {cells} at most {upper:most}{LIMIT}",
    ),
    "within_limit.line": "{quantity:checked} at most {upper:within} ({against:attackers}){LIMIT}",
    "above_limit.line": "{quantity:checked} at least {lower:above}{LIMIT}",
    "claim_consistent.line": "advantage at least {lower:least}; the claim allows {allowed:most}",
    "claim_beside_unbounded_records.line": "{reason} (how much the records alone explain: unknown)",
    "claim_beside_records.line": "{reason} (allowing for {most:most} that the records may explain)",
    "claim_contradicted.line": "{ADVANTAGE}, above the {allowed:most} that the claim allows",
    "named_within.line": "{subject} is at most {upper:within}{among:whom}{LIMIT}",
    "named_open.line": "{subject}[ at least {lower:least}][, at most "
    "{upper:most}]{among:whom}{LIMIT}",
    "named_above.line": "{subject} is at least {lower:above}{among:whom}{LIMIT}",
    "beside_verdict": "[accepted by {person} until {expires}\n{status:said}][the waiver by "
    "{person} expired after {expires}\n{status:unless}][needs ~{records_to_settle:count} records "
    "in all\n][assuming that {assuming}\n][a waiver matches no limit\n{unmatched:said}]"
    "[{alike:count} of {limits:count} checks {alike:is|are} {verdict:status}]"
    "[, {undecided:count} inconclusive{alike:said}][\n{alike:said}]",
}

# What decided a verdict, or withheld it.
VERDICTS: Final[Texts] = {
    "no_limit": "no limit was given to compare with",
    "of_score": "for score {score:quoted}[ in {report:quoted}], {reason}",
    "of_query": "for query {query:quoted}, {reason}",
    "of_records": "the blind {reason}",
    # Where a sentence before names what all scores have in common.
    "of_named": "for {score:quoted}[ in {report:quoted}], {reason}",
    "waived": "{reason}; {status:status}, accepted by {person} until {expires}, reason: {because}",
    "waiver_ended": "{reason}; the waiver by {person} expired after {expires}",
    "of_these_attackers": "the verdict is about these attackers only, not about the best attacker",
    # Why what the limits meet is open all the same.
    **dict.fromkeys(
        ("open_copies", "copies_not_accepted"),
        Entry(
            "members' records appear in the release unchanged, and no limit on copies "
            "(`max_copies`) accepts them",
            next=("set how many copies you accept (`max_copies`)", "synthetic-data"),
        ),
    ),
    "open_copies_unread": "for some members the input does not say whether they appear in the "
    "release unchanged",
    "open_missing_tells": "scores are missing more often in one group, which gives membership "
    "away; those rows were left out",
    "open_rounded": "scores were rounded because a few rows have fewer digits; the policy limits "
    "{waived:kept} for the rounded scores, but no 'at most' is known for scores before rounding",
    "open_sites_missing": Entry(
        "some sites that chose the score ranges are missing, so their records are left out here; "
        "for the other sites the policy limits {waived:kept}",
        next=("add the summaries of the missing sites", "scale"),
    ),
    "open_parts_skipped": Entry(
        "parts of the input cannot be read and were skipped, so their records are left out here; "
        "for the records that were read the policy limits {waived:kept}",
        next=("replace the files that cannot be read", "scale"),
    ),
    # Of an answer that is open already.
    "sites_not_covered": Entry(
        "some sites that chose the score ranges are missing, so their records are missing here",
        next=("add the summaries of the missing sites", "scale"),
    ),
}

# Why a limit is kept, and what claims, attacks, means and guesses have.
CHECKS: Final[Texts] = {
    "within_limit": "{quantity:checked} is at most {upper:within} {against:class}{WITHIN}",
    "copies_untold": Entry(
        "the number of copied members is unknown: the input lacks the column exact_copy, which "
        "`mipaudit query` writes, or some of its values are neither 0 nor 1",
        next=("read what may decide it", "synthetic-data"),
    ),
    "copies_above_limit": Entry(
        "{COPIES}{ABOVE}",
        next=("leave the copies out of the release", "synthetic-data"),
    ),
    "copies_within_limit": "{COPIES}{WITHIN}",
    # Of the largest risk in any cell.
    "risk_within_limit": "the risk of every {cells} is at most {upper:most}{WITHIN}",
    # Of a quantity that is named in words.
    "named_within": "{subject} is at most {upper:within}{among:whom}{WITHIN}",
    "increase": "the increase",
    "attribute_advantage": "the attribute advantage of these guesses",
    "membership_advantage": "the membership advantage of these guesses",
    "attack_advantage": "the advantage of the attack {attack:quoted}",
    "best_advantage": "the advantage of the best attacker who sees the score",
    # Claims of differential privacy.
    "claim_not_comparable": "{ADVANTAGE}: above the {by_substitution:most} allowed if the claim is "
    "about the exchange of one record (substitution), not above the {allowed:most} allowed if it "
    "is about one record added or removed (add-remove); say with `adjacency` which it is",
    "claim_vacuous": "the claim allows an advantage of {allowed:most}: it rules out almost nothing",
    "claim_consistent": "the data do not refute the claim (nor prove it), because the lower limit "
    "of the advantage, {lower:least}, is not above the {allowed:most} that the claim allows",
    "claim_beside_unbounded_records": "{reason} (how much the records alone explain is unknown: "
    "{NO_MOST})",
    "claim_beside_records": "{reason} (what the records may explain, {most:most}, does not count)",
    # Why an attack, a mean or guesses have no figure.
    "mean_of_infinite": "a mean needs finite scores",
    "mean_of_missing": "a missing score has no size; to leave out rows without a score: `nan` drop",
    "mean_of_few": "no mean is shown for fewer than {least:number} members or holdout records "
    "(`min_cell`)",
    "mean_without_bound": "no valid 'at least' or 'at most' is known for the mean of a loss "
    "without a bound; give `loss_bound` B if the loss cannot exceed B",
    "all_clipped": "every score is below 0 or above the bound",
    "nothing_to_learn": "the burn-in has no row from which the attack could learn",
    "told_of_these_rows": "the value given to the attack was computed from the records on which it "
    "is judged; leave the value out, and the attack learns one from other records",
    "empty_class": "no member, or no holdout record, is left to judge the attack",
    "no_common_value": "no value of the attribute occurs among both members and holdout records",
}

# Why a limit is not kept.
NOT_KEPT: Final[Texts] = {
    "above_limit": "{quantity:checked} is at least {lower:above}{ABOVE}",
    "above_limit_beside_records": "{quantity:checked} is at least {lower:above} {COMMON}{ABOVE}, "
    "even if the records alone explain {blind:most}",
    "difference_shown": "the exact test shows that scores of members and holdout differ, by "
    "membership or for another reason, and the limit allows no difference",
    "risk_above_limit": "{RISKS}{ABOVE}",
    "named_above": "{subject} is at least {lower:above}{among:whom}{ABOVE}",
    "claim_contradicted": "{ADVANTAGE}, above the {allowed:most} that the claim allows: the claim "
    "is false, or members and holdout differ in other ways, or records depend on each other",
}

# Why a limit is open where there is nothing to compare with it.
UNLIMITED: Final[Texts] = {
    "no_upper_limit": "{quantity:checked}{lower:known}, and no 'at most' can be given "
    "{against:best_guessers}, so the limit of {limit:number} cannot be shown to be met; choose a "
    "class of attackers with `against`",
    "open_in_report": "{quantity:checked}{lower:known}; these figures of the report leave open "
    "whether the limit of {limit:number} is met",
    "difference_unknown": "no test says whether members and holdout records differ at all",
    "difference_not_shown": "the exact test shows no difference between members and holdout "
    "records: that does not prove that there is none, and the limit of 0 cannot be shown to be met",
    "risk_uncounted": "{RISKS}, and for {uncounted:count} {uncounted:record|records} no 'at most' "
    "is known, because all records in their score ranges are in the burn-in{LIMITED}",
    "named_without_limits": "{subject} has no 'at least' and no 'at most'{among:whom}{LIMITED}",
    "named_unknown": "{subject} is not known ({why}){among:whom}{LIMITED}",
    "score_only_in_new": "the old report does not have this score",
    "score_only_in_old": "the new report does not have this score",
}

# Why a limit is open, or is not held against the model, beside what the records alone tell.
EXPLAINED: Final[Texts] = {
    "open_beside_records": "{OPEN}the figures leave open whether it is met, however much the "
    "records alone explain",
    "difference_of_records": "the exact test shows that members and holdout records differ, "
    "perhaps even without the release; how much they differ without it is unknown",
    "texts_not_seen": "most texts of a column were not examined (see the findings): what the "
    "records alone may explain has no upper limit",
    "perhaps_of_records": "{AT_LEAST}, and how much of this the records alone may explain is "
    "unknown{LIMITED}",
    "explained_by_records": "{AT_LEAST}, of which the records alone may explain "
    "{most:most}{LIMITED}: only what goes beyond the records counts against the model",
    "beyond_records": "{AT_LEAST}, of which the records alone may explain {most:most}; {COMMON} "
    "the figure is at least {beyond:least}{LIMITED}: only what goes beyond the records counts "
    "against the model",
    "unbounded_records": "{EXPLAINED}",
    "unbounded_records_or_assert": "{EXPLAINED}{ASSERT}",
    "unbounded_records_or_assert_under": "{EXPLAINED}{ASSERT}: if that is less than "
    "{under:number}, the limit is not met",
    "hidden_by_records": "{AT_MOST} over all records{APART}",
    "hidden_by_records_alike": "{AT_MOST} over all records and at most {alike:most} "
    "{COMMON}{APART}",
    "hidden_by_difference": "{HIDDEN}",
    "hidden_by_difference_or_assert": "{HIDDEN}{ASSERT}: if that is {up_to:number} or less, the "
    "limit is met",
}

# What to do where more records may not decide it.
_READ: Final = ("read what may decide it", "choose-a-limit")
# Why a limit is open that more records may settle.
OPEN: Final[Texts] = {
    "open": Entry("{OPEN}{UNKNOWN}", next=_READ),
    "open_settled_by": "{OPEN}{ENOUGH}",
    "open_unpromised": "{quantity:checked}{lower:known}{LIMITED}",
    "risk_open": Entry("{OPEN_RISKS}{UNKNOWN}", next=_READ),
    "risk_open_settled_by": "{OPEN_RISKS}{ENOUGH}",
    "named_open": "{subject}{lower:known}{among:whom}{LIMITED}",
}

# Why a figure, or a limit of it, is not there.
REASONS: Final[Texts] = {
    "lower_of_any": "see 'at least' in the row named 'any attacker'",
    "upper_of_classes": "no 'at most' holds for all attackers if the score can be any number; see "
    "the classes of attackers",
    "upper_of_vector_classes": "no 'at most' holds for all attackers if the score is several "
    "numbers of any size; see the classes of attackers",
    "upper_of_record_classes": "no 'at most' holds for all attackers who see a whole record; see "
    "the classes of attackers",
    "upper_needs_any": "no 'at most' is known that holds for all attackers",
    "same_data": "a best estimate could be made only from the rows that also chose the attacker, "
    "and would be too high on average",
    "few_to_cut": "too few rows in the burn-in to cut 16 bins",
    "few_rows": "too few rows",
    "few_holdout": "not estimable: only {holdout:count} holdout records can be used, and "
    "{needed:count} are needed at this FPR and confidence",
    "few_for_combinations": "too many different combinations of values for the number of rows",
    # Of a lower limit that is there.
    "lower_without_score": "not in the report: the figure of blind guessing is used instead",
    "lower_of_tpr": "not in the report: computed from the TPR at the report's largest FPR",
    # A limit of these says nothing: it would be as large as the quantity can be.
    "vacuous_tpr": "vacuous: the holdout is too small for an 'at most' below 1",
    "vacuous_metric": "vacuous: the data allow no 'at most' below the largest possible value; if "
    "you set a minimum (of the recall, for example), a higher one may help",
    "p_value_without_limits": "no confidence limits; verdicts use p-values only if a policy asks",
    "many_to_count": "not counted, because there are more than {rows:count} rows",
    "nobody_guessed": "0/0: in the rows used for this, nobody was guessed to be a member",
    "noise_only_lowers": "noise can only lower the advantage; without noise: see the row 'any "
    "attacker'",
    "no_spread": "the burn-in scores are all equal, or cannot be ordered from low to high",
    "nothing_learned": "each column has one value in all burn-in rows: nothing could be learned",
}

ENTRIES: Final = {
    **entries(ANSWERS | LINES | VERDICTS | CHECKS | REASONS, _PHRASES),
    **entries(
        NOT_KEPT,
        _PHRASES,
        following=("cut the leak", "choose-a-limit"),
    ),
    **entries(OPEN, _PHRASES, following=("more records may decide it", "choose-a-limit")),
    **entries(UNLIMITED, _PHRASES, following=_READ),
    **entries(
        EXPLAINED,
        _PHRASES,
        following=("read how to tell a leak from a difference of records", "members-and-holdout"),
    ),
}
