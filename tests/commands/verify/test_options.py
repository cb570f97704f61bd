"""What ``verify`` may be asked."""

from __future__ import annotations

import pytest

from mipaudit.commands.verify.options import VerifyOptions


def test_a_report_is_needed():
    with pytest.raises(TypeError, match="report"):
        VerifyOptions()


@pytest.mark.parametrize("given", [None, "s.csv", ["s.csv"], ("s.csv",)])
def test_one_input_or_none_may_stand_alone(given):
    assert VerifyOptions("r.json", input=given).input == (() if given is None else ("s.csv",))


def test_inputs_with_a_name_must_not_be_written_over_by_their_path():
    asked = VerifyOptions("r.json", input=["one=a.csv", "b.csv"], synthetic="s.csv")

    assert {"r.json", "a.csv", "b.csv", "s.csv"} <= set(asked.inputs())
    assert asked.has_scores
