"""What to try where a word or an option of the command line belongs somewhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    OptionNames = Callable[[str], Collection[str]]

_CLASSES: Final = "Give the classes in files of their own as --members FILE --holdout FILE."
# What to do with a file that a command has no place for.
_FILES: Final = {
    "query losses": "Say what a file is: --logits FILE or --probabilities FILE, --labels FILE, "
    "--membership FILE.",
    "query lira": "Say what a file is: --shadow FILE, --inclusion FILE, --target FILE, "
    "--membership FILE.",
    "records": _CLASSES,
    "attack": _CLASSES,
    "attribute": _CLASSES,
    "check": _CLASSES,
    "shift": "It takes two tables: mipaudit shift MEMBERS HOLDOUT",
}
_BY_PLACE: Final = "The tables are given by place: mipaudit shift MEMBERS HOLDOUT"
# What a command calls otherwise than others do.
_INSTEAD: Final = {
    ("shift", "--members"): _BY_PLACE,
    ("shift", "--holdout"): _BY_PLACE,
    ("shift", "--unit-col"): "Did you mean --id-col?",
    ("shift", "--max-advantage"): "Did you mean --max-blind?",
    ("query", "--unit-col"): "Carry the column along with --keep; --unit-col is for estimate.",
    ("query", "--id-col"): "Carry the column along with --keep; estimate takes it as --unit-col.",
    ("query losses", "--members"): "The members' outputs are --logits or --probabilities, the "
    "holdout's --holdout-logits or --holdout-probabilities.",
    ("query losses", "--holdout"): "The holdout's outputs are --holdout-logits or "
    "--holdout-probabilities.",
    ("query losses", "--score-col"): "Did you mean --scores?",
}
_MOST: Final = 5


def misplaced(error: Exception, commands: tuple[str, ...], option_names: OptionNames) -> str | None:
    """Return what to try, or None where nothing better is known than the parser says.

    Args:
        error: one of the parser's usage errors.
        commands: the names of all commands.
        option_names: the options of a command, as they are typed.
    """
    context = getattr(error, "ctx", None)
    name = str(getattr(context, "info_name", ""))
    option = getattr(error, "option_name", None)
    if type(error).__name__ == "NoSuchOption" and isinstance(option, str):
        if (name, option) in _INSTEAD:
            return _INSTEAD[name, option]
        return _of_others(option, name, [one for one in commands if option in option_names(one)])
    if "unexpected extra argument" in str(getattr(error, "message", "")):
        return _FILES.get(name)
    return None


def _of_others(option: str, name: str, owners: list[str]) -> str | None:
    if not option.startswith("--") or not owners:
        return None
    listed = ", ".join(owners[:-1]) + " and " + owners[-1] if owners[1:] else owners[0]
    if len(owners) > _MOST:
        listed = f"{owners[0]} and other commands"
    return f"{option} is an option of {listed}, not of {name}."
