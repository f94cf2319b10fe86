"""Many questions on many machines, with Ray: the same code runs on one machine.

A :class:`Study` is a list of questions. Each is answered by a task of Ray; a worker that dies is replaced, and
its question asked again. Answers go to a journal, so that a study that was stopped goes on where it was.

    >>> study = Study("answers.jsonl")                                  # doctest: +SKIP
    >>> study.add("careful", model, "careful", timeout=600)             # doctest: +SKIP
    >>> study.run(address="auto")                                       # doctest: +SKIP

:func:`partition` and :func:`partition_reach` ask one question part by part, :func:`portfolio` asks several
engines. ``policert bench run --ray ADDRESS`` makes the runs of a suite on a cluster, through this package.
"""

from .parts import Merged, boxes, partition, partition_reach, slices
from .study import Answer, Study, portfolio

__all__ = [
    "Answer",
    "Merged",
    "Study",
    "boxes",
    "partition",
    "partition_reach",
    "portfolio",
    "slices",
]
