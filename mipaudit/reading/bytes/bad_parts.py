"""Parts of the input that cannot be read: told apart from data that cannot be audited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from mipaudit.errors import InputError
from mipaudit.statements.estimate import Finding
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mipaudit.reading.bytes.blob import Blob

# Damage: bytes that are not there, or not what the format says. What the data say, such as
# a missing score, a third label or a word among numbers, is never among them.
UNREADABLE: Final = frozenset(
    {
        "bad_parquet",
        "bad_quotes",
        "damaged_column",
        "empty_file",
        "not_a_table",
        "not_utf8",
        "ragged_rows",
        "truncated",
        "unreadable",
    }
)
_NAMED: Final = 10
_LONGEST_NAME: Final = 400
SKIPPED: Final = "bad_parts_skipped"


class BadPartsError(InputError):
    """Parts that cannot be read; the message is that of the first.

    Attributes:
        parts: their names, safe to print.
    """

    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: InputError, parts: Sequence[str]) -> Self:
        """Return ``error`` with the names of the parts."""
        bad = cls(error.code, error.message, hint=error.hint)
        bad.parts = tuple(parts)
        return bad

    @classmethod
    def together(cls, errors: Iterable[BadPartsError]) -> Self:
        """Return several as one, which says what the first does."""
        found = list(errors)
        names = dict.fromkeys(name for one in found for name in one.parts)
        return cls.of(found[0], tuple(names))

    def plain(self) -> InputError:
        """Return the error as one that no part can be skipped for."""
        return InputError(self.code, self.message, hint=self.hint)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes with the names."""
        return _restored, (super().__reduce__()[1], self.parts)


def _restored(plain: tuple[object, str, str, str | None], parts: tuple[str, ...]) -> BadPartsError:
    _, code, message, hint = plain
    return BadPartsError.of(InputError(code, message, hint=hint), parts)


def named_fault(error: InputError, part: str) -> InputError:
    """Return ``error`` as that of a bad part where it tells of damage, else as it is."""
    if error.code not in UNREADABLE or isinstance(error, BadPartsError):
        return error
    return BadPartsError.of(error, (part,))


def input_changed(blob: Blob) -> InputError:
    """Return the error for a file that is not as the run found it: never a bad part."""
    return InputError(
        "input_changed",
        f"{blob.name}: the file changed while it was read.",
        hint="Audit a copy that nobody writes to.",
    )


def each_loaded(names: Sequence[str], loads: Sequence[Callable[[], None]]) -> None:
    """Call every one of ``loads``, and name all parts that cannot be read.

    Args:
        names: of the parts.
        loads: what reads each; other errors end it at once.

    Raises:
        BadPartsError: some cannot be read.
    """
    bad: list[BadPartsError] = []
    for name, load in zip(names, loads, strict=True):
        try:
            load()
        except InputError as error:
            named = named_fault(error, name)
            if not isinstance(named, BadPartsError):
                raise
            bad.append(named)
    if bad:
        raise BadPartsError.together(bad)


def skipped_finding(names: Sequence[str], files: int) -> Finding:
    """Return what the reader must know of parts that were left out.

    Args:
        names: of the parts left out.
        files: in the input, with those.
    """
    listed = ", ".join(f"'{safe_name(name, longest=_LONGEST_NAME)}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return Finding(
        code=SKIPPED,
        serious=True,
        text=(
            f"{len(names):,} of {files:,} input files cannot be read and are left out: "
            f"{listed}{more}. The records in them are missing, and perhaps not by chance: "
            "nothing here speaks for them."
        ),
    )
