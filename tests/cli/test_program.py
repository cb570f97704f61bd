"""Help, version, and the public names."""

from __future__ import annotations

import pytest

import mipaudit as package


def test_version(mipaudit):
    done = mipaudit("--version")

    assert (done.returncode, done.stdout) == (0, f"mipaudit {package.__version__}\n")


@pytest.mark.parametrize("name", [n for n in package.__all__ if n != "estimate"])
def test_every_public_name_can_be_had(name):
    assert getattr(package, name) is not None
    assert name in dir(package)


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'estimat'"):
        _ = package.estimat
