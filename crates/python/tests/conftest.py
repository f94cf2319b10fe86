"""What the tests share: models, and the folder of examples."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import policert

ROOT = Path(__file__).resolve().parents[3]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests, and those that need PyTorch, run where SLOW_TESTS=1."""
    if os.environ.get("SLOW_TESTS") == "1":
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="SLOW_TESTS=1 runs it"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: long, or needs large libraries")


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def icy_road() -> str:
    return str(ROOT / "examples/icy_road/model.jani")


def refuse_parts(task: Path, folder: Path) -> None:
    """Parts of the initial box of a loop are refused where they would not decide the whole, and where there are none."""
    from policert.ray import boxes, partition_reach

    at_once = folder / "at_once.toml"
    network = str(task.parent / "cells.onnx")
    text = task.read_text(encoding="utf-8").replace("cells.onnx", network)
    at_once.write_text(text + '\n[question]\ngoal_rule = "all-at-once"\n', encoding="utf-8")
    with pytest.raises(policert.Unsupported):
        partition_reach(at_once, boxes=boxes(at_once, {"p": 2}), journal=folder / "no.jsonl")
    for counts in ({"q": 2}, {"p": 0}):
        with pytest.raises(policert.UsageError):
            boxes(task, counts)


def counters(count: int, top: int) -> dict[str, Any]:
    """A model with (top + 1) ** count states, none of which is unsafe."""
    names = [f"c{k}" for k in range(count)]
    return {
        "jani-version": 1,
        "name": "counters",
        "type": "lts",
        "features": ["derived-operators"],
        "actions": [{"name": f"up_{name}"} for name in names],
        "variables": [
            {
                "name": name,
                "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": top},
                "initial-value": 0,
            }
            for name in names
        ],
        "properties": [
            {
                "name": "sum",
                "expression": {
                    "op": "PA",
                    "reach": {
                        "op": "state-condition",
                        "exp": {
                            "op": "∧",
                            "left": {"op": "=", "left": names[0], "right": top},
                            "right": {"op": "<", "left": names[0], "right": top},
                        },
                    },
                },
            }
        ],
        "automata": [
            {
                "name": "all",
                "locations": [{"name": "here"}],
                "initial-locations": ["here"],
                "edges": [
                    {
                        "location": "here",
                        "action": f"up_{name}",
                        "guard": {"exp": {"op": "<", "left": name, "right": top}},
                        "destinations": [
                            {
                                "location": "here",
                                "assignments": [
                                    {"ref": name, "value": {"op": "+", "left": name, "right": 1}}
                                ],
                            }
                        ],
                    }
                    for name in names
                ],
            }
        ],
        "system": {
            "elements": [{"automaton": "all"}],
            "syncs": [{"synchronise": [f"up_{n}"], "result": f"up_{n}"} for n in names],
        },
    }
