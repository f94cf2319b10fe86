"""The commands as functions: :func:`verify` and its kin."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from . import _policert
from .errors import UsageError, failures
from .files import Folder, PathLike
from .model import Model, Property
from .policy import Policy
from .results import Certificate, QueryAnswer, ReachAnswer, Simulation, Verdict

__all__ = [
    "certify",
    "convert",
    "interface",
    "probability",
    "query",
    "reach",
    "simulate",
    "verify",
]

ModelLike = Model | PathLike | Mapping[str, Any]
PropertyLike = Property | PathLike | Mapping[str, Any] | None
Progress = Callable[[dict[str, Any]], object] | bool | None
Number = int | float | str | Fraction

# What a question may say besides model, property and policy.
_QUESTION = {
    "filter",
    "ties",
    "numbers",
    "choice",
    "at_least",
    "scores",
    "domain",
    "stuck",
    "probabilities",
    "terminal",
    "goal",
    "reach_goal",
    "no_initial",
    "predicates",
    "last",
    "start",
    "states",
    "unsafe",
}


def verify(
    model: ModelLike,
    property: PropertyLike = None,
    policy: Policy | PathLike | None = None,
    *,
    no_policy: bool = False,
    engine: str | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    bound: Number | None = None,
    precision: float | None = None,
    exact: bool = False,
    threads: int = 1,
    evidence: bool = True,
    start_states: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    state_limit: int | None = None,
    progress: Progress = None,
    **question: Any,
) -> Verdict:
    """Verifies a policy.

    :param model: the model.
    :param property: which states are unsafe, and where runs start; by default the model's first.
    :param policy: the policy; by default the one that the property names.
    :param no_policy: True allows all actions instead.
    :param engine: the engine that answers; by default several in turn.
    :param bound: safe means that the probability of reaching an unsafe state is at most this.
    :param timeout: a limit on time, in seconds.
    :param memory: a limit on the memory of the process, in bytes.
    :param progress: called with a dictionary while the work goes on; ``True`` shows a line of tqdm.
    :param question: the other options of ``policert verify`` about the question: ``filter``,
        ``ties``, ``numbers``, ``choice``, ``at_least``, ``scores``, ``domain``, ``stuck``, ``probabilities``,
        ``terminal``, ``goal``, ``reach_goal``, ``no_initial``, ``predicates``, ``last``, ``states``
        (``"until-unsafe"``, ``"reachable"``, or ``"all"``: how much is built), and ``unsafe`` and
        ``start``: conditions such as ``"x >= 3 && !done"`` in place of the property's.
    :raises PolicertError: if inputs or options are wrong. A limit is no error: the verdict is
        *unknown* then, with the reason.
    """
    answering: dict[str, Any] = {
        "engine": engine,
        "preset": preset,
        "settings": [(key, _setting(value)) for key, value in (settings or {}).items()],
        "bound": _number(bound),
        "precision": precision,
        "exact": exact,
        "threads": threads,
        "evidence": evidence,
        "start_states": start_states,
    }
    bounds = {"timeout": timeout, "memory": memory, "state_limit": state_limit}
    task, held = _task(model, property, policy, no_policy, question)
    with failures(), _Shown(progress) as shown:
        report = json.loads(_policert.verify(task, answering, bounds, shown))
    if isinstance(policy, Policy):
        report["notes"] += policy.notes
    return Verdict(report, held)


def probability(
    model: ModelLike,
    property: PropertyLike = None,
    policy: Policy | PathLike | None = None,
    **options: Any,
) -> Verdict:
    """The greatest probability of reaching an unsafe state, within proved bounds
    (:attr:`Verdict.probability`). Options as for :func:`verify`."""
    return verify(model, property, policy, **{"engine": "prob", **options})


def simulate(
    model: ModelLike,
    property: PropertyLike = None,
    policy: Policy | PathLike | None = None,
    *,
    no_policy: bool = False,
    runs: int = 1000,
    steps: int = 200,
    seed: int = 1,
    past_goal: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress = None,
    **question: Any,
) -> Simulation:
    """Random runs of a policy, without policy of labels drawn at random."""
    task, _held = _task(model, property, policy, no_policy, question)
    bounds = {"timeout": timeout, "memory": memory}
    if runs < 1:
        raise UsageError(f"runs: {runs} is no number of runs", 42)
    with failures(), _Shown(progress) as shown:
        text = _policert.simulate(task, bounds, runs, steps, seed, past_goal, shown)
    return Simulation(json.loads(text))


def reach(
    task: PathLike,
    *,
    instance: str | None = None,
    initial: Mapping[str, tuple[Number, Number]] | None = None,
    threads: int = 1,
    record: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress = None,
) -> ReachAnswer:
    """Verifies a control loop, from its task file.

    :param instance: the instance of the task, if it has several.
    :param initial: ranges of variables within the task's initial box, such as ``{"p": (0.4, 0.5)}``:
        trajectories begin there alone.
    :param record: True if the report is to have the boxes of every step.
    """
    bounds = {"timeout": timeout, "memory": memory}
    ranges = [
        (variable, str(_number(low)), str(_number(high)))
        for variable, (low, high) in (initial or {}).items()
    ]
    with failures(), _Shown(progress) as shown:
        text = _policert.reach(str(task), bounds, instance, ranges, threads, record, shown)
    return ReachAnswer(json.loads(text))


def query(
    network: Policy | PathLike,
    property: PathLike,
    *,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress = None,
) -> QueryAnswer:
    """Decides a property of a network in VNN-LIB: is there an input whose outputs satisfy it?"""
    text, folder = str(property), None
    if text.lstrip().startswith(("(", ";")):
        folder = Folder()
        property = folder.write("property.vnnlib", text)
    path = network.path if isinstance(network, Policy) else network
    bounds = {"timeout": timeout, "memory": memory}
    with failures(), _Shown(progress) as shown:
        answer = _policert.query(str(path), str(property), bounds, shown)
    return QueryAnswer(json.loads(answer))


def certify(
    evidence: Verdict | Mapping[str, Any] | PathLike,
    *,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress = None,
) -> Certificate:
    """Checks the evidence of a verdict, without the engines that found it.

    :raises Rejected: never: :attr:`Certificate.is_confirmed` says whether it holds.
    """
    folder = None
    path: PathLike
    if isinstance(evidence, Verdict | Mapping):
        folder = Folder()
        path = folder.path / "evidence.json"
        if isinstance(evidence, Verdict):
            evidence.save_evidence(path)
        else:
            folder.write(path.name, json.dumps(evidence))
    else:
        path = evidence
    bounds = {"timeout": timeout, "memory": memory}
    with failures(), _Shown(progress) as shown:
        text = _policert.certify(str(path), bounds, shown)
    return Certificate(json.loads(text))


def convert(
    model: ModelLike,
    property: PropertyLike = None,
    policy: Policy | PathLike | None = None,
    *,
    output: PathLike,
    format: str = "jani",
    policy_as_automaton: str | None = None,
    no_policy: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress = None,
    **question: Any,
) -> list[Path]:
    """Writes a question for other model checkers: as ``"jani"``, ``"prism"`` or ``"drn"``; the files
    that were written.

    :param policy_as_automaton: how the policy is written in JANI and PRISM: ``"real"``, or
        ``"discrete:N"`` with N digits behind the point.
    """
    task, _held = _task(model, property, policy, no_policy, question)
    bounds = {"timeout": timeout, "memory": memory}
    with failures(), _Shown(progress) as shown:
        text = _policert.convert(task, bounds, format, str(output), policy_as_automaton, shown)
    return [Path(path) for path in json.loads(text)["outputs"]]


def interface(
    model: ModelLike, policy: Policy | PathLike, output: PathLike
) -> tuple[list[str], str | None]:
    """Writes a first interface for a policy: remarks on what was guessed, and why the policy cannot be
    read with it yet, if it cannot."""
    model = _model(model)
    path = policy.path if isinstance(policy, Policy) else policy
    files = (str(model.path), None if model.problem is None else str(model.problem))
    with failures():
        return _policert.interface(files, model.task()["constants"], str(path), str(output))


def choices(
    model: ModelLike,
    property: PropertyLike,
    policy: Policy | PathLike | None,
    states: Sequence[Sequence[int]],
    **question: Any,
) -> list[list[str]]:
    """The labels that the policy chooses in each of some states, exactly."""
    task, _held = _task(model, property, policy, False, question)
    with failures():
        return _policert.choices(task, [list(state) for state in states])


def _model(given: ModelLike) -> Model:
    return given if isinstance(given, Model) else Model(given)


def _task(
    model: ModelLike,
    property: PropertyLike,
    policy: Policy | PathLike | None,
    no_policy: bool,
    question: dict[str, Any],
) -> tuple[dict[str, Any], list[object]]:
    """The question as the native half reads it, and what must not be gone before it is answered."""
    model, asked = _model(model), Property.of(property)
    for name in question:
        if name not in _QUESTION:
            raise TypeError(f"unexpected option {name!r}; there are {', '.join(sorted(_QUESTION))}")
    task = {**model.task(), **{k: v for k, v in question.items() if v is not None}}
    if "at_least" in task:
        task["at_least"] = _number(task["at_least"])
    task["no_policy"] = no_policy
    if asked is not None:
        task["property"] = asked.text
    if policy is not None:
        if no_policy:
            raise UsageError("no_policy=True contradicts the policy that is given", 42)
        policy = policy if isinstance(policy, Policy) else Policy(policy)
        task.update(policy.task())
    return task, [model, asked, policy]


def _number(value: Number | None) -> str | None:
    if value is None:
        return None
    # Digits without an exponent: the number that is written, and not the binary one near it.
    return format(Decimal(repr(value)), "f") if isinstance(value, float) else str(value)


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class _Shown:
    """Progress for whoever asks for it."""

    def __init__(self, progress: Progress) -> None:
        self._bar: Any = None
        self._call = progress if callable(progress) else None
        if progress is True:
            from tqdm.auto import tqdm

            self._bar = tqdm(unit=" states")
            self._call = self._show

    def _show(self, event: dict[str, Any]) -> None:
        if event["event"] == "phase":
            self._bar.set_description(event["phase"])
        elif event["event"] == "progress":
            self._bar.n = event["reached"]
            self._bar.refresh()

    def __enter__(self) -> Callable[[dict[str, Any]], object] | None:
        return self._call

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
