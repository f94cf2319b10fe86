"""Studies on Ray: workers that die, studies that are resumed, portfolios."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from conftest import counters

import policert

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def cluster() -> object:
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    yield
    ray.shutdown()


def test_a_study_is_resumed(icy_road: str, tmp_path: Path) -> None:
    from policert.ray import Study

    journal = tmp_path / "answers.jsonl"
    study = Study(journal)
    for name in ("careful", "hasty"):
        study.add(name, icy_road, name)
    study.add("wrong", icy_road, "nix")
    first = study.run()
    assert [getattr(answer, "verdict", None) for answer in first.values()] == [
        "safe",
        "unsafe",
        None,
    ]
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([lines[0], lines[1][:40]]))
    asked: list[str] = []
    again = study.run(told=lambda name, _: asked.append(name))
    assert len(asked) == 2 and list(again) == ["careful", "hasty", "wrong"]
    assert all(json.loads(line) for line in journal.read_text().splitlines() if line.endswith("}"))
    changed = Study(journal)
    changed.add("careful", icy_road, "hasty")
    assert changed.answers() == {}


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    from policert.ray import Study

    study = Study(tmp_path / "answers.jsonl")
    for k in range(4):
        study.add(f"q{k}", policert.Model(counters(5, 14)), no_policy=True, engine="explicit")
    killed: list[int] = []

    def kill(_name: str, _answer: object) -> None:
        if killed:
            return
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                try:
                    command = (process / "cmdline").read_text()
                except OSError:
                    continue
                if command.startswith("ray::_answer"):
                    os.kill(int(process.name), signal.SIGKILL)
                    killed.append(int(process.name))
                    return

    answers = study.run(told=kill)
    assert killed
    assert [answer.verdict for answer in answers.values()] == ["safe"] * 4


def test_a_portfolio_takes_the_first_verdict(icy_road: str) -> None:
    from policert.ray import portfolio

    begin = time.monotonic()
    assert portfolio(icy_road, "hasty", engines=["explicit", "ic3"]).is_unsafe
    with pytest.raises(policert.PolicertError):
        portfolio(icy_road, "nix")
    assert time.monotonic() - begin < 60
