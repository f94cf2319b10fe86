"""One question, asked part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from .. import _policert
from ..errors import Unsupported, UsageError, failures
from ..files import PathLike
from ..model import Model
from ..options import Number
from ..results import Decision
from .study import Answer, Study

__all__ = ["Merged", "boxes", "partition", "partition_reach", "slices"]


@dataclass(frozen=True)
class Merged(Decision):
    """The answer to a question of which each part was answered by itself. It is *safe* only if every part
    is."""

    parts: dict[str, Answer]
    """The answers of the parts by their names, each with its evidence; a part that failed has its error."""

    @property
    def verdict(self) -> str:
        """``"safe"``, ``"unsafe"`` or ``"unknown"``; a part that failed makes it unknown, unless
        another one is unsafe."""
        verdicts = {getattr(part, "verdict", "unknown") for part in self.parts.values()}
        if "unsafe" in verdicts:
            return "unsafe"
        return "safe" if verdicts == {"safe"} else "unknown"


def partition(
    model: Any,
    property: Any = None,
    policy: Any = None,
    *,
    starts: Sequence[str],
    journal: PathLike,
    address: str | None = None,
    cpus: float = 1,
    **options: Any,
) -> Merged:
    """Asks about the start states part by part: those of any of the conditions ``starts``, which stand in
    place of the property's.

    :param model: as for :func:`policert.verify`.
    :param property: as for :func:`policert.verify`.
    :param policy: as for :func:`policert.verify`.
    :param starts: a condition for each part, such as those of :func:`slices`.
    :param journal: as for :class:`Study`.
    :param address: as for :meth:`Study.run`.
    :param cpus: as for :meth:`Study.run`.
    :param options: the other arguments of :func:`policert.verify`.
    :raises UsageError: if there is no part, or an option has no effect.
    """
    if not starts:
        raise UsageError("starts: there is no part", 42)
    if "start" in options:
        raise UsageError("start has no effect: starts says where runs start", 42)
    study = Study(journal)
    for start in starts:
        study.add(start, model, property, policy, start=start, **options)
    return Merged(study.run(address, cpus=cpus))


def slices(model: Any, variable: str, count: int, within: str | None = None) -> list[str]:
    """Returns conditions that cut the values of a variable into ranges, for :func:`partition`.

    :param model: the model, or what :class:`policert.Model` takes.
    :param variable: the name of the variable.
    :param count: how many ranges there are.
    :param within: a condition: only states in which it holds are start states; by default all are.
    :raises UsageError: if there is no such variable, or it has fewer values than there are ranges.
    """
    shown = model if isinstance(model, Model) else Model(model)
    if variable not in shown.variables:
        raise UsageError(f"the model has no variable {variable!r}", 42)
    low, high = shown.variables[variable]
    if not 1 <= count <= high - low + 1:
        raise UsageError(f"count: {count} ranges of {high - low + 1} values", 42)
    cuts = [low + (high - low + 1) * k // count for k in range(count + 1)]
    inside = "" if within is None else f"({within}) && "
    return [
        f"{inside}`{variable}` >= {first} && `{variable}` <= {end - 1}"
        for first, end in pairwise(cuts)
    ]


def partition_reach(
    task: PathLike,
    *,
    boxes: Sequence[Mapping[str, tuple[Number, Number]]],
    journal: PathLike,
    address: str | None = None,
    cpus: float = 1,
    **options: Any,
) -> Merged:
    """Asks about the initial box of a control loop part by part.

    :param task: the task file.
    :param boxes: for each part the ranges of variables, such as those of :func:`boxes`; others keep the
        task's.
    :param journal: as for :class:`Study`.
    :param address: as for :meth:`Study.run`.
    :param cpus: as for :meth:`Study.run`.
    :param options: the other arguments of :func:`policert.reach`.
    :raises Unsupported: where all trajectories are to be in the goal at the same step: a part knows
        nothing of the others' steps.
    :raises UsageError: if there is no part, or an option has no effect.
    """
    if not boxes:
        raise UsageError("boxes: there is no part", 42)
    if "initial" in options:
        raise UsageError("initial has no effect: boxes says where trajectories begin", 42)
    _, is_all_at_once = _initial(task, options.get("instance"))
    if is_all_at_once and len(boxes) > 1:
        raise Unsupported(
            "all trajectories are to be in the goal at once: ask about them at once", 41
        )
    study = Study(journal)
    for box in boxes:
        name = ", ".join(f"{low} <= {variable} <= {high}" for variable, (low, high) in box.items())
        study.add_reach(name, task, initial=dict(box), **options)
    return Merged(study.run(address, cpus=cpus))


def boxes(
    task: PathLike, counts: Mapping[str, int], instance: str | None = None
) -> list[dict[str, tuple[Number, Number]]]:
    """Returns parts of the initial box of a task, for :func:`partition_reach`.

    :param task: the task file.
    :param counts: how many ranges of equal length each of some variables is cut into.
    :param instance: the instance of the task, if it has several.
    :raises UsageError: if there is no such variable, or it cannot be cut.
    """
    sides, _ = _initial(task, instance)
    ranges = []
    for variable, count in counts.items():
        if variable not in sides:
            raise UsageError(f"the task has no variable {variable!r}", 42)
        low, high = sides[variable]
        if count < 1 or (count > 1 and low == high):
            raise UsageError(f"counts: {count} ranges of {variable}, from {low} to {high}", 42)
        ends = [low + (high - low) * k / count for k in range(count + 1)]
        ranges.append([(variable, ends_of) for ends_of in pairwise(ends)])
    return [dict(box) for box in product(*ranges)]


def _initial(
    task: PathLike, instance: str | None
) -> tuple[dict[str, tuple[Fraction, Fraction]], bool]:
    """The initial box of a task, and whether all trajectories are to be in a goal at once."""
    with failures():
        sides, is_all_at_once = _policert.initial_box(str(task), instance)
    return {name: (Fraction(low), Fraction(high)) for name, low, high in sides}, is_all_at_once
