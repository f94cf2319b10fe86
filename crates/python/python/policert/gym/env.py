"""A model as an environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsInt

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .. import _policert
from ..errors import UsageError, failures, translated
from ..model import Model
from .spaces import Spaces

__all__ = ["JaniEnv"]


class JaniEnv(gymnasium.Env[Any, Any]):
    """A model of JANI as an environment: the agent chooses labels, the environment does the rest.

    An episode begins in a start state of the property. It ends in a goal state, in an unsafe state,
    where nothing can happen, or where the label that was chosen is not applicable and the environment
    does nothing; ``info["ending"]`` says which: ``"goal"``, ``"unsafe"`` or ``"stuck"``. These are the
    runs that :func:`policert.verify` is about.

    :param model: the model.
    :param property: which states are unsafe, and where runs start; by default the model's first.
    :param observation: what the agent sees: expressions over the model's variables, such as
        ``["x - t", "one_hot(cell)"]``, or named groups of them; by default all variables.
    :param actions: the labels that the agent chooses; by default all. The others belong to the
        environment.
    :param kind: ``"box"`` (the default), ``"discrete"`` (one integer), ``"multidiscrete"``, or
        ``"dict"`` (named groups).
    :param rewards: of reaching a goal, an unsafe state, an end, and of each step: ``goal`` 1,
        ``unsafe`` -1, ``stuck`` -1 and ``step`` 0 by default.
    :param reward: an expression whose value after each step is added to its reward.
    :param max_steps: after so many actions an episode is cut off.
    :param render_mode: ``"ansi"`` for text: a picture for the domains that ship with Policert, the
        values of the variables for all others; or what ``picture`` returns.
    :param picture: draws a state, which comes as a dictionary.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"]}  # noqa: RUF012

    def __init__(
        self,
        model: Model | Any,
        property: Any = None,
        *,
        observation: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
        actions: Sequence[str] | None = None,
        kind: str | None = None,
        rewards: Mapping[str, float] | None = None,
        reward: str | None = None,
        max_steps: int | None = None,
        render_mode: str | None = None,
        picture: Callable[[dict[str, int]], Any] | None = None,
        **question: Any,
    ) -> None:
        self.spaces = Spaces(
            model, property, observation, actions, kind, rewards, reward, max_steps, question
        )
        with failures():
            self._native = _policert.Environment(*self.spaces.arguments())
        self.observation_space, self.action_space = self.spaces.spaces(self._native.bounds())
        self._names = [name for name, _, _ in self._native.variables()]
        if render_mode not in (None, "ansi", "rgb_array"):
            raise UsageError(f"render_mode: {render_mode!r} is neither 'ansi' nor 'rgb_array'", 42)
        if render_mode == "rgb_array" and picture is None:
            raise UsageError("render_mode: 'rgb_array' needs a picture", 42)
        self.render_mode, self._picture = render_mode, picture
        self._is_box = self.spaces.kind == "box"

    @property
    def model(self) -> Model:
        """The model."""
        return self.spaces.model

    @property
    def actions(self) -> list[str]:
        """The labels, by number of the action."""
        return self.spaces.actions

    @property
    def state(self) -> dict[str, int]:
        """The values of the variables."""
        return dict(zip(self._names, self._native.state(), strict=True))

    def policy_words(self) -> dict[str, Any]:
        """What :class:`policert.Policy` needs to read a policy that was trained here: ``inputs`` and
        ``outputs``."""
        return self.spaces.policy_words()

    def action_masks(self) -> NDArray[np.bool_]:
        """By action: whether it is applicable. sb3-contrib asks for it by this name."""
        return self._native.applicable()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode. ``options={"state": {...}}`` says where; variables that are not named
        have the least value of their domain."""
        super().reset(seed=seed)
        state = None
        for name in options or {}:
            if name != "state":
                raise UsageError(f"options: {name!r} is no option; there is 'state'", 42)
        if options and options.get("state") is not None:
            state = self._values(options["state"])
        with failures():
            row, ending = self._native.reset(seed, state)
        return self.spaces.shaped(row), {} if ending is None else {"ending": ending}

    def step(self, action: SupportsInt) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes an action, and lets the environment run until the agent has a choice again."""
        try:
            row, reward, terminated, truncated, ending = self._native.step(int(action))
        except _policert.Failed as failed:
            raise translated(failed) from None
        observation = row if self._is_box else self.spaces.shaped(row)
        return observation, reward, terminated, truncated, {"ending": ending} if ending else {}

    def successors(self, state: Mapping[str, int] | None = None) -> list[tuple[Any, Any]]:
        """What may happen in a state (by default the current one): for each operator that is enabled
        its label (``None`` for a silent step) and its outcomes, each with its probability and the
        state after it."""
        values = self._native.state() if state is None else self._values(state)
        with failures():
            found = self._native.successors(values)
        named = [
            (label, [(p, dict(zip(self._names, s, strict=True))) for p, s in outcomes])
            for label, outcomes in found
        ]
        return named

    def render(self) -> Any:
        """The current state as text, or as ``picture`` draws it."""
        if self.render_mode is None:
            return None
        if self._picture is not None:
            return self._picture(self.state)
        text = self._native.picture()
        return text or "".join(f"{name} = {value}\n" for name, value in self.state.items())

    def _values(self, state: Mapping[str, int] | Sequence[int]) -> list[int]:
        if not isinstance(state, Mapping):
            return [int(value) for value in state]
        unknown = set(state) - set(self._names)
        if unknown:
            raise UsageError(f"the model has no variable {sorted(unknown)[0]!r}", 42)
        lows = {name: low for name, low, _ in self._native.variables()}
        return [int(state.get(name, lows[name])) for name in self._names]
