"""The commands, each once: what it may be asked, and what answers.

Whatever handles all commands reads this table. Types and functions are named, not imported:
only the command that runs is loaded.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Command(NamedTuple):
    """A command.

    Attributes:
        name: as it is typed.
        summary: what the list of commands says, in a line of 80 columns with the name.
        group: under which heading it is listed.
        asked: the class of its options, as ``module:name``.
        answer: what makes its report of them, likewise.
        write: what writes that as ``shown`` says: from both kinds of options and ``answer``
            to the exit code.
        run: what does all of that itself, of a command that writes more than a report, or
            another thing: from both kinds of options to the exit code.
        shown: the class of the options of how the answer is shown.
        configured: whether a policy file and the environment may set its options: not where
            there is nothing to set, so that it works where a policy file is broken.
        suffices: whether it does something without arguments.
    """

    name: str
    summary: str
    group: str
    asked: str
    answer: str | None = None
    write: str = "mipaudit.output.presentation:write_report"
    run: str | None = None
    shown: str = "mipaudit.options.groups.shown:Judged"
    configured: bool = True
    suffices: bool = False


_AUDIT: Final = "Audit"
_SCORES: Final = "Make scores"
_PLAN: Final = "Plan a release"
_TRUST: Final = "Trust a report"
_TOOL: Final = "Check the tool"
# In the order in which they are listed.
TABLE: Final = (
    Command(
        "estimate",
        "Say how much a score tells about who was in the training data.",
        _AUDIT,
        asked="mipaudit.commands.estimate.options:EstimateOptions",
        answer="mipaudit.commands.estimate.run:answer_estimate",
    ),
    Command(
        "records",
        "Say how exposed every record is, and which groups are.",
        _AUDIT,
        asked="mipaudit.commands.records.options:RecordsOptions",
        run="mipaudit.commands.records.run:run_records",
        shown="mipaudit.commands.records.options:RecordsShown",
    ),
    Command(
        "epsilon",
        "Say which epsilon of differential privacy the data refute.",
        _AUDIT,
        asked="mipaudit.commands.epsilon.options:EpsilonOptions",
        run="mipaudit.commands.epsilon.run:run_epsilon",
        shown="mipaudit.commands.epsilon.options:EpsilonShown",
    ),
    Command(
        "compare",
        "Say which of several queries leaks most, and by how much.",
        _AUDIT,
        asked="mipaudit.commands.compare.options:CompareOptions",
        answer="mipaudit.commands.compare.run:answer_compare",
    ),
    Command(
        "attack",
        "Say what the named attacks of the literature achieve.",
        _AUDIT,
        asked="mipaudit.commands.attack.options:AttackOptions",
        answer="mipaudit.commands.attack.run:answer_attack",
    ),
    Command(
        "attribute",
        "Say how much better an attribute is guessed of members.",
        _AUDIT,
        asked="mipaudit.commands.attribute.options:AttributeOptions",
        answer="mipaudit.commands.attribute.run:answer_attribute",
    ),
    Command(
        "check",
        "Look at a score file without estimating anything.",
        _AUDIT,
        asked="mipaudit.commands.check.options:CheckOptions",
        answer="mipaudit.commands.check.run:answer_check",
        shown="mipaudit.options.groups.shown:Shown",
    ),
    Command(
        "shift",
        "Say whether the classes differ without the model.",
        _AUDIT,
        asked="mipaudit.commands.shift.options:ShiftOptions",
        answer="mipaudit.commands.shift.run:answer_shift",
    ),
    Command(
        "query",
        "Make scores of tables: members, holdout, synthetic records.",
        _SCORES,
        asked="mipaudit.commands.query.options:QueryOptions",
        run="mipaudit.commands.query.run:run_query",
        shown="mipaudit.commands.query.options:QueryShown",
    ),
    Command(
        "query losses",
        "Make scores of what a model says of records.",
        _SCORES,
        asked="mipaudit.commands.query.model.options:LossesOptions",
        answer="mipaudit.commands.query.model.losses:answer_query_losses",
        write="mipaudit.output.presentation:write_scores",
        shown="mipaudit.options.groups.shown:ScoresShown",
    ),
    Command(
        "query lira",
        "Make the likelihood-ratio score of shadow models.",
        _SCORES,
        asked="mipaudit.commands.query.model.options:LiraOptions",
        answer="mipaudit.commands.query.model.lira:answer_query_lira",
        write="mipaudit.output.presentation:write_scores",
        shown="mipaudit.options.groups.shown:ScoresShown",
    ),
    Command(
        "summarize",
        "Count scores into a small file that adds up with others.",
        _SCORES,
        asked="mipaudit.commands.summarize.options:SummarizeOptions",
        run="mipaudit.commands.summarize.run:run_summarize",
        shown="mipaudit.commands.summarize.options:SummarizeShown",
    ),
    Command(
        "simulate",
        "Draw a score file of which the truth is known.",
        _SCORES,
        asked="mipaudit.commands.simulate.options:SimulateOptions",
        run="mipaudit.commands.simulate.run:run_simulate",
        shown="mipaudit.commands.simulate.options:SimulateShown",
    ),
    Command(
        "init",
        "Write a policy file to begin with: limits, and their reasons.",
        _PLAN,
        asked="mipaudit.commands.init.options:InitOptions",
        run="mipaudit.commands.init.run:run_init",
        shown="mipaudit.commands.init.options:InitShown",
        configured=False,
        suffices=True,
    ),
    Command(
        "bounds",
        "Say what a privacy guarantee allows an attacker, and back.",
        _PLAN,
        asked="mipaudit.commands.bounds.options:BoundsOptions",
        run="mipaudit.commands.bounds.run:run_bounds",
        shown="mipaudit.commands.bounds.options:BoundsShown",
    ),
    Command(
        "noise",
        "Say how much noise hides who was in the data.",
        _PLAN,
        asked="mipaudit.commands.noise.options:NoiseOptions",
        run="mipaudit.commands.noise.run:run_noise",
        shown="mipaudit.commands.noise.options:NoiseShown",
    ),
    Command(
        "render",
        "Write a report in another form, or judge it by other limits.",
        _TRUST,
        asked="mipaudit.commands.render.options:RejudgeOptions",
        run="mipaudit.commands.render.command:run_render",
        shown="mipaudit.commands.render.options:RenderShown",
        configured=False,
    ),
    Command(
        "history",
        "Show the reports of several releases side by side in time.",
        _TRUST,
        asked="mipaudit.commands.history.options:HistoryOptions",
        answer="mipaudit.commands.history.run:answer_history",
        shown="mipaudit.options.groups.shown:Shown",
        configured=False,
    ),
    Command(
        "verify",
        "Compute a report again from its scores, and compare.",
        _TRUST,
        asked="mipaudit.commands.verify.options:VerifyOptions",
        answer="mipaudit.commands.verify.run:answer_verify",
        shown="mipaudit.commands.verify.options:VerifyShown",
        configured=False,
    ),
    Command(
        "schema",
        "Print the JSON Schema of the reports.",
        _TRUST,
        asked="mipaudit.commands.schema.options:SchemaOptions",
        run="mipaudit.commands.schema.run:run_schema",
        shown="mipaudit.commands.schema.options:SchemaShown",
        configured=False,
        suffices=True,
    ),
    Command(
        "validate",
        "Check on your own machine that every interval holds.",
        _TOOL,
        asked="mipaudit.commands.validate.options:ValidateOptions",
        run="mipaudit.commands.validate.run:run_validate",
        shown="mipaudit.options.groups.shown:Shown",
        suffices=True,
    ),
    Command(
        "doctor",
        "Say whether this installation works, and what it lacks.",
        _TOOL,
        asked="mipaudit.commands.doctor.options:DoctorOptions",
        run="mipaudit.commands.doctor.run:run_doctor",
        shown="mipaudit.options.groups.shown:Shown",
        configured=False,
        suffices=True,
    ),
    Command(
        "help",
        "Explain a topic, such as exit-codes or policy.",
        _TOOL,
        asked="mipaudit.cli.topics.help:HelpOptions",
        run="mipaudit.cli.topics.help:run_help",
        shown="mipaudit.options.declare:Options",
        configured=False,
        suffices=True,
    ),
)
BY_NAME: Final = {one.name: one for one in TABLE}
# Those that may have a table in a policy file.
CONFIGURED: Final = tuple(one.name for one in TABLE if one.configured)
