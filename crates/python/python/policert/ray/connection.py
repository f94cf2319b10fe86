"""The cluster that work is sent to."""

from __future__ import annotations

from typing import Any

import ray

__all__ = ["RETRIES", "connect"]

# How often a task is done again whose worker died.
RETRIES = 3


def connect(address: str | None, **options: Any) -> None:
    """Connects to a cluster, unless one is connected."""
    if not ray.is_initialized():
        ray.init(address=address, **{"log_to_driver": False, "include_dashboard": False, **options})
