"""A model as an environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsInt

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .. import _policert
from ..errors import UsageError, failures, translated
from ..model import Model
from ..options import EpisodeOptions
from .spaces import Spaces

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["JaniEnv"]


class JaniEnv(gymnasium.Env[Any, Any]):
    """A model of JANI as an environment: the agent chooses labels, the environment does the rest.

    An episode begins in a start state of the property. It ends in a goal state, in an unsafe state,
    where nothing can happen, or where the label that was chosen is not applicable and the environment
    does nothing; ``info["ending"]`` says which: ``"goal"``, ``"unsafe"`` or ``"stuck"``. These are the
    runs that :func:`policert.verify` is about.

    :param model: the model, or what :class:`policert.Model` takes.
    :param property: which states are unsafe, and where runs start: a :class:`policert.Property`, or what it
        takes; by default the model's first safety property.
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
    :param question: further options: :class:`policert.EpisodeOptions`. With ``goal``, episodes end there.
    :raises InvalidInput: if the model breaks the rules of its format, or an expression does not fit it.
    :raises Unsupported: if the model, or an observation of this kind, is not supported.
    :raises UsageError: if an argument has no such value, or no effect.
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
        **question: Unpack[EpisodeOptions],
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
        """The current state: the values of the variables by their names."""
        return dict(zip(self._names, self._native.state(), strict=True))

    def policy_words(self) -> dict[str, Any]:
        """Returns what :class:`policert.Policy` needs to read a policy that was trained here: ``inputs`` and
        ``outputs``."""
        return self.spaces.policy_words()

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns for each action whether it is applicable. sb3-contrib asks for it by this name."""
        return self._native.applicable()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode, in a start state that is drawn.

        :param seed: the seed of all numbers from now on.
        :param options: ``{"state": {...}}`` says where to begin instead; variables that are not named have
            the least value of their domain.
        :returns: the observation, and ``info``, with ``"ending"`` if the episode ends where it begins.
        :raises UsageError: if an option or a variable has no such name.
        """
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
        """Takes an action, and lets the environment run until the agent has a choice again.

        :param action: the number of the label in :attr:`actions`.
        :returns: observation, reward, whether the episode has ended, whether it was cut off, and ``info``,
            with ``"ending"`` where it has ended.
        :raises UsageError: if there is no such action, or the episode is over.
        """
        try:
            row, reward, terminated, truncated, ending = self._native.step(int(action))
        except _policert.Failed as failed:
            raise translated(failed) from None
        observation = row if self._is_box else self.spaces.shaped(row)
        return observation, reward, terminated, truncated, {"ending": ending} if ending else {}

    def successors(self, state: Mapping[str, int] | None = None) -> list[tuple[Any, Any]]:
        """Returns what may happen in a state: for each operator that is enabled its label (``None`` for a
        silent step) and its outcomes, each with its probability, as a fraction in text, and the state after it.

        :param state: the values of the variables; by default the current state.
        """
        values = self._native.state() if state is None else self._values(state)
        with failures():
            found = self._native.successors(values)
        named = [
            (label, [(p, dict(zip(self._names, s, strict=True))) for p, s in outcomes])
            for label, outcomes in found
        ]
        return named

    def render(self) -> Any:
        """Returns the current state as text, or as ``picture`` draws it; ``None`` without ``render_mode``."""
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
