"""Questions, and a journal of their answers."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray

from .._policert import version
from ..commands import reach, verify
from ..errors import PolicertError, UsageError
from ..files import PathLike
from ..model import Model, Property
from ..policy import Policy
from ..results import ReachAnswer, Verdict
from .connection import RETRIES, connect

__all__ = ["Answer", "Study", "portfolio"]

Answer = Verdict | ReachAnswer | PolicertError
"""What there is in the end: a verdict, or an error of one question."""


@dataclass(frozen=True)
class _Question:
    """Arguments and options of :func:`policert.verify`, or of :func:`policert.reach`."""

    arguments: tuple[Any, ...]
    options: dict[str, Any]
    is_reach: bool = False


class Study:
    """Questions with names, and a journal of their answers.

    :param journal: the file of answers, a line of JSON for each; it is continued if it is there. A line that
        was cut off does not count, nor does one of a question that has changed since, by its files too, or of
        another version.
    """

    journal: Path
    """The file of answers."""

    def __init__(self, journal: PathLike) -> None:
        self.journal = Path(journal)
        self._questions: dict[str, _Question] = {}

    def add(
        self, name: str, model: Any, property: Any = None, policy: Any = None, **options: Any
    ) -> None:
        """Adds a question.

        :param name: the name of the question, which no other one of the study has.
        :param model: as for :func:`policert.verify`.
        :param property: as for :func:`policert.verify`.
        :param policy: as for :func:`policert.verify`, or a function without arguments that returns one, which
            trains it where the question is answered: ``functools.partial(train, seed)``.
        :param options: the other arguments of :func:`policert.verify`, without ``progress``.
        :raises UsageError: if the name is taken, or an option has no effect.
        """
        self._add(name, _Question((model, property, policy), options))

    def add_reach(self, name: str, task: PathLike, **options: Any) -> None:
        """Adds a question about a control loop.

        :param name: the name of the question, which no other one of the study has.
        :param task: the task file.
        :param options: the other arguments of :func:`policert.reach`, without ``progress``.
        :raises UsageError: if the name is taken, or an option has no effect.
        """
        self._add(name, _Question((task,), options, is_reach=True))

    def _add(self, name: str, question: _Question) -> None:
        if name in self._questions:
            raise UsageError(f"there are two questions {name!r}", 42)
        if "progress" in question.options:
            raise UsageError("progress has no effect: the work is done elsewhere", 42)
        self._questions[name] = question

    def answers(self) -> dict[str, Answer]:
        """Returns what the journal has for the questions of this study, by their names."""
        found: dict[str, Answer] = {}
        if not self.journal.exists():
            return found
        digests = {name: _digest(question) for name, question in self._questions.items()}
        for line in self.journal.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            name = entry.get("name")
            if name in digests and entry.get("question") == digests[name] and _is_fresh(entry):
                found[name] = _of_entry(entry)
        return found

    def run(
        self,
        address: str | None = None,
        *,
        cpus: float = 1,
        told: Callable[[str, Answer], object] | None = None,
        **options: Any,
    ) -> dict[str, Answer]:
        """Answers the questions that the journal does not have, and returns all answers, in the order of
        the questions. An error of one question, such as a file that is wrong, is its answer. One whose worker died
        too often is an error, too, which the journal does not keep: it is asked again by the next run.

        :param address: of a cluster of Ray; by default this machine, or the cluster that is connected.
        :param cpus: the number of processors that each question has for itself.
        :param told: called with the name and the answer of each question that ends.
        :param options: further options of ``ray.init``.
        :raises UsageError: if nothing answers at the address within 10 seconds.
        """
        connect(address, **options)
        answers = self.answers()
        answering = ray.remote(_answer).options(num_cpus=cpus, max_retries=RETRIES)
        # Of the files as they are before they are read.
        waiting = {
            answering.remote(question): (name, _digest(question))
            for name, question in self._questions.items()
            if name not in answers
        }
        while waiting:
            (done, *_), _rest = ray.wait(list(waiting), num_returns=1)
            name, digest = waiting.pop(done)
            result = _result(done)
            if result is None:
                answers[name] = PolicertError(f"{name}: the worker died {RETRIES + 1} times")
            else:
                entry = {"name": name, "question": digest, **result}
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
    """Asks several engines at once; returns the first verdict that is not *unknown*, and stops the others.

    :param model: as for :func:`policert.verify`.
    :param property: as for :func:`policert.verify`.
    :param policy: as for :func:`policert.verify`.
    :param engines: names, or options of :func:`policert.verify` such as ``{"engine": "ppa", "preset": "z3"}``.
    :param address: as for :meth:`Study.run`.
    :param options: the other arguments of :func:`policert.verify`.
    :raises PolicertError: if all of them fail; the error is that of the first.
    """
    connect(address)
    answering = ray.remote(_answer).options(num_cpus=1, max_retries=RETRIES)
    waiting = []
    for engine in engines:
        chosen = {"engine": engine} if isinstance(engine, str) else dict(engine)
        question = _Question((model, property, policy), {**options, **chosen})
        waiting.append(answering.remote(question))
    undecided: list[dict[str, Any]] = []
    while waiting:
        (done, *_), waiting = ray.wait(waiting, num_returns=1)
        entry = _result(done) or {"error": "the worker died too often", "code": 50}
        if "report" in entry and entry["report"]["verdict"] != "unknown":
            for other in waiting:
                ray.cancel(other, force=True)
            return Verdict(entry["report"])
        undecided.append(entry)
    for entry in undecided:
        if "report" in entry:
            return Verdict(entry["report"])
    raise PolicertError(undecided[0]["error"], undecided[0]["code"])


def _result(done: Any) -> dict[str, Any] | None:
    """What a task came to; ``None`` if its worker died too often."""
    try:
        entry: dict[str, Any] = ray.get(done)
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError:
        return None
    return entry


def _of_entry(entry: dict[str, Any]) -> Answer:
    """The answer that a line of the journal is."""
    if "error" in entry:
        return PolicertError(entry["error"], entry["code"])
    return ReachAnswer(entry["report"]) if entry["is_reach"] else Verdict(entry["report"])


def _answer(question: _Question) -> dict[str, Any]:
    try:
        if question.is_reach:
            report = reach(*question.arguments, **question.options).report
        else:
            model, property, policy = question.arguments
            policy = policy() if callable(policy) else policy
            report = verify(model, property, policy, **question.options).report
    except PolicertError as error:
        return {"error": str(error), "code": error.code}
    return {"is_reach": question.is_reach, "report": report}


def _digest(question: _Question) -> str:
    """What tells a question from others: files by their content."""

    def content(part: Any) -> Any:
        state = part.__reduce__()[1] if isinstance(part, Model | Property | Policy) else part
        if isinstance(state, tuple):
            return [content(item) for item in state]
        if isinstance(state, Path | str) and os.path.isfile(state):
            return _sha256(state)
        return state

    arguments = [content(part) for part in question.arguments]
    options = sorted(question.options.items())
    text = ray.cloudpickle.dumps((version(), question.is_reach, arguments, options))
    return hashlib.sha256(text).hexdigest()


def _is_fresh(entry: dict[str, Any]) -> bool:
    """True if the files that were read are what they were, as far as they are on this machine."""
    inputs = entry.get("report", {}).get("inputs", [])
    known = [(file["path"], file["sha256"]) for file in inputs]
    return all(_sha256(path) == sha256 for path, sha256 in known if os.path.isfile(path))


def _sha256(path: PathLike) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
