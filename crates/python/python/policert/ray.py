"""Many questions on many machines, with Ray: the same code runs on one machine.

A :class:`Study` is a list of questions. Each is answered by a task of Ray; a worker that dies is replaced, and
its question asked again. Answers go to a journal, so that a study that was stopped goes on where it was.

    >>> study = Study("answers.jsonl")                                  # doctest: +SKIP
    >>> study.add("careful", model, "careful", timeout=600)             # doctest: +SKIP
    >>> study.run(address="auto")                                       # doctest: +SKIP
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import ray

from .commands import verify
from .errors import PolicertError, UsageError
from .files import PathLike
from .model import Model, Property
from .policy import Policy
from .results import Verdict

__all__ = ["Merged", "Study", "partition", "portfolio", "slices"]

# How often a question is asked again whose worker died.
RETRIES = 3


class Study:
    """Questions with names, and a journal of their answers.

    :param journal: the file of answers, a line of JSON for each; it is continued if it is there. A line that
        was cut off, and one of a question that has changed since, do not count.
    """

    def __init__(self, journal: PathLike) -> None:
        self.journal = Path(journal)
        self._questions: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}

    def add(
        self, name: str, model: Any, property: Any = None, policy: Any = None, **options: Any
    ) -> None:
        """Adds a question: arguments as for :func:`policert.verify`. The policy may also be a function
        without arguments that returns one, which trains it where the question is answered:
        ``functools.partial(train, seed)``."""
        if name in self._questions:
            raise UsageError(f"there are two questions {name!r}", 42)
        if "progress" in options:
            raise UsageError("progress has no effect: the work is done elsewhere", 42)
        self._questions[name] = ((model, property, policy), options)

    def answers(self) -> dict[str, Verdict | PolicertError]:
        """What the journal has for the questions of this study."""
        found: dict[str, Verdict | PolicertError] = {}
        if not self.journal.exists():
            return found
        digests = {name: _digest(question) for name, question in self._questions.items()}
        for line in self.journal.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            name = entry.get("name")
            if name in digests and entry.get("question") == digests[name]:
                found[name] = _of_entry(entry)
        return found

    def run(
        self,
        address: str | None = None,
        *,
        cpus: float = 1,
        told: Callable[[str, Verdict | PolicertError], object] | None = None,
        **options: Any,
    ) -> dict[str, Verdict | PolicertError]:
        """Answers the questions that the journal does not have, and returns all answers, in the order of
        the questions. An error of one question, such as a file that is wrong, is its answer.

        :param address: of a cluster of Ray; by default this machine, or the cluster that is connected.
        :param cpus: the processors that each question has for itself.
        :param told: called with the name and the answer of each question that ends.
        :param options: further options of ``ray.init``.
        """
        _connect(address, **options)
        answers = self.answers()
        answering = ray.remote(_answer).options(num_cpus=cpus, max_retries=RETRIES)
        waiting = {
            answering.remote(*question): name
            for name, question in self._questions.items()
            if name not in answers
        }
        while waiting:
            (done, *_), _rest = ray.wait(list(waiting), num_returns=1)
            name = waiting.pop(done)
            entry = {
                "name": name,
                "question": _digest(self._questions[name]),
                **_result(done),
            }
            self._write(entry)
            answers[name] = _of_entry(entry)
            if told is not None:
                told(name, answers[name])
        return {name: answers[name] for name in self._questions}

    def _write(self, entry: dict[str, Any]) -> None:
        """Appends a line, after a newline if the last one was cut off."""
        with self.journal.open("ab+") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def portfolio(
    model: Any,
    property: Any = None,
    policy: Any = None,
    *,
    engines: Sequence[str | Mapping[str, Any]] = ("explicit", "cegar", "ic3"),
    address: str | None = None,
    **options: Any,
) -> Verdict:
    """Asks several engines at once; the first verdict that is not *unknown*, and the others are stopped.

    :param engines: names, or options of :func:`policert.verify` such as ``{"engine": "ppa", "preset": "z3"}``.
    :raises PolicertError: if all of them fail; the error is that of the first.
    """
    _connect(address)
    answering = ray.remote(_answer).options(num_cpus=1, max_retries=RETRIES)
    waiting = []
    for engine in engines:
        chosen = {"engine": engine} if isinstance(engine, str) else dict(engine)
        waiting.append(answering.remote((model, property, policy), {**options, **chosen}))
    undecided: list[dict[str, Any]] = []
    while waiting:
        (done, *_), waiting = ray.wait(waiting, num_returns=1)
        entry = _result(done)
        if "report" in entry and entry["report"]["verdict"] != "unknown":
            for other in waiting:
                ray.cancel(other, force=True)
            return Verdict(entry["report"])
        undecided.append(entry)
    for entry in undecided:
        if "report" in entry:
            return Verdict(entry["report"])
    raise PolicertError(undecided[0]["error"], undecided[0]["code"])


@dataclass(frozen=True)
class Merged:
    """The answer to a question of which each part was answered by itself. It is *safe* only if every part
    is; ``parts`` has their verdicts, each with its evidence."""

    parts: dict[str, Verdict | PolicertError]

    @property
    def verdict(self) -> str:
        """``"safe"``, ``"unsafe"`` or ``"unknown"``; a part that failed makes it unknown, unless
        another one is unsafe."""
        verdicts = {getattr(part, "verdict", "unknown") for part in self.parts.values()}
        if "unsafe" in verdicts:
            return "unsafe"
        return "safe" if verdicts == {"safe"} else "unknown"

    @property
    def is_safe(self) -> bool:
        """Whether every part is safe."""
        return self.verdict == "safe"

    @property
    def is_unsafe(self) -> bool:
        """Whether a part is unsafe."""
        return self.verdict == "unsafe"

    def __bool__(self) -> bool:
        raise TypeError("a verdict may be unknown: ask is_safe or is_unsafe")


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

    :param starts: a condition for each part, such as those of :func:`slices`.
    :param journal: as for :class:`Study`.
    :param options: as for :func:`policert.verify`.
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
    """Conditions that cut the values of a variable into ranges, for :func:`partition`; their start states
    are those of ``within``, by default all states."""
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


def _connect(address: str | None, **options: Any) -> None:
    """Connects to a cluster, unless one is connected."""
    if not ray.is_initialized():
        ray.init(address=address, **{"log_to_driver": False, "include_dashboard": False, **options})


def _result(done: Any) -> dict[str, Any]:
    """What a task came to, also if its worker died too often."""
    try:
        entry: dict[str, Any] = ray.get(done)
    except ray.exceptions.RayError as error:
        entry = {"error": f"the worker failed: {error}", "code": 50}
    return entry


def _of_entry(entry: dict[str, Any]) -> Verdict | PolicertError:
    """The answer that a line of the journal is."""
    if "error" in entry:
        return PolicertError(entry["error"], entry["code"])
    return Verdict(entry["report"])


def _answer(question: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    model, property, policy = question
    try:
        if callable(policy):
            policy = policy()
        return {"report": verify(model, property, policy, **options).report}
    except PolicertError as error:
        return {"error": str(error), "code": error.code}


def _digest(question: tuple[tuple[Any, ...], dict[str, Any]]) -> str:
    """What tells a question from others: files by their content."""

    def content(part: Any) -> Any:
        state = part.__reduce__()[1] if isinstance(part, Model | Property | Policy) else part
        if isinstance(state, tuple):
            return [content(item) for item in state]
        if isinstance(state, Path | str) and os.path.isfile(state):
            return hashlib.sha256(Path(state).read_bytes()).hexdigest()
        return state

    (arguments, options) = question
    text = ray.cloudpickle.dumps(([content(part) for part in arguments], sorted(options.items())))
    return hashlib.sha256(text).hexdigest()
