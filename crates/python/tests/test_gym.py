"""Models as environments, and environments as models."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import counters
from gymnasium.utils.env_checker import check_env

import policert
from policert.gym import JaniEnv, JaniVectorEnv, conform, to_model

SPACES: list[tuple[str | None, Any]] = [
    (None, None),
    ("multidiscrete", ["position", "speed"]),
    ("discrete", ["position * 4 + speed"]),
    ("dict", {"where": ["position"], "how": ["one_hot(speed)"]}),
    (None, [{"normalise": ["position", "speed"], "mean": [15, 1], "variance": [50, 1]}]),
]


@pytest.mark.parametrize(("kind", "observation"), SPACES)
def test_environments_are_as_gymnasium_wants_them(
    icy_road: str, kind: str | None, observation: Any
) -> None:
    env = JaniEnv(icy_road, "careful", kind=kind, observation=observation, max_steps=50)
    check_env(env, skip_render_check=True)


def test_every_step_is_one_of_the_model(icy_road: str) -> None:
    env = JaniEnv(icy_road, "careful", max_steps=100)
    env.action_space.seed(1)
    env.reset(seed=1)
    numbers = np.random.default_rng(1)
    for _ in range(2000):
        before = env.state
        applicable = np.flatnonzero(env.action_masks())
        labels = {label for label, _ in env.successors()}
        assert {env.actions[a] for a in applicable} == labels
        action = int(numbers.choice(applicable))
        observation, _, terminated, truncated, info = env.step(action)
        after = env.state
        reached = [
            state
            for label, outcomes in env.successors(before)
            if label == env.actions[action]
            for _, state in outcomes
        ]
        assert after in reached
        assert list(observation) == [after["position"], after["speed"]]
        is_unsafe = after["position"] >= 26 and after["speed"] >= 2
        assert (info.get("ending") == "unsafe") == is_unsafe
        if terminated or truncated:
            env.reset()


def test_an_action_that_is_not_applicable_ends_the_episode(icy_road: str) -> None:
    env = JaniEnv(icy_road, "careful", rewards={"stuck": -5.0})
    env.reset(options={"state": {"position": 4, "speed": 3}})
    action = env.actions.index("accelerate")
    assert not env.action_masks()[action]
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info) == (-5.0, True, {"ending": "stuck"})


def test_rewards(icy_road: str) -> None:
    env = JaniEnv(icy_road, "careful", rewards={"step": -0.5}, reward="speed / 4")
    env.reset(options={"state": {"position": 4, "speed": 2}})
    _, reward, *_ = env.step(env.actions.index("coast"))
    assert reward == -0.5 + env.state["speed"] / 4


def test_conditions_in_place_of_those_of_the_property(icy_road: str) -> None:
    env = JaniEnv(
        icy_road,
        "careful",
        goal="position >= 26",
        unsafe="speed = 3",
        start="speed = 0",
        no_initial=True,
    )
    endings = set()
    for seed in range(40):
        env.reset(seed=seed)
        assert env.state["speed"] == 0
        numbers, over = np.random.default_rng(seed), False
        while not over:
            choices = np.flatnonzero(env.action_masks())
            _, reward, over, _, info = env.step(int(numbers.choice(choices)))
        endings.add(info["ending"])
        state = env.state
        assert (info["ending"] == "unsafe") == (state["speed"] == 3)
        assert reward == (1.0 if info["ending"] == "goal" else -1.0)
    assert {"goal", "unsafe"} <= endings


def test_seeds_repeat_episodes(icy_road: str) -> None:
    def episode(seed: int) -> list[Any]:
        env = JaniEnv(icy_road, "careful", max_steps=30)
        seen = [env.reset(seed=seed)[0].tolist()]
        for _ in range(30):
            action = int(np.flatnonzero(env.action_masks())[0])
            observation, _, terminated, truncated, _ = env.step(action)
            seen.append(observation.tolist())
            if terminated or truncated:
                break
        return seen

    assert episode(3) == episode(3)
    assert len({str(episode(seed)) for seed in range(10)}) > 1


def test_many_at_once(icy_road: str) -> None:
    envs = JaniVectorEnv(icy_road, "careful", 16, max_steps=20)
    observations, _ = envs.reset(seed=5)
    assert observations.shape == (16, 2)
    assert (observations == envs.states()[:, 1:]).all()
    over = np.zeros(16, dtype=bool)
    for _ in range(200):
        masks = envs.action_masks()
        actions = masks.argmax(axis=1)
        observations, rewards, terminated, truncated, info = envs.step(actions)
        assert (observations == envs.states()[:, 1:]).all()
        assert not (over & (terminated | truncated)).any()
        assert (rewards[over] == 0).all()
        if terminated.any():
            assert all(info["ending"][terminated])
        over = terminated | truncated
    with pytest.raises(policert.UsageError):
        envs.step(np.full(16, 7))
    with pytest.raises(policert.UsageError):
        envs.step(np.zeros(3))


def test_wrong_arguments(icy_road: str) -> None:
    for arguments, kind in [
        ({"observation": ["nix"]}, policert.InvalidInput),
        ({"actions": ["nix"]}, policert.InvalidInput),
        ({"kind": "image"}, policert.UsageError),
        ({"rewards": {"nix": 1}}, policert.UsageError),
        ({"reward": "nix"}, policert.UsageError),
        ({"render_mode": "human"}, policert.UsageError),
        ({"observation": ["speed", "position"], "kind": "discrete"}, policert.UsageError),
    ]:
        with pytest.raises(kind):
            JaniEnv(icy_road, "careful", **arguments)  # type: ignore[arg-type]
    env = JaniEnv(icy_road, "careful")
    with pytest.raises(policert.UsageError):
        env.step(9)
    with pytest.raises(policert.UsageError):
        env.reset(options={"state": {"position": 99}})
    with pytest.raises(policert.UsageError):
        env.reset(options={"state": {"nix": 0}})


def test_an_environment_without_choices_ends() -> None:
    model = counters(1, 3)
    env = JaniEnv(model, "sum")
    env.reset(seed=1)
    endings = [env.step(0)[4].get("ending") for _ in range(3)]
    assert endings == [None, None, "stuck"]


def test_rendering(icy_road: str) -> None:
    env = JaniEnv(icy_road, "careful", render_mode="ansi")
    env.reset(options={"state": {"position": 4, "speed": 3}})
    road = env.render().splitlines()
    assert (road[0], road[2]) == ("    @", "speed 3")
    values = JaniEnv(counters(1, 3), "sum", render_mode="ansi")
    values.reset(seed=1)
    assert "c0 = 0" in values.render()
    drawn = JaniEnv(
        icy_road, "careful", render_mode="rgb_array", picture=lambda state: np.zeros((2, 2, 3))
    )
    drawn.reset()
    assert drawn.render().shape == (2, 2, 3)


ACTIONS = ["left", "down", "right", "up"]


@pytest.mark.parametrize("slippery", [False, True])
def test_frozen_lake_as_a_model(slippery: bool) -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=slippery)
    cells = env.unwrapped.desc.reshape(-1)
    holes = [k for k, cell in enumerate(cells) if cell == b"H"]
    model = to_model(env, unsafe=holes, goal=[15], actions=ACTIONS)
    assert model.variables["s"] == (0, 15)

    def state(inner: Any) -> dict[str, int]:
        return {"s": int(inner.s)}

    assert conform(env, model, state, actions=ACTIONS, runs=40) is None
    found = policert.verify(model, no_policy=True)
    assert found.is_unsafe and found.trace[-1]["s"] in holes
    other = to_model(
        gymnasium.make("FrozenLake-v1", is_slippery=not slippery), unsafe=holes, actions=ACTIONS
    )
    difference = conform(env, other, state, actions=ACTIONS, runs=200)
    if slippery:
        assert difference is not None and difference.reached not in difference.allowed


def test_probabilities_of_a_table_are_those_of_value_iteration() -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    table: Any = env.unwrapped.P
    holes = {k for k, c in enumerate(env.unwrapped.desc.reshape(-1)) if c == b"H"}
    values = np.array([1.0 if s in holes else 0.0 for s in range(16)])
    for _ in range(3000):
        for s in range(16):
            if s not in holes and s != 15:
                values[s] = sum(p * values[t] for p, t, _, _ in table[s][2])
    model = to_model(env, unsafe=sorted(holes), actions=ACTIONS)
    right = policert.Policy(_always(2), inputs=["s"], outputs=ACTIONS)
    found = policert.probability(model, policy=right)
    assert found.probability is not None
    low, high = (float(bound) for bound in found.probability)
    assert low - 1e-9 <= values[0] <= high + 1e-9


def _always(action: int) -> bytes:
    """A network in the format NNet that always chooses one action."""
    scores = [1.0 if k == action else 0.0 for k in range(4)]
    lines = ["1,1,4,4,", "1,4,", "0,", "-1e9,", "1e9,", "0.0,0.0,", "1.0,1.0,"]
    lines += ["0.0,"] * 4 + [f"{score}," for score in scores]
    return ("// always the same\n" + "\n".join(lines) + "\n").encode()


class Corridor(gymnasium.Env[Any, Any]):
    """Ten cells in a row, one of which is a pit; a step of two cells is possible."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 9, (2,), dtype=np.int64)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.at = (0, 0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = (0, 0)
        return np.array(self.at), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        cell = min(self.at[0] + 1 + int(action), 9)
        self.at = (cell, 1 - self.at[1])
        return np.array(self.at), 0.0, cell in (4, 9), False, {}

    def get_state(self) -> tuple[int, int]:
        return self.at

    def set_state(self, state: tuple[int, int]) -> None:
        self.at = state


