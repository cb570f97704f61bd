"""What figures do not say, by the command whose figures they are."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "ALIKE": "Members and holdout records are assumed to be picked at random, independently of each"
    " other, and to differ only in membership.",
    "SHIFT_APPROXIMATE": "The limits of the advantage are approximate at some sample sizes; the "
    "documentation says how often they held in tests.",
}

_SENTENCES: Final = {
    # Of estimate.
    "one_query": "The limits are about this score of this release. Another query, or an attacker "
    "who sees more than the score, may learn more.",
    "alike": "{ALIKE} If they differ in other ways, that difference is counted in the advantage "
    "too.",
    "average": "The advantage is an average over records. A few records can be exposed far more.",
    "continuous": "A continuous score has no upper limit that holds for every attacker: each 'at "
    "most' names its class of attackers.",
    "not_joint": "The confidence holds for one quantity, such as the advantage, over all scores "
    "together. It does not hold for several quantities at once, such as the advantage and the AUC.",
    "joint": "The confidence holds for all rows together (`joint`), but not for the p-values of "
    "a difference.",
    "approximate": "Limits that the full report marks 'approximate' are not proved at every "
    "sample size; the documentation says how often they held in tests. `strict` "
    "gives limits of the advantage that hold at every sample size.",
    "strict_limits.fresh": "Limits marked 'finite-sample' are proved for a seed that is drawn at "
    "random. The operating system drew the seed of this run.",
    "strict_limits.summaries": "Limits marked 'finite-sample' are proved over the draw of the seed "
    "of each summary, where that seed was drawn. With a stated seed they hold on average over "
    "seeds.",
    "strict_limits.stated": "The seed was stated. The limits of `strict` then hold on average over "
    "seeds; without `seed`, `strict` draws a seed that nobody could choose.",
    "noised": "A limit for the score with noise is about a release that adds that noise to the "
    "score, drawn once for each record and never again; two answers about one record, or another "
    "score of it, reveal more. The limit says nothing about the score without noise.",
    "published": "The rows and cells of MACE are as published, without allowing for several "
    "rows. They are not valid limits, and decide nothing.",
    "one_run": "The limits are for one run. If somebody runs again with other seeds or settings "
    "and keeps the best, they are untrue.",
    "blind_seen": "What the records alone reveal was measured on the columns of the tables that "
    "mipaudit shift saw. Other columns may explain more of the advantage.",
    "blind_dependent": "Records are assumed to be independent: families, clusters, or several "
    "records of one person can be told apart although both groups come from one population.",
    "blind_not_shown": "Showing no difference between members and holdout does not prove that "
    "there is none. A difference that was not seen can hide a leak: a limit is met for these "
    "members and this holdout.",
    "blind_asserted": "The verdict rests on an assertion that no data here prove: that nobody who "
    "sees the records alone has an advantage above {bound:number}.",
    "error_over_columns": "The limits hold for all {columns:number} scores at once, except an 'at "
    "most' that decides a verdict, which holds for its score alone. That is enough, because a "
    "release passes only if every score does.",
    # Of a verdict that was reached after its report.
    "judged_again": "The report was judged again from its limits, not from the data: the verdict, "
    "over {limits:limits}, holds with {confidence:percent} confidence, if what is limited was "
    "chosen without looking at the figures.",
    # Of attacks that are named.
    "attack_policy": "A policy is judged on limits: it is not met where one named attack, or the "
    "best attacker, is surely above, and met where each named attack is surely within. A policy "
    "that is met here is met for these attacks only, not for the best attacker: for that, "
    "`mipaudit estimate` has limits.",
    "attack_no_safety": "A named attack that fails shows nothing about other attacks. The limits "
    "of the best attacker who sees the score are shown too; another query may reveal more.",
    "attack_learned": "An attack that learns uses the burn-in for that, rows on which the attack "
    "is not judged. Its limits are those of the attack that learned exactly this; with more rows "
    "to learn from, the attack may do a little better.",
    "attack_same_rows": "'same rows' is the advantage of an attack that learns from all rows and "
    "is judged on them, as papers print it. That figure has no limits and tends to be too high.",
    "attack_predicted": "'formula' is what the paper's formula gives for normal residuals with "
    "these standard errors. It is not a measurement, and residuals are often not normal.",
    "drawn_alike": "{ALIKE}",
    "attack_not_joint": "Each pair of limits has its own confidence, which covers all score "
    "columns. So 'at least' of a named attack can be above that of the best attacker, who does at "
    "least as well. Do not pick the largest 'at least' of them: the confidence does not cover "
    "that. The limit under 'All limits together' allows for the picking.",
    "attack_related": "The line 'any attacker' has the limits of mipaudit estimate on these "
    "scores. Limits that hold for all lines at once can be wider.",
    "attack_approximate": "Most limits are approximate, and the documentation says how often they "
    "held in tests: limits of counts are melded Clopper-Pearson limits, those of how far an attack "
    "falls short are score limits. Limits of mean losses hold at every sample size; where every "
    "loss is 0 or the bound, they are limits of counts.",
    # Of guesses of an attribute.
    "attribute_these": "The figures are about these guesses. Another attacker may guess better: "
    "guesses that gain nothing from membership show nothing about other guesses.",
    "attribute_better": "The attribute advantage is how much more often members are guessed right "
    "than others, not how often: what the release reveals about everybody is in the shares of "
    "right guesses.",
    "attribute_shares": "The attribute advantage weighs each value by its share among all records "
    "of the input.",
    "attribute_reduction": "The membership advantage is that of an attacker who knows the "
    "attribute and has the guess. The lower limit also holds for the best such attacker; the upper "
    "limit holds for this attacker only.",
    "attribute_alike": "{ALIKE} The guesses must not have been made by somebody who knew who is "
    "a member.",
    "attribute_melded": "Each pair of limits holds by itself; those of the single values hold "
    "jointly. They are melded Clopper-Pearson limits: approximate, with their measured coverage in "
    "the documentation.",
    # Of a comparison of queries.
    "compare_only_these": "The limits are about these queries. Another query, or an attacker who "
    "sees more, may learn more.",
    "compare_class": "A difference is stated for a named class of attackers, and compares the best "
    "attacker of that class on either query. For all attackers a continuous score has no upper "
    "limit, so a difference has none either.",
    "compare_independent": "You said that the inputs hold different records (`independent`). If "
    "they overlap, the limits of their differences may be too narrow.",
    "compare_unknown": "Inputs whose rows are not matched may hold the same records: their limits "
    "are added up. `key_col` matches rows, `independent` states that the records differ; either "
    "makes the differences more precise.",
    "compare_naive": "If the query with the largest limit is picked, that limit is not valid: the "
    "same rows picked the query and judge it. It is shown only for comparison.",
    "compare_together": "What two scores reveal together is compared with the best attacker of a "
    "class on either score alone. Attackers outside the class may already reach as much with one "
    "score.",
    "compare_not_joint": "The confidence holds for all advantages together, and for all "
    "differences of one class together. It does not hold for several classes or tables at once.",
    "compare_related": "'At least' may differ a little from mipaudit estimate, because all queries "
    "use one order of the rows and the limits hold for all queries together.",
    "compare_approximate": "All limits are approximate: they are not proved at every sample "
    "size. The documentation says how often they held in tests.",
    # Of a comparison of reports.
    "reports_only_these": "The limits are about the scores that both reports have. Another score, "
    "or an attacker who sees more, may reveal more.",
    "reports_at_their_word": "Reports are believed as they are: nothing is computed from the data "
    "again.",
    "reports_stored": "A change is limited by the limits in the reports, whatever records they "
    "share. That is much less precise than comparing the score files themselves (mipaudit compare "
    "old=v1.parquet new=v2.parquet).",
    "reports_floors": "A report of estimate has no lower limit of the advantage within a class of "
    "attackers. The advantage of blind guessing is used instead, or, if the class includes "
    "attackers with one threshold, what follows from the TPR at the largest FPR in the report.",
    "reports_ceilings": "For all attackers a continuous score has no upper limit, so its change "
    "has none either. Bins, grids and learned scores are each report's own.",
    "reports_joint": "The confidence holds for one quantity and class, over all scores and reports "
    "together. It does not hold for several quantities, classes or tables at once.",
    "reports_beforehand": "Choose the old report, the class of attackers and the limit before you "
    "see the new report. Making several new reports and keeping the best makes the limits untrue.",
    # Of an audit of epsilon.
    "epsilon_lower": "These are lower limits. A better attack or a worse record may show more; a "
    "limit of 0, or a claim that is not refuted, is no evidence of privacy.",
    "epsilon_estimate": "A best estimate is about the attack that was judged, and proves nothing.",
    "epsilon_not_joint": "Limits by different methods hold one by one, not jointly; the verdict "
    "rests on the limit that was asked for.",
    "epsilon_keep_best": "If somebody audits again with other seeds, scores or settings and "
    "keeps the best, the limit is untrue. With several score columns in one "
    "audit, the limits allow for all of them.",
    "epsilon_profile": "The limits of the curve hold jointly for every delta, but separately from "
    "the limit above.",
    "epsilon_power": "What the audit could have found is approximate, computed for the best "
    "thresholds on two mechanisms; other mechanisms may be harder.",
    "epsilon_one_run": "One run cannot reach the epsilon of every mechanism, however many canaries "
    "it has (Keinan et al. 2025): the limit may stay far below the truth.",
    # Of noise.
    "noise_estimated": "The noise rests on estimates from random splits, which must be independent "
    "of the released one: few splits can miss a rare, large output. `strict` takes limits that "
    "hold at every sample size.",
    "noise_strict": "The limit that the noise rests on holds at every sample size, for any "
    "release, if the splits (and pairs) are independent of each other and of the released one.",
    "noise_seeded": "The noise came from a seed: somebody who learns or guesses the seed can "
    "remove the noise. This is an experiment, not a private release.",
    "noise_accepted": "The release was not checked against its splits (`release_unlike_splits` "
    "accept): the noise is measured on the splits, and the owner answers for the release being one "
    "more of them.",
    "noise_on_average": "eta limits an attacker's accuracy on average over what may be released: a "
    "single release can still give a record away, with a probability of up to 2 eta if half is "
    "trained on (in general, eta divided by the smaller of the shares in and out of the training "
    "set).",
    "noise_does_not_compose": "The promise is for one release: two releases that are each private "
    "can together give every record away. The etas of moment, swap and direct noise add up only if "
    "all releases were fixed before any was seen, with independent noise and the same training "
    "set. Otherwise use differential privacy.",
    "noise_of_these_records": "The promise is about which of the records at hand were trained on. "
    "It does not cover who is among these records, nor what can be learnt about a person.",
    # Of scores that are made.
    "query_only_scores": "These are scores, not an audit: `mipaudit estimate` shows how much they "
    "leak, with limits that hold.",
    "query_these": "Limits found from these scores are about these queries. An attacker who looks "
    "at the synthetic records in another way may learn more; a low figure here does not make the "
    "release safe.",
    "query_encoding": "Distances depend on the columns, their scales and the metric. They were "
    "fixed without looking at who is a member; to choose among several by what they find, use new "
    "records.",
    "query_copies": "Counts of exact copies are counts, not limits: compare those of members with "
    "those of holdout records. Records that were not tested may be copied as well.",
    # Of scores of a model's outputs.
    "losses_shared": "If several scores of one model are audited together, each limit is wider: "
    "name the scores that matter with `score_col`. conf_true is computed from "
    "the loss and reveals no more.",
    "losses_as_answered": "The scores are of one model as it answered. Members and holdout records "
    "must differ only in membership, or a score shows how else they differ.",
    "losses_same_record": "The reference model must not have been trained on the audited records, "
    "and its outputs must be of the same records in the same order.",
    # Of scores of shadow models.
    "lira_normal": "The normal laws are the attack's model of the shadow models, not a claim. Even "
    "where these laws are wrong, limits of the score's advantage hold.",
    "lira_alike": "Shadow models must be trained like the target, on records of the same "
    "population, and the target must not be among them.",
    "lira_one_query": "One query for each record: attacks that average over augmented copies of a "
    "record can be stronger. If you have such copies, average their phi first.",
    # Of the risk of records.
    "records_values": "Each value of the score that is frequent enough is a cell; rarer values "
    "share a cell with their neighbours, and its risk is their average: a single rare value can be "
    "exposed more, or less.",
    "records_average": "The score is continuous: each risk is the average risk of the records in a "
    "cell, and single records of a cell can be exposed more, or less. No method can limit the risk "
    "of a single value of a continuous score from above.",
    "records_burn_in": "Records that served to set the cells are not counted in the figures of "
    "the cells. Each of them gets the risk of the cell that it falls in.",
    "records_pointwise": "Limits named pointwise hold for one cell at a time: among many cells, "
    "some limits will be wrong.",
    "records_list": "The list says what share of its cells is there by mistake, on average and at "
    "most; of the records in it, the share may be larger. This assumes that the counts of "
    "different cells are independent, or nearly so.",
    "records_groups": "A difference between groups is that of one attack, with the same threshold "
    "for everybody: the best attacks on two groups may differ more, or less. The confidence holds "
    "for one quantity over all groups together, not for several quantities at once.",
    "records_population": "The risk is about these training records: the members are assumed to be "
    "a sample of them, drawn without replacement.",
    "records_approximate": "The limits are approximate if the numbers of members and holdout "
    "records were fixed beforehand. The documentation says how often they held in tests.",
    "records_alike": "{ALIKE} If they differ in other ways, that difference is counted in the "
    "risk too.",
    # Of the records alone.
    "shift_no_release": "The release was not examined: this shows how fair a test on these records "
    "is, not whether the release leaks.",
    "shift_blind": "The blind advantage is what somebody can learn about membership from the "
    "columns of a record alone, without the release. Columns that are not in the tables may reveal "
    "more.",
    "shift_upper": "The upper limit for any attacker is about the columns compared, which hold few "
    "combinations of values; the other limits name their attackers.",
    "shift_no_upper": "Each 'at most' names its attackers: those who use the learned score in that "
    "way. No upper limit holds for every attacker who sees a whole record: another way of looking "
    "may reveal more.",
    "shift_passing": "Showing no difference does not prove that there is none, nor that records "
    "are independent: families, or several records of one person, can be told apart through a "
    "model although both classes come from the same population.",
    "shift_burn_in": "A part of the rows, the burn-in, was used to train the attackers and to "
    "set the cells; only the other rows are counted. If somebody runs again "
    "with other seeds and keeps the best, the limits are untrue.",
    "shift_tests": "A column's test looks at one column by itself, and assumes independent rows; "
    "only the learned score sees columns that differ only together.",
    "shift_persons": "Rows are assumed to be independent. Where a person can have several rows, "
    "give `id_col`: one row for each person and class is then kept, and persons in both classes "
    "are counted.",
    "shift_approximate": "{SHIFT_APPROXIMATE} With `strict` they hold at every sample size.",
    "shift_approximate_stated": "{SHIFT_APPROXIMATE}",
    # Of measured coverage.
    "validation_laws": "Coverage was measured on these laws, sizes and priors. On others it may "
    "differ, and no records that depend on each other were drawn.",
    "validation_unseen": "A smaller shortfall than the one named above may have stayed unseen; "
    "more files would show it.",
    "validation_definitions": "AUC and TPR are computed for the side of the score that a report "
    "would choose, the bins are those that the burn-in of each file cut, and the attack whose "
    "epsilon and mu are limited says 'member' where the score is above 0.5.",
    # Of a report that is checked.
    "verify_unsigned": "This check does not show who wrote the statement, and anybody can write a "
    "statement that agrees. To know who wrote it, verify its signature.",
    "verify_follows": "Agreement means that the report follows from these scores and settings. It "
    "does not show that the scores are those of the release, nor that the settings were wise.",
    "verify_as_stated": "When it was made, by which version, the names of its inputs, the sources "
    "and places of its settings, the path of its policy, and what is declared ({declared:text}) "
    "are as stated: nobody checked them, so the figures in people depend on those statements.",
    "verify_other_versions": "Figures of another version of mipaudit, of a library or of a "
    "processor can differ without anybody having changed the report.",
    "released_unread": "mipaudit did not read {names:text}: only the person who signs states that "
    "the scores were made with {files:it|them}.",
    # Of reports in a folder.
    "history_order": "The order is by the times that the reports state. Nobody checked the times "
    "or the names.",
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
    "bounds_baseline": "The baseline is what an attacker who knows all other data reaches without "
    "the record. Only where records are independent is that what they reach without the release. "
    "For a yes or no with one yes in ten, the baseline is 0.9: always say no.",
    "bounds_drawn_runs": "The number of runs counts as drawn only if its law was fixed and it was "
    "drawn before the first run, and only the best run is published, without the number of runs. A "
    "number that was chosen, or that grew as results came in, counts as fixed: then every run "
    "counts as published.",
    "bounds_best_run": "The best run is chosen by what the runs release: a score on the same data "
    "must be part of each run's guarantee, and settings must not depend on the data.",
    "bounds_one_release": "Each guarantee keeps the target by itself. The noise is for one release "
    "of a quantity with that sensitivity; repeated releases need more noise.",
    "bounds_target_if_alike": "The target holds for one member and one holdout record drawn from "
    "the same population: where the two groups differ, or records depend on each other, an "
    "attacker can exceed it.",
    "bounds_pairs_told_apart": "The attack rules out a guarantee for the pairs of inputs that it "
    "told apart: epsilon by add or remove if a record was there or not, epsilon by substitution if "
    "a member was exchanged for a holdout record. A better attack may rule out more.",
    "bounds_independent_trials": "The rates must come from independent trials of the mechanism. "
    "Members and holdout of one trained model are not such trials: they rule out no epsilon.",
    "bounds_attack_fixed": "The attack must have been fixed before its rates were counted: a "
    "threshold chosen on the same data makes the limits too high.",
    "bounds_prior_excludes": "At this prior no attacker beats the one who always gives the "
    "likelier answer: look at the TPR at a low FPR and at the precision instead, or use prior 0.5.",
    "bounds_grid": "The accountant rounds privacy losses up to a grid; about {excess:chance} of "
    "the advantage comes from that rounding.",
}

ENTRIES: Final = entries(_SENTENCES, _PHRASES)
