"""Programs on a cluster, for ``policert bench run --ray``: it writes what is to be run, a line of JSON each and
then an empty one, and reads a line for each program that has ended. The end of its output ends all of them."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

import ray

from .. import __version__
from .connection import RETRIES, connect

__all__ = ["serve"]

# The time between two looks at whether somebody still waits, in seconds.
PATIENCE = 0.2


def serve(address: str, lines: IO[str], answers: IO[str]) -> None:
    """Runs the programs that ``lines`` name."""
    connect(address)
    most = max(node["Resources"].get("CPU", 1) for node in ray.nodes())
    running = ray.remote(_run)

    def say(**answer: Any) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    say(version=__version__)
    waiting: dict[Any, dict[str, Any]] = {}
    for line in iter(lines.readline, "\n"):
        if not line:
            return
        task = json.loads(line)
        # More processors than a machine has would be waited for in vain.
        needs = running.options(num_cpus=min(task["threads"], most), max_retries=RETRIES)
        waiting[needs.remote(task)] = task
    is_over = threading.Event()

    def wait_for_end() -> None:
        lines.read()
        is_over.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    while waiting and not is_over.is_set():
        done, _rest = ray.wait(list(waiting), num_returns=1, timeout=PATIENCE)
        for ended in done:
            task = waiting.pop(ended)
            try:
                written: dict[str, bytes] = ray.get(ended)
            except ray.exceptions.RayError as error:
                say(task=task["task"], failed=f"the worker failed: {error}")
                continue
            for name, content in written.items():
                (Path(task["files"]) / name).write_bytes(content)
            say(task=task["task"])


def _run(task: dict[str, Any]) -> dict[str, bytes]:
    """Runs a program on this machine; the files that it wrote. Its input ends with this process, and that
    ends the program."""
    with tempfile.TemporaryDirectory(prefix="policert-") as name:
        folder = Path(name)
        words = [word.replace(task["files"], name) for word in task["words"]]
        output, messages = folder / task["output"], folder / task["messages"]
        with output.open("wb") as out, messages.open("wb") as errors:
            # To run it would close its input at once.
            with subprocess.Popen(
                words, cwd=task["folder"], stdin=subprocess.PIPE, stdout=out, stderr=errors
            ) as program:
                program.wait()
        return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
