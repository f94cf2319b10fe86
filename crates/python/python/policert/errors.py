"""Exceptions, by the exit codes of the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._policert import Failed

__all__ = [
    "Interrupted",
    "InvalidInput",
    "PolicertError",
    "Unsupported",
    "UsageError",
    "failures",
    "translated",
]


class PolicertError(Exception):
    """There is no answer. All exceptions of this package are of this class; the others are named after the
    exit codes of the command line, and what has no class of its own is an internal error (50).

    :param message: what is wrong, in the words of the command line.
    :param code: the exit code.
    :param findings: what is wrong with the inputs.
    """

    code: int
    """The exit code that the command line ends with."""

    findings: list[dict[str, Any]]
    """What is wrong with the inputs, each with file, line, column and JSON pointer where they are known."""

    def __init__(
        self, message: str, code: int = 50, findings: list[dict[str, Any]] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.findings = findings or []

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.code, self.findings))


class InvalidInput(PolicertError, ValueError):
    """An input breaks the rules of its format, or inputs do not fit together (40)."""


class Unsupported(PolicertError, NotImplementedError):
    """An input, or a combination of options, is not supported (41)."""


class UsageError(PolicertError, ValueError):
    """An option has no such value, or no effect; or an output cannot be written (42)."""


class Interrupted(PolicertError):
    """A limit was reached before there was anything to tell (30 to 33)."""


_KINDS: dict[int, type[PolicertError]] = {
    30: Interrupted,
    31: Interrupted,
    32: Interrupted,
    33: Interrupted,
    40: InvalidInput,
    41: Unsupported,
    42: UsageError,
}


def translated(failed: Failed) -> PolicertError:
    """The exception of a failure of the native half."""
    code, message, findings = failed.args
    return _KINDS.get(code, PolicertError)(message, code, json.loads(findings))


@contextmanager
def failures() -> Iterator[None]:
    """Turns a failure of the native half into its exception."""
    try:
        yield
    except Failed as failed:
        raise translated(failed) from None
