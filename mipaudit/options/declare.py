"""Options declared once: a class for each command, a field for each option.

The command line, the Python function, the keys of policy files, the names in the environment
and what a report records all derive from the field::

    class AttackOptions(Scores, Game):
        loss_bound: float | None = choice("The loss is at most X.", within=above(0))

A policy file may have what is `free`, a `choice` if the answer says so, and never an `act`.

What several commands ask, each in its own way, is written once, and a command says what it
changes::

    min_cell: int = MIN_CELL_OPTION.but("Fewest records of a class shown.", default=10)

Annotations are objects in such files, not texts: no ``from __future__ import annotations``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from inspect import Parameter, get_annotations
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    NoReturn,
    Self,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

from mipaudit.errors import UsageError
from mipaudit.options.values import PLAIN, Given, Range, number_hint, percent_hint

if TYPE_CHECKING:
    from mipaudit.statements.provenance import Setting


# The default of an option that has to be given.
REQUIRED: Final = Parameter.empty
_OF_ITS_NAME: Final = ""
_ANOTHER: Final = "must be another value"
Steers = Literal["free", "choice", "act"]
# What stands for a value in help, unless an option says it: of Python's data it is a file.
_METAVARS: Final[Mapping[Any, str]] = {float: "X", int: "N", str: "NAME", Any: "FILE"}


class Option(NamedTuple):
    """How an option is given, and what it may be.

    Attributes:
        help: a sentence or two, for the command line and for Python alike.
        default: where nobody gives it, or `REQUIRED`.
        flag: as it is typed, where that is not ``--`` and its name: ``-o/--output`` with a
            letter, ``--a`` with ``off`` for its opposite; a word in capitals for what is given
            by its place; None for what only Python and policy files have.
        metavar: what stands for the value in help; None for that of its type.
        within: its range, of the value once it is read; None for any of its type.
        read: makes the value, from what is typed and from what Python gives alike. It raises
            ValueError(what it takes) or ValueError(what it takes, hint).
        typed: what the parser makes of the words before ``read``.
        repeated: whether it is typed once for each value; None for what its type says.
        off: the opposite flag, of one that is on.
        only_with: the option without which this one has no meaning.
        recorded: whether it can change the answer, and the report says what it was.
        recorded_as: its name in reports, where that is another.
        told: what the report says in place of a value that may be large, such as a table.
        is_input: whether it names what is read, and must not be written over.
        complete: what a shell may offer for the beginning of a word.
        first: whether help has it before all groups, under its first heading.
        in_python: a sentence on what Python gives instead; None for that of all inputs.
        steers: whether it limits or says a word, chooses what is looked at, or writes, connects
            and excuses. None, which fails a test, is taken for the last.
        needs_word: tells of a choice which values an answer must say; None for all.
        near: whether, of policy files, one of the working folder alone may have it.
    """

    help: str
    default: Any = None
    flag: str | None = _OF_ITS_NAME
    metavar: str | None = None
    within: Range | None = None
    read: Callable[[Any], Any] | None = None
    typed: type = str
    repeated: bool | None = None
    off: str | None = None
    only_with: str | None = None
    recorded: bool = True
    recorded_as: str | None = None
    told: Callable[[Any], str | None] | None = None
    is_input: bool = False
    complete: Callable[[str], list[str]] | None = None
    first: bool = False
    in_python: str | None = None
    steers: Steers | None = None
    needs_word: Callable[[Any], bool] | None = None
    near: bool = False

    def but(self, help: str | None = None, **changes: Given) -> Any:  # noqa: A002, ANN401
        """Return an option that is defined elsewhere, with what a class changes of it.

        Args:
            help: its words here; None for the same.
            changes: other attributes that differ.
        """
        return self._replace(help=self.help if help is None else help, **changes)


# Each returns an option; of any type, as it stands where a value of the field's type would.
free: Any = partial(Option, steers="free")
choice: Any = partial(Option, steers="choice")
act: Any = partial(Option, steers="act", recorded=False)
# What changes no answer, as how it is shown; and what names a file or data to read.
manner: Any = partial(Option, steers="free", recorded=False)
reads: Any = partial(Option, steers="choice", recorded=False, is_input=True)


def required(option: Option) -> Any:  # noqa: ANN401 - as above
    """Return the option as one that has to be given."""
    return option.but(default=REQUIRED)


class Declared(NamedTuple):
    """An option of a class: its name, and its type in parts.

    Attributes:
        name: of the field, and of the keyword.
        option: how it is given.
        kind: its type, without None, and of one member where there are many.
        optional: whether it may be None.
        many: whether it is a sequence.
        default: of the field, or `REQUIRED`.
        by_place: whether Python takes it by its place, too.
        annotation: its type as it was written.
    """

    name: str
    option: Option
    kind: Any
    optional: bool
    many: bool
    default: Any
    by_place: bool
    annotation: Any

    @property
    def recorded_name(self) -> str:
        """Its name in reports."""
        return self.option.recorded_as or self.name

    @property
    def key(self) -> str | None:
        """Its name in a policy file and in a variable: the long flag; None where it has none."""
        flag = self.option.flag
        if flag is None or flag[0] != "-":
            return None
        return flag.rpartition("/")[2].lstrip("-").replace("-", "_")

    @property
    def metavar(self) -> str | None:
        """What stands for its value in help; None where its words, or nothing, do."""
        return self.option.metavar or _METAVARS.get(self.kind)

    @property
    def words(self) -> tuple[str, ...]:
        """The words that it may have; none where it may have other values."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def repeated(self) -> bool:
        """Whether it is typed once for each value."""
        repeated = self.option.repeated
        return self.many and self.option.read is None if repeated is None else repeated

    @property
    def word(self) -> str:
        """What sentences call it: as it is typed, or as Python has it where it is not."""
        flag = self.option.flag
        return f"'{self.name}'" if flag is None else flag.rpartition("/")[2]

    @property
    def said(self) -> str:
        """What help says of it, with its range."""
        within = self.option.within
        if within is None or not within.in_help:
            return self.option.help
        return f"{self.option.help} [{within.text}]"


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(required,))
class Options:
    """Checked settings that do not change: each is within its range, and all go together.

    Subclasses declare fields ``name: type = free(help, ...)``, in the order in which help lists
    them, after those of their bases.
    ``GROUP`` is the heading in help of what a class itself declares.
    """

    HELP: ClassVar[str] = ""
    GROUP: ClassVar[str] = "Options"
    _OWN: ClassVar[dict[str, tuple[Any, Option, bool]]] = {}

    def __init_subclass__(cls, *, kw_only: bool = True) -> None:
        """Gather the fields of the bases, and then those of the class."""
        found: dict[str, tuple[Any, Option, bool]] = {}
        for base in cls.__bases__:
            found |= getattr(base, "_OWN", {})
        for name, annotation in get_annotations(cls).items():
            option = cls.__dict__.get(name)
            if isinstance(option, Option):
                if option.flag == _OF_ITS_NAME:
                    option = option.but(flag=f"--{name.replace('_', '-')}")
                found[name] = (annotation, option, not kw_only)
        cls._OWN = found

    def __init__(self, *given: object, **named: object) -> None:
        """Take the values; what is left out has its default.

        Raises:
            TypeError: more values, or other names, than there are options, or a required one
                is left out.
            UsageError: a value is not of its type or outside its range, or values do not go
                together; the code is the name of the option.
        """
        options = declared(type(self))
        places = [one.name for one in options if one.by_place]
        if len(given) > len(places):
            raise TypeError(place_hint(places, options))
        values = {**dict(zip(places, given, strict=False)), **named}
        unknown = values.keys() - {one.name for one in options}
        if unknown:
            raise TypeError(_unknown(min(unknown), options))
        for one in options:
            value = values.get(one.name, one.default)
            if value is REQUIRED:
                raise TypeError(f"{one.name!r} must be given")
            self.__dict__[one.name] = value if value is one.default else checked(one, value)
        for one in options:
            _require_company(one, self.__dict__, options)
        self.check()

    def check(self) -> None:
        """Refuse values that do not go together; of commands that have such."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: settings do not change."""
        raise AttributeError(f"{type(self).__name__} does not change")

    @classmethod
    def idle(cls, given: Mapping[str, Any], typed: frozenset[str]) -> Collection[str]:
        """Return the options that mean nothing beside what is given.

        What a policy file sets for all commands is no mistake then: it is meant for another.

        Args:
            given: the values, by name.
            typed: those that stand on the command line.
        """
        del typed  # of commands that are asked one of several questions
        return [one.name for one in declared(cls) if _lacks_company(one, given)]

    def but(self, **changes: object) -> Self:
        """Return the same with other values, checked together."""
        names = [one.name for one in declared(type(self))]
        return type(self)(**{**{name: self.__dict__[name] for name in names}, **changes})

    def inputs(self) -> tuple[Any, ...]:
        """Return what is read, as it was given."""
        options = [one for one in declared(type(self)) if one.option.is_input]
        found = [self.__dict__[one.name] for one in options]
        many = [one if isinstance(one, (tuple, list)) else (one,) for one in found]
        return tuple(value for values in many for value in values)

    def recorded(self) -> tuple[Setting, ...]:
        """Return what a report says of them: their values, and where the caller has them from."""
        from mipaudit.statements.provenance import Setting, plain_value

        options = [one for one in declared(type(self)) if one.option.recorded]
        values = {one.name: _told(one.option, self.__dict__[one.name]) for one in options}
        names = {one.name: one.recorded_name for one in options}
        given: tuple[Setting, ...] | None = self.__dict__.get("settings")
        if given is None:
            return tuple(
                Setting(name=names[name], value=plain_value(value), source="api")
                for name, value in values.items()
            )
        return tuple(
            replace(one, name=names[one.name], value=plain_value(values[one.name]))
            if one.name in values
            else one
            for one in given
        )


