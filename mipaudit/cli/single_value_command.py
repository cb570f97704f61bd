"""A command that refuses an option given twice where only one value counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import typer
from typer.core import TyperCommand, TyperOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_POLICY: Final = "--max-"


class SingleValueCommand(TyperCommand):
    """Refuses what the parser would do: take the last value and drop the others in silence.

    A limit of a policy, or a filter of rows, would be gone without a word.

    Attributes:
        run: from the parser's context to the exit code.
        unrecorded: the options that change no answer, by name.
    """

    run: Callable[[Any], int]
    unrecorded: frozenset[str]

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - the parser's own
        """Run it."""
        return self.run(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the parser's own
        """Parse the words, unless an option with one value is among them twice."""
        if args and not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            twice = _first_repeated(order)
            if twice is not None:
                raise typer.BadParameter(_advice(twice), ctx=ctx, param=twice)
        return super().parse_args(ctx, args)


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
        return f"It is given twice. Several values go into one, as {option.metavar}."
    if option.opts[-1].startswith(_POLICY):
        return "It is given twice. A policy file holds several limits of a kind."
    return "It is given twice, and only one value counts."
