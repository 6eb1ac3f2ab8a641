"""The types and docstrings: what an editor shows."""

import subprocess
import sys

import pytest
import roofcast


def test_everything_public_says_what_it_is():
    for name in roofcast.__all__:
        thing = getattr(roofcast, name)
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"


# pybind11 gives classes a metaclass of its own, and those that cannot be made an __init__ that says so.
ALLOWED = r"""
roofcast\.(_core\.)?(Gpu|Kernel|Launch|Occupancy|Prediction|Waves)
roofcast\.(_core\.)?(Launch|Occupancy|Prediction|Waves).__init__
"""


def test_the_stubs_name_what_there_is(tmp_path):
    pytest.importorskip("mypy", reason="apt-get install mypy")
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--allowlist", allowed, "roofcast"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
