"""Arguments of all types in every public function: exceptions of Python, and never an abort."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import ROOT

import policert
from policert import _policert
from policert.gym import JaniEnv, JaniVectorEnv, conform, to_model

IS_SLOW = os.environ.get("SLOW_TESTS") == "1"
# Calls of each function; in the slow tier others each time, which POLICERT_SEED repeats.
ROUNDS = 600 if IS_SLOW else 60
# What is done as often as asked takes as long as it takes.
OFTEN = {("conform", "runs"): [None, "x", -1, 0, 0.5, [], object()]}
SEED = os.environ.get("POLICERT_SEED") or (str(random.randrange(2**32)) if IS_SLOW else "")


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = {"x": [value]}
    return value


def raises(*_: Any) -> Any:
    raise KeyError("on purpose")


WRONG: list[Any] = [
    None,
    True,
    -1,
    0,
    7,
    2**31,
    2**63,
    2**64,
    2**200,
    0.5,
    -0.0,
    float("nan"),
    float("inf"),
    1e300,
    1j,
    Fraction(1, 3),
    "",
    "x",
    "\0",
    "\ud800",
    "x = ",
    "{",
    "speed = 1 / 0",
    "(define",
    "." * 5000,
    "(" * 5000,
    b"",
    b"\xff\0",
    bytearray(3),
    [],
    [None],
    [[]],
    ["speed", 3],
    [2**70],
    (),
    {},
    {1: 2},
    {"x": None},
    {"state": 5},
    {"goal": "much"},
    set(),
    range(3),
    object(),
    int,
    len,
    raises,
    deep(3),
    deep(3000),
    Path("/nowhere/at/all"),
    Path("/"),
    Path("\0"),
    np.zeros(0),
    np.zeros((2, 2)),
    np.array(["a"]),
    np.int64(3),
    np.float32(2),
]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, ...]]:
    """Every public function, with arguments that are right."""
    root, folder = ROOT, tmp_path_factory.mktemp("any")
    icy = root / "examples/icy_road"
    model, network = str(icy / "model.jani"), str(icy / "careful.onnx")
    shown = policert.Model(model)
    words = {"inputs": ["position", "speed"], "outputs": shown.labels}
    policy = policert.Policy(network, **words)
    found = policert.verify(model, "hasty")
    env, many = JaniEnv(model, "careful"), JaniVectorEnv(model, "careful", 3)
    asked = {"model": model, "property": "careful", "policy": None}
    limits = {"timeout": 0.3, "memory": None}
    task = {**shown._task(), "property": "careful"}
    interface = '{"version": 2, "input": ["speed"], "output": ["brake"]}'
    rewards = {"goal": 1.0, "unsafe": -1.0, "stuck": -1.0, "step": 0.0}
    lake = gymnasium.make("FrozenLake-v1")
    bounds = {"timeout": 0.3}
    options = [
        "unsafe",
        "start",
        "goal",
        "ties",
        "filter",
        "at_least",
        "predicates",
        "states",
        "last",
    ]
    engine = ["engine", "preset", "settings", "bound", "precision", "exact", "state_limit"]
    unset: dict[str, Any] = dict.fromkeys([*options, *engine])

    def stepped(action: Any) -> Any:
        env.reset(seed=1)
        return env.step(action)

    def all_stepped(actions: Any) -> Any:
        many.reset(seed=1)
        return many.step(actions)

    return {
        "verify": (
            policert.verify,
            {**asked, **limits, **unset, "exact": False, "no_policy": False},
        ),
        "probability": (policert.probability, {**asked, **limits, "bound": 0.5}),
        "simulate": (policert.simulate, {**asked, **limits, "runs": 5, "steps": 20, "seed": 1}),
        "reach": (
            policert.reach,
            {"task": str(root / "examples/cart/cart.toml"), "instance": None, **limits},
        ),
        "query": (
            policert.query,
            {
                "network": network,
                "property": str(root / "examples/queries/brakes_on_ice.vnnlib"),
                **limits,
            },
        ),
        "certify": (policert.certify, {"evidence": found, **limits}),
        "convert": (
            policert.convert,
            {**asked, **limits, "output": str(folder / "o"), "policy_as_automaton": "real"},
        ),
        "interface": (
            policert.interface,
            {"model": model, "policy": policy, "output": str(folder / "i")},
        ),
        "choices": (policert.choices, {**asked, "states": [[0, 0, 0]]}),
        "Model": (
            lambda **given: policert.Model(**given).shape,
            {"source": model, "constants": None, "problem": None},
        ),
        "Property": (
            lambda **given: policert.verify(model, policert.Property(**given)),
            {"source": "careful", "index": 0},
        ),
        "Policy": (
            lambda **given: policert.verify(
                model, "careful", policert.Policy(**given), timeout=0.3
            ),
            {"source": network, **words, "never": (), "filter": None, "ties": None, "scores": None},
        ),
        "save": (policy.save, {"path": str(folder / "p")}),
        "with_interface": (policy.with_interface, {"interface": {"input": []}}),
        "save_evidence": (found.save_evidence, {"path": str(folder / "e")}),
        "JaniEnv": (
            JaniEnv,
            {
                "model": model,
                "property": "careful",
                "observation": None,
                "actions": None,
                "kind": None,
            }
            | {
                "rewards": None,
                "reward": None,
                "max_steps": 5,
                "render_mode": None,
                "picture": None,
            }
            | {"unsafe": None, "start": None, "goal": None, "terminal": None},
        ),
        "reset": (env.reset, {"seed": 1, "options": None}),
        "step": (stepped, {"action": 0}),
        "successors": (env.successors, {"state": None}),
        "JaniVectorEnv": (
            JaniVectorEnv,
            {"model": model, "property": "careful", "num_envs": 2, "max_steps": 3},
        ),
        "reset many": (many.reset, {"seed": 1, "options": None}),
        "step many": (all_stepped, {"actions": np.zeros(3, dtype=np.int64)}),
        "to_model": (
            to_model,
            {
                "env": lake,
                "unsafe": [5],
                "goal": [15],
                "start": None,
                "actions": None,
                "names": None,
            },
        ),
        "conform": (
            conform,
            {
                "env": lake,
                "model": to_model(lake, unsafe=[5]),
                "state": lambda inner: {"s": int(inner.s)},
                "runs": 3,
            },
        ),
        "from_callable": (
            policert.Policy.from_callable,
            {"choose": lambda rows: [0] * len(rows), "env": env, "limit": 100},
        ),
        "native verify": (
            _policert.verify,
            {"task": task, "answering": {"evidence": True}, "bounds": bounds},
        ),
        "native simulate": (
            _policert.simulate,
            {
                "task": task,
                "bounds": bounds,
                "runs": 3,
                "steps": 9,
                "seed": 1,
                "past_goal": False,
                "progress": None,
            },
        ),
        "native choices": (_policert.choices, {"task": task, "states": [[0, 0, 0]]}),
        "native shape": (_policert.shape, {"task": task}),
        "native widths": (_policert.widths, {"task": task, "interfaces": [interface]}),
        "native environment": (
            _policert.Environment,
            {
                "task": task,
                "interface": interface,
                "rewards": rewards,
                "reward": None,
                "max_steps": None,
            },
        ),
        "native observe": (env._native.observe, {"states": [[0, 0, 0]]}),
        "native successors": (env._native.successors, {"state": [0, 0, 0]}),
        "native reset": (env._native.reset, {"seed": 1, "state": [0, 0, 0]}),
        "native vector": (
            _policert.VectorEnvironment,
            {"count": 2, "task": task, "interface": interface, "rewards": rewards},
        ),
    }


NAMES = [
    *(
        "verify",
        "probability",
        "simulate",
        "reach",
        "query",
        "certify",
        "convert",
        "interface",
        "choices",
    ),
    *(
        "Model",
        "Property",
        "Policy",
        "save",
        "with_interface",
        "save_evidence",
        "JaniEnv",
        "reset",
        "step",
    ),
    *(
        "successors",
        "JaniVectorEnv",
        "reset many",
        "step many",
        "to_model",
        "conform",
        "from_callable",
    ),
    *("native verify", "native simulate", "native choices", "native shape", "native widths"),
    *("native environment", "native observe", "native successors", "native reset", "native vector"),
]


def test_every_public_name_is_tried(calls: dict[str, Any]) -> None:
    assert list(calls) == NAMES
    results = {
        "Certificate",
        "Decision",
        "EpisodeOptions",
        "Outcome",
        "QueryAnswer",
        "QuestionOptions",
        "ReachAnswer",
        "Simulation",
        "Verdict",
        "version",
    }
    for name in set(policert.__all__) - results:
        kind = getattr(policert, name)
        is_error = isinstance(kind, type) and issubclass(kind, BaseException)
        assert is_error or name in calls, name


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arguments_are_exceptions(
    calls: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    function: Callable[..., object]
    function, right = calls[name]
    function(**right)
    print(f"POLICERT_SEED={SEED}")
    numbers = random.Random(name + SEED)
    refused = 0
    for _ in range(ROUNDS):
        wrong = numbers.sample(list(right), numbers.choice([1, 1, 1, min(2, len(right))]))
        drawn = {key: numbers.choice(OFTEN.get((name, key), WRONG)) for key in wrong}
        given = {**right, **drawn}
        try:
            function(**given)
        except Exception as error:
            refused += 1
            code = getattr(error, "code", 0)
            # A file that cannot be written is no fault of the input.
            assert code != 50 or "output" in wrong, f"{name}({given}): {error}"
    assert refused > ROUNDS // 10
