"""The rows of the report for a score of several numbers, and what must be said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mipaudit.evidence.scores.rows import ErrorShare, score_estimates
from mipaudit.evidence.vectors.evidence import VectorEvidence
from mipaudit.maths.advantage import baseline
from mipaudit.maths.learners import Boosting
from mipaudit.model.message import Finding, Message
from mipaudit.summaries.cells.vector_cells import ProductGrid

if TYPE_CHECKING:
    from mipaudit.evidence.scores.evidence import Evidence
    from mipaudit.evidence.vectors.derived_scores import DerivedScore, Form
    from mipaudit.model.row import Row

_NO_UPPER: Final = Message("upper_of_vector_classes")
_OUTSIDE: Final = "the rows outside the burn-in counted"
_NAMES: Final[dict[Form, str]] = {
    "product-grid": "cells of a product grid",
    "joint": "combinations of values",
    "logistic": "logistic regression",
    "neighbours": "nearest neighbours",
    "boosting": "gradient boosting",
    "coordinate": "single coordinates",
}


def vector_estimates(evidence: Evidence, share: ErrorShare) -> list[Row]:
    """Return every row of a vector score, the advantage first.

    Args:
        evidence: a `VectorEvidence`.
        share: of the error.
    """
    evidence = _vector(evidence)
    return [_reworded(row, evidence) for row in score_estimates(evidence, share)]


def learned_name(evidence: VectorEvidence) -> str:
    """Return what the chosen learned score is, with the library that grew it."""
    return _named(evidence.vector.derivation.derived[evidence.vector.derivation.chosen])


def vector_findings(name: str, evidence: Evidence, infinite: int | None = None) -> list[Finding]:
    """Return how a vector score was audited and what is unusual.

    Args:
        name: shown as it is.
        evidence: a `VectorEvidence`.
        infinite: number of infinite coordinates where its counts hold missing ones as such.
    """
    evidence = _vector(evidence)
    vector = evidence.vector
    found = [_made_of(name, evidence)]
    if vector.constant:
        found.append(
            Finding.of(
                "constant_coordinates",
                case="vector",
                score=name,
                constant=len(vector.constant),
                width=vector.width,
            )
        )
    infinite = vector.infinite if infinite is None else infinite
    if infinite:
        found.append(
            Finding.of("infinite_scores", case="vector", score=name, infinite=int(infinite))
        )
    return found


def shuffled_finding(name: str, value: float, shuffled: float, prior: float) -> Finding:
    """Return what the published estimator reads where nothing can leak, and so its bias there."""
    guessing = baseline(prior)
    return Finding.of(
        "mace_bias",
        score=name,
        value=value,
        baseline=guessing,
        shuffled=shuffled,
        bias=shuffled - guessing,
    )


def _vector(evidence: Evidence) -> VectorEvidence:
    if not isinstance(evidence, VectorEvidence):
        raise TypeError("the evidence is of a single number")
    return evidence


def _made_of(name: str, evidence: VectorEvidence) -> Finding:
    derivation = evidence.vector.derivation
    forms = [
        _NAMES[form] + (f" ({derivation.library})" if form == "boosting" else "")
        for form in derivation.tried
    ]
    return Finding.of(
        "vector_score",
        score=name,
        width=evidence.vector.width,
        forms=", ".join(forms),
        learned=learned_name(evidence),
        boosting="boosting" in derivation.tried,
    )


def _named(one: DerivedScore) -> str:
    if isinstance(one.fitted, Boosting):
        return f"{_NAMES[one.form]} ({one.fitted.library})"
    return _NAMES[one.form]


def _reworded(row: Row, evidence: VectorEvidence) -> Row:
    """Return a row with the words and classes that are true of a vector."""
    learned = learned_name(evidence)
    if row.attackers == "any":
        return replace(
            row,
            selection=f"{_on_what(evidence)}, {row.selection}",
            upper_reason=None if row.upper is not None else _NO_UPPER,
        )
    if row.attackers == "product-grid":
        shape = _grid_shape(evidence)
        return replace(row, selection=f"{shape} cells cut on the burn-in, {_OUTSIDE}")
    return replace(
        row,
        attackers="learned",
        selection=f"{learned} fitted and chosen on the burn-in, {_OUTSIDE}",
    )


def _on_what(evidence: VectorEvidence) -> str:
    derivation = evidence.vector.derivation
    if evidence.strict:
        return f"on {_named(derivation.derived[derivation.strongest])}, chosen on the burn-in"
    forms = dict.fromkeys(_named(one) for one in derivation.derived)
    return f"on {', '.join(forms)}"


def _grid_shape(evidence: VectorEvidence) -> str:
    found = evidence.vector.derivation.find("product-grid")
    grid = None if found is None else found.fitted
    return " x ".join(str(n) for n in grid.shape) if isinstance(grid, ProductGrid) else ""
