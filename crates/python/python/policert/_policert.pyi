"""The native half of the package; use :mod:`policert`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Options = dict[str, Any]
Progress = Callable[[dict[str, Any]], object] | None

class Failed(Exception): ...
class Kept: ...

def version() -> str:
    """Returns the version, with the parts that this build has, such as Z3."""

def verify(
    task: Options, answering: Options, bounds: Options, progress: Progress = None
) -> str: ...
def simulate(
    task: Options,
    bounds: Options,
    runs: int,
    steps: int,
    seed: int,
    past_goal: bool,
    progress: Progress = None,
) -> str: ...
def reach(
    file: str,
    bounds: Options,
    instance: str | None = None,
    initial: Sequence[tuple[str, str, str]] = (),
    threads: int = 1,
    record: bool = False,
    progress: Progress = None,
) -> str: ...
def initial_box(
    file: str, instance: str | None = None
) -> tuple[list[tuple[str, str, str]], bool]: ...
def query(network: str, property: str, bounds: Options, progress: Progress = None) -> str: ...
def certify(evidence: str, bounds: Options, progress: Progress = None) -> str: ...
def convert(
    task: Options,
    bounds: Options,
    format: str,
    output: str,
    encoding: str | None = None,
    progress: Progress = None,
) -> str: ...
def interface(
    files: tuple[str, str | None], constants: list[tuple[str, str]], policy: str, output: str
) -> tuple[list[str], str | None]: ...
def shape(task: Options) -> str: ...
def widths(task: Options, interfaces: list[str]) -> list[int]: ...
def choices(task: Options, states: list[list[int]]) -> list[list[str]]: ...

class Environment:
    def __init__(
        self,
        task: Options,
        interface: str,
        rewards: dict[str, float],
        reward: str | None = None,
        max_steps: int | None = None,
    ) -> None: ...
    def bounds(self) -> list[tuple[float, float]]: ...
    def variables(self) -> list[tuple[str, int, int]]: ...
    def reset(
        self, seed: int | None = None, state: Sequence[int] | None = None
    ) -> tuple[NDArray[np.float32], str | None]: ...
    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, str | None]: ...
    def applicable(self) -> NDArray[np.bool_]: ...
    def state(self) -> list[int]: ...
    def successors(
        self, state: Sequence[int]
    ) -> list[tuple[str | None, list[tuple[str, list[int]]]]]: ...
    def picture(self) -> str | None: ...
    def starts(self) -> list[list[int]] | None: ...
    def observe(self, states: list[list[int]]) -> NDArray[np.float32]: ...

class VectorEnvironment:
    def __init__(
        self,
        count: int,
        task: Options,
        interface: str,
        rewards: dict[str, float],
        reward: str | None = None,
        max_steps: int | None = None,
    ) -> None: ...
    def bounds(self) -> list[tuple[float, float]]: ...
    def reset(self, seed: int | None = None) -> NDArray[np.float32]: ...
    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        NDArray[np.uint8] | None,
    ]: ...
    def applicable(self) -> NDArray[np.bool_]: ...
    def states(self) -> NDArray[np.int64]: ...
