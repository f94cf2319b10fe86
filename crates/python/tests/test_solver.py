"""The half of the package that has Z3, taken where the package of Z3 is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import policert
from policert import _policert, solver

QUESTION = """
import policert, sys
print(policert.version(), "z3" in sys.modules)
print(policert.verify(sys.argv[1], "careful", engine="ic3", preset="polic3-z3").verdict)
"""


def test_the_library_of_z3_is_loaded_from_its_package(tmp_path: Path, icy_road: str) -> None:
    library = ROOT / ".tools/z3/lib" / solver._LIBRARY
    if "without Z3" in policert.version() or not library.is_file():
        pytest.skip("a build without Z3")
    package = tmp_path / "policert"
    source = Path(str(policert.__file__)).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("*.so"))
    half = package / "with_z3"
    half.mkdir()
    shutil.copy(str(_policert.__file__), half / "_policert.native")
    # The half without Z3 is not asked for.
    (package / "_policert.py").write_text("raise ImportError('the other half')", encoding="utf-8")
    (tmp_path / "z3/lib").mkdir(parents=True)
    (tmp_path / "z3/__init__.py").write_text("raise ImportError('not needed')", encoding="utf-8")
    (tmp_path / "z3/lib" / solver._LIBRARY).symlink_to(library)
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}

    def asked() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", QUESTION, icy_road],
            env={**environment, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
        )

    done = asked()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{policert.version()} False", "safe"]
    shutil.rmtree(tmp_path / "z3")
    assert "the other half" in asked().stderr
