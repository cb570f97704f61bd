"""What figures do not say, by the command whose figures they are."""

from __future__ import annotations

from typing import Final

from mipaudit.report.messages.told import entries

# What several sentences say alike, each for its name in braces.
_PHRASES: Final = {
    "SHIFT_APPROXIMATE": "The limits of the advantage are approximate at some sample sizes; their "
    "coverage is in the documentation."
}

_SENTENCES: Final = {
    # Of estimate.
    "one_query": "The limits concern this score of this release. Another query, or an attacker who "
    "sees more than the score, may learn more.",
    "alike": "Members and holdout records are taken to be independent draws, and alike but for "
    "membership. If they differ in other ways, the advantage includes that difference.",
    "average": "The advantage is an average over records. A few records can be exposed far more.",
    "continuous": "A continuous score has no upper limit that holds for every attacker: each 'at "
    "most' names its class of attackers.",
    "not_joint": "The confidence holds for each quantity, jointly over the score columns; "
    "different quantities are not joint.",
    "joint": "The confidence holds for all rows together (`joint`); the p-values of any difference "
    "are apart from it.",
    "approximate": "Limits marked 'approximate' are not proved at every sample size; their "
    "measured coverage is in the documentation. `strict` gives finite-sample limits of the "
    "advantage.",
    "strict_limits.fresh": "Limits marked 'finite-sample' are proved over the draw of the seed, "
    "which was taken from the operating system for this run.",
    "strict_limits.summaries": "Limits marked 'finite-sample' are proved over the draw of the seed "
    "of each summary, where it was drawn; over a stated one they hold as a mean over seeds, of "
    "which it is one.",
    "strict_limits.stated": "The seed was stated. The limits of `strict` then hold as a mean over "
    "seeds, of which this is one; without `seed`, `strict` draws one that nobody could choose.",
    "noised": "A limit for the score with noise is about a release that adds that noise to the "
    "score, drawn once for each record and never again; two answers about one record, or another "
    "score of it, tell more. It says nothing of the score as it is.",
    "published": "The MACE rows and cells are as published, each at the full error; they are no "
    "valid intervals and decide nothing.",
    "one_run": "The limits are those of one run. Running again with other seeds or settings and "
    "keeping the best makes them untrue.",
    "blind_seen": "What the records alone tell was looked for in the columns of the tables that "
    "mipaudit shift saw. Columns that it did not see may explain more of the advantage.",
    "blind_dependent": "Records are taken to be independent: families, clusters, or several "
    "records of a person can be told apart although both groups have one law.",
    "blind_not_shown": "That no difference between members and holdout is shown does not prove "
    "that there is none. A difference that was not seen can hide a leak: what is met is met for "
    "these members and this holdout.",
    "blind_asserted": "The verdict rests on an assertion that no data here prove: that nobody who "
    "sees the records alone has an advantage above {bound:number}.",
    "error_over_columns": "Every limit shares its error over the {columns:number} score columns.",
    # Of a verdict that was reached after its report.
    "judged_again": "It was judged again from the limits in the report, not from the data: the "
    "verdict, over {limits:limits}, holds with {confidence:percent} confidence, if what is limited "
    "was chosen without looking at the figures.",
    # Of attacks that are named.
    "attack_policy": "A policy is judged on limits: it is not met where one named attack, or the "
    "best attacker, is surely above, and met where each named attack is surely within. That a "
    "policy is met here is said of these attacks alone, never of the best one: for that, `mipaudit "
    "estimate` has limits.",
    "attack_no_safety": "That a named adversary fails shows nothing about others. The limits of "
    "the best attacker who sees the score stand beside it; another query may tell more.",
    "attack_learned": "An adversary that learns something learns it from the burn-in, rows on "
    "which it is not judged. Its limits are those of the adversary who learned exactly this; with "
    "more rows to learn from it may do a little better.",
    "attack_same_rows": "'same rows' is the advantage where an adversary learns from all rows and "
    "is judged on them, as papers print it. It has no limits and tends to be too high.",
    "attack_predicted": "'formula' is what the paper's formula says of normal residuals with these "
    "standard errors; it is no measurement, and residuals are often not normal.",
    "drawn_alike": "Members and holdout records are taken to be independent draws, and alike but "
    "for membership.",
    "attack_not_joint": "Each pair of limits holds by itself, jointly over the score columns. A "
    "lower limit of a named attack may so be above that of the best attacker: both hold, and the "
    "best attacker has what any other has. To pick the largest of them after looking is not "
    "covered; 'all limits together' is that largest one, with the error shared over them.",
    "attack_related": "'The best' has the limit of mipaudit estimate on these scores; limits over "
    "all lines share its error with the attacks.",
    "attack_approximate": "Limits of counts are melded Clopper-Pearson limits, and how far an "
    "adversary falls short has score limits: both approximate, with their measured coverage in the "
    "documentation. Limits of mean losses hold at every sample size; where every loss is 0 or the "
    "bound, they are of counts.",
    # Of guesses of an attribute.
    "attribute_these": "The figures concern these guesses. Another attacker may guess better; that "
    "these gain nothing from membership shows nothing about others.",
    "attribute_better": "The attribute advantage is how much better members are guessed than "
    "others, not how well: what the release tells of everybody alike is in the shares of right "
    "guesses.",
    "attribute_shares": "The attribute advantage weighs each value by its share among all records "
    "of the input.",
    "attribute_reduction": "The membership advantage is that of an attacker who knows the "
    "attribute and has the guess. Its lower limit is one for the best such attacker; its upper "
    "limit is for this one alone.",
    "attribute_alike": "Members and holdout records are taken to be independent draws, and alike "
    "but for membership; the guesses must not have been made with the knowledge of who is a "
    "member.",
    "attribute_melded": "Each pair of limits holds by itself; those of the single values hold "
    "together. They are melded Clopper-Pearson limits: approximate, with their measured coverage "
    "in the documentation.",
    # Of a comparison of queries.
    "compare_only_these": "The limits concern these queries. Another query, or an attacker who "
    "sees more, may learn more.",
    "compare_class": "A difference is stated for a named class of attackers, the best of it on "
    "either query. For all attackers there is no upper limit on a continuous score, and so none on "
    "a difference.",
    "compare_independent": "You said that the inputs hold different records (`independent`). If "
    "they overlap, the limits of their differences may be too narrow.",
    "compare_unknown": "Inputs whose rows are not matched may hold the same records: their limits "
    "are added up. With `key_col` rows are matched, with `independent` you say that the records "
    "differ; either makes the differences more precise.",
    "compare_naive": "What the largest limit is, its query chosen on the rows that it is judged "
    "on, is what picking it would print. It is no valid limit and is shown for comparison.",
    "compare_together": "An increase shown by two scores together is over the best of a class on "
    "either alone; attackers outside the class may already have it from one.",
    "compare_not_joint": "Advantages hold jointly over the queries, and the differences of one "
    "class jointly over the pairs. Different classes, and different tables, are not joint.",
    "compare_related": "'At least' may differ a little from mipaudit estimate: the queries share "
    "the error, and one order of the rows.",
    "compare_approximate": "All limits are approximate: not proved at every sample size; their "
    "measured coverage is in the documentation.",
    # Of a comparison of reports.
    "reports_only_these": "The limits concern the scores that both reports have. Another score, or "
    "an attacker who sees more, may tell more.",
    "reports_at_their_word": "A report is taken at its word: nothing is computed from data again.",
    "reports_stored": "A change is limited by the limits that the reports hold, whatever records "
    "they share. It is much less precise than to compare the score files themselves (mipaudit "
    "compare old=v1.parquet new=v2.parquet).",
    "reports_floors": "A report of estimate has no lower limit of the advantage within a class of "
    "attackers. That of blind guessing stands for it, or, where the class holds attackers with one "
    "threshold, what follows from the TPR at the largest FPR in the report.",
    "reports_ceilings": "For all attackers there is no upper limit on a continuous score, and so "
    "none on its change. Bins, grids and learned scores are each report's own.",
    "reports_joint": "The limits of one quantity and class hold jointly over all scores and "
    "reports. Different quantities, classes and tables are not joint.",
    "reports_beforehand": "Choose the old report, the class of attackers and the limit before you "
    "see the new report. To make several and keep the best makes the limits untrue.",
    # Of an audit of epsilon.
    "epsilon_lower": "These are lower limits. A better attack or a worse record may show more; a "
    "limit of 0, or a claim that is not refuted, is no evidence of privacy.",
    "epsilon_estimate": "A best estimate is that of the attack that was judged. It certifies "
    "nothing.",
    "epsilon_not_joint": "Limits by different methods hold one by one, not jointly; the verdict "
    "rests on the one that was asked for.",
    "epsilon_keep_best": "Auditing again with other seeds, scores or settings and keeping the best "
    "makes a limit untrue. Several score columns in one audit share the error.",
    "epsilon_profile": "The limits of the curve hold jointly for every delta, and apart from the "
    "one above.",
    "epsilon_power": "What could have been found is approximate, for the best thresholds on two "
    "mechanisms; others may be harder.",
    "epsilon_one_run": "One run cannot reach the epsilon of every mechanism, however many canaries "
    "it has (Keinan et al. 2025): the limit may stay far below the truth.",
    # Of noise.
    "noise_estimated": "The noise rests on estimates from random splits, which must be independent "
    "of the released one: few splits can miss a rare, large output. `strict` takes limits that "
    "hold at every sample size.",
    "noise_strict": "The limit that the noise rests on holds at every sample size, for any "
    "release, if the splits (and pairs) are independent of each other and of the released one.",
    "noise_seeded": "The noise came from a seed: whoever learns or guesses it can take the noise "
    "away. This is an experiment, not a private release.",
    "noise_accepted": "The release was not held to its splits (`release_unlike_splits` accept): "
    "the noise is made to measure of the splits, and whether the release is one more of them was "
    "left to its owner.",
    "noise_on_average": "eta limits an attacker's accuracy on average over what may be released: "
    "one release can still give a record away, with a probability of up to eta divided by the "
    "smaller of the shares in and out of the training set (2 eta where half is trained on).",
    "noise_does_not_compose": "It does not compose: two releases that are each private can "
    "together give every record away. The etas of moment, swap and direct noise add up only if all "
    "releases were fixed before any was seen, with independent noise and the same training set. "
    "Otherwise use differential privacy.",
    "noise_of_these_records": "It is about who, of the records at hand, was trained on; not about "
    "who is among these records, nor about what can be learnt of a person.",
    # Of scores that are made.
    "query_only_scores": "These are scores, not an audit: `mipaudit estimate` says how much they "
    "leak, with limits that hold.",
    "query_these": "Limits found from these scores concern these queries. An attacker who asks the "
    "synthetic records something else may learn more; a low figure here does not make the release "
    "safe.",
    "query_encoding": "Distances depend on the columns, their scales and the metric. They were "
    "fixed without looking at who is a member; choosing among several by what they find needs new "
    "records.",
    "query_copies": "Counts of exact copies are counts, not limits: compare those of members with "
    "those of holdout records. Records that were not tested may be copied as well.",
    # Of scores of a model's outputs.
    "losses_shared": "Several scores of one model share the error when they are audited together: "
    "name the ones that matter with `score_col`. conf_true is a function of the loss and tells no "
    "more.",
    "losses_as_answered": "The scores are of one model as it answered. Members and holdout records "
    "must be alike but for membership, or a score shows how they differ.",
    "losses_same_record": "The reference model must not have been trained on the audited records, "
    "and its outputs must be of the same records in the same order.",
    # Of scores of shadow models.
    "lira_normal": "The normal laws are the attack's model of the shadow models, not a claim: "
    "whatever they miss, the score is a score, and limits of its advantage hold.",
    "lira_alike": "Shadow models must be trained like the target, on records of the same "
    "population, and the target must not be among them.",
    "lira_one_query": "One query for each record: attacks that average over augmented copies of a "
    "record can be stronger. Average their phi before if you have them.",
    # Of the risk of records.
    "records_values": "Each value of the score that is frequent enough is a cell; rarer values "
    "share one with their neighbours, and its risk is their average: a single rare value can be "
    "exposed more, or less.",
    "records_average": "The score is continuous: each risk is the average risk of the records in a "
    "cell, and single records of a cell can be exposed more, or less. No method can limit the risk "
    "of a single value of a continuous score from above.",
    "records_burn_in": "The records that chose the cells are in no count; they have the risk of "
    "their cell.",
    "records_pointwise": "Limits named pointwise hold for one cell at a time: among many cells "
    "some will miss.",
    "records_list": "The list bounds the expected share of cells listed wrongly, not that of "
    "records, and takes the counts of different cells to be independent or nearly so.",
    "records_groups": "A difference is that of one attack, the same threshold for everybody; the "
    "best attacks on two groups may differ more, or less. Each quantity holds jointly over the "
    "groups; different quantities are not joint.",
    "records_population": "The risk concerns these training records: the members are taken to be a "
    "sample of them, drawn without replacement.",
    "records_approximate": "The limits are approximate where class sizes are fixed; their coverage "
    "is in the documentation.",
    "records_alike": "Members and holdout records are taken to be independent draws, and alike but "
    "for membership. If they differ in other ways, the risk includes that difference.",
    # Of the records alone.
    "shift_no_release": "Nothing of the release was looked at: this says how fair a test on these "
    "records is, not whether the release leaks.",
    "shift_blind": "The blind advantage is what somebody can tell of membership from the columns "
    "of a record alone, without the release. Columns that are not in the tables may tell more.",
    "shift_upper": "The upper limit for any attacker is about the columns compared, which hold few "
    "combinations of values; the others name their attackers.",
    "shift_no_upper": "Each 'at most' names its attackers: those who use the learned score in that "
    "way. No upper limit holds for every attacker who sees a whole record: another way of looking "
    "may tell more.",
    "shift_passing": "That no difference is shown does not prove that there is none, nor that "
    "records are independent: families, or several records of a person, can be told apart through "
    "a model although both classes have the same law.",
    "shift_burn_in": "A part of the rows, the burn-in, taught the attackers and chose the cells; "
    "only the others are counted. Running again with other seeds and keeping the best makes the "
    "limits untrue.",
    "shift_tests": "A column's test looks at one column by itself, and takes rows to be "
    "independent; columns that differ only together are seen by the learned score alone.",
    "shift_persons": "Rows are taken to be independent. Where a person can have several, give "
    "`id_col`: one row for each person and class is then kept, and persons in both classes are "
    "counted.",
    "shift_approximate": "{SHIFT_APPROXIMATE} With `strict` they hold at every sample size.",
    "shift_approximate_stated": "{SHIFT_APPROXIMATE}",
    # Of measured coverage.
    "validation_laws": "Coverage was measured on these laws, sizes and priors. On others it may "
    "differ, and no records that depend on each other were drawn.",
    "validation_unseen": "A smaller shortfall than the one named above may have gone unseen; more "
    "files find it.",
    "validation_definitions": "AUC and TPR are of the side of the score that a report would "
    "choose, the bins are those that the burn-in of each file cut, and the attack whose epsilon "
    "and mu are limited says 'member' where the score is above 0.5.",
    # Of a report that is checked.
    "verify_unsigned": "Who wrote the statement is not checked here, and anybody can write one "
    "that agrees: for that it is signed, and its signature verified.",
    "verify_follows": "Agreement says that the report follows from these scores and settings. It "
    "does not say that the scores are those of the release, nor that the settings were wise.",
    "verify_as_stated": "When it was made, by which version, the names of its inputs, the sources "
    "and places of its settings, the path of its policy, and what is declared ({declared:text}) "
    "are as stated: nobody checked them, so the figures in people rest on that word.",
    "verify_other_versions": "Figures of another version of mipaudit, of a library or of a "
    "processor can differ without anybody having changed the report.",
    "released_unread": "mipaudit did not read {names:text}: that the scores were made with "
    "{files:it|them} is the word of whoever signs.",
    # Of reports in a folder.
    "history_order": "The order is by the times that the reports state. Nobody checked these, nor "
    "the names.",
    "history_confidence": "Each limit holds with the confidence of its own report: of many one is "
    "wrong now and then.",
    "history_overlap": "Whether two intervals overlap tests no change: mipaudit compare OLD NEW "
    "says what changed.",
    # Of bounds.
    "bounds_most": "Every figure is the most that any attacker can reach, whatever they know and "
    "compute; the release itself was not looked at.",
    "bounds_if_kept": "It holds if the guarantee holds, for one member and one holdout record "
    "drawn alike: where the two groups differ, or records depend on each other (families, "
    "clusters), an attacker can exceed it.",
    "bounds_mean_success": "Success is a mean over what the attacker holds possible of the person, "
    "not each person's: one value may be found out more often than another.",
    "bounds_baseline": "The baseline is what an attacker who knows all other data reaches without "
    "the record. It is what they reach without the release only where records are independent. For "
    "a yes or no that one in ten has it is 0.9: always saying no.",
    "bounds_drawn_runs": "A number of runs is drawn only if its law was fixed and it was drawn "
    "before the first, and nothing but the best run gets out, the number neither. A number that "
    "was chosen, or grew as results came in, is fixed: then every run counts as published.",
    "bounds_best_run": "The best is chosen by what the runs release: a score on the same data has "
    "to be part of each run's guarantee, and settings must not depend on the data.",
    "bounds_one_release": "Each guarantee keeps the target by itself; the noise is for one release "
    "of what has that sensitivity, and repeated releases need more.",
    "bounds_target_if_alike": "It holds for one member and one holdout record drawn alike: where "
    "the two groups differ, or records depend on each other, an attacker can exceed the target.",
    "bounds_pairs_told_apart": "What is ruled out is a guarantee for the pairs of inputs that the "
    "attack told apart: epsilon by add or remove where a record was there or not, by substitution "
    "where a member was exchanged for a holdout record. A better attack may rule out more.",
    "bounds_independent_trials": "The rates must be of independent trials of the mechanism. "
    "Members and holdout of one trained model are not: they rule out no epsilon.",
    "bounds_attack_fixed": "The attack must have been fixed before its rates were counted: a "
    "threshold chosen on the same data makes the limits too high.",
    "bounds_prior_excludes": "At this prior no attacker beats the one who always gives the "
    "likelier answer: look at the TPR at a low FPR and at the precision instead, or at prior 0.5.",
    "bounds_grid": "The accountant rounds privacy losses up to a grid; of the advantage, about "
    "{excess:chance} is owed to that.",
}

ENTRIES: Final = entries(_SENTENCES, _PHRASES)
