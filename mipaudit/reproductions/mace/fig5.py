"""MACE, Figure 5: the risk of a group of corrupted pictures."""

from __future__ import annotations

from typing import Final

from mipaudit.reproductions.mace.gan import (
    SIDE,
    SIMULATED_PICTURES,
    draw_pictures,
    plug_in_risks,
    train_gan,
)
from mipaudit.reproductions.report import Check, Claim, Curve, Outcome, Panel
from mipaudit.reproductions.reproduction import Array, Bench, Reproduction

_SHARE: Final = 0.1
_BINS: Final = 20


def _boxed(pictures: Array) -> Array:
    """Return the pictures with a white box in the middle."""
    marked = pictures.reshape(-1, SIDE, SIDE).copy()
    marked[:, SIDE // 2 - 1 : SIDE // 2 + 1, SIDE // 2 - 1 : SIDE // 2 + 1] = 1.0
    return marked.reshape(len(pictures), -1)


def _group_risks(risks: Array, marked: int) -> tuple[float, float]:
    """Return the mean risk of the first ``marked`` members, and of the others."""
    return float(risks[:marked].mean()), float(risks[marked:].mean())


def run(bench: Bench) -> Outcome:
    """Train on partly corrupted pictures, and look at the risks, as published and fairly."""
    rng = bench.rng(900)
    size, epochs = 300, bench.pick(1000, 200)
    marked = round(_SHARE * size)
    members, clean = draw_pictures(rng, size), draw_pictures(rng, 4 * size)
    members[:marked] = _boxed(members[:marked])
    gan = train_gan(members, (epochs,), rng, advance=lambda share: bench.advance(0.8 * share))[-1]
    fair = clean.copy()
    fair[: 4 * marked] = _boxed(fair[: 4 * marked])
    scores = gan.scores(members)
    published = _group_risks(plug_in_risks(scores, gan.scores(clean), _BINS), marked)
    honest = _group_risks(plug_in_risks(scores, gan.scores(fair), _BINS), marked)
    # No model at all: is the middle of the picture white?
    middle = SIDE // 2 * SIDE + SIDE // 2
    blind = float((members[:marked, middle] >= 1).mean() - (clean[:, middle] >= 1).mean())
    boxed = bench.audit(scores[:marked], gan.scores(fair[: 4 * marked]))
    others = bench.audit(scores[marked:], gan.scores(fair[4 * marked :]))
    return Outcome(
        panels=(
            _panel("Holdout without boxes, as published", published),
            _panel("Holdout with as many boxes", honest),
            _panel(
                "Each group against its own holdout",
                (boxed.lower, others.lower),
                "advantage, any attacker, at least",
            ),
        ),
        claims=(
            Claim(
                says="Corrupted pictures have a higher individual risk than the others.",
                found=f"Mean |f| {published[0]:.2f} for {published[1]:.2f} with a holdout that "
                f"has no corrupted pictures, and {honest[0]:.2f} for {honest[1]:.2f} with one "
                "that has as many. Each group against its own holdout: any attacker gains at "
                f"least {boxed.lower:.2f} among {marked} corrupted members, {others.lower:.2f} "
                f"among the {size - marked} others.",
                agrees="partly" if published[0] > published[1] else "no",
            ),
        ),
        checks=(
            Check(
                name="'a white middle means member': its advantage among boxed members, no model",
                found=blind,
                low=0.99,
                high=1.0,
                why="no holdout picture of the published setting has a box",
            ),
            Check(
                name="discriminator: any attacker among all pictures, at least",
                found=bench.audit(scores, gan.scores(fair)).lower,
                low=bench.pick(0.05, 0.0),
                high=1.0,
                why="the discriminator remembers its members",
            ),
        ),
        errata=(
            (
                "The corrupted pictures are in the training set only. Whoever sees a white box "
                "knows a member, with no model at all: the risk that the figure shows is of a "
                "data set that was divided unfairly, and no part of it need be the model's "
                "memory."
            ),
            (
                "A per-record |f| from bins is an average over the bin; the published intervals "
                "are for one bin each, not for all at once, and those by kernel densities do not "
                "hold."
            ),
        ),
        differences=(SIMULATED_PICTURES, f"{_BINS} bins for 100: there are {size} members."),
    )


def _panel(
    title: str, risks: tuple[float, float], y: str = "mean individual risk |f|, p = 1/2"
) -> Panel:
    return Panel(
        title=title,
        x="pictures",
        y=y,
        curves=(Curve(label="members", x=(0.0, 1.0), y=risks, style="bars"),),
        groups=("corrupted", "others"),
    )


MACE_FIG5: Final = Reproduction(
    id="mace-fig5",
    title="The risk of a group",
    source="Liu et al. 2022 (MACE), Figure 5",
    shows="A JS-GAN is trained on pictures of which 10% have a white box in the middle; the "
    "holdout has none. Mean individual privacy risk of corrupted and other pictures by the "
    "discriminator.",
    claim="Outliers and sub-groups can be at a higher risk than the average says.",
    run=run,
)
