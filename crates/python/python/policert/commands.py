"""The commands as functions: :func:`verify` and its kin."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _policert
from .errors import UsageError, failures
from .files import Folder, PathLike
from .model import Model, Property
from .options import Number, QuestionOptions
from .policy import Policy
from .results import Certificate, QueryAnswer, ReachAnswer, Simulation, Verdict

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "certify",
    "choices",
    "convert",
    "interface",
    "probability",
    "query",
    "reach",
    "simulate",
    "verify",
]

ModelLike = Model | PathLike | Mapping[str, Any]
"""A model, or what :class:`Model` takes: a file, the text of one, or its content."""

PropertyLike = Property | PathLike | Mapping[str, Any] | None
"""A property, or what :class:`Property` takes: a name, a file, or its content; ``None`` is the model's first."""

Progress = Callable[[dict[str, Any]], object] | bool | None
"""A function that is told what goes on, in dictionaries with the entry ``"event"``: ``"phase"``, ``"progress"`` with
numbers of states, ``"interval"`` with bounds of a probability, or ``"note"``; ``True`` is a line of tqdm. An exception
of the function stops the work."""


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
    **question: Unpack[QuestionOptions],
) -> Verdict:
    """Verifies a policy: is no unsafe state reachable under it?

    :param model: the model, or what :class:`Model` takes.
    :param property: which states are unsafe, and where runs start: a :class:`Property`, or what it takes;
        by default the model's first safety property.
    :param policy: the policy, or its file; by default the one that the property names.
    :param no_policy: True allows all actions instead.
    :param engine: the engine that answers, such as ``"explicit"``, ``"ic3"`` or ``"prob"``; by default several
        in turn.
    :param preset: the configuration of the engine: the name of a preset, or a file.
    :param settings: single settings of that configuration, in place of the preset's.
    :param bound: *safe* means that the probability of reaching an unsafe state is at most this.
    :param precision: the width of the interval for a probability, above 0 and up to 1; by default 10⁻⁶, of
        ``prob-cegar`` 0.05.
    :param exact: True computes the exact value of a probability.
    :param threads: how many threads work; more than one goes with some engines.
    :param evidence: False leaves out the evidence, and the digests of files that it names.
    :param start_states: True says for each start state whether it is safe, with engines that know.
    :param state_limit: a limit on the number of states that are built.
    :param timeout: a limit on wall-clock time, in seconds; by default none.
    :param memory: a limit on the memory of the process, in bytes; by default none.
    :param progress: a function that is called with a dictionary while the work goes on; ``True`` shows a
        line of tqdm.
    :param question: further options of the question: :class:`QuestionOptions`.
    :returns: the verdict. A limit is no error: the verdict is *unknown* then, and
        :attr:`Verdict.reason` says why.
    :raises InvalidInput: if a file breaks the rules of its format, or files do not fit together.
    :raises Unsupported: if a file or a combination of options is not supported.
    :raises UsageError: if an option has no such value, or no effect.
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
    """Bounds the greatest probability of reaching an unsafe state; both bounds are proved.

    :param model: as for :func:`verify`.
    :param property: as for :func:`verify`.
    :param policy: as for :func:`verify`.
    :param options: the other arguments of :func:`verify`; ``engine`` is ``"prob"`` by default.
    :returns: a verdict whose :attr:`Verdict.probability` has the bounds; with ``exact=True``,
        :attr:`Verdict.value` is the exact number.
    :raises InvalidInput: if a file breaks the rules of its format, or files do not fit together.
    :raises Unsupported: if a file or a combination of options is not supported.
    :raises UsageError: if an option has no such value, or no effect.
    """
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
    **question: Unpack[QuestionOptions],
) -> Simulation:
    """Runs a policy from start states that are drawn, and counts how the runs end. Without a policy, labels are
    drawn.

    :param model: the model, or what :class:`Model` takes.
    :param property: which states are unsafe, and where runs start: a :class:`Property`, or what it takes;
        by default the model's first safety property.
    :param policy: the policy, or its file; by default the one that the property names.
    :param no_policy: True allows all actions instead.
    :param runs: how many runs there are, at least 1.
    :param steps: after how many steps a run is cut off; those of the environment count.
    :param seed: the seed of all random numbers: the same seed gives the same runs.
    :param past_goal: True if runs go on after a goal state, as :func:`verify` does.
    :param timeout: a limit on wall-clock time, in seconds; by default none.
    :param memory: a limit on the memory of the process, in bytes; by default none.
    :param progress: a function that is called with a dictionary while the work goes on; ``True`` shows a
        line of tqdm.
    :param question: further options of the question: :class:`QuestionOptions`.
    :returns: how many runs ended in which way; those that a limit did not end, if there was one.
    :raises InvalidInput: if a file breaks the rules of its format, or files do not fit together.
    :raises Unsupported: if a file or a combination of options is not supported.
    :raises UsageError: if an option has no such value, or no effect.
    """
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
    """Verifies a control loop: does it reach its goal and avoid the unsafe set, from every state of its initial
    box?

    :param task: the task file.
    :param instance: the instance of the task, if it has several.
    :param initial: ranges of variables within the task's initial box, such as ``{"p": (0.4, 0.5)}``:
        trajectories begin in this part alone.
    :param threads: how many threads work; the answer is the same for any number.
    :param record: True if the report is to have the boxes of every step.
    :param timeout: a limit on wall-clock time, in seconds; by default none.
    :param memory: a limit on the memory of the process, in bytes; by default none.
    :param progress: a function that is called with a dictionary while the work goes on; ``True`` shows a
        line of tqdm.
    :returns: the verdict; *unknown* at a limit, with :attr:`ReachAnswer.reason`.
    :raises InvalidInput: if a file breaks the rules of its format, or files do not fit together.
    :raises Unsupported: if a file or a combination of options is not supported.
    :raises UsageError: if an option has no such value, or no effect.
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
    """Decides a property of a network in VNN-LIB: is there an input whose outputs satisfy it?

    :param network: the network: its file, or a :class:`Policy`, whose interface does not matter.
    :param property: the file of the property, or its text.
    :param timeout: a limit on wall-clock time, in seconds; by default none.
    :param memory: a limit on the memory of the process, in bytes; by default none.
    :param progress: a function that is called with a dictionary while the work goes on; ``True`` shows a
        line of tqdm.
    :returns: ``"sat"`` with a witness, ``"unsat"``, or no answer at a limit.
    :raises InvalidInput: if a file breaks the rules of its format, or files do not fit together.
    :raises Unsupported: if a file or a combination of options is not supported.
    :raises UsageError: if an option has no such value, or no effect.
    """
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

    :param evidence: a verdict with evidence, the evidence itself, or its file.
    :param timeout: a limit on wall-clock time, in seconds; by default none.
    :param memory: a limit on the memory of the process, in bytes; by default none.
    :param progress: a function that is called with a dictionary while the work goes on; ``True`` shows a
        line of tqdm.
    :returns: what was confirmed: ask :attr:`Certificate.is_confirmed`. Evidence that does not show what it
        claims is no error.
    :raises ValueError: if the verdict has no evidence.
    :raises InvalidInput: if the evidence breaks the rules of its format.
    :raises Unsupported: if evidence of this kind is not supported.
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
    **question: Unpack[QuestionOptions],
) -> list[Path]:
    """Writes a question for other model checkers.

    :param model: as for :func:`verify`.
    :param property: as for :func:`verify`.
    :param policy: as for :func:`verify`.
    :param output: the file that is written; ``"prism"`` writes a file of properties beside it.
    :param format: ``"jani"``, ``"prism"`` or ``"drn"``, an explicit chain.
    :param policy_as_automaton: how the policy is written in JANI and PRISM: ``"real"``, with real-valued
        variables, or ``"discrete:N"``, with integers that are N decimal places.
    :param no_policy: True allows all actions instead.
    :param timeout: a limit on wall-clock time, in seconds; by default none.
    :param memory: a limit on the memory of the process, in bytes; by default none.
    :param progress: a function that is called with a dictionary while the work goes on; ``True`` shows a
        line of tqdm.
    :param question: further options of the question: :class:`QuestionOptions`.
    :returns: the files that were written.
    :raises InvalidInput: if a file breaks the rules of its format, or files do not fit together.
    :raises Unsupported: if a file or a combination of options is not supported.
    :raises UsageError: if an option has no such value, or no effect.
    """
    task, _held = _task(model, property, policy, no_policy, question)
    bounds = {"timeout": timeout, "memory": memory}
    with failures(), _Shown(progress) as shown:
        text = _policert.convert(task, bounds, format, str(output), policy_as_automaton, shown)
    return [Path(path) for path in json.loads(text)["outputs"]]


