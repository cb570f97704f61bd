"""MACE, Figure 2: estimators and adversaries as a GAN is trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mipaudit.reproductions.mace.gan import (
    BIASED,
    SIMULATED_PICTURES,
    Estimates,
    Gan,
    estimates,
    over_epochs,
    shared_gan,
)
from mipaudit.reproductions.report import Check, Claim, Outcome, Panel
from mipaudit.reproductions.reproduction import Bench, Reproduction


def run(bench: Bench) -> Outcome:
    """Estimate the advantage by both queries at every stage."""
    trained = shared_gan(bench)
    bench.advance(0.7)
    # As many of the holdout as members, as the paper has them at p = 1/2.
    holdout = trained.holdout[: len(trained.members)]
    by_model = [
        estimates(bench, stage.scores(trained.members), stage.scores(holdout))
        for stage in trained.stages
    ]
    by_data = [
        estimates(bench, stage.closeness(trained.members), stage.closeness(holdout))
        for stage in trained.stages
    ]
    model, data = by_model[-1], by_data[-1]
    return Outcome(
        panels=(
            _panel("Discriminator score (20)", trained.stages, by_model),
            _panel("Distance to the nearest synthetic picture (19)", trained.stages, by_data),
        ),
        claims=(
            Claim(
                says="The optimal adversary's estimate is above the heuristic adversary's, for "
                "both estimators; the kernel's is lower than the histogram's.",
                found=f"At the end of training: histogram {model.histogram:.2f}, kernel "
                f"{model.kernel or 0:.2f}, heuristic {model.heuristic or 0:.2f}. With shuffled "
                f"memberships the histogram still says {model.shuffled:.2f}, so its height is no "
                "measure of what leaks.",
                agrees="partly",
            ),
            Claim(
                says="Synthetic data alone leak much less than the discriminator.",
                found=f"Any attacker gains at least {model.lower:.2f} by the discriminator and "
                f"{data.lower:.2f} by the nearest synthetic picture.",
                agrees="yes" if model.lower > data.lower else "no",
            ),
        ),
        checks=(
            Check(
                name="discriminator, end of training: any attacker, at least",
                found=model.lower,
                low=bench.pick(0.1, 0.0),
                high=1.0,
                why="the discriminator remembers its 200 members",
            ),
            Check(
                name="histogram estimate with shuffled memberships",
                found=model.shuffled,
                low=0.15,
                high=0.6,
                why="100 bins, 400 pictures: about 0.8 sqrt(100 / 400) where all bins are used",
            ),
            Check(
                name="nearest synthetic picture, end of training: at least, less the "
                "discriminator's",
                found=data.lower - model.lower,
                low=-1.0,
                high=0.05,
                why="synthetic data alone leak less",
            ),
        ),
        errata=(BIASED,),
        differences=(SIMULATED_PICTURES,),
    )


def _panel(title: str, stages: Sequence[Gan], rows: Sequence[Estimates]) -> Panel:
    return Panel(
        title=title,
        x="epochs of training",
        y="membership advantage, p = 1/2",
        curves=(
            over_epochs("W_N, 100 bins", stages, [row.histogram for row in rows]),
            over_epochs("W_N, shuffled", stages, [row.shuffled for row in rows], "dotted"),
            over_epochs("U_N, kernel", stages, [row.kernel or 0.0 for row in rows]),
            over_epochs("heuristic adversary", stages, [row.heuristic or 0.0 for row in rows]),
            over_epochs("any attacker, at least", stages, [row.lower for row in rows], "dashed"),
        ),
    )


MACE_FIG2: Final = Reproduction(
    id="mace-fig2",
    title="Estimators and queries as a GAN is trained",
    source="Liu et al. 2022 (MACE), Figure 2",
    shows="Estimated advantage (vertical) over the epochs of training: (a) discrete and "
    "continuous estimator and a heuristic adversary by the discriminator's score; (b) that "
    "query beside the distance to the nearest synthetic record.",
    claim="The estimators find more than the heuristic adversary, and models leak more than data.",
    run=run,
)
