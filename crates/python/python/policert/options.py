"""The options of a question, by the names that they have on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypedDict

__all__ = ["EpisodeOptions", "Number", "QuestionOptions"]

Number = int | float | str | Fraction
"""An exact number: ``0.1`` is one tenth, and ``"1/3"`` a third."""


class EpisodeOptions(TypedDict, total=False):
    """Where runs start and end. :class:`policert.gym.JaniEnv` takes these options too. An option that is
    ``None`` is not given."""

    unsafe: str | None
    """Unsafe states in place of the property's: a condition such as ``"speed >= 3 && !done"``."""

    start: str | None
    """Start states in place of the property's: a condition, or a file that holds one."""

    no_initial: bool | None
    """True leaves out the model's own initial states, which are start states otherwise."""

    goal: str | None
    """Goal states: a condition; by default the goal of the property's objective."""

    terminal: str | None
    """States in which runs end: ``"goal"``, or a condition."""

    domain: Literal["drop", "error"] | None
    """An update that leaves the domain of a variable is no transition (``"drop"``, the default), or an
    error of the model."""

    probabilities: Literal["rounded", "exact"] | None
    """``"rounded"`` (the default) scales probabilities whose sum misses 1 by at most 10⁻⁶, and a note
    says so; ``"exact"`` refuses them."""


class QuestionOptions(EpisodeOptions, total=False):
    """What a question may say besides model, property and policy. An option that is ``None`` is not
    given; then what the interface or the property says holds."""

    filter: Literal["none", "applicable"] | None
    """Labels among which the policy chooses: all of its labels, or the applicable ones."""

    ties: Literal["first", "any", "strict"] | None
    """The choice where several labels have the greatest score: the first one, any of them, or nothing."""

    choice: Literal["argmax", "sample"] | None
    """Whether the policy takes the label of greatest score, or draws one by the softmax of its scores or
    its class probabilities. Each label of positive probability may then be chosen."""

    at_least: Number | None
    """With ``choice="sample"``: labels that are less probable than this count as never drawn."""

    numbers: Literal["real", "f32"] | None
    """Numbers of the policy: real arithmetic (the default), or every evaluation of its scores in single
    precision, whatever the order of summation."""

    scores: str | None
    """The output of an ONNX file that holds the scores."""

    stuck: Literal["allowed", "unsafe"] | None
    """What a state without successors means that is neither terminal nor a goal: the end of a run (the
    default), or an unsafe state. Engines ``explicit`` and ``auto``."""

    reach_goal: bool | None
    """True asks whether every run reaches a goal state, instead of whether one reaches an unsafe state.
    Engines ``explicit`` and ``auto``."""

    predicates: str | None
    """Predicates of the engines ``ppa`` and ``cegar`` in place of the property's: ``"none"``, or
    ``"splits:N"``, thresholds of every variable by binary search, N per cent of all."""

    last: Sequence[str] | None
    """With ``predicates="splits:N"``: patterns for the variables that get their thresholds after all
    others; ``*`` stands for any text."""

    states: Literal["until-unsafe", "reachable", "all"] | None
    """How much is built: up to the first unsafe state, all reachable states, or all states, also beyond
    unsafe and terminal ones."""
