"""What the tests share: models, and the folder of examples."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

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
