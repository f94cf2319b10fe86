"""Agents of Stable-Baselines3 and modules of PyTorch as policies. The libraries are large, so these tests
run where they are installed, with SLOW_TESTS=1."""

from __future__ import annotations

import json
import os
import pickle
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import policert

LABELS = ["accelerate", "coast", "brake"]
WORDS: dict[str, Any] = {"inputs": ["position", "speed"], "outputs": LABELS}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["DQN", "PPO", "A2C", "QRDQN", "MaskablePPO"])
@pytest.mark.parametrize(
    ("kind", "observation"),
    [
        ("box", None),
        ("box", ["position/30", "one_hot(speed)"]),
        ("discrete", ["position*4+speed"]),
        ("multidiscrete", ["position", "speed"]),
        ("dict", {"where": ["position"], "how": ["one_hot(speed)"]}),
    ],
)
def test_stable_baselines3(
    icy_road: str, algorithm: str, kind: str, observation: Any, tmp_path: Path
) -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    contrib = pytest.importorskip("sb3_contrib")
    from policert.gym import JaniEnv

    env = JaniEnv(icy_road, "careful", kind=kind, observation=observation, max_steps=50)
    kind_of_agent = getattr(sb3, algorithm, None) or getattr(contrib, algorithm)
    name = "MultiInputPolicy" if kind == "dict" else "MlpPolicy"
    agent = kind_of_agent(name, env, seed=1, device="cpu")
    agent.learn(256)
    policy = policert.Policy.from_sb3(agent, env)
    verdict = policert.verify(icy_road, "careful", policy).verdict
    assert verdict in ("safe", "unsafe")
    agent.save(tmp_path / "agent.zip")
    again = policert.Policy.from_sb3(tmp_path / "agent.zip", env)
    assert policert.verify(icy_road, "careful", again).verdict == verdict


@pytest.mark.slow
def test_normalised_dictionaries(icy_road: str) -> None:
    """The choices in all states are those of the agent, which sees normalised observations."""
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    from policert.gym import JaniEnv

    groups = {"where": ["position"], "how": ["speed", "speed + position"]}

    def env() -> JaniEnv:
        return JaniEnv(icy_road, "careful", observation=groups, max_steps=50)

    vector = VecNormalize(DummyVecEnv([env]), norm_reward=False, clip_obs=1.0)
    agent = PPO("MultiInputPolicy", vector, n_steps=64, learning_rate=0.01, seed=1, device="cpu")
    agent.learn(640)
    policy = policert.Policy.from_sb3(agent, vector)
    states = [[0, position, speed] for position in range(31) for speed in range(4)]
    chosen = policert.choices(icy_road, "careful", policy, states)
    seen = {
        "where": np.array([[p] for _, p, _ in states], dtype=np.float32),
        "how": np.array([[s, s + p] for _, p, s in states], dtype=np.float32),
    }
    actions, _ = agent.predict(vector.normalize_obs(seen), deterministic=True)
    assert chosen == [[LABELS[int(action)]] for action in actions]
    assert len(set(actions.tolist())) > 1


@pytest.mark.slow
def test_what_is_refused(icy_road: str) -> None:
    pytest.importorskip("stable_baselines3")
    contrib = pytest.importorskip("sb3_contrib")
    import gymnasium
    from stable_baselines3 import PPO

    from policert.gym import JaniEnv

    class Switches(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Box(0, 1, (2,))
        action_space = gymnasium.spaces.MultiBinary(2)

    env = JaniEnv(icy_road, "careful")
    recurrent = contrib.RecurrentPPO("MlpLstmPolicy", env, device="cpu")
    with pytest.raises(policert.Unsupported, match="recurrent policy"):
        policert.Policy.from_sb3(recurrent, env)
    with pytest.raises(policert.Unsupported, match="MultiBinary"):
        policert.Policy.from_sb3(PPO("MlpPolicy", Switches(), device="cpu"), **WORDS)


@pytest.mark.slow
def test_torch(icy_road: str) -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    policy = policert.Policy.from_torch(net, torch.zeros(1, 2), **WORDS)
    assert policert.verify(icy_road, "careful", policy).verdict in ("safe", "unsafe")


CORPUS = Path(os.environ.get("POLICERT_SHARED", "../shared")) / "benchmarks" / "policies"
AGENTS = sorted(
    path.parent for path in CORPUS.glob("*/model.zip") if (path.parent / "model.jani").exists()
)
# What the cards of folders without an interface say about the observation.
INPUTS: dict[str, Any] = {
    "dqn-constants": ["capacity", "rate", "a", "b", "green", "1"],
    "dqn-discrete-computed": ["8 * r + c"],
    "dqn-expressions": ["x - t", "y - 2", "cargo", "abs(x - t)"],
    "dqn-onehot-flat": ["one_hot(5 * r + c)"],
    "dqn-scaled-floats": ["p / 16", "v / 3"],
    "maskableppo-mask-second": ["stock", "season"],
    "ppo-dict": {"cart": ["x", "y"], "world": ["cargo", "t"]},
    "ppo-vecnormalize": ["p", "v"],
    "ppo-vecnormalize-inside": ["p", "v"],
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", AGENTS, ids=lambda folder: folder.name)
def test_published_agents(folder: Path) -> None:
    """The verdicts and probabilities of the cards, from the agents' own files."""
    pytest.importorskip("sb3_contrib")
    card = tomllib.loads((folder / "card.toml").read_text(encoding="utf-8"))
    if folder.name in INPUTS:
        inputs = INPUTS[folder.name]
    else:
        listed = json.loads((folder / "interface.json").read_text(encoding="utf-8"))["input"]
        inputs = [entry["name"] for entry in listed]
    env = None
    if (folder / "vecnormalize.pkl").exists():
        from stable_baselines3.common.vec_env import VecNormalize

        env = pickle.loads((folder / "vecnormalize.pkl").read_bytes())
        assert isinstance(env, VecNormalize)
    policy = policert.Policy.from_sb3(
        folder / "model.zip", env, inputs=inputs, outputs=card["actions"]["names"]
    )
    model, expected = policert.Model(folder / "model.jani"), card["expected"]
    terminal = "goal" if "p_goal" in expected else None
    verdict = policert.verify(model, "safe", policy, terminal=terminal)
    assert verdict.verdict == expected["verdict"]
    found = policert.probability(model, "safe", policy, terminal=terminal)
    assert found.probability is not None
    low, high = found.probability
    wanted = Fraction(str(expected["p_unsafe"]))
    assert low - Fraction(1, 10**9) <= wanted <= high + Fraction(1, 10**9)
