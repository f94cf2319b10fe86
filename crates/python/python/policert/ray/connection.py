"""The cluster that work is sent to."""

from __future__ import annotations

import socket
from typing import Any

import ray

from ..errors import UsageError

__all__ = ["RETRIES", "connect"]

# How long a cluster has to answer, in seconds.
PATIENCE = 10
# How often a task is done again whose worker died.
RETRIES = 3


def connect(address: str | None, **options: Any) -> None:
    """Connects to a cluster, unless one is connected. Where nobody answers at once, Ray would wait for minutes."""
    if not ray.is_initialized():
        host, _, port = (address or "").rpartition(":")
        if host and port.isdigit() and "/" not in host:
            try:
                socket.create_connection((host, int(port)), PATIENCE).close()
            except (OSError, OverflowError) as error:
                raise UsageError(f"nothing answers at {address}: {error}", 42) from None
        ray.init(address=address, **{"log_to_driver": False, "include_dashboard": False, **options})
