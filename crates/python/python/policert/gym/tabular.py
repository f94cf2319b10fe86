"""Environments as models: tables of transitions, and exhaustive stepping."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from ..errors import Unsupported, UsageError
from ..model import Model

__all__ = ["to_model"]

Table = dict[Any, dict[int, list[tuple[float, Any, bool]]]]
# More states are not listed.
STATES = 100_000


def to_model(
    env: Any,
    *,
    unsafe: Iterable[Any] | Callable[[Any], bool],
    goal: Iterable[Any] | Callable[[Any], bool] | None = None,
    start: Iterable[Any] | None = None,
    actions: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    name: str = "environment",
    limit: int = STATES,
) -> Model:
    """Makes a model of an environment, with the property *never in these states* (``never``).

    A tabular environment (``env.unwrapped.P``, such as FrozenLake, Taxi or CliffWalking) is read from its
    table. Any other has to have ``get_state()``, which returns something hashable, and ``set_state(s)``,
    and to be deterministic: it is stepped exhaustively.

    States are the values of one variable, ``s``; states that are tuples of integers are those of several
    variables, whose names are ``names``.

    :param env: an environment of Gymnasium with discrete actions.
    :param unsafe: the states that must not be reached, or a function that tells.
    :param goal: the states that are to be reached.
    :param start: the states in which episodes start; by default those that the environment starts in.
    :param actions: the labels of the actions; by default ``a0``, ``a1`` and so on.
    :param names: the names of the variables, if states are tuples.
    :param name: the name of the model.
    :param limit: the greatest number of states.
    :raises Unsupported: if the environment has neither a table nor states that can be set, has too many of
        them, or has chance without a table.
    :raises UsageError: if a state or the number of actions or names is not the environment's.
    """
    inner = env.unwrapped
    table = getattr(inner, "P", None)
    count = int(env.action_space.n)
    if table is not None:
        rows, starts = _from_table(inner, table), _table_starts(inner)
    elif hasattr(inner, "get_state") and hasattr(inner, "set_state"):
        rows, starts = _by_steps(env, inner, count, start, limit)
    else:
        raise Unsupported(
            "the environment has neither a table `P` nor `get_state` and `set_state`: write its model in "
            "JANI, and compare them with policert.gym.conform",
            41,
        )
    if start is not None:
        starts = list(start)
    if not starts:
        raise UsageError("start: in which state do episodes start?", 42)
    labels = list(actions) if actions is not None else [f"a{k}" for k in range(count)]
    if len(labels) != count:
        raise UsageError(f"actions: {len(labels)} labels for {count} actions", 42)
    encoding = _Encoding(list(rows), names)
    if len(encoding.states) > limit:
        raise Unsupported(f"more than {limit} states", 41)
    edges = []
    for state, choices in rows.items():
        for action, outcomes in choices.items():
            destinations = [
                {
                    "location": "here",
                    "probability": {"exp": _number(probability)},
                    "assignments": encoding.assignments(following),
                }
                for probability, following in _merged(outcomes)
            ]
            edges.append(
                {
                    "location": "here",
                    "action": labels[action],
                    "guard": {"exp": encoding.condition([state])},
                    "destinations": destinations,
                }
            )
    expression: dict[str, Any] = {
        "op": "PA",
        "start": {"op": "state-condition", "exp": encoding.condition(starts)},
        "reach": {"op": "state-condition", "exp": encoding.condition(_chosen(unsafe, rows))},
    }
    if goal is not None:
        expression["objective"] = {
            "op": "objective",
            "goal": {"op": "state-condition", "exp": encoding.condition(_chosen(goal, rows))},
        }
    return Model(
        {
            "jani-version": 1,
            "name": name,
            "type": "mdp",
            "features": ["derived-operators"],
            "actions": [{"name": label} for label in labels],
            "variables": encoding.variables(starts[0]),
            "properties": [{"name": "never", "expression": expression}],
            "automata": [
                {
                    "name": "environment",
                    "locations": [{"name": "here"}],
                    "initial-locations": ["here"],
                    "edges": edges,
                }
            ],
            "system": {
                "elements": [{"automaton": "environment"}],
                "syncs": [{"synchronise": [label], "result": label} for label in labels],
            },
        }
    )


def _from_table(inner: Any, table: Any) -> Table:
    """What the table says; a state in which an episode has ended has no transitions."""
    ended: set[Any] = set()
    rows: Table = {}
    for state, choices in table.items():
        rows[int(state)] = {}
        for action, outcomes in choices.items():
            listed = [(p, int(s), bool(done)) for p, s, _, done in outcomes if p > 0]
            rows[int(state)][int(action)] = listed
            ended |= {s for _, s, done in listed if done}
    for state in ended:
        rows[state] = {}
    return rows


def _table_starts(inner: Any) -> list[Any]:
    distribution = getattr(inner, "initial_state_distrib", None)
    if distribution is None:
        number = getattr(inner, "start_state_index", None)
        return [] if number is None else [int(number)]
    return [state for state, p in enumerate(distribution) if p > 0]


def _by_steps(
    env: Any, inner: Any, count: int, start: Iterable[Any] | None, limit: int
) -> tuple[Table, list[Any]]:
    if start is None:
        env.reset(seed=0)
        starts = [inner.get_state()]
    else:
        starts = list(start)
    rows: Table = {}
    waiting: deque[Hashable] = deque(starts)
    seen = set(starts)
    ended: set[Hashable] = set()
    while waiting:
        state = waiting.popleft()
        rows[state] = {}
        if state in ended:
            continue
        for action in range(count):
            env.reset()
            inner.set_state(state)
            _, _, terminated, _, _ = env.step(action)
            following = inner.get_state()
            env.reset()
            inner.set_state(state)
            env.step(action)
            if inner.get_state() != following:
                raise Unsupported(
                    f"action {action} in state {state!r} leads to different states: an environment with "
                    "chance needs a table `P`",
                    41,
                )
            rows[state][action] = [(1.0, following, bool(terminated))]
            if terminated:
                ended.add(following)
            if following not in seen:
                seen.add(following)
                waiting.append(following)
                if len(seen) > limit:
                    raise Unsupported(f"more than {limit} states", 41)
    for state in ended:
        rows[state] = {}
    return rows, starts


def _chosen(which: Iterable[Any] | Callable[[Any], bool], rows: Table) -> list[Any]:
    if callable(which):
        return [state for state in rows if which(state)]
    states = list(which)
    for state in states:
        if state not in rows:
            raise UsageError(f"{state!r} is no state of the environment", 42)
    return states


def _merged(outcomes: list[tuple[float, Any, bool]]) -> list[tuple[Fraction, Any]]:
    """Outcomes with exact probabilities that sum to 1: the simple fractions that floats stand for."""
    exact: dict[Any, Fraction] = {}
    for probability, state, _ in outcomes:
        simple = Fraction(probability).limit_denominator(10**6)
        if abs(float(simple) - probability) > 1e-9:
            raise Unsupported(f"the probability {probability} is no simple fraction", 41)
        exact[state] = exact.get(state, Fraction(0)) + simple
    if sum(exact.values()) != 1:
        raise Unsupported(f"the probabilities of {outcomes} do not sum to 1", 41)
    return [(probability, state) for state, probability in exact.items()]


def _number(value: Fraction) -> Any:
    if value.denominator == 1:
        return value.numerator
    return {"op": "/", "left": value.numerator, "right": value.denominator}


class _Encoding:
    """States as values of variables."""

    def __init__(self, states: list[Any], names: Sequence[str] | None) -> None:
        self.states = states
        first = states[0]
        self.is_tuple = isinstance(first, tuple) and all(
            isinstance(state, tuple)
            and len(state) == len(first)
            and all(isinstance(value, int) for value in state)
            for state in states
        )
        if self.is_tuple:
            self.names = list(names) if names else [f"x{k}" for k in range(len(first))]
        else:
            self.names = list(names) if names else ["s"]
        if len(self.names) != (len(first) if self.is_tuple else 1):
            raise UsageError(f"names: {len(self.names)} names, and states such as {first!r}", 42)
        is_number = all(isinstance(state, int) for state in states)
        self.index = {s: (s if is_number else k) for k, s in enumerate(states)}

    def values(self, state: Any) -> tuple[int, ...]:
        return tuple(int(x) for x in state) if self.is_tuple else (self.index[state],)

    def variables(self, initial: Any) -> list[dict[str, Any]]:
        columns = list(zip(*(self.values(state) for state in self.states), strict=True))
        return [
            {
                "name": name,
                "type": {
                    "kind": "bounded",
                    "base": "int",
                    "lower-bound": min(column),
                    "upper-bound": max(column),
                },
                "initial-value": value,
            }
            for name, column, value in zip(self.names, columns, self.values(initial), strict=True)
        ]

    def assignments(self, state: Any) -> list[dict[str, Any]]:
        pairs = zip(self.names, self.values(state), strict=True)
        return [{"ref": name, "value": value} for name, value in pairs]

    def condition(self, states: Iterable[Any]) -> Any:
        """Being in one of these states."""
        return _joined("∨", [self._one(state) for state in states], False)

    def _one(self, state: Any) -> Any:
        pairs = zip(self.names, self.values(state), strict=True)
        return _joined("∧", [{"op": "=", "left": n, "right": v} for n, v in pairs], True)


def _joined(op: str, parts: list[Any], empty: bool) -> Any:
    """Parts joined by an operator, as a tree of little depth."""
    if not parts:
        return empty
    while len(parts) > 1:
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [
            pair[0] if len(pair) == 1 else {"op": op, "left": pair[0], "right": pair[1]}
            for pair in pairs
        ]
    return parts[0]
