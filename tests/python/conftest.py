"""The command beside the module: what one says, the other says too."""

import json
import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ROOFCAST_SOURCE_DIR"])


@pytest.fixture
def examples():
    """The folder of the kernel files."""
    return SOURCE / "examples" / "kernels"


@pytest.fixture
def command():
    """Runs the command; returns its exit code, output and messages."""

    def run(*words):
        done = subprocess.run([os.environ["ROOFCAST"], *words], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def answer(command):
    """What the command prints as JSON."""

    def run(*words):
        code, out, err = command(*words, "--format", "json")
        assert code == 0, err
        return json.loads(out)

    return run