def test_a_deterministic_environment_by_stepping() -> None:
    model = to_model(
        Corridor(), unsafe=lambda s: s[0] == 4, actions=["walk", "jump"], names=["cell", "turn"]
    )
    assert model.variables["cell"] == (0, 9)
    found = policert.verify(model, no_policy=True)
    assert found.is_unsafe and found.trace[-1]["cell"] == 4
    assert (
        conform(
            Corridor(),
            model,
            lambda env: {"cell": env.at[0], "turn": env.at[1]},
            actions=["walk", "jump"],
        )
        is None
    )


def test_environments_without_a_way_to_a_model() -> None:
    with pytest.raises(policert.Unsupported, match="get_state"):
        to_model(gymnasium.make("CartPole-v1"), unsafe=[])
    env = gymnasium.make("FrozenLake-v1")
    with pytest.raises(policert.UsageError):
        to_model(env, unsafe=[99])
    with pytest.raises(policert.UsageError):
        to_model(env, unsafe=[], actions=["one"])


def test_a_function_as_a_policy(icy_road: str) -> None:
    env = JaniEnv(icy_road, "careful")
    asked: list[tuple[float, ...]] = []

    def network(observations: Any) -> list[int]:
        asked.extend(map(tuple, observations))
        states = [[0, int(p), int(v)] for p, v in observations]
        chosen = policert.commands.choices(icy_road, "hasty", None, states)
        return [env.actions.index(labels[0]) for labels in chosen]

    policy = policert.Policy.from_callable(network, env)
    assert len(asked) == len(set(asked)) > 30
    for question in (policy, pickle.loads(pickle.dumps(policy))):
        found = policert.verify(icy_road, "careful", question)
        assert found.is_unsafe and any("black box" in note for note in found.notes)
    same = policert.probability(icy_road, "careful", policy, exact=True).value
    assert same == policert.probability(icy_road, "hasty", exact=True).value
    with pytest.raises(policert.Unsupported):
        policert.Policy.from_callable(network, env, limit=5)
    with pytest.raises(policert.UsageError):
        policert.Policy.from_callable(lambda rows: [9] * len(rows), env)
