"""Who does the work: settings that contradict each other."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from mipaudit.errors import UsageError
from mipaudit.options.scores import BadParts, Engines


class Asked(Engines, BadParts):
    """Of a command that passes over its input."""


POOL = ThreadPoolExecutor(1)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"engine": "spark"}, "engine"),
        ({"engine": "dask"}, "no_scheduler"),
        ({"jobs": 0}, "jobs"),
        ({"jobs": 1.5}, "jobs"),
        ({"engine": "threads", "scheduler": "tcp://h:1"}, "scheduler"),
        ({"executor": object()}, "executor"),
        ({"executor": POOL, "engine": "processes"}, "executor"),
        ({"on_bad_part": "ignore"}, "on_bad_part"),
    ],
)
def test_settings_that_make_no_sense(given, code):
    with pytest.raises(UsageError) as caught:
        Asked(**given)
    assert caught.value.code == code
