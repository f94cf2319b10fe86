"""The pages about Python and the notebooks, run as they are written."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# What only a block of the slow tier needs.
LIBRARIES = ("stable_baselines3", "sb3_contrib", "policert.ray")
# Notebooks that need PyTorch.
LARGE = {"stable_baselines3"}
# A notebook that needs the package alone, and what others need besides.
ALONE = "first_verdict"
BESIDES = ("gymnasium", "pandas", "sklearn", "xgboost")
# Pages, whether they run from the folder of the repository, and how many blocks need no large library.
PAGES = [("docs/python.md", True, 5), ("docs/stable-baselines3.md", False, 5)]


def blocks(page: Path) -> list[tuple[str, bool]]:
    """The blocks of code of a page, and whether one needs large libraries, or what such a block makes."""
    found = []
    missing: set[str] = set()
    for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        tree = ast.parse(code)
        words = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        read = {word.id for word in words if isinstance(word.ctx, ast.Load)}
        made = {word.id for word in words if isinstance(word.ctx, ast.Store)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                made |= {alias.asname or alias.name for alias in node.names}
        is_large = any(name in code for name in LIBRARIES) or bool((read - made) & missing)
        missing = missing | made if is_large else missing - made
        found.append((code, is_large))
    return found


def run(page: str, from_root: bool, folder: Path, is_slow: bool) -> int:
    if from_root:
        (folder / "examples").symlink_to(ROOT / "examples")
    names: dict[str, Any] = {}
    ran = 0
    for code, is_large in blocks(ROOT / page):
        if is_slow or not is_large:
            exec(compile(code, page, "exec"), names)
            ran += 1
    return ran


@pytest.mark.parametrize(("page", "from_root", "least"), PAGES)
def test_pages(
    page: str, from_root: bool, least: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(page, from_root, tmp_path, is_slow=False) >= least


@pytest.mark.slow
@pytest.mark.parametrize(("page", "from_root", "least"), PAGES)
def test_pages_with_large_libraries(
    page: str, from_root: bool, least: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for library in ("stable_baselines3", "sb3_contrib", "ray"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    try:
        assert run(page, from_root, tmp_path, is_slow=True) > least
    finally:
        # Other tests start a cluster of their own.
        pytest.importorskip("ray").shutdown()


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
    if path.stem == ALONE:
        for library in BESIDES:
            monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.chdir(ROOT)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), path.name, "exec"), names)
