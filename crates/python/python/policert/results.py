"""What comes back: verdicts, with traces as lists of dictionaries."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .files import PathLike

if TYPE_CHECKING:
    import pandas

__all__ = [
    "Certificate",
    "Decision",
    "Outcome",
    "QueryAnswer",
    "ReachAnswer",
    "Simulation",
    "Verdict",
]


class Outcome:
    """What a command says. In a notebook it is shown as a table.

    :param report: all of it.
    """

    report: dict[str, Any]
    """All that the command says, as the command line writes it with ``--json``."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report

    @property
    def exit_code(self) -> int:
        """The code that the command line ends with."""
        return int(self.report["exit_code"])

    @property
    def reason(self) -> str | None:
        """Why the answer is not known, or not complete: a limit, or what an engine could not do."""
        reason = self.report["reason"]
        return None if reason is None else str(reason)

    @property
    def warnings(self) -> list[str]:
        """What to read before trusting the answer."""
        return list(self.report.get("warnings", []))

    @property
    def notes(self) -> list[str]:
        """What is worth knowing."""
        return list(self.report.get("notes", []))

    @property
    def seconds(self) -> float:
        """The wall-clock time of the work, in seconds."""
        return float(self.report["time_s"])

    def _lines(self) -> list[tuple[str, str]]:
        return []

    def __repr__(self) -> str:
        lines = ", ".join(f"{name}: {text}" for name, text in self._lines())
        return f"<{type(self).__name__} {lines}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
            for name, text in self._lines()
        )
        notes = "".join(f"<li>{html.escape(text)}</li>" for text in self.warnings + self.notes)
        return f"<table>{rows}</table><ul>{notes}</ul>"


class Decision:
    """What has a verdict. It has no truth value of its own, since *unknown* is neither safe nor unsafe: ask
    :attr:`is_safe` or :attr:`is_unsafe`."""

    @property
    def verdict(self) -> str:
        """``"safe"``, ``"unsafe"`` or ``"unknown"``."""
        raise NotImplementedError

    @property
    def is_safe(self) -> bool:
        """True if it is proved that no run reaches an unsafe state."""
        return self.verdict == "safe"

    @property
    def is_unsafe(self) -> bool:
        """True if there is a run to an unsafe state, or the probability exceeds the bound."""
        return self.verdict == "unsafe"

    def __bool__(self) -> bool:
        raise TypeError("a verdict may be unknown: ask is_safe or is_unsafe")


class Verdict(Decision, Outcome):
    """The verdict about a policy.

    :param report: all that the command says.
    :param held: what must not be gone before the verdict is, such as temporary files.
    """

    def __init__(self, report: dict[str, Any], held: Sequence[object] = ()) -> None:
        super().__init__(report)
        # The files that the evidence names live as long as the verdict.
        self._held = held

    @property
    def verdict(self) -> str:
        """``"safe"``, ``"unsafe"``, ``"unknown"``, or ``"probability"``."""
        return str(self.report["verdict"])

    @property
    def is_hollow(self) -> bool:
        """True if the verdict says nothing about the policy: :attr:`hollow` says why."""
        return bool(self.report["hollow"])

    @property
    def hollow(self) -> list[dict[str, Any]]:
        """Why a good verdict says little: findings with ``kind`` and ``text``."""
        return list(self.report["hollow"])

    @property
    def engine(self) -> str | None:
        """The engine that the answer comes from."""
        engine = self.report["engine"]
        return None if engine is None else str(engine)

    @property
    def semantics(self) -> str | None:
        """What the verdict means: the reading of model and policy under which it holds, as text."""
        semantics = self.report["semantics"]
        return None if semantics is None else str(semantics["text"])

    @property
    def probability(self) -> tuple[Fraction, Fraction] | None:
        """Proved bounds of the probability that was asked for, as exact fractions; ``None`` of other
        questions."""
        bounds = self.report["probability"]
        return None if bounds is None else (Fraction(bounds[0]), Fraction(bounds[1]))

    @property
    def value(self) -> Fraction | None:
        """The exact probability, where it was asked for and is known."""
        value = self.report["value"]
        return None if value is None else Fraction(value)

    @property
    def evidence(self) -> dict[str, Any] | None:
        """What shows the verdict: :func:`policert.certify` checks it. It names files: keep model and
        policy as long as it."""
        evidence = self.report["evidence"]
        return None if evidence is None else dict(evidence)

    @property
    def trace(self) -> list[dict[str, int]]:
        """The states of the run that shows *unsafe*, from the start state on; else empty."""
        evidence = self.evidence
        if evidence is None or "trace" not in evidence:
            return []
        return [evidence["start"], *(step["state"] for step in evidence["trace"])]

    @property
    def actions(self) -> list[str | None]:
        """The labels of the steps of :attr:`trace`; ``None`` is a silent step."""
        evidence = self.evidence
        if evidence is None or "trace" not in evidence:
            return []
        return [step["label"] for step in evidence["trace"]]

    def trace_frame(self) -> pandas.DataFrame:
        """Returns the trace as a table of pandas, which the extra ``policert[pandas]`` installs: a row for
        each state, with the label that leads to it.

        :raises ImportError: if pandas is not installed.
        """
        import pandas

        frame = pandas.DataFrame(self.trace)
        frame.insert(0, "label", [None, *self.actions][: len(frame)])
        return frame

    def save_evidence(self, path: PathLike) -> Path:
        """Writes the evidence to a file, for :func:`certify` and ``policert certify``.

        :param path: the file that is written.
        :returns: the path.
        :raises ValueError: if there is none; the message says why.
        """
        evidence = self.evidence
        if evidence is None:
            raise ValueError(f"there is no evidence: {self.report['no_evidence']}")
        path = Path(path)
        path.write_text(json.dumps(evidence, indent=1), encoding="utf-8")
        return path

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("verdict", self.verdict)]
        if self.is_hollow:
            lines.append(("hollow", "; ".join(str(h.get("text", h)) for h in self.hollow)))
        if self.report["property"] is not None:
            lines.append(("property", str(self.report["property"])))
        if self.probability is not None:
            low, high = self.probability
            lines.append(("probability", f"between {float(low):.6g} and {float(high):.6g}"))
        if self.trace:
            lines.append(("trace", f"{len(self.trace) - 1} steps"))
        if self.engine is not None:
            lines.append(("engine", self.engine))
        if self.reason is not None:
            lines.append(("reason", self.reason))
        lines.append(("seconds", f"{self.seconds:.3f}"))
        return lines

    def _repr_html_(self) -> str:
        text = super()._repr_html_()
        if not self.trace:
            return text
        names = list(self.trace[0])
        head = "".join(f"<th>{html.escape(name)}</th>" for name in ["label", *names])
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(str(cell))}</td>"
                for cell in [label or "", *(state[name] for name in names)]
            )
            + "</tr>"
            for label, state in zip([None, *self.actions], self.trace, strict=True)
        )
        return f"{text}<table><tr>{head}</tr>{rows}</table>"


