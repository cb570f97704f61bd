"""Where a report came from."""

from __future__ import annotations

import re
import sys

import pytest

from mipaudit.errors import UsageError
from mipaudit.statements.provenance import provenance


def test_source_date_epoch_sets_the_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")

    assert provenance(seed=7, inputs=(), settings=()).created == "1970-01-02T00:00:00Z"


def test_the_time_is_utc_to_the_second(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)

    created = provenance(seed=0, inputs=(), settings=()).created

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", created)


@pytest.mark.parametrize("epoch", ["soon", "1e9", "9" * 30])
def test_a_source_date_epoch_that_is_no_time_is_refused(monkeypatch, epoch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)

    with pytest.raises(UsageError) as caught:
        provenance(seed=0, inputs=(), settings=())

    assert caught.value.code == "source_date_epoch"


def test_only_libraries_that_ran_are_named(monkeypatch):
    import numpy as np

    monkeypatch.delitem(sys.modules, "polars", raising=False)

    libraries = provenance(seed=0, inputs=(), settings=()).libraries

    assert libraries["numpy"] == np.__version__
    assert "polars" not in libraries
    assert "rich" not in libraries
