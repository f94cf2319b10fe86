"""Models as environments of Gymnasium, and environments as models.

:class:`JaniEnv` is an environment over the compiled model, :class:`JaniVectorEnv` many of them at once.
A policy that is trained in one needs no interface file: the environment says what its inputs and
outputs are. :func:`to_model` turns a tabular environment into a model, and :func:`conform` compares an
environment with a model.
"""

from .conform import Disagreement, conform
from .env import JaniEnv
from .tabular import to_model
from .vector import JaniVectorEnv

__all__ = ["Disagreement", "JaniEnv", "JaniVectorEnv", "conform", "to_model"]