class Simulation(Outcome):
    """How random runs ended. It estimates, and proves nothing."""

    @property
    def endings(self) -> dict[str, int]:
        """How many runs ended in which way: ``"unsafe"``, ``"goal"``, ``"terminal"``, ``"cut_off"``,
        ``"undecided"``, ``"stuck"`` or ``"dropped"``."""
        return {name: ending["runs"] for name, ending in self.report["endings"].items()}

    @property
    def runs(self) -> int:
        """The number of runs."""
        return int(self.report["runs"])

    def _lines(self) -> list[tuple[str, str]]:
        ended = ((name, count) for name, count in self.endings.items() if count)
        return [("runs", str(self.runs)), *((name, str(count)) for name, count in ended)]


class QueryAnswer(Outcome):
    """The answer to a question about a network."""

    @property
    def answer(self) -> str | None:
        """``"sat"``, ``"unsat"``, or ``None`` if it is not known."""
        answer = self.report["answer"]
        return None if answer is None else str(answer)

    @property
    def witness(self) -> dict[str, Any] | None:
        """Of *sat*: inputs, and the outputs that the network has there, confirmed exactly."""
        witness = self.report["witness"]
        return None if witness is None else dict(witness)

    def _lines(self) -> list[tuple[str, str]]:
        return [("answer", str(self.answer)), ("seconds", f"{self.seconds:.3f}")]


class ReachAnswer(Decision, Outcome):
    """The verdict about a control loop: *safe* means that every trajectory meets the specification."""

    @property
    def verdict(self) -> str:
        """``"safe"``, ``"unsafe"``, or ``"unknown"``."""
        return str(self.report["verdict"])

    @property
    def initial(self) -> list[str]:
        """The part of the initial box that the verdict is about; empty if it is the whole box."""
        return list(self.report.get("initial", []))

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("verdict", self.verdict), ("seconds", f"{self.seconds:.3f}")]
        if self.reason is not None:
            lines.insert(1, ("reason", self.reason))
        if self.initial:
            lines.insert(1, ("beginning with", ", ".join(self.initial)))
        return lines


class Certificate(Outcome):
    """What a check of evidence confirmed."""

    @property
    def verdict(self) -> str | None:
        """The verdict that is confirmed; ``None`` if none is."""
        verdict = self.report["verdict"]
        return None if verdict is None else str(verdict)

    @property
    def is_confirmed(self) -> bool:
        """True if the evidence shows what it claims."""
        return self.exit_code == 0

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("confirmed", str(self.is_confirmed)), ("verdict", str(self.verdict))]
        if self.reason is not None:
            lines.append(("reason", self.reason))
        return lines
