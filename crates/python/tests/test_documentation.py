"""The page about Python and the notebooks, run as they are written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# What only a block of the slow tier needs.
LIBRARIES = ("stable_baselines3", "policert.ray")
# Those that need PyTorch.
LARGE = {"stable_baselines3"}


def blocks(page: Path) -> list[tuple[str, bool]]:
    """The blocks of code of a page, and whether one needs large libraries."""
    found = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [(code, any(name in code for name in LIBRARIES)) for code in found]


def test_the_page_about_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    ran = 0
    for code, is_large in blocks(ROOT / "docs/python.md"):
        if not is_large:
            exec(compile(code, "docs/python.md", "exec"), names)
            ran += 1
    assert ran >= 5


@pytest.mark.slow
def test_the_blocks_that_need_large_libraries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("stable_baselines3")
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, Any] = {}
    for code, _ in blocks(ROOT / "docs/python.md"):
        exec(compile(code, "docs/python.md", "exec"), names)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] if path.stem in LARGE else [], id=path.stem)
        for path in NOTEBOOKS
    ],
)
def test_notebooks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem in LARGE:
        pytest.importorskip("stable_baselines3")
    monkeypatch.chdir(ROOT)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), path.name, "exec"), names)
