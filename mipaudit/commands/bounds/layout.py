"""What a report on bounds shows."""

from __future__ import annotations

from typing import Final

from mipaudit.report.layout import Column, Layout, Table

_RULED_OUT: Final = (
    "From: no smaller value holds for the mechanism. To: what this attack may still show; a better "
    "attack may show more. Jeffreys limits are approximate."
)

_PROMISE: Final = (
    "[Guarantee: {promised}.][ At delta {guarantee.delta:number} its epsilon is "
    "{guarantee.epsilon:most_figure}.][ At delta {guarantee.delta:number} no epsilon "
    "holds{guarantee.epsilon_reason:said}.][ It hides a change of one record by "
    "{guarantee.adjacency}{guarantee.adjacency_assumed:unless}.][ You did not say which change the "
    "guarantee hides: one record exchanged, or added or removed (`adjacency`). Both are shown. "
    "Where only one figure fits, it is that of 'added or removed', which allows more to "
    "leak{guarantee.adjacency_assumed:said}.]"
)
_KEPT: Final = (
    "At most: [epsilon at delta {kept.0.delta:number}, {kept.0.epsilon:said}]mu of Gaussian "
    "differential privacy. At least, for a sensitivity of {kept.0.sensitivity:number}: Gaussian "
    "noise (its standard deviation), Laplace noise (its scale)."
)

LAYOUT: Final = Layout(
    about=_PROMISE,
    tables=(
        Table(
            "What the guarantee allows",
            "allowed",
            (
                Column("no attacker can exceed", "{message}"),
                Column("{reading}", "{message.first:most_figure}"),
                Column("[{other_reading}]", "{message.second:most_figure}"),
            ),
            short=None,
            note="{reading}: {attacker.game}[; {other_reading}: {other_readings.0.game}].",
        ),
        Table(
            "The best of several runs",
            "tuned",
            (
                Column("how many runs", "{drawn:drawn}[ (asked){asked:said}]"),
                Column(
                    "epsilon at delta {guarantee.delta:number}",
                    "[{epsilon:most_figure}][none{epsilon:unless}]",
                ),
                Column("advantage", "{advantage:most_figure}"),
            ),
            short=None,
            note="By one step of the neighbours, at prior 0.5.",
        ),
        Table(
            "Renyi divergences, by the neighbours of the guarantee",
            "divergences",
            (Column("order", "{message}"), Column("at most", "{message.first:most_figure}")),
            words=0,
        ),
        Table(
            "Published bounds of the advantage",
            "bounds",
            (
                Column("published bound", "{name}"),
                Column("is", "[tight{tight:said}][loose{tight:unless}]"),
                Column("advantage", "{advantage:most_figure}"),
                Column("source and assumptions", "{source:text}; {assumes:text}"),
            ),
            prose=True,
            picture="amounts",
            of="advantage, at most",
        ),
        Table(
            "The averaging attack",
            "counting_queries",
            (
                Column("mu", "{mu:most_figure}"),
                Column("TPR", "{tpr:number}"),
                Column("FPR", "{fpr:most_figure}"),
                Column("bound of the FPR", "{fpr_bound:most_figure}"),
            ),
            note="The attack of Tramer's lecture notes, Theorem 2, against all other answers 0, "
            "threshold k/n. Mu: of Gaussian differential privacy; bound: exp(-k / (2 n^2 sd^2)).",
        ),
        Table(
            "What keeps the limit",
            "kept",
            (
                Column("a record changes", "[by {adjacency}][any{adjacency:unless}]"),
                Column("", "[present or absent{present:said}]"),
                Column(
                    "epsilon", "[{epsilon:figure}][none{epsilon_reason:said}]", "epsilon_reason"
                ),
                Column("mu", "[{mu:figure}][none{mu:unless}]", "mu_reason"),
                Column("Gaussian", "[{gaussian_sd:most_figure}][none{gaussian_sd:unless}]"),
                Column("Laplace", "{laplace_scale:most_figure}"),
            ),
            caption=_KEPT,
            legend="[Epsilon (delta {kept.0.delta:number}), {kept.0.epsilon:said}]mu: most "
            "allowed. Noise (sensitivity {kept.0.sensitivity:number}): least needed.",
            short=None,
            note="[In rows with 'present or absent', success without the record means from a "
            "release made without it; in the other rows, from a release made with another record "
            "in its place{target.baseline:said}.]",
        ),
        Table(
            "Epsilon, mu: values below 'from' are ruled out; the true ones may be above 'to'",
            "refuted.limits",
            (
                Column("limits", "{method:way}"),
                Column("", "{sides:one-sided|two-sided}"),
                Column("confidence", "{confidence:percent}"),
                Column("epsilon from", "{epsilon_lower:figure}"),
                Column("to", "{epsilon_upper:most_figure}", "upper_reason"),
                Column("mu from", "{mu_lower:figure}"),
                Column("to", "{mu_upper:most_figure}", "upper_reason"),
            ),
            short=None,
            note=_RULED_OUT,
        ),
    ),
    terms=(
        (
            "advantage",
            "[how well somebody can tell whose records were used. {attacker.prior:scale}]",
        ),
        ("guessing right", "[{attacker.prior:guessed}]"),
        (
            "certainty",
            "[after the most revealing output; 1: it may give a record away{guarantee:said}.]",
        ),
        ("by substitution", "one record is exchanged for another"),
        ("by add-remove", "one record is added or removed"),
        ("fixed", "[a number of runs that was chosen: every run counts as published{tuned:said}.]"),
        ("poisson, geometric, logarithmic", "[laws of that number, with this mean{tuned:said}.]"),
    ),
    title="[What {promised} allows]",
    untold="bounds show what could happen, and judge nothing",
)
