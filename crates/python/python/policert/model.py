"""Models and properties."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _policert
from .errors import UsageError, failures
from .files import Folder, PathLike

__all__ = ["Model", "Property"]


class Model:
    """A model: bounded integer variables, labels, and what they do.

    A model is read when it is needed, once for all questions about this object, and again where its file
    has changed. Models can be pickled; in a notebook they show their variables.

    :param source: a JANI file, the text of one, or its content as a dictionary; or a domain in PDDL, as
        file or text, with ``problem``.
    :param constants: values of constants of the model, such as ``{"N": 5}``.
    :param problem: the problem of a domain in PDDL, as file or text.
    :raises UsageError: if the name of a constant is none. What is wrong in the file is an
        :class:`InvalidInput` or :class:`Unsupported` of the first attribute or question that reads it.
    """

    path: Path
    """The file; a temporary one, which lives as long as this object, of a text or a dictionary."""

    problem: Path | None
    """The problem of a domain in PDDL."""

    constants: dict[str, int | float | bool | str]
    """Values of constants."""

    def __init__(
        self,
        source: PathLike | Mapping[str, Any],
        constants: Mapping[str, int | float | bool | str] | None = None,
        problem: PathLike | None = None,
    ) -> None:
        self.constants = dict(constants or {})
        self._folder: Folder | None = None
        if isinstance(source, Mapping):
            source = json.dumps(source)
        self.path = self._file(source, "model.jani" if problem is None else "domain.pddl")
        self.problem = None if problem is None else self._file(problem, "problem.pddl")
        self._kept = _policert.Kept()

    def _file(self, source: PathLike, name: str) -> Path:
        """The file that is meant, or that a text is written to."""
        if not isinstance(source, str) or not _is_text(source):
            return Path(source)
        if self._folder is None:
            self._folder = Folder()
        return self._folder.write(name, source)

    def _task(self) -> dict[str, Any]:
        """The options that name this model."""
        task: dict[str, Any] = {
            "model": str(self.path),
            "constants": constants(self.constants),
            "kept": self._kept,
        }
        if self.problem is not None:
            task["problem"] = str(self.problem)
        return task

    @property
    def shape(self) -> dict[str, Any]:
        """Name, variables with their bounds, labels and properties, with warnings and notes of the reader,
        as a dictionary."""
        with failures():
            shape: dict[str, Any] = json.loads(_policert.shape(self._task()))
        return shape

    @property
    def name(self) -> str:
        """The name of the model."""
        return str(self.shape["name"])

    @property
    def variables(self) -> dict[str, tuple[int, int]]:
        """The variables, each with its least and its greatest value, in the order of states."""
        return {v["name"]: (v["lower"], v["upper"]) for v in self.shape["variables"]}

    @property
    def labels(self) -> list[str]:
        """The labels of the actions."""
        return list(self.shape["labels"])

    @property
    def properties(self) -> list[str]:
        """The names of the model's own properties."""
        return [p["name"] for p in self.shape["properties"]]

    def __reduce__(self) -> tuple[Any, ...]:
        def source(path: Path | None) -> PathLike | None:
            is_own = path and self._folder and path.parent == self._folder.path
            return path.read_text(encoding="utf-8") if path and is_own else path

        return (Model, (source(self.path), self.constants, source(self.problem)))

    def __repr__(self) -> str:
        return f"Model({str(self.path)!r})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{low}</td><td>{high}</td></tr>"
            for name, (low, high) in self.variables.items()
        )
        labels = html.escape(", ".join(self.labels))
        return (
            f"<b>{html.escape(self.name)}</b><table><tr><th>variable</th><th>least</th>"
            f"<th>greatest</th></tr>{rows}</table>labels: {labels}"
        )


class Property:
    """A property: which states are unsafe, and where runs start.

    :param source: the name of one of the model's own, a file of properties (``"FILE"``, or ``"FILE:N"`` with
        the position in it), or the content of a property as a dictionary.
    :param index: the position in the file, from 0 on.
    """

    index: int
    """The position in the file."""

    text: str
    """The property as the command line names it."""

    def __init__(self, source: PathLike | Mapping[str, Any], index: int = 0) -> None:
        self._folder: Folder | None = None
        self._source = source
        self.index = index
        if isinstance(source, Mapping):
            self._folder = Folder()
            content = json.dumps({"properties": [source]})
            self.text = f"{self._folder.write('property.jani', content)}:0"
        elif index == 0 and isinstance(source, str):
            self.text = source
        else:
            self.text = f"{source}:{index}"

    @classmethod
    def of(cls, given: Property | PathLike | Mapping[str, Any] | None) -> Property | None:
        """Returns the property that an argument of a function means.

        :param given: a property, what :class:`Property` takes, or ``None``.
        """
        if given is None or isinstance(given, Property):
            return given
        return cls(given)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Property, (self._source, self.index))

    def __repr__(self) -> str:
        return f"Property({self.text!r})"


def _is_text(source: str) -> bool:
    return "\n" in source or source.lstrip().startswith(("{", "(define"))


def constants(values: Mapping[str, int | float | bool | str]) -> list[tuple[str, str]]:
    """Values of constants as the command line writes them."""

    def text(value: int | float | bool | str) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        return repr(value) if isinstance(value, float) else str(value)

    for name in values:
        if not isinstance(name, str) or not name:
            raise UsageError(f"constants: {name!r} is no name", 42)
    return [(name, text(value)) for name, value in values.items()]
