"""Types and style of the package and of these tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "python" / "policert"
CONFIGURATION = HERE.parent / "pyproject.toml"


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", ["check", "format --check"])
def test_ruff(command: str) -> None:
    run("ruff", *command.split(), "--config", str(CONFIGURATION), str(PACKAGE), str(HERE))


def test_types() -> None:
    run("mypy", "--config-file", str(CONFIGURATION), str(PACKAGE))
