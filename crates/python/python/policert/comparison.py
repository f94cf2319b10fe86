"""A policy against the library that it comes from: the same choices, or an error that shows where."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _policert
from .errors import PolicertError, failures
from .model import Model

if TYPE_CHECKING:
    from .policy import Policy

__all__ = ["Difference", "compare"]

SAMPLES = 200


class Difference(PolicertError):
    """Policert and the library that a policy comes from choose differently, so that the policy is not
    accepted (40).

    :param observation: what the network reads.
    :param policert: the outputs that Policert chooses.
    :param library: the output that the library chooses.
    """

    observation: list[int]
    """What the network reads, as numbers."""

    policert: list[int]
    """The outputs that Policert chooses, by their numbers."""

    library: int
    """The output that the library chooses, by its number."""

    def __init__(self, observation: list[int], policert: list[int], library: int) -> None:
        super().__init__(
            f"for the observation {observation}, Policert chooses output {policert}, and the library "
            f"{library}",
            40,
        )
        self.observation, self.policert, self.library = observation, policert, library

    def __reduce__(self) -> tuple[Any, ...]:
        return (Difference, (self.observation, self.policert, self.library))


def compare(
    policy: Policy,
    outputs: int,
    ranges: Sequence[tuple[int, int]],
    predict: Callable[[list[list[int]]], Sequence[int]],
    groups: Mapping[str, int] | None = None,
    seed: int = 1,
) -> None:
    """Asks both for the choice in random observations of integers.

    :param outputs: the number of outputs.
    :param ranges: the least and the greatest value of each input.
    :param predict: the library's choices, by the number of the output.
    :param groups: the widths of the inputs of a policy that has several, by name, in order.
    :raises Difference: at the first observation in which they differ.
    """
    numbers = random.Random(seed)
    states = [[numbers.randint(low, high) for low, high in ranges] for _ in range(SAMPLES)]
    names = [f"x{k}" for k in range(len(ranges))]
    labels = [f"a{k}" for k in range(outputs)]
    model = Model(_loop(names, ranges, labels))
    entries: list[str] | dict[str, list[str]] = names
    if groups is not None:
        entries, at = {}, 0
        for name, width in groups.items():
            entries[name], at = names[at : at + width], at + width
    plain = policy.with_interface({"version": 2, "input": entries, "output": labels})
    task = {**model._task(), **plain._task(), "property": "nothing"}
    with failures():
        # The first variable is the location of the automaton.
        chosen = _policert.choices(task, [[0, *state] for state in states])
    expected = predict(states)
    for state, ours, theirs in zip(states, chosen, expected, strict=True):
        if ours != [labels[int(theirs)]]:
            raise Difference(state, [labels.index(label) for label in ours], int(theirs))


def _loop(
    names: Sequence[str], ranges: Sequence[tuple[int, int]], labels: Sequence[str]
) -> dict[str, Any]:
    """A model in which every action is applicable in every state."""
    return {
        "jani-version": 1,
        "name": "comparison",
        "type": "lts",
        "actions": [{"name": label} for label in labels],
        "variables": [
            {
                "name": name,
                "type": {"kind": "bounded", "base": "int", "lower-bound": low, "upper-bound": high},
                "initial-value": low,
            }
            for name, (low, high) in zip(names, ranges, strict=True)
        ],
        "properties": [
            {
                "name": "nothing",
                "expression": {"op": "PA", "reach": {"op": "state-condition", "exp": False}},
            }
        ],
        "automata": [
            {
                "name": "loop",
                "locations": [{"name": "here"}],
                "initial-locations": ["here"],
                "edges": [
                    {"location": "here", "action": label, "destinations": [{"location": "here"}]}
                    for label in labels
                ],
            }
        ],
        "system": {
            "elements": [{"automaton": "loop"}],
            "syncs": [{"synchronise": [label], "result": label} for label in labels],
        },
    }
