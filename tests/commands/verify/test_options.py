"""What ``verify`` may be asked."""

from __future__ import annotations

from mipaudit.commands.verify.options import VerifyOptions


def test_inputs_with_a_name_must_not_be_written_over_by_their_path():
    asked = VerifyOptions("r.json", input=["one=a.csv", "b.csv"], synthetic="s.csv")

    assert {"r.json", "a.csv", "b.csv", "s.csv"} <= set(asked.inputs())
    assert asked.has_scores
