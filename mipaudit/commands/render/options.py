"""What ``mipaudit render`` may be asked."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from mipaudit.commands.render.forms import (
    ANNEX,
    ExchangeForm,
    ExchangeName,
    ending_says,
    exchange_form,
)
from mipaudit.errors import UsageError
from mipaudit.options.declare import Options, act
from mipaudit.options.game import (
    CONFIDENCE_OPTION,
    PRIOR_OPTION,
    SUBJECT_OPTION,
    Recorded,
    StoredReport,
    several,
)
from mipaudit.options.scores import ScorePolicy
from mipaudit.options.shown import FORMAT_OPTION, ExitZero, Format, Shown, form_of
from mipaudit.options.values import require
from mipaudit.report.exchange.annex_points import AnnexName


class _MeantFor(Options):
    prior: float | None = PRIOR_OPTION.but(
        "The prior that the limits are for. If the report has another one, the command stops."
    )
    confidence: float | None = CONFIDENCE_OPTION.but(
        "The confidence that the limits are for. If the report has less, the command stops.",
        flag=None,
    )


class RejudgeOptions(StoredReport, ScorePolicy, _MeantFor, Recorded):
    """A report, and other limits for it."""

    HELP = """Write a report in another form, or judge it by other limits, without the data.

The exit code follows from the verdict of the report. If you give limits, a report that mipaudit
estimate wrote is judged again: the new limits replace the old ones, and the report says how sure
the new verdict is.

\b
Examples:
  mipaudit render report.json
      The report as a table.
  mipaudit render report.json -f html -o report.html
      A page for people. Also writes report.html.sha256.
  mipaudit render judged.json --subject model.bin -o model.intoto.json
      A statement to sign: this report is about model.bin. See mipaudit help forms.
  mipaudit render report.json --for edpb-28-2024 --with shift.json -o annex.html
      An annex: each point of a guideline, and what the two reports show about it.
  mipaudit render report.json --max-advantage 0.05
      Is a stricter limit met, too? Exit code 0: yes, 1: no, 3: inconclusive.
  mipaudit render report.json --policy policy/mipaudit.toml
      Judges by the limits and waivers (accepted exceptions) of a policy file.
  mipaudit estimate scores.csv -f json | mipaudit render - -f markdown
"""


class _AnyForm(Shown):
    format: Literal[Format, ExchangeName, "annex"] | None = FORMAT_OPTION.but(
        "The form. Default: by the file's ending. For other programs: in-toto (.intoto.json) to "
        "sign, cyclonedx (.cdx.json), model-card (Hugging Face), metrics (MLflow, DVC), github and "
        "gitlab (comments beside a code change), annex (`for`)."
    )  # type: ignore[assignment] # more forms than other commands have
    subject: Sequence[Any] = SUBJECT_OPTION.but(default=())
    annex: AnnexName | None = act(
        "An annex: each point of this guideline, and what the report shows about it.",
        flag="--for",
    )
    others: Sequence[Any] = act(
        "A report of another command on the same release, for the annex. Repeat for each.",
        default=(),
        flag="--with",
        read=several,
        repeated=True,
        only_with="annex",
        is_input=True,
    )

    @property
    def exchange(self) -> ExchangeForm | None:
        """Return the form that others define, if one is asked for."""
        if self.annex is not None:
            return ANNEX
        if self.format is not None:
            return exchange_form(self.format)
        return ending_says(self.output or "")

    def check(self) -> None:
        """Refuse a file whose ending says another form, and subjects of no statement."""
        form, output = self.exchange, self.output or ""
        if self.format is not None and (self.format == ANNEX.name) is not (self.annex is not None):
            why = "does not say which guideline" if self.annex is None else "asks for an annex"
            raise UsageError(
                "format",
                f"`format` is {self.format}, and `for` {why}.",
                f"Guidelines: {', '.join(get_args(AnnexName))}.",
            )
        if form is None:
            super().check()
        else:
            other = ending_says(output)
            said = form_of(output) if other is None else other.name
            require(
                said in {None, form.name, *form.like},
                "format",
                f"`format` is {form.name}, but the ending of `output` says {said}.",
                "Leave `format` out, or name the file otherwise.",
            )
        require(
            not self.subject or (form is not None and form.name in {"in-toto", ANNEX.name}),
            "subject",
            "`subject` is only for a statement or an annex.",
            "Add `format` in-toto or `for`, or leave `subject` out.",
        )


class RenderShown(_AnyForm, ExitZero):
    """How the report is shown, and the file of its limits."""

    policy: str | None = act("Judge by the limits of this policy file alone.", metavar="FILE")
