"""Studies on Ray: workers that die, studies that are resumed, portfolios."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
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


QUESTIONS = """
import json, sys
from policert.ray import Study

def study(journal, models):
    found = Study(journal)
    for name, model in models.items():
        found.add(name, model, no_policy=True, engine="explicit", evidence=False)
    return found
"""


def test_a_driver_that_dies_goes_on_later(tmp_path: Path) -> None:
    from policert.ray import Study

    journal = tmp_path / "answers.jsonl"
    models = {f"q{k}": json.dumps(counters(5, 9 + k % 3)) for k in range(12)}
    (tmp_path / "models.json").write_text(json.dumps(models), encoding="utf-8")
    script = QUESTIONS + (
        "study(sys.argv[1], json.load(open(sys.argv[2]))).run('local', num_cpus=2)\n"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", script, str(journal), str(tmp_path / "models.json")],
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 120
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        assert driver.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    study = Study(journal)
    for name, model in models.items():
        study.add(name, model, no_policy=True, engine="explicit", evidence=False)
    known = study.answers()
    assert 3 <= len(known) < 12
    asked: list[str] = []
    answers = study.run(told=lambda name, _: asked.append(name))
    assert not set(asked) & set(known) and len(asked) + len(known) == 12
    assert [getattr(answer, "verdict", None) for answer in answers.values()] == ["safe"] * 12


def test_parts_of_start_states(icy_road: str, tmp_path: Path) -> None:
    from policert.ray import partition, slices

    starts = slices(icy_road, "position", 3, "position <= 6")
    assert len(starts) == 3
    merged = partition(icy_road, "careful", starts=starts, journal=tmp_path / "careful.jsonl")
    assert merged.verdict == "safe" and list(merged.parts) == starts
    for part in merged.parts.values():
        assert isinstance(part, policert.Verdict)
        assert policert.certify(part).is_confirmed
    merged = partition(icy_road, "hasty", starts=starts, journal=tmp_path / "hasty.jsonl")
    assert merged.is_unsafe and not merged.is_safe
    wrong = partition(icy_road, "careful", starts=["position = 0", "nix"], journal=tmp_path / "w")
    assert wrong.verdict == "unknown"
    with pytest.raises(policert.UsageError):
        slices(icy_road, "speed", 5)


def test_seeds_of_training(icy_road: str, tmp_path: Path) -> None:
    from policert.ray import Study

    folder = str(Path(icy_road).parent)

    def trained(seed: int) -> policert.Policy:
        name = "careful" if seed % 2 else "hasty"
        labels = ["accelerate", "coast", "brake"]
        return policert.Policy(
            f"{folder}/{name}.onnx", inputs=["position", "speed"], outputs=labels
        )

    study = Study(tmp_path / "seeds.jsonl")
    for seed in range(4):
        study.add(f"seed {seed}", icy_road, "careful", functools.partial(trained, seed))
    verdicts = [getattr(answer, "verdict", None) for answer in study.run().values()]
    assert verdicts == ["unsafe", "safe", "unsafe", "safe"]


def test_a_portfolio_takes_the_first_verdict(icy_road: str) -> None:
    from policert.ray import portfolio

    begin = time.monotonic()
    assert portfolio(icy_road, "hasty", engines=["explicit", "ic3"]).is_unsafe
    with pytest.raises(policert.PolicertError):
        portfolio(icy_road, "nix")
    assert time.monotonic() - begin < 60
