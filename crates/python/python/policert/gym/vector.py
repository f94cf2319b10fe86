"""Many episodes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .. import _policert
from ..errors import UsageError, failures, translated
from ..model import Model
from ..options import EpisodeOptions
from .spaces import ENDINGS, Spaces

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["JaniVectorEnv"]

_ENDINGS = np.array(ENDINGS, dtype=object)


class JaniVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A model as many environments that step together, in native code. An episode that has ended begins again
    with the next step, whose action is ignored.

    :param model: as for :class:`JaniEnv`.
    :param property: as for :class:`JaniEnv`.
    :param num_envs: how many environments there are, at least 1.
    :param observation: a list as for :class:`JaniEnv`; observations are boxes.
    :param actions: as for :class:`JaniEnv`.
    :param rewards: as for :class:`JaniEnv`.
    :param reward: as for :class:`JaniEnv`.
    :param max_steps: as for :class:`JaniEnv`.
    :param question: as for :class:`JaniEnv`.
    :raises PolicertError: as :class:`JaniEnv` does.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        model: Model | Any,
        property: Any = None,
        num_envs: int = 64,
        *,
        observation: Sequence[Any] | None = None,
        actions: Sequence[str] | None = None,
        rewards: Mapping[str, float] | None = None,
        reward: str | None = None,
        max_steps: int | None = None,
        **question: Unpack[EpisodeOptions],
    ) -> None:
        if num_envs < 1:
            raise UsageError(f"num_envs: {num_envs} is no number of environments", 42)
        self.spaces = Spaces(
            model, property, observation, actions, "box", rewards, reward, max_steps, question
        )
        with failures():
            self._native = _policert.VectorEnvironment(num_envs, *self.spaces.arguments())
        self.num_envs = num_envs
        spaces = self.spaces.spaces(self._native.bounds())
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def policy_words(self) -> dict[str, Any]:
        """Returns what :class:`policert.Policy` needs to read a policy that was trained here."""
        return self.spaces.policy_words()

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns for each environment (row) and action (column) whether it is applicable."""
        return self._native.applicable()

    def states(self) -> NDArray[np.int64]:
        """Returns for each environment (row) the values of the variables, in the order of the model."""
        return self._native.states()

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins all episodes anew.

        :param seed: one number, the seed of all environments.
        :param options: must be empty.
        :returns: the observations, a row each, and an empty ``info``.
        :raises UsageError: if there are options, or several seeds.
        """
        if options:
            raise UsageError("options have no effect in a vectorised environment", 42)
        if isinstance(seed, list):
            raise UsageError("seed: one number is the seed of all environments", 42)
        with failures():
            return self._native.reset(seed), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Takes an action in each environment.

        :param actions: the number of the action in each environment.
        :returns: observations, rewards, which episodes have ended, which were cut off, and ``info``, with
            ``"ending"`` where episodes have ended.
        :raises UsageError: if the number of actions is wrong, or one of them is no action.
        """
        try:
            observations, rewards, terminated, truncated, endings = self._native.step(
                np.ascontiguousarray(actions, dtype=np.int64)
            )
        except _policert.Failed as failed:
            raise translated(failed) from None
        info: dict[str, Any] = {}
        if endings is not None:
            info = {"ending": _ENDINGS.take(endings), "_ending": terminated.copy()}
        return observations, rewards, terminated, truncated, info
