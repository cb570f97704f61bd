"""``mipaudit validate``: every interval on distributions with known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mipaudit.options.plain_values import number, path_of, require, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from mipaudit.statements.origin import Setting
    from mipaudit.validation.coverage.grid import Choice
    from mipaudit.validation.coverage.run import Outcome, Run
    from mipaudit.validation.report import ValidationReport

_FEWEST_RECORDS: Final = 20
_MOST_RECORDS: Final = 10_000_000
_MOST_REPLICATIONS: Final = 1_000_000
_MOST_JOBS: Final = 1_024


def validate(  # noqa: PLR0913 - one keyword for each option of the command
    *,
    full: bool = False,
    estimands: Sequence[str] = (),
    scenarios: Sequence[str] = (),
    replications: int | None = None,
    sizes: Sequence[int] = (),
    priors: Sequence[float] = (),
    jobs: int | None = None,
    seed: int = 0,
    strict: bool = False,
    resume: str | PathLike[str] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> ValidationReport:
    """Return how often every interval that mipaudit prints covers the truth.

    Files are drawn from laws with known truth and audited as ``estimate`` would; methods
    by others are run beside ours, and those known to be invalid must be caught. With more
    than one job, call it under ``if __name__ == "__main__":``, because each process starts
    afresh.

    Args:
        full: the long form, about an hour on two processors, instead of three minutes.
        estimands: only limits of these, by name; empty means all.
        scenarios: only these laws, by name. Once scenarios, sizes or priors are chosen, all
            their combinations are run.
        replications: files per cell; 1,000 by default, 4,000 in the long form.
        sizes: records per file, half of them members; each from 20 to 10,000,000.
        priors: each in (0, 1).
        jobs: processes; None for the processors at hand. The answer is the same.
        seed: fixes every random choice, at least 0.
        strict: the finite-sample methods instead of the default ones.
        resume: a file that keeps finished cells; made if there is none.
        progress: called with (CPU time behind us, CPU time in all), by a rough estimate.
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: an argument is wrong, or nothing is left to validate.
        InputError: the file to resume from is of another run.
        OutputError: the file to resume from cannot be written.
    """
    given: dict[str, Any] = {
        "full": full,
        "estimands": _names("estimands", estimands),
        "scenarios": _names("scenarios", scenarios),
        "replications": replications,
        "sizes": tuple(sizes),
        "priors": tuple(priors),
        "seed": seed,
        "strict": strict,
    }
    workers = _jobs(jobs)
    run = _run(given)
    if settings is None:
        from mipaudit.statements.provenance import settings_from

        settings = settings_from(given, source="api")
    from mipaudit.validation.coverage.run import carry_out, open_ledger

    kept = path_of(resume)
    require(kept is None or isinstance(kept, str), "resume", "resume must be a path.")
    ledger = open_ledger(kept, run)
    outcome = carry_out(run, jobs=workers, ledger=ledger, progress=progress)
    return _report(run, outcome, settings)


def _run(given: dict[str, Any]) -> Run:
    seed = whole("seed", given["seed"])
    require(seed >= 0, "seed", "The seed must be at least 0.")
    from mipaudit.validation.coverage.run import make_run

    return make_run(
        "full" if given["full"] else "quick",
        _choice(given),
        estimands=given["estimands"],
        strict=bool(given["strict"]),
        seed=seed,
    )


def _choice(given: dict[str, Any]) -> Choice:
    """Return the checked choice; what is named twice is run once."""
    from mipaudit.validation.coverage.grid import Choice

    replications = given["replications"]
    if replications is not None:
        replications = whole("replications", replications)
        require(
            1 <= replications <= _MOST_REPLICATIONS,
            "replications",
            f"The replications must be from 1 to {_MOST_REPLICATIONS:,}.",
        )
    sizes = tuple(dict.fromkeys(whole("sizes", size) for size in given["sizes"]))
    require(
        all(_FEWEST_RECORDS <= size <= _MOST_RECORDS for size in sizes),
        "sizes",
        f"Each size must be from {_FEWEST_RECORDS} to {_MOST_RECORDS:,}.",
    )
    priors = tuple(dict.fromkeys(number("priors", prior) for prior in given["priors"]))
    require(
        all(0 < prior < 1 for prior in priors), "priors", "Each prior must be above 0 and below 1."
    )
    return Choice(
        scenarios=given["scenarios"], sizes=sizes, priors=priors, replications=replications
    )


def _names(code: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, each once; a single string is one name."""
    listed = (names,) if isinstance(names, str) else tuple(names)
    require(all(isinstance(name, str) for name in listed), code, f"{code} must be names.")
    return tuple(dict.fromkeys(listed))


def _jobs(jobs: int | None) -> int:
    if jobs is None:
        from mipaudit.engine.workers import default_jobs

        return default_jobs()
    found = whole("jobs", jobs)
    require(
        1 <= found <= _MOST_JOBS, "jobs", f"The number of jobs must be from 1 to {_MOST_JOBS:,}."
    )
    return found


def _report(run: Run, outcome: Outcome, settings: tuple[Setting, ...]) -> ValidationReport:
    from mipaudit.commands.validate.words import LIMITATIONS, validation_summary
    from mipaudit.statements.provenance import provenance
    from mipaudit.validation.coverage.tally import LEVEL
    from mipaudit.validation.report import ValidationDesign, ValidationReport

    cells = run.cells
    design = ValidationDesign(
        form=run.form,
        strict=run.panel.strict,
        seed=run.seed,
        replications=cells[0].replications,
        cells=len(cells),
        scenarios=tuple(dict.fromkeys(cell.scenario for cell in cells)),
        sizes=tuple(sorted({cell.records for cell in cells})),
        priors=tuple(dict.fromkeys(cell.prior for cell in cells)),
        estimands=run.panel.estimands,
        level=LEVEL,
        tests=outcome.tests,
    )
    return ValidationReport(
        command="validate",
        passed=outcome.passed,
        design=design,
        summary=validation_summary(design, outcome.failures, outcome.controls, outcome.detectable),
        limits=outcome.limits,
        failures=outcome.failures,
        controls=outcome.controls,
        detectable=outcome.detectable,
        rows=outcome.rows,
        limitations=LIMITATIONS,
        provenance=provenance(seed=run.seed, inputs=(), settings=settings),
    )
