"""The program: its commands made of what is declared, from the words typed to the exit code."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_click_param, get_install_completion_arguments
from typer.models import ArgumentInfo, OptionInfo, ParamMeta

from mipaudit.cli.settings import LIMITS, Settings, kinds_of, scores_option, variable_name
from mipaudit.errors import MipauditError, UsageError, as_typed
from mipaudit.options.commands import BY_NAME, TABLE, Command
from mipaudit.options.declare import REQUIRED, Declared, Options, declared
from mipaudit.options.game import PolicyFile, Stores
from mipaudit.options.values import listed_columns
from mipaudit.output import exit_code
from mipaudit.output.terminal import note
from mipaudit.statements.kinds import named
from mipaudit.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType


_HELP = """Measure how much a release leaks about who was in its training data.

\b
  mipaudit estimate scores.parquet      how much leaks, with confidence limits
  mipaudit estimate scores.parquet --max-advantage 0.1
                                        exit code 0 if at most 0.1, 1 if above, 3 if unclear
  mipaudit COMMAND --help               options and worked examples
  mipaudit help which-file              the command for the file that you have
  mipaudit help                         the topics and pages of the documentation

A release is what you publish, such as a model or synthetic data. A score file has one row per
record. The row says whether the record was in the training data (a member) or not (holdout), and
has the record's scores: numbers from the release, such as the model's loss. The loss is small if
the model predicts the record well.

