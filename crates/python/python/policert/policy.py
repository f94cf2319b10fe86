"""Policies: files as their makers save them, and objects of the libraries that train them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _policert
from .files import Folder, PathLike

if TYPE_CHECKING:
    from .gym import JaniEnv

__all__ = ["Policy"]

Inputs = Sequence[Any] | Mapping[str, Any]
"""The entries ``input`` of an interface: expressions, ``one_hot(...)``, normalised inputs; by name if the policy has
several inputs."""


class Policy:
    """A policy: a network or a tree ensemble in any format that Policert reads, as its library saved it.

    An interface says what inputs and outputs mean: ``inputs`` and ``outputs``, or ``interface``. Without one,
    inputs and outputs are the variables and the labels of the model, in its order. A policy is read once
    for all questions about this object, and again where its files have changed. Policies can be pickled.

    :param source: the file of the policy, or its bytes.
    :param inputs: what the policy reads: expressions over the variables of the model, such as
        ``["x - t", "one_hot(cell)"]``; a dictionary of such lists if it has several inputs.
    :param outputs: the label that each output scores.
    :param never: labels that the policy never chooses although it has no output for them.
    :param filter: True if only applicable labels compete.
    :param ties: the choice where several labels have the greatest score: ``"first"``, ``"any"`` or
        ``"strict"``.
    :param scores: the output of an ONNX file that holds the scores, if it has several.
    :param interface: an interface instead of all these: its file, or its content as a dictionary.
    :raises TypeError: if ``inputs`` come without ``outputs``, or with ``interface``. What is wrong in the
        file is an :class:`InvalidInput` or :class:`Unsupported` of the first question about it.
    """

    path: Path
    """The file; a temporary one, which lives as long as this object, of bytes."""

    interface: dict[str, Any] | None
    """The interface, if it was given here and is no file."""

    interface_path: Path | None
    """The file of the interface."""

    notes: list[str]
    """What a verdict about this policy has to say."""

    def __init__(
        self,
        source: PathLike | bytes,
        *,
        inputs: Inputs | None = None,
        outputs: Sequence[str] | None = None,
        never: Sequence[str] = (),
        filter: bool | None = None,
        ties: str | None = None,
        scores: str | None = None,
        interface: PathLike | Mapping[str, Any] | None = None,
    ) -> None:
        self._folder: Folder | None = None
        self._kept = _policert.Kept()
        self.notes = []
        if isinstance(source, bytes):
            self.path = self._own().write("policy", source)
        else:
            self.path = Path(source)
        if interface is None and (inputs is not None or outputs is not None):
            interface = described(inputs, outputs, never, filter, ties, scores)
        elif inputs is not None or outputs is not None or never or scores or ties:
            raise TypeError("give an interface, or what it says, but not both")
        elif filter is not None:
            raise TypeError("filter goes with inputs and outputs, or as an option of verify")
        self.interface = None
        self.interface_path = None
        if isinstance(interface, Mapping):
            self.interface = dict(interface)
            text = json.dumps({**self.interface, "file": str(self.path.resolve())}, indent=1)
            self.interface_path = self._own().write("interface.json", text)
        elif interface is not None:
            self.interface_path = Path(interface)

    def _own(self) -> Folder:
        if self._folder is None:
            self._folder = Folder()
        return self._folder

    def _task(self) -> dict[str, Any]:
        """The options that name this policy."""
        named: dict[str, Any] = {"policy": str(self.path), "kept_policy": self._kept}
        if self.interface_path is not None:
            named["interface"] = str(self.interface_path)
        return named

    def save(self, path: PathLike) -> Path:
        """Copies the policy to a file, with its interface beside it (``.jani2nnet``).

        :param path: the file that is written; one that is there is replaced.
        :returns: the path.
        """
        path = Path(path)
        path.write_bytes(self.path.read_bytes())
        if self.interface_path is not None:
            interface = json.loads(self.interface_path.read_text(encoding="utf-8"))
            text = json.dumps({**interface, "file": path.name}, indent=1)
            path.with_suffix(".jani2nnet").write_text(text, encoding="utf-8")
        return path

    def with_interface(self, interface: PathLike | Mapping[str, Any]) -> Policy:
        """Returns the same policy with another interface.

        :param interface: its file, or its content as a dictionary.
        """
        source = self.path if self._folder is None else self.path.read_bytes()
        return Policy(source, interface=interface)

    def __reduce__(self) -> tuple[Any, ...]:
        inside = self._folder is not None and self.path.parent == self._folder.path
        source = self.path.read_bytes() if inside else self.path
        return (_again, (source, self.interface or self.interface_path, self.notes))

    def __repr__(self) -> str:
        return f"Policy({self.path.name!r})"

    @classmethod
    def from_callable(
        cls, choose: Callable[[Any], Any], env: JaniEnv, *, limit: int = 100_000
    ) -> Policy:
        """Makes a policy of a function, which is a black box: it is asked once for each state that it leads
        to, from every start state of the environment's property, whatever the environment does. What it
        answers becomes a decision tree, so that verdicts are about these answers; a note says so.

        :param choose: gets observations, one row each, and returns the numbers of the actions.
        :param env: the model, the property, and what the function sees and chooses.
        :param limit: the greatest number of states.
        :raises Unsupported: if there are more states, or too many start states for a list.
        :raises UsageError: if the function returns too many or too few numbers, or one that is no action.
        """
        from . import black_box

        return black_box.from_callable(cls, choose, env, limit)

    @classmethod
    def from_torch(cls, module: Any, example: Any, **words: Any) -> Policy:
        """Makes a policy of a module of PyTorch, whose output scores the labels. It is exported as ONNX.

        :param module: the module.
        :param example: a tensor with one row, of the shape that the module reads.
        :param words: ``inputs``, ``outputs`` and so on, as for :class:`Policy`.
        :raises Difference: if Policert and the module disagree on some input.
        """
        from . import torch_policies

        return torch_policies.from_torch(cls, module, example, words)

    @classmethod
    def from_sb3(cls, model: Any, env: JaniEnv | Any = None, **words: Any) -> Policy:
        """Makes a policy of an agent of Stable-Baselines3 or sb3-contrib: what its ``predict`` chooses with
        ``deterministic=True``; :func:`verify` with ``choice="sample"`` is about what it draws otherwise.
        Agents with continuous actions give a network for control loops.

        :param model: the agent, or its ``.zip``.
        :param env: the environment that it was trained in: a :class:`policert.gym.JaniEnv` says what
            inputs and outputs are; a ``VecNormalize`` has the statistics of its observations.
        :param words: ``inputs`` (of the environment's observation) and ``outputs``, if the environment
            does not say them, and the other arguments of :class:`Policy`; ``algorithm``, the class of the
            agent in a ``.zip`` or its name, which is found by trying otherwise.
        :raises Difference: if Policert and the agent disagree on some observation.
        :raises Unsupported: if observations, actions or the policy are of a kind that cannot be exported;
            the message says what to do instead.
        :raises UsageError: if the ``.zip`` is of none of the known classes, or words contradict each other.
        """
        from . import torch_policies

        return torch_policies.from_sb3(cls, model, env, words)

    @classmethod
    def from_sklearn(cls, estimator: Any, **words: Any) -> Policy:
        """Makes a policy of a classifier of scikit-learn, by skl2onnx.

        :param estimator: the classifier.
        :param words: ``inputs``, ``outputs`` and so on, as for :class:`Policy`.
        :raises Difference: if Policert and the classifier disagree on some input.
        """
        from . import tree_policies

        return tree_policies.from_sklearn(cls, estimator, words)

    @classmethod
    def from_xgboost(cls, model: Any, **words: Any) -> Policy:
        """Makes a policy of a classifier or a booster of XGBoost.

        :param model: the model.
        :param words: ``inputs``, ``outputs`` and so on, as for :class:`Policy`.
        :raises Difference: if Policert and the library disagree on some input.
        """
        from . import tree_policies

        return tree_policies.from_xgboost(cls, model, words)

    @classmethod
    def from_lightgbm(cls, model: Any, **words: Any) -> Policy:
        """Makes a policy of a classifier or a booster of LightGBM.

        :param model: the model.
        :param words: ``inputs``, ``outputs`` and so on, as for :class:`Policy`.
        :raises Difference: if Policert and the library disagree on some input.
        """
        from . import tree_policies

        return tree_policies.from_lightgbm(cls, model, words)

    @classmethod
    def from_keras(cls, model: Any, **words: Any) -> Policy:
        """Makes a policy of a model of Keras, whose output scores the labels.

        :param model: the model.
        :param words: ``inputs``, ``outputs`` and so on, as for :class:`Policy`.
        :raises Difference: if Policert and the model disagree on some input.
        """
        from . import torch_policies

        return torch_policies.from_keras(cls, model, words)


def described(
    inputs: Inputs | None,
    outputs: Sequence[str] | None,
    never: Sequence[str] = (),
    filter: bool | None = None,
    ties: str | None = None,
    scores: str | None = None,
) -> dict[str, Any]:
    """An interface of version 2."""
    if inputs is None or outputs is None:
        raise TypeError("inputs and outputs go together")
    entries = dict(inputs) if isinstance(inputs, Mapping) else list(inputs)
    interface: dict[str, Any] = {"version": 2, "input": entries, "output": list(outputs)}
    if never:
        interface["never"] = list(never)
    for key, value in (("filter", filter), ("ties", ties), ("scores", scores)):
        if value is not None:
            interface[key] = value
    return interface


def _again(
    source: Path | bytes, interface: Path | dict[str, Any] | None, notes: list[str]
) -> Policy:
    policy = Policy(source, interface=interface)
    policy.notes = notes
    return policy
