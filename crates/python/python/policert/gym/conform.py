"""An environment against a model: the first difference, if random and systematic runs show one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import Model
from .env import JaniEnv

__all__ = ["Disagreement", "conform"]


@dataclass(frozen=True)
class Disagreement:
    """A step of the environment that the model does not have, or an end that it does not share."""

    state: dict[str, int]
    """The state before the step."""

    action: str
    """The label of the action."""

    reached: dict[str, int] | None
    """The state that the environment reaches."""

    allowed: list[dict[str, int]]
    """The states that the model reaches by this action."""

    message: str
    """The difference in words."""

    def __str__(self) -> str:
        return f"in {self.state}, {self.action}: {self.message}"


def conform(
    env: Any,
    model: Model | Any,
    state: Callable[[Any], Mapping[str, int]],
    *,
    actions: list[str] | None = None,
    policy: Callable[[Any], int] | None = None,
    runs: int = 100,
    steps: int = 100,
    seed: int = 1,
    property: Any = None,
) -> Disagreement | None:
    """Runs an environment, and follows it in the model; returns the first difference, or ``None``.

    A difference is a state that the model does not reach by this action, an action that the environment
    takes where the model has none, or an episode that ends where the model does not end. Actions that
    were tried least in a state are tried first; with a policy, every second run follows it.

    :param env: an environment of Gymnasium.
    :param model: the model, or what :class:`policert.Model` takes.
    :param state: reads the values of the model's variables from the environment (``env.unwrapped``).
    :param actions: the labels of the environment's actions, by their number.
    :param policy: chooses an action from an observation.
    :param runs: how many episodes are run.
    :param steps: after how many steps an episode is left.
    :param seed: the seed of the runs.
    :param property: where the model's runs start and end; by default the model's first property.
    :raises PolicertError: as :class:`JaniEnv` does, if the model cannot be read.
    """
    reference = JaniEnv(model, property, actions=actions)
    numbers = np.random.default_rng(seed)
    tried: dict[tuple[Any, int], int] = {}
    ends = _Ends(reference)
    for run in range(runs):
        observation, _ = env.reset(seed=int(numbers.integers(2**31)) if run else seed)
        here = dict(state(env.unwrapped))
        for _ in range(steps):
            if policy is not None and run % 2 == 1:
                action = int(policy(observation))
            else:
                key = tuple(sorted(here.items()))
                counts = [tried.get((key, a), 0) for a in range(len(reference.actions))]
                least = [a for a, count in enumerate(counts) if count == min(counts)]
                action = int(numbers.choice(least))
                tried[(key, action)] = counts[action] + 1
            label = reference.actions[action]
            allowed = [
                after
                for name, outcomes in reference.successors(here)
                if name == label
                for _, after in outcomes
            ]
            observation, _, terminated, truncated, _ = env.step(action)
            there = dict(state(env.unwrapped))
            if not any(_agrees(there, after) for after in allowed):
                message = (
                    f"the environment reaches {there}, the model one of {allowed}"
                    if allowed
                    else f"the environment reaches {there}, and the model has no such step"
                )
                return Disagreement(here, label, there, allowed, message)
            if terminated and not ends.has(there):
                message = f"the episode ends in {there}, where the model goes on"
                return Disagreement(here, label, there, allowed, message)
            if terminated or truncated:
                break
            here = there
    return None


def _agrees(seen: dict[str, int], state: dict[str, int]) -> bool:
    return all(state.get(name) == int(value) for name, value in seen.items())


class _Ends:
    """Where runs of the model end: in unsafe and goal states, and where nothing can happen."""

    def __init__(self, env: JaniEnv) -> None:
        self.env = env
        self.known: dict[Any, bool] = {}

    def has(self, state: dict[str, int]) -> bool:
        key = tuple(sorted(state.items()))
        if key not in self.known:
            _, info = self.env.reset(options={"state": state})
            self.known[key] = "ending" in info
        return self.known[key]