def declared(options: type[Options]) -> tuple[Declared, ...]:
    """Return the options of a class, in the order of its help."""
    return _declared_once(options)  # type: ignore[arg-type] # mypy takes classes for unhashable


@cache
def _declared_once(options: type[Options]) -> tuple[Declared, ...]:
    return tuple(_declared(name, *rest) for name, rest in options._OWN.items())  # noqa: SLF001


def place_hint(places: Sequence[str], options: Sequence[Declared]) -> str:
    """Return what to say of more values without a name than there may be."""
    first = f"only {' and '.join(places)}" if places else "nothing"
    arrays = {"members", "holdout"} <= {one.name for one in options}
    how = ", as members=scores[member], holdout=scores[~member]" if arrays else ""
    return f"{first} may be given without a name; name the others{how}"


def _unknown(name: str, options: Sequence[Declared]) -> str:
    from mipaudit.options.commands import meant_key

    meant = meant_key(name, {one.name for one in options})
    hint = "" if meant is None else f"; did you mean {meant}=?"
    return f"there is no option {name!r}{hint}"


def _told(option: Option, value: object) -> object:
    return value if option.told is None else option.told(value)


def _declared(name: str, annotation: Given, option: Option, by_place: bool) -> Declared:  # noqa: FBT001
    kind: Any = annotation
    optional = get_origin(kind) in {Union, UnionType} and NoneType in get_args(kind)
    if optional:
        rest = [one for one in get_args(kind) if one is not NoneType]
        kind = rest[0] if len(rest) == 1 else kind
    many = get_origin(kind) is Sequence
    if many:
        (kind,) = get_args(kind)
    return Declared(name, option, kind, optional, many, option.default, by_place, annotation)


