"""Functions as policies: their answers in every state that they lead to, as a decision tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import Unsupported, UsageError, failures
from .policy import Policy

if TYPE_CHECKING:
    from .gym import JaniEnv

# States whose observations the function gets at once.
BATCH = 1024
# Beyond it, the thresholds between integers are no numbers of single precision.
GREATEST = 1 << 22


def from_callable(
    cls: type[Policy], choose: Callable[[Any], Any], env: JaniEnv, limit: int
) -> Policy:
    states, actions = _answers(choose, env, limit)
    names = list(env.model.variables)
    rows = np.array(states, dtype=np.int64)
    if np.abs(rows).max(initial=0) >= GREATEST:
        raise Unsupported(f"values of variables beyond {GREATEST} in a black box", 41)
    used = [k for k in range(len(names)) if rows[:, k].min() < rows[:, k].max()] or [len(names) - 1]
    tree = _tree(rows[:, used], np.array(actions), len(env.actions))
    text = json.dumps({"base_scores": [0.0] * len(env.actions), "trees": [{"structure": tree}]})
    policy = cls(text.encode(), inputs=[names[k] for k in used], outputs=env.actions)
    policy.notes.append(
        f"the policy is a black box: the verdict is about what it answered in {len(states)} states, "
        "each asked once"
    )
    return policy


def _answers(
    choose: Callable[[Any], Any], env: JaniEnv, limit: int
) -> tuple[list[tuple[int, ...]], list[int]]:
    """The states that the policy leads to, and its actions there."""
    native = env._native
    starts = native.starts()
    if starts is None:
        raise Unsupported("there are too many start states for a list", 41)
    own = set(env.actions)
    seen: dict[tuple[int, ...], int] = {}
    waiting = [tuple(state) for state in starts]
    listed = set(waiting)
    while waiting:
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        rows = [list(state) for state in batch]
        observations: Any = native.observe(rows)
        if env.spaces.kind != "box":
            shaped = [env.spaces.shaped(row) for row in observations]
            observations = (
                {name: np.array([row[name] for row in shaped]) for name in shaped[0]}
                if env.spaces.kind == "dict"
                else np.array(shaped)
            )
        chosen = np.asarray(choose(observations)).reshape(-1)
        if len(chosen) != len(batch):
            raise UsageError(f"{len(chosen)} actions for {len(batch)} observations", 42)
        for state, action in zip(batch, chosen, strict=True):
            if not 0 <= int(action) < len(env.actions):
                raise UsageError(f"action {action}: there are {len(env.actions)}, from 0", 42)
            seen[state] = int(action)
            label = env.actions[int(action)]
            with failures():
                following = native.successors(list(state))
            for name, outcomes in following:
                if name is None or name == label or name not in own:
                    fresh = [tuple(s) for _, s in outcomes if tuple(s) not in listed]
                    listed.update(fresh)
                    waiting.extend(dict.fromkeys(fresh))
        if len(listed) > limit:
            raise Unsupported(f"the policy leads to more than {limit} states", 41)
    return list(seen), list(seen.values())


def _tree(rows: NDArray[np.int64], actions: NDArray[np.int64], count: int) -> dict[str, Any]:
    """A tree in the format of Veritas that has these actions in these states: each node asks what leaves
    the least impurity."""
    counts = np.bincount(actions, minlength=count)
    if (counts > 0).sum() == 1:
        return {"leaf_value": [1.0 if k == actions[0] else 0.0 for k in range(count)]}
    best = (np.inf, 0, 0)
    for column in range(rows.shape[1]):
        order = np.argsort(rows[:, column], kind="stable")
        values = rows[order, column]
        places = np.flatnonzero(values[1:] != values[:-1]) + 1
        if len(places) == 0:
            continue
        one_hot = np.eye(count, dtype=np.int64)[actions[order]]
        left = one_hot.cumsum(axis=0)[places - 1]
        right = counts - left
        impurity = len(actions) - (left**2).sum(1) / left.sum(1) - (right**2).sum(1) / right.sum(1)
        k = int(impurity.argmin())
        if impurity[k] < best[0]:
            best = (float(impurity[k]), column, int(values[places[k]]))
    _, column, value = best
    below = rows[:, column] < value
    return {
        "feat_id": column,
        "split_value": value - 0.5,
        "left": _tree(rows[below], actions[below], count),
        "right": _tree(rows[~below], actions[~below], count),
    }