def interface(
    model: ModelLike, policy: Policy | PathLike, output: PathLike
) -> tuple[list[str], str | None]:
    """Writes a first interface for a policy: what its inputs and outputs mean in a model.

    :param model: the model, or what :class:`Model` takes.
    :param policy: the policy, or its file.
    :param output: the file that is written; one that is there is replaced.
    :returns: remarks on what was guessed, and why the policy cannot be read with this interface yet, or
        ``None`` if it can.
    :raises InvalidInput: if a file breaks the rules of its format, or files do not fit together.
    :raises Unsupported: if a file or a combination of options is not supported.
    :raises UsageError: if an option has no such value, or no effect.
    """
    model = _model(model)
    path = policy.path if isinstance(policy, Policy) else policy
    files = (str(model.path), None if model.problem is None else str(model.problem))
    with failures():
        return _policert.interface(files, model._task()["constants"], str(path), str(output))


def choices(
    model: ModelLike,
    property: PropertyLike,
    policy: Policy | PathLike | None,
    states: Sequence[Sequence[int]],
    **question: Any,
) -> list[list[str]]:
    """Returns the labels that the policy chooses in each of some states, exactly: one label, or several or none
    where ``ties`` says so.

    :param model: as for :func:`verify`.
    :param property: as for :func:`verify`.
    :param policy: as for :func:`verify`.
    :param states: states, each as the values of the variables in the order of :attr:`Model.variables`.
    :param question: further options of the question: :class:`QuestionOptions`, without ``states``.
    :raises InvalidInput: if a file breaks the rules of its format, or files do not fit together.
    :raises Unsupported: if a file or a combination of options is not supported.
    :raises UsageError: if an option has no such value, or no effect.
    """
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
    question: Mapping[str, Any],
) -> tuple[dict[str, Any], list[object]]:
    """The question as the native half reads it, and what must not be gone before it is answered."""
    model, asked = _model(model), Property.of(property)
    known = QuestionOptions.__annotations__
    for name in question:
        if name not in known:
            raise TypeError(f"unexpected option {name!r}; there are {', '.join(sorted(known))}")
    task: dict[str, Any] = {**model._task(), **{k: v for k, v in question.items() if v is not None}}
    if "at_least" in task:
        task["at_least"] = _number(task["at_least"])
    task["no_policy"] = no_policy
    if asked is not None:
        task["property"] = asked.text
    if policy is not None:
        if no_policy:
            raise UsageError("no_policy=True contradicts the policy that is given", 42)
        policy = policy if isinstance(policy, Policy) else Policy(policy)
        task.update(policy._task())
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