def checked(one: Declared, value: object) -> Given:
    """Return the value of an option, plain and within its range.

    Raises:
        UsageError: it is neither; the code is the name of the option.
    """
    if value is None and (one.optional or one.default is None):
        return None
    found = _read(one, value)
    within = one.option.within
    if within is not None and not within.holds(found):
        hint = within.meant(found) if within.meant else percent_hint(found, within.holds)
        raise _refused(one, f"must be {within.text}", hint)
    return found


def _lacks_company(one: Declared, values: Mapping[str, Any]) -> bool:
    other = one.option.only_with
    return other is not None and not _is_there(values.get(other))


def _require_company(one: Declared, values: Mapping[str, Any], options: Sequence[Declared]) -> None:
    if is_left_out(one, values[one.name]) or not _lacks_company(one, values):
        return
    other = next(each.word for each in options if each.name == one.option.only_with)
    hint = f"Add {other}, or leave {one.word} out."
    raise UsageError(one.name, f"{one.word} can only be used with {other}.", hint=hint)


def is_left_out(one: Declared, value: object) -> bool:
    """Tell whether a value is what the option has where nobody gives it."""
    # Of one type first: a table is not compared with None.
    return value is one.default or (type(value) is type(one.default) and value == one.default)


def _is_there(value: object) -> bool:
    return value is not None and value is not False and not (isinstance(value, tuple) and not value)


def _read(one: Declared, value: object) -> Given:
    read = one.option.read
    if read is None:
        return _many(one, value) if one.many else _plain(one, value)
    try:
        return read(value)
    except UsageError:
        raise
    except ValueError as error:
        words = [word for word in error.args if isinstance(word, str)] or [_ANOTHER]
        raise _refused(one, words[0], *words[1:2]) from None
    except (TypeError, AttributeError, OverflowError):
        # Python's own messages are not written for users.
        raise _refused(one, _ANOTHER) from None


def _many(one: Declared, value: Given) -> tuple[Any, ...]:
    """Return a sequence as a tuple; a single text is one value, not a sequence of letters."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        value = (value,)
    return tuple(_plain(one, member) for member in value)


def _plain(one: Declared, value: Given) -> Given:
    plain = PLAIN.get(one.kind)
    if plain is not None:
        make, accepted = plain
        try:
            return make(value)
        except (TypeError, ValueError, OverflowError):
            within = "" if one.option.within is None else f", {one.option.within.text}"
            raise _refused(one, f"must be {accepted}{within}", number_hint(value)) from None
    if one.words:
        if isinstance(value, str) and value in one.words:
            return value
        from mipaudit.options.commands import near

        meant = near(value, one.words) if isinstance(value, str) else None
        hint = f"Did you mean '{meant}'?" if meant else None
        raise _refused(one, f"must be one of: {', '.join(one.words)}", hint)
    return value


def _refused(one: Declared, words: str, hint: str | None = None) -> UsageError:
    end = "" if words.endswith((".", "?")) else "."
    return UsageError(one.name, f"{one.word} {words}{end}", hint=hint)
