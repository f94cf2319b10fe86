"""Studies on Ray: workers that die, studies that are resumed, portfolios."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, counters, refuse_parts

import policert

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def cluster() -> object:
    # Workers do not find the modules of tests.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
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


def test_a_journal_knows_the_files_that_were_read(icy_road: str, tmp_path: Path) -> None:
    from policert.ray import Study

    folder = tmp_path / "road"
    shutil.copytree(Path(icy_road).parent, folder)
    study = Study(tmp_path / "answers.jsonl")
    study.add("careful", folder / "model.jani", "careful")
    assert study.run()["careful"].is_safe and len(study.answers()) == 1
    # The property names the network; nothing of the question itself has changed.
    shutil.copy(folder / "hasty.nnet", folder / "careful.nnet")
    assert study.answers() == {}
    assert study.run()["careful"].is_unsafe


def dies() -> policert.Policy:
    os._exit(1)


def test_a_question_whose_worker_always_dies_is_asked_again(icy_road: str, tmp_path: Path) -> None:
    from policert.ray import Study

    study = Study(tmp_path / "answers.jsonl")
    study.add("dies", icy_road, "careful", dies)
    study.add("careful", icy_road, "careful")
    answers = study.run()
    assert isinstance(answers["dies"], policert.PolicertError) and answers["careful"].is_safe
    assert list(study.answers()) == ["careful"]


def kill_worker() -> list[int]:
    """Ends a process that answers a question or runs a program; its number."""
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                command = (process / "cmdline").read_text()
            except OSError:
                continue
            if command.startswith(("ray::_answer", "ray::_run")):
                os.kill(int(process.name), signal.SIGKILL)
                return [int(process.name)]
    return []


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    from policert.ray import Study

    study = Study(tmp_path / "answers.jsonl")
    for k in range(4):
        study.add(f"q{k}", policert.Model(counters(5, 14)), no_policy=True, engine="explicit")
    killed: list[int] = []

    def kill(_name: str, _answer: object) -> None:
        if not killed:
            killed.extend(kill_worker())

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


def test_parts_of_an_initial_box(root: Path, tmp_path: Path) -> None:
    from policert.ray import boxes, partition_reach

    task = root / "examples/cart/cells.toml"
    parts = boxes(task, {"p": 2, "v": 2})
    assert len(parts) == 4
    merged = partition_reach(task, boxes=parts, journal=tmp_path / "parts.jsonl")
    assert merged.is_safe and len(merged.parts) == 4
    assert all(isinstance(part, policert.ReachAnswer) for part in merged.parts.values())
    again = partition_reach(task, boxes=parts, journal=tmp_path / "parts.jsonl")
    assert [part.seconds for part in again.parts.values()] == [
        part.seconds for part in merged.parts.values()
    ]
    refuse_parts(task, tmp_path)


def program() -> Path:
    for profile in ("release", "debug"):
        path = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / profile / "policert"
        if path.is_file():
            return path
    pytest.skip("the program is not built")


def bench(folder: Path, *options: str) -> subprocess.Popen[str]:
    """A study of a suite on a Ray of its own, with two processors."""
    python = folder / "bin/python3"
    if not python.exists():
        python.parent.mkdir()
        # A link would not be the Python of a virtual environment.
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        python.chmod(0o755)
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        [str(program()), "bench", "run", "suite.toml", "--journal", "study.jsonl", *options],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


SUITE = """
name = "Counters"
folder = "."
seconds = 120
memory = "4GB"
[[instance]]
name = "counters"
arguments = ["counters_{n}.jani", "--no-policy"]
axes = { n = [9, 10, 11, 12, 13, 14] }
[[configuration]]
name = "explicit"
arguments = ["--engine", "explicit"]
"""


def test_a_suite_is_run_on_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE, encoding="utf-8")
    for n in range(9, 15):
        text = json.dumps(counters(5, n))
        (tmp_path / f"counters_{n}.jani").write_text(text, encoding="utf-8")
    address = ray.get_runtime_context().gcs_address
    study = bench(tmp_path, "--ray", address)
    journal, end = tmp_path / "study.jsonl", time.monotonic() + 120
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 2):
        assert study.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    killed = kill_worker()
    # The study dies, and what it began ends with it.
    study.kill()
    study.wait()
    assert killed
    known = journal.read_bytes().count(b"\n")
    assert known < 6
    output, _ = bench(tmp_path, "--ray", address, "--resume").communicate(timeout=300)
    assert f"6 of 6 runs are finished, {6 - known} of them now" in output, output
    verdicts = [json.loads(line)["result"]["verdict"] for line in journal.open(encoding="utf-8")]
    assert verdicts == ["safe"] * 6
    refused, _ = bench(tmp_path, "--ray", "127.0.0.1:1", "--resume", "--timeout", "9").communicate()
    assert "--ray 127.0.0.1:1" in refused


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
