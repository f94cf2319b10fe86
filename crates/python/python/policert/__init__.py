"""Is a learned action policy safe in its environment?

    >>> import policert
    >>> model = policert.Model("examples/icy_road/model.jani")
    >>> answer = policert.verify(model, "hasty")
    >>> answer.verdict, len(answer.trace)
    ('unsafe', 8)

A model comes as :class:`Model`, a policy as :class:`Policy`; :func:`verify` answers with a
:class:`Verdict`. Environments for training are in :mod:`policert.gym`.
"""

# ruff: noqa: E402
from .solver import prefer_z3

prefer_z3()

from ._policert import version
from .commands import (
    certify,
    choices,
    convert,
    interface,
    probability,
    query,
    reach,
    simulate,
    verify,
)
from .comparison import Difference
from .errors import Interrupted, InvalidInput, PolicertError, Unsupported, UsageError
from .model import Model, Property
from .options import EpisodeOptions, QuestionOptions
from .policy import Policy
from .results import Certificate, Decision, Outcome, QueryAnswer, ReachAnswer, Simulation, Verdict

__version__ = version().split()[0]

__all__ = [
    "Certificate",
    "Decision",
    "Difference",
    "EpisodeOptions",
    "Interrupted",
    "InvalidInput",
    "Model",
    "Outcome",
    "PolicertError",
    "Policy",
    "Property",
    "QueryAnswer",
    "QuestionOptions",
    "ReachAnswer",
    "Simulation",
    "Unsupported",
    "UsageError",
    "Verdict",
    "certify",
    "choices",
    "convert",
    "interface",
    "probability",
    "query",
    "reach",
    "simulate",
    "verify",
    "version",
]
