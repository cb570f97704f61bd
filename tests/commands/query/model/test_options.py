"""What ``query losses`` may be asked."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.query.model.options import LossesOptions
from mipaudit.errors import UsageError


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "outputs"),
        ({"logits": "a", "probabilities": "b"}, "outputs"),
        ({"logits": "a", "holdout_logits": "b", "holdout_probabilities": "c"}, "outputs"),
        ({"logits": "a", "reference_logits": "b", "reference_probabilities": "c"}, "outputs"),
        ({"logits": "a", "holdout_logits": "b", "membership": "c"}, "two_memberships"),
        ({"logits": "a", "holdout_probabilities": "b"}, "two_kinds"),
        ({"logits": "a", "holdout_labels": "b"}, "no_holdout"),
        ({"logits": "a", "holdout_reference_logits": "b"}, "no_holdout"),
    ],
)
def test_files_that_do_not_go_together_are_refused_before_they_are_opened(given, code):
    with pytest.raises(UsageError) as caught:
        LossesOptions(**given)

    assert caught.value.code == code


def test_the_record_names_files_and_holds_no_arrays(tmp_path):
    asked = LossesOptions(logits=np.full((3, 2), 0.125), labels=tmp_path / "y.npy", scores="loss")
    found = {one.name: one.value for one in asked.recorded()}

    assert found["logits"] == "in memory"
    assert found["labels"].endswith("y.npy")
    assert (found["membership"], found["scores"]) == (None, ["loss"])
