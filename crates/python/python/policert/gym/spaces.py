"""What an agent sees and does: observation and action spaces by an interface."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .. import _policert
from ..errors import UsageError, failures
from ..model import Model, Property
from ..options import EpisodeOptions
from ..policy import described

__all__ = ["Spaces"]

REWARDS = {"goal": 1.0, "unsafe": -1.0, "stuck": -1.0, "step": 0.0}
ENDINGS = [None, "goal", "unsafe", "stuck"]
KINDS = ("box", "discrete", "multidiscrete", "dict")


class Spaces:
    """The arguments that single and vectorised environments share."""

    def __init__(
        self,
        model: Model | Any,
        property: Any,
        observation: Sequence[Any] | Mapping[str, Sequence[Any]] | None,
        actions: Sequence[str] | None,
        kind: str | None,
        rewards: Mapping[str, float] | None,
        reward: str | None,
        max_steps: int | None,
        question: EpisodeOptions,
    ) -> None:
        self.model = model if isinstance(model, Model) else Model(model)
        self.property = Property.of(property)
        self.actions = list(self.model.labels if actions is None else actions)
        if observation is None:
            observation = [
                variable["name"]
                for variable in self.model.shape["variables"]
                if not variable["is_location"] or variable["lower"] < variable["upper"]
            ]
        self.observation = observation
        self.kind = kind or ("dict" if isinstance(observation, Mapping) else "box")
        if self.kind not in KINDS:
            raise UsageError(f"kind: {self.kind!r} is none of {', '.join(KINDS)}", 42)
        if isinstance(observation, Mapping) != (self.kind == "dict"):
            raise UsageError(f"kind: {self.kind!r} does not go with this observation", 42)
        unknown = set(rewards or {}) - set(REWARDS)
        if unknown:
            raise UsageError(f"rewards: {sorted(unknown)} are none of {', '.join(REWARDS)}", 42)
        self.rewards = {**REWARDS, **{k: float(v) for k, v in (rewards or {}).items()}}
        self.reward, self.max_steps = reward, max_steps
        for name in question:
            if name not in EpisodeOptions.__annotations__:
                raise TypeError(f"unexpected option {name!r}")
        self.task: dict[str, Any] = {**self.model._task(), "no_policy": True, **question}
        if question.get("goal") is not None:
            # An episode ends in its goal.
            self.task.setdefault("terminal", "goal")
        if self.property is not None:
            self.task["property"] = self.property.text
        entries = observation
        if isinstance(observation, Mapping):
            entries = [entry for group in observation.values() for entry in group]
        self.interface = json.dumps(described(entries, self.actions))

    def arguments(self) -> tuple[dict[str, Any], str, dict[str, float], str | None, int | None]:
        """What the native half is made with."""
        return (self.task, self.interface, self.rewards, self.reward, self.max_steps)

    def spaces(
        self, bounds: list[tuple[float, float]]
    ) -> tuple[gymnasium.Space[Any], gymnasium.spaces.Discrete]:
        """The observation space and the action space."""
        actions = gymnasium.spaces.Discrete(len(self.actions))
        low = np.array([low for low, _ in bounds], dtype=np.float32)
        high = np.array([high for _, high in bounds], dtype=np.float32)
        if self.kind == "box":
            return gymnasium.spaces.Box(low, high, dtype=np.float32), actions
        if isinstance(self.observation, Mapping):
            spaces, at = {}, 0
            self.groups: dict[str, slice] = {}
            for name, width in zip(self.observation, self._widths(), strict=True):
                part = slice(at, at + width)
                spaces[name] = gymnasium.spaces.Box(low[part], high[part], dtype=np.float32)
                self.groups[name], at = part, at + width
            return gymnasium.spaces.Dict(spaces), actions  # type: ignore[arg-type]
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise UsageError(f"kind: {self.kind!r} needs observations with bounds", 42)
        self.low = low.astype(np.int64)
        sizes = high.astype(np.int64) - self.low + 1
        if self.kind == "multidiscrete":
            return gymnasium.spaces.MultiDiscrete(sizes), actions
        if len(sizes) != 1:
            raise UsageError("kind: 'discrete' needs an observation of one expression", 42)
        return gymnasium.spaces.Discrete(int(sizes[0])), actions

    def _widths(self) -> list[int]:
        """By group of the observation: how many numbers it has."""
        groups = self.observation.values() if isinstance(self.observation, Mapping) else ()
        interfaces = [json.dumps(described(list(group), self.actions)) for group in groups]
        with failures():
            return _policert.widths(self.task, interfaces)

    def shaped(self, row: NDArray[np.float32]) -> Any:
        """An observation as the space has it."""
        if self.kind == "box":
            return row
        if self.kind == "dict":
            return {name: row[part] for name, part in self.groups.items()}
        values = row.astype(np.int64) - self.low
        return values if self.kind == "multidiscrete" else np.int64(values[0])

    def policy_words(self) -> dict[str, Any]:
        """What :class:`policert.Policy` needs to read a policy that was trained here."""
        entries: Any = self.observation
        if self.kind in ("discrete", "multidiscrete"):
            entries = [
                entry if low == 0 else f"{entry} - ({low})"
                for entry, low in zip(self.observation, self.low, strict=True)
            ]
        return {"inputs": entries, "outputs": self.actions}
