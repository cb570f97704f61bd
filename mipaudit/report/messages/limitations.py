"""What figures do not say, by the command whose figures they are."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "ALIKE": "Members and holdout records are assumed to be picked at random, independently of "
    "each other, and to differ only in membership.",
    "SHIFT_APPROXIMATE": "The limits of the advantage are approximate at some sample sizes; the "
    "documentation says how often limits held in tests.",
}

_SENTENCES: Final = {
    # Of estimate.
    "one_query": "The limits are about this score of this release. Another query, or an attacker "
    "who sees more than the score, may learn more.",
    "alike": "{ALIKE} Any other difference is counted in the advantage too.",
    "average": "The advantage is an average over records. A few records can be exposed far more.",
    "continuous": "For a continuous score no upper limit of the advantage holds for every "
    "attacker: each 'at most' names its class of attackers.",
    "not_joint": "The confidence holds for one quantity, such as the advantage, over all scores "
    "together. It does not hold for several quantities at once, such as the advantage and the AUC.",
    "joint": "The confidence holds for all lines of the tables together (`joint`), but not for the "
    "p-values of a difference.",
    "approximate": "Limits that the full report marks 'approximate' are not proved at every sample "
    "size; the documentation says how often they held in tests. `strict` gives limits of the "
    "advantage that hold at every sample size.",
    "strict_limits.fresh": "Limits marked 'finite-sample' are proved for a seed that is drawn at "
    "random. The operating system drew the seed of this run.",
    "strict_limits.summaries": "Limits marked 'finite-sample' are proved if the seed of each "
    "summary was drawn at random. With a stated seed, limits are right as often as promised only "
    "on average over all seeds, perhaps not with this one.",
    "strict_limits.stated": "The seed was stated. The limits of `strict` are then right as often "
    "as promised only on average over all seeds, perhaps not with this one; without `seed`, "
    "`strict` draws a seed that nobody could choose.",
    "noised": "A limit for the score with noise is about a release that adds that noise to the "
    "score, drawn once for each record and never again. Two answers about one record, or another "
    "score of the record, reveal more. The limit says nothing about the score without noise.",
    "published": "The lines and cells (score ranges) of MACE, a published method, are not "
    "corrected for showing many lines. These figures are no valid limits, and decide nothing.",
    "one_run": "The limits are for one run of the audit. If somebody runs the audit again with "
    "other seeds or settings and keeps the best result, the limits are untrue.",
    "blind_seen": "What the records alone reveal was measured on the columns of the tables that "
    "mipaudit shift saw. Other columns may explain more of the advantage.",
    "blind_dependent": "Records are assumed to be independent: if records belong together "
    "(families, clusters, several records of one person), members can be told from holdout records "
    "although both come from one population.",
    "blind_not_shown": "Showing no difference between members and holdout does not prove that "
    "there is none. A difference that was not seen can hide a leak, so a 'met' is only about these "
    "members and this holdout.",
    "blind_asserted": "The verdict rests on an assertion that the data here do not prove: that "
    "nobody who sees only the records, not the release, has an advantage above {bound:number}.",
    "error_over_columns": "The limits hold for all {columns:number} scores at once, except an 'at "
    "most' that decides a verdict: that 'at most' holds for its score alone. That is enough, "
    "because a release passes only if every score passes.",
    # Of a verdict that was reached after its report.
    "judged_again": "The report was judged again from its 'at least' and 'at most', not from the "
    "data: the whole verdict, on {limits:limits}, holds with {confidence:percent} confidence, if "
    "the quantities that are limited were chosen without looking at the figures.",
    # Of attacks that are named.
    "attack_policy": "A policy is judged by 'at least' and 'at most': it is not met if one named "
    "attack, or the best attacker, is surely above the policy's limit, and met if each named "
    "attack is surely within it. A 'met' here is for these attacks only, not for the best "
    "attacker: `mipaudit estimate` has limits for the best attacker.",
    "attack_no_safety": "A named attack that fails shows nothing about other attacks. The limits "
    "of the best attacker who sees the score are shown too; another query may reveal more.",
    "attack_learned": "An attack that learns does so from the burn-in, and is judged on the other "
    "rows. Its limits are for the attack as learned from the burn-in; with more rows to learn "
    "from, the attack may do a little better.",
    "attack_same_rows": "'same rows' is the advantage of an attack that learns from all rows and "
    "is judged on them, as in papers. It has no 'at least' or 'at most' and tends to be too high.",
    "attack_predicted": "'formula' is what the paper's formula gives for residuals with a normal "
    "(bell-shaped) distribution and these standard errors. It is not a measurement, and residuals "
    "often have another distribution.",
    "drawn_alike": "{ALIKE}",
    "attack_not_joint": "The confidence is for one pair of limits (an 'at least' and its 'at "
    "most') over all score columns. So 'at least' of a named attack can be above 'at least' of the "
    "best attacker, who does at least as well. Do not pick the largest 'at least': the confidence "
    "is not for a picked limit. The limit under 'All limits together' stays right if you pick.",
    "attack_related": "The line 'best attacker' has the limits of mipaudit estimate on these "
    "scores. Limits that hold for all lines at once can be wider.",
    "attack_approximate": "Most limits are approximate, and the documentation says how often they "
    "held in tests. For statisticians: limits of counts are melded Clopper-Pearson limits; limits "
    "of how far an attack falls short of the best attacker invert a score test. Limits of mean "
    "losses hold at every sample size; if every loss is 0 or the bound, they are melded limits of "
    "the number of losses at the bound.",
    # Of guesses of an attribute.
    "attribute_these": "The figures are about these guesses. Another attacker may guess better: if "
    "these guesses are right no more often for members than for others, other guesses may be right "
    "more often for members.",
    "attribute_better": "The attribute advantage is how much more often the attribute is guessed "
    "right for members than for other records. How often guesses are right is another figure: the "
    "shares of right guesses, which also contain what the release reveals about everybody.",
    "attribute_shares": "The attribute advantage weighs each value by its share among all records.",
    "attribute_reduction": "The membership advantage is that of one attacker, who calls a record a "
    "member where the attribute was guessed right. The best attacker who knows the attribute and "
    "the guess may do better: only the lower limit holds for this best attacker too.",
    "attribute_alike": "{ALIKE} Whoever made the guesses must not have known who the members are.",
    "attribute_melded": "The confidence is for each pair of limits by itself; for the limits of "
    "the single values it is for all these limits together. The limits are approximate (for "
    "statisticians: melded Clopper-Pearson); the documentation says how often they held in tests.",
    # Of a comparison of queries.
    "compare_only_these": "The limits are about these queries. Another query, or an attacker who "
    "sees more, may learn more.",
    "compare_class": "A difference is stated for a named class of attackers, and compares the best "
    "attacker of that class on one query with the best on the other. For a continuous score no "
    "upper limit of the advantage holds for all attackers, so none holds for a difference.",
    "compare_independent": "You said that the inputs hold different records (`independent`). If "
    "they overlap, the limits of their differences may be too narrow.",
    "compare_unknown": "Inputs whose rows are not matched may hold the same records, so the "
    "uncertainty of one input is added to that of the other. `key_col` matches rows, `independent` "
    "states that the inputs hold different records; either makes the differences more precise.",
    "compare_naive": "If the query with the largest 'at least' is picked, that 'at least' is not "
    "valid: the query is picked and judged by the same rows. It is shown only for comparison.",
    "compare_together": "What two scores reveal together is compared with the best attacker of a "
    "class on either score alone. Attackers outside the class may reach as much with one score.",
    "compare_not_joint": "The confidence holds for all advantages together, and for all "
    "differences of one class together. It does not hold for several classes or tables at once.",
    "compare_related": "'At least' may differ a little from mipaudit estimate, because all queries "
    "use one order of the rows and the limits hold for all queries together.",
    "compare_approximate": "All limits are approximate: they are not proved at every sample size. "
    "The documentation says how often they held in tests.",
    # Of a comparison of reports.
    "reports_only_these": "The limits are about the scores that both reports have. Another score, "
    "or an attacker who sees more, may reveal more.",
    "reports_at_their_word": "Reports are believed: nothing is computed from the data again.",
    "reports_stored": "The limits of a change are computed from the limits in the reports, and "
    "hold whatever records the reports share. Comparing the score files themselves (mipaudit "
    "compare old=v1.parquet new=v2.parquet) is much more precise.",
    "reports_floors": "The 'at least' in a report of mipaudit estimate is not for a single class "
    "of attackers. For a class, blind guessing's advantage serves as 'at least'. If the class "
    "includes one-threshold attackers, a limit is also computed from the TPR at the largest FPR in "
    "the report, and the higher of the two is used.",
    "reports_ceilings": "For a continuous score no upper limit of the advantage holds for all "
    "attackers, so none holds for a change of the advantage. Each report has its own score ranges "
    "(bins), grids of cells and learned scores, which can differ between reports.",
    "reports_joint": "The confidence holds for one quantity and class, over all scores and reports "
    "together. It does not hold for several quantities, classes or tables at once.",
    "reports_beforehand": "Choose the old report, the class of attackers and your own limit before "
    "you see the new report. Keeping the best of several new reports makes the limits untrue.",
    # Of an audit of epsilon.
    "epsilon_lower": "These are lower limits. A better attack or a record that is easier to detect "
    "may show more; a limit of 0, or a claim not refuted, is no evidence of privacy.",
    "epsilon_estimate": "A best estimate is about the attack that was judged, and proves nothing.",
    "epsilon_not_joint": "The confidence is for the limit by each method alone, not for the limits "
    "by several methods together; the verdict rests on the limit that was asked for.",
    "epsilon_keep_best": "If somebody audits again with other seeds, scores or settings and keeps "
    "the best result, the limit is untrue. With several score columns in one audit, the limits are "
    "corrected for their number.",
    "epsilon_profile": "The confidence is for the limits of the curve at every delta together, but "
    "not for the curve and the limit above together.",
    "epsilon_power": "The figures on what this audit could find are approximate: they assume "
    "Gaussian or Laplace noise and the best thresholds. Otherwise the audit may find less.",
    "epsilon_one_run": "One run cannot show the whole epsilon of every algorithm (mechanism), "
    "however many canaries the run has (Keinan et al. 2025): the limit may stay far too low.",
    # Of noise.
    "noise_estimated": "The noise rests on estimates from random splits (releases made from random "
    "parts of the data): a few splits can miss a rare, large output. The splits must be "
    "independent of the actual release. `strict` takes limits that hold at every sample size.",
    "noise_strict": "The limit that the noise rests on holds at every sample size, for any "
    "release, if the splits (releases made from random parts of the data) and pairs (two releases, "
    "one record exchanged) are independent of each other and of the actual release.",
    "noise_seeded": "The noise came from a seed: somebody who learns or guesses the seed can "
    "remove the noise. This is an experiment, not a private release.",
    "noise_accepted": "The release was not checked against its splits (`release_unlike_splits` "
    "accept): the noise is measured on the splits, and the owner is responsible that the release "
    "was made in the same way as the splits.",
    "noise_on_average": "eta limits an attacker's accuracy on average over all possible releases: "
    "a single release can still give a record away, with a probability of up to 2 eta if half of "
    "the records are trained on (in general, eta divided by the share of records in the training "
    "set or outside it, whichever is smaller).",
    "noise_does_not_compose": "The promise is for one release: two releases that are each private "
    "can together give every record away. For several releases with moment, swap or direct noise, "
    "eta is at most the sum of their etas, but only if all were fixed before any was seen, with "
    "independent noise and the same training set. Otherwise use differential privacy.",
    "noise_of_these_records": "The promise is about which of the records at hand were trained on. "
    "It says nothing about who is among these records, or what can be learnt about a person.",
    # Of scores that are made.
    "query_only_scores": "These are scores, not an audit: `mipaudit estimate` shows how much the "
    "scores leak, with valid limits.",
    "query_these": "Limits from these scores are about these queries. An attacker who looks at the "
    "synthetic records in another way may learn more; a low figure does not make the release safe.",
    "query_encoding": "Distances depend on columns, scales and the metric. All were fixed without "
    "looking at who is a member; to choose among settings by what they find, use new records.",
    "query_copies": "Counts of exact copies are counts, not limits: compare those of members with "
    "those of holdout records. Records that were not tested may be copied as well.",
    # Of scores of a model's outputs.
    "losses_shared": "If several scores of one model are audited together, each limit is wider: "
    "name those that matter with `score_col`. conf_true comes from the loss and reveals no more.",
    "losses_as_answered": "The scores are about one model, from the outputs that it gave. Members "
    "and holdout records must differ only in membership, or a score shows how else they differ.",
    "losses_same_record": "The reference model must not have been trained on the audited records, "
    "and its outputs must be of the same records in the same order.",
    # Of scores of shadow models.
    "lira_normal": "The attack assumes that phi (a shadow model's log-odds of the true class) "
    "follows normal distributions. Even if this is wrong, limits of the score's advantage hold.",
    "lira_alike": "Shadow models must be trained like the audited model, on records of the same "
    "population, and the audited model must not be among them.",
    "lira_one_query": "The model was asked once about each record: attacks that ask about slightly "
    "changed versions of each record (such as a mirrored picture) and average the answers can be "
    "stronger. With such versions, average their phi first.",
    # Of the risk of records.
    "records_values": "Each value of the score that is frequent enough has its own cell. Rarer "
    "values share a cell (a score range) with their neighbours, and the risk of that cell is an "
    "average: a single rare value can be exposed more, or less.",
    "records_average": "The score is continuous: each risk is the average risk of the records in a "
    "score range (cell), and single records in the range can be exposed more, or less. No method "
    "can give an upper limit of the risk of a single value of a continuous score.",
    "records_burn_in": "Records that served to set the cells are not counted in the figures of the "
    "cells. Each of these records gets the risk of its cell.",
    "records_pointwise": "Limits named pointwise hold for one cell at a time: among many cells, "
    "some limits will be wrong.",
    "records_list": "On average, at most the stated share of the cells in the list is there by "
    "mistake. Of the records in the list, the share may be larger. This assumes that the counts of "
    "different cells are independent, or nearly so.",
    "records_groups": "A difference between groups is that of one attack, with the same threshold "
    "for everybody: the best attacks on two groups may differ more, or less. The confidence holds "
    "for one quantity over all groups together, not for several quantities at once.",
    "records_population": "The risk is about these training records: the members are assumed to be "
    "a random sample of them, none drawn twice.",
    "records_approximate": "If the numbers of members and holdout records were fixed beforehand, "
    "the limits are only approximate. The documentation says how often they held in tests.",
    "records_alike": "{ALIKE} Any other difference is counted in the risk too.",
    # Of the records alone.
    "shift_no_release": "The release was not examined: this report shows how fair a test on these "
    "records is, not whether the release leaks.",
    "shift_blind": "The blind advantage is what somebody can learn about membership from a "
    "record's columns alone, without the release. Columns outside the tables may reveal more.",
    "shift_upper": "The upper limit for any attacker is about the columns compared, which hold few "
    "combinations of values; the other limits name their attackers.",
    "shift_no_upper": "Each 'at most' names its attackers, and is only for them: they use the "
    "learned score in the way that is named. No upper limit holds for every attacker who sees a "
    "whole record: another way of looking may reveal more.",
    "shift_passing": "Showing no difference does not prove that there is none, nor that records "
    "are independent: if records belong together (families, several records of one person), a "
    "model can tell members from holdout records although both come from one population.",
    "shift_burn_in": "A part of the rows, the burn-in, was used to train the attackers and to set "
    "the ranges of values; only the other rows are counted. If somebody runs the test again with "
    "other seeds and keeps the best result, the limits are untrue.",
    "shift_tests": "A column's test looks at one column by itself, and assumes independent rows; a "
    "difference that shows only in several columns together is seen only by the learned score.",
    "shift_persons": "Rows are assumed to be independent. If a person can have several rows, give "
    "`id_col`: then one row of each person is kept among members and one among holdout records, "
    "and the report says how many persons are in both.",
    "shift_approximate": "{SHIFT_APPROXIMATE} With `strict` the limits hold at every sample size.",
    "shift_approximate_stated": "{SHIFT_APPROXIMATE}",
    # Of measured coverage.
    "validation_laws": "How often limits are right (coverage) was measured on these distributions, "
    "sizes and priors. On others it may differ; dependent records were not tried.",
    "validation_unseen": "Limits that are right a little less often than promised (by less than is "
    "named above) may not have been found; more simulated files would show them.",
    "validation_definitions": "AUC and TPR are computed for the side of the score that a report "
    "would choose. The bins of each file were chosen from its burn-in. The limits of epsilon and "
    "mu are for the attack that says 'member' where the score is above 0.5.",
    # Of a report that is checked.
    "verify_unsigned": "This check does not show who wrote the statement, and anybody can write a "
    "statement that agrees. To know who wrote it, verify its signature.",
    "verify_follows": "Agreement means that the report follows from these scores and settings. It "
    "does not show that the scores are those of the release, nor that the settings were wise.",
    "verify_as_stated": "Nobody checked what is only stated: when and by which version the report "
    "was made, the names of its inputs, the sources and places of its settings, the path of its "
    "policy, and what is declared ({declared:text}). Figures such as 'about 20 people' are "
    "computed from what is declared.",
    "verify_other_versions": "Figures can differ without anybody having changed the report if "
    "mipaudit, a library or the processor is of another version.",
    "released_unread": "mipaudit did not read {names:text}: only the signer states that the scores "
    "were made with {files:it|them}.",
    # Of reports in a folder.
    "history_order": "The order is by the times in the reports. Nobody checked times or names.",
    "history_confidence": "Each limit holds with the confidence of its own report: among many "
    "limits, one is wrong now and then.",
    "history_overlap": "Whether two intervals overlap is no test of a change: mipaudit compare OLD "
    "NEW shows what changed.",
    # Of bounds.
    "bounds_most": "Every figure is the most that any attacker can reach, whatever they know and "
    "compute; the release itself was not examined.",
    "bounds_if_kept": "The figures hold if the guarantee holds, for one member and one holdout "
    "record drawn from the same population: where the two groups differ, or records depend on each "
    "other (families, clusters), an attacker can exceed them.",
    "bounds_mean_success": "Success is an average over the values that the attacker thinks "
    "possible for the person: one value may be found out more often than another.",
    "bounds_baseline": "The baseline is how often an attacker who knows all other records guesses "
    "right if the record is not in the data. If records are independent, this is also how often "
    "the attacker is right without the release; otherwise not. For a yes or no with one yes in "
    "ten, the baseline is 0.9: always say no.",
    "bounds_drawn_runs": "State that the number of runs was drawn at random only if its "
    "distribution was fixed, the number was drawn from it before the first run, and only the best "
    "run is published, without the number. If the number was chosen, or grew as results came in, "
    "state it as fixed: then every run counts as published.",
    "bounds_best_run": "The best run must be chosen by what the runs release: if a figure measured "
    "on the same data (such as accuracy) ranks the runs, each run's guarantee must cover that "
    "figure, too. Settings must not depend on the data.",
    "bounds_one_release": "Each guarantee keeps the target by itself. The noise is for one release "
    "of a quantity with the sensitivity that is named; repeated releases need more noise.",
    "bounds_target_if_alike": "The target holds for one member and one holdout record drawn from "
    "the same population: where the two groups differ, or records depend on each other, an "
    "attacker can exceed it.",
    "bounds_pairs_told_apart": "An attack that distinguishes data with a record from data without "
    "it rules out an epsilon for adding or removing a record. One that distinguishes data with a "
    "member from data with a holdout record in its place rules out an epsilon for exchanging "
    "records. Better attacks may rule out more.",
    "bounds_independent_trials": "The rates must be from independent runs of the algorithm. "
    "Members and holdout of one trained model are no such runs: they rule out no epsilon.",
    "bounds_attack_fixed": "The attack must have been fixed before its rates were counted: a "
    "threshold chosen on the same data makes the limits too high.",
    "bounds_prior_excludes": "At this prior no attacker beats the one who always gives the "
    "likelier answer: look at the TPR at a low FPR and at the precision instead, or use prior 0.5.",
    "bounds_grid": "The program that adds up privacy losses (the accountant) rounds them up; about "
    "{excess:chance} of the advantage comes from that rounding.",
}

ENTRIES: Final = entries(_SENTENCES, _PHRASES)