Exit codes: 0 policy met or none given, 1 not met, 2 usage or input error, 3 inconclusive (cannot
tell), 70 internal error.
"""
# The shell sets it, with the name of the program in it, when the tab key is pressed.
_ASKED: Final = "_MIPAUDIT_COMPLETE"
# Wider than any help text: typer has rich wrap them, and shells take each line for a completion.
_UNWRAPPED: Final = "4096"


def _show_version(context: OfParser, _option: OfParser, wanted: OfParser) -> None:
    if wanted and not context.resilient_parsing:
        typer.echo(f"mipaudit {__version__}")
        raise typer.Exit


# What the parser raises: BadParameter derives from it, whichever copy of the parser this version
# of typer carries.
REFUSED: Final = cast("type[Exception]", typer.BadParameter.__bases__[0])
COMMANDS: Final = {one.name: one.summary for one in TABLE}


_HELP_WORDS: Final = frozenset({"-h", "--help"})


def application(arguments: Sequence[str] = ()) -> Program:
    """Return the application; of its commands, only the one in ``arguments`` is loaded."""
    params = [_version_option()]
    # The options before a command take no values.
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    if wanted in COMMANDS and not _HELP_WORDS & set(arguments[: arguments.index(wanted)]):
        # Alone: making the others' help costs more than many an answer.
        commands: dict[str, Any] = {wanted: declared_command(BY_NAME[wanted])}
    else:
        commands = {name: TyperCommand(name, help=said) for name, said in COMMANDS.items()}
    if arguments[:1] != [wanted] or is_completing():
        params += get_install_completion_arguments()
        params[1].help = "Let the Tab key complete mipaudit's commands and options in this shell."
        params[2].help = "Print the script for the Tab key, to copy or change."
    return Program(
        commands=commands,
        params=params,
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _version_option() -> OfParser:
    return TyperOption(
        param_decls=["version", "--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_version,
        help="Print the version and exit.",
    )


def joined_name(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments with a command of two words, such as ``query losses``, as one."""
    at = next((at for at, word in enumerate(arguments) if not word.startswith("-")), None)
    if at is None or " ".join(arguments[at : at + 2]) not in COMMANDS or len(arguments) < at + 2:
        return arguments
    return [*arguments[:at], " ".join(arguments[at : at + 2]), *arguments[at + 2 :]]


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code.

    Raises:
        KeyboardInterrupt: the user pressed control-C.
        UsageError: the words are not what a command takes.
    """
    if is_completing():
        # The shell gives the words in the environment, and takes each line for a completion.
        os.environ["COLUMNS"] = _UNWRAPPED
        arguments = finished_words()
    arguments = joined_name(arguments)
    command = application(arguments)
    try:
        status = command.main(list(arguments), prog_name="mipaudit", standalone_mode=False)
    except REFUSED as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(str(error), err=True)  # the message is the help itself
            return exit_code.USAGE
        from mipaudit.cli.failure import misplaced, refusal

        better = misplaced(error, arguments, lambda row: declared_command(row).params)
        raise refusal(error, better or usage_place(error)) from None
    if status == exit_code.INTERRUPTED:
        # typer swallows control-C without a word.
        raise KeyboardInterrupt
    return status if isinstance(status, int) else exit_code.OK


def is_completing() -> bool:
    """Tell whether a shell asks for completions, rather than a user for a run."""
    return _ASKED in os.environ


# What the parser has, and gives no type: contexts, options, formatters.
OfParser: TypeAlias = Any
# What is typed, and what it does.
Row: TypeAlias = tuple[str, str]
Groups: TypeAlias = dict[str, list[Row]]


def _groups_of(params: Iterable[Any], context: OfParser) -> Groups:
    """Return what a command takes by headings: arguments, what matters first, and the others."""
    groups: Groups = {"Arguments": [], Options.GROUP: []}
    for one in params:
        record = one.get_help_record(context)
        if record:
            by_place = one.param_type_name == "argument"
            group = "Arguments" if by_place else getattr(one, "group", Options.GROUP)
            groups.setdefault(group, []).append(record)
    return {title: rows for title, rows in groups.items() if rows}


def _format_options(self: OfParser, ctx: OfParser, formatter: OfParser) -> None:
    """Write what a command takes, or the program has, under headings.

    As plain text: drawn by rich, help would take twice the time, and help is piped.
    """
    for title, rows in self.groups(ctx).items():
        with formatter.section(title):
            formatter.write_dl(rows)


class Program(TyperGroup):
    """The program: its commands are listed under headings, each on one line."""

    format_options = _format_options

    def groups(self, ctx: OfParser) -> Groups:
        """Return the commands, and then the few options that need none."""
        width = max(len(name) for name in self.commands)
        groups: Groups = {}
        for one in TABLE:
            groups.setdefault(one.group, []).append((one.name.ljust(width), one.summary))
        return groups | _groups_of(self.get_params(ctx), ctx)


_SETTINGS: Final = "mipaudit.settings"
_POLICY: Final = "--max-"
_COLUMNS: Final = "COL,COL"
# Where commands have what is read, the first first.
_INPUTS: Final = ("data", "scores", "guesses", "members", "holdout", "probabilities", "logits")


class DeclaredCommand(TyperCommand):
    """Parses and runs a command of the table.

    Attributes:
        row: of the table.
    """

    row: Command
    format_options = _format_options

    def groups(self, ctx: OfParser) -> Groups:
        """Return what it takes, by headings."""
        return _groups_of(self.get_params(ctx), ctx)

    def parse_args(self, ctx: OfParser, args: list[str]) -> list[str]:
        """Parse the words, over what the environment and a policy file set.

        An option with one value must not be among them twice: the parser would take the last and
        drop the others, and a limit of a policy, or a filter of rows, would be gone without a word.
        """
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        typed, _, order = self.make_parser(ctx).parse_args(args=list(args))
        twice = _first_repeated(order)
        if twice:
            raise typer.BadParameter(_advice(twice), ctx=ctx, param=twice)
        row, place = self.row, scores_option(self.row.name) if self.row.configured else None
        # Without a word there is help, unless a policy file that is found names the scores.
        if "help" in typed or not (args or row.suffices or place):
            return super().parse_args(ctx, args)
        if {"config", "no_config"} <= typed.keys():
            raise typer.BadParameter("--config and --no-config cannot go together.", ctx=ctx)
        ctx.meta[_SETTINGS] = settings = Settings(row, typed)
        if not args and place is not None:
            # One that only a variable names waits for a word: nothing here says what is audited.
            found = settings.config is not None and settings.config.found
            self.no_args_is_help = not (found and place.name in settings.given)
        if args or not self.no_args_is_help:  # help shows the defaults that it always has
            ctx.default_map = {name: one.value for name, one in settings.given.items()}
        return super().parse_args(ctx, args)

    def invoke(self, ctx: OfParser) -> int:
        """Run it; an error about a setting says where the setting comes from."""
        settings: Settings = ctx.meta[_SETTINGS]
        settings.take(ctx.params)
        left = settings.unjudged() if self.row.configured else []
        try:
            with _said_to_stores(settings):
                status = _run(self.row, settings)
        except UsageError as error:
            place = settings.place(error.code)
            if place is None:
                raise
            hint = f"{error.hint} {place}" if error.hint else place
            raise error.worded(error.message, hint) from None
        # At the end: an error stands alone on standard error.
        for line in settings.remarks():
            note(line, quiet=False)
        if left:
            text = f"mipaudit {self.name} does not judge {', '.join(left)}."
            note(text, quiet=bool(ctx.params.get("quiet")))
        return status


def usage_place(error: Exception) -> str | None:
    """Return what to add to an error of the parser about a value that was not typed."""
    context, option = getattr(error, "ctx", None), getattr(error, "param", None)
    settings: Settings | None = None if context is None else context.meta.get(_SETTINGS)
    return None if settings is None or option is None else settings.place(option.name)


def declared_command(row: Command) -> DeclaredCommand:
    """Return what parses and runs a command of the table."""
    asked, *others = kinds_of(row)
    # Which file is used is no key of a file, and stands before what a file may have.
    others[1:1] = (PolicyFile,) * row.configured
    found = DeclaredCommand(
        name=row.name,
        help=asked.HELP,
        params=parameters_of(asked, *others),
        no_args_is_help=not row.suffices,
        rich_markup_mode=None,
        # What is to be explained may be an option.
        context_settings={"ignore_unknown_options": row.name == "help"},
    )
    found.row = row
    return found


def _run(row: Command, settings: Settings) -> int:
    from mipaudit.output.terminal import tame_warnings

    spare_imports()
    asked, shown = named(row.asked), named(row.shown)
    for kind in (asked, shown):
        settings.leave_out_idle(kind)
    how: Any = settings.options_of(shown)
    tame_warnings(verbose=getattr(how, "verbose", False))
    what = settings.options_of(asked)
    if getattr(how, "require_policy", False):
        require_limit(row.name, what)
    run = named(row.run or row.write)
    answers = () if row.run else (named(str(row.answer)),)
    # All is loaded: from here on garbage is collected, but not looked for in the above.
    gc.freeze()
    gc.enable()
    return int(run(what, how, *answers))


def require_limit(command: str, asked: Options) -> None:
    """Refuse options by which nothing can fail.

    Raises:
        UsageError: ``require_policy``.
    """
    given = vars(asked)
    if any(given.get(name) not in (None, ()) for name in LIMITS):
        return
    if given.get("limits"):
        from mipaudit.options.checked_limits import check_limits, of_records, of_scores

        judged = of_records if command == "records" else of_scores
        if any(map(judged, check_limits(given["limits"], given["prior"]))):
            return
    raise UsageError(
        "require_policy",
        f"No limit is set that mipaudit {command} can judge, but `require_policy` asks for one.",
        hint="Set one here or in mipaudit.toml: `mipaudit init` writes a first one.",
    )


@contextmanager
def _said_to_stores(settings: Settings) -> Iterator[None]:
    """Let the environment say how stores are read while the command runs; refuse what it cannot be.

    Raises:
        UsageError: ``allow_scheme`` or ``store_timeout``.
    """
    given = {one.name: settings.given.get(one.name) for one in declared(Stores)}
    said = {name: one.value for name, one in given.items() if one is not None and one.value}
    if not said:
        yield
        return
    from mipaudit.data.files.store import allowed_schemes, store_seconds

    if "allow_scheme" in said:
        # A name with a blank in it would pass for two.
        names = ("?" if set(name) & set(" \t\n") else name for name in said["allow_scheme"])
        said["allow_scheme"] = " ".join(names)
    said = {variable_name(name): str(value) for name, value in said.items()}
    before = {name: os.environ[name] for name in said if name in os.environ}
    os.environ |= said
    try:
        allowed_schemes()
        store_seconds()
        yield
    finally:
        for name in said:
            del os.environ[name]
        os.environ |= before


def parameters_of(*classes: type[Options]) -> list[Any]:  # of the parser's parameters
    """Return what the parser takes for classes of options."""
    bases = [base for kind in classes for base in kind.__mro__]
    # Of each option that of the class which declares it, not of its bases.
    headings = {
        name: str(vars(base).get("GROUP", Options.GROUP))
        for base in reversed(bases)
        for name in get_annotations(base)
    }
    found = []
    for one in (one for kind in classes for one in declared(kind) if one.option.flag):
        parameter = _parameter(one)
        parameter.group = Options.GROUP if one.option.first else headings[one.name]
        found.append(parameter)
    return found


def _parameter(one: Declared) -> OfParser:
    option, flag, said = one.option, str(one.option.flag), as_typed(one.said)
    info: Any
    if flag[0] != "-":
        info = ArgumentInfo(
            metavar=flag, help=said, show_default=False, autocompletion=option.complete
        )
    else:
        names = flag.split("/")
        if option.off is not None:
            names[-1] += f"/{option.off}"
        lists = option.metavar == _COLUMNS
        info = OptionInfo(
            param_decls=names,
            metavar=one.metavar,
            help=said,
            autocompletion=_offer_columns if lists or flag.endswith("-col") else None,
            callback=_columns if lists and option.repeated else None,
        )
    none = one.many or option.repeated
    info.default = (
        ... if one.default is REQUIRED else (one.default or None if none else one.default)
    )
    plain = option.typed if option.read is not None or one.kind is Any else one.kind
    words = list[plain] | None if one.repeated else plain  # type: ignore[valid-type]
    return get_click_param(ParamMeta(name=one.name, default=info, annotation=words))[0]


def _offer_columns(ctx: Any, incomplete: str) -> list[str]:  # noqa: ANN401 - the parser reads it
    """Return the columns of the first file typed so far, for the last name of a comma list."""
    from pathlib import Path

    from mipaudit.data.files.paths import find_blobs
    from mipaudit.data.opening import open_part

    before, comma, begun = incomplete.rpartition(",")
    typed = [ctx.params.get(name) for name in _INPUTS]
    words = [word for one in typed for word in (one if isinstance(one, (list, tuple)) else [one])]
    # What is given by its place the parser does not say while an option lacks its value.
    files = (Path(word) for word in [*words, *finished_words()] if isinstance(word, str))
    path = next((str(file) for file in files if file.is_file()), None)
    try:
        blobs = [] if path is None else find_blobs(path)
        names = [field.name for blob, _ in blobs for field in open_part(blob).fields]
    except (MipauditError, OSError):
        return []  # there is no place for an error where the tab key is pressed
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


def _columns(value: list[str] | None) -> list[str] | None:
    """Return the columns of all the comma lists."""
    return listed_columns(value) if value else value


def finished_words() -> list[str]:
    """Return the words before the one that is being completed, less the program's name.

    The parser reads the shell's line for itself, with its quotes; this is only to find which
    command's options are wanted, and the name of a command has no quotes.
    """
    words = os.environ.get("COMP_WORDS")
    if words is not None:  # bash
        at = os.environ.get("COMP_CWORD", "")
        return words.split()[1 : int(at)] if at.isdecimal() else []
    line = os.environ.get("_TYPER_COMPLETE_ARGS", "")  # zsh, fish and PowerShell
    words_of_line = line.split()[1:]
    return words_of_line if line.endswith(" ") else words_of_line[:-1]


# Their first import takes every public name of numpy and with them the Fortran
# wrapper generator and the test tools: a third of the time it takes.
_GREEDY: Final = frozenset({"scipy", "pandas"})
_PARTS: Final = ("f2py", "testing", "ma", "ctypeslib", "typing", "polynomial")


class _BeforeGreedy:
    """Stands before all finders of modules, to know when one of ``_GREEDY`` is looked for."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        """Find nothing; the finders behind it do."""
        del path, target
        if name in _GREEDY:
            _put_off()


_FINDER: Final = _BeforeGreedy()


def spare_imports() -> None:
    """Put off the import of ``_PARTS`` until something of theirs is asked for.

    For a process of our own alone: a program that imports the package keeps numpy as it is.
    """
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def _put_off() -> None:
    from importlib.util import LazyLoader, find_spec, module_from_spec

    import numpy as np

    for part in _PARTS:
        name = f"numpy.{part}"
        if name in sys.modules or (spec := find_spec(name)) is None or spec.loader is None:
            continue
        spec.loader = LazyLoader(spec.loader)
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        setattr(np, part, module)


def _first_repeated(given: Iterable[object]) -> TyperOption | None:
    seen = set()
    for one in given:
        if not isinstance(one, TyperOption) or one.multiple or one.is_flag:
            continue
        if one.name in seen:
            return one
        seen.add(one.name)
    return None


def _advice(option: TyperOption) -> str:
    if "," in (option.metavar or ""):
        return f"The option is given twice. Give several values at once, as {option.metavar}."
    if option.opts[-1].startswith(_POLICY):
        return "The option is given twice. For several limits of one kind, use a policy file."
    return "The option is given twice, but only one value counts."
