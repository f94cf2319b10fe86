"""Studies, parts and programs with something in place of Ray that does each task at once, here. What only Ray
shows, such as workers that die, is in ``test_ray.py``."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import cloudpickle
import pytest
from conftest import refuse_parts

import policert


class RayError(Exception):
    """As Ray's: a worker failed."""


class Done:
    def __init__(self, done: Any) -> None:
        self.done = done


class Task:
    def __init__(self, work: Any) -> None:
        self.work = work

    def options(self, **_: Any) -> Task:
        return self

    def remote(self, *arguments: Any) -> object:
        try:
            done = self.work(*cloudpickle.loads(cloudpickle.dumps(arguments)))
        except RayError as error:
            done = error
        return Done(done)


def get(task: Any) -> Any:
    if isinstance(task.done, RayError):
        raise task.done
    return task.done


@pytest.fixture(autouse=True)
def in_place_of_ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    ray = ModuleType("ray")
    ray.__dict__.update(
        is_initialized=lambda: True,
        remote=Task,
        get=get,
        wait=lambda tasks, **_: (tasks[:1], tasks[1:]),
        nodes=lambda: [{"Resources": {"CPU": 2.0}}],
        cloudpickle=cloudpickle,
        exceptions=SimpleNamespace(RayError=RayError, RayTaskError=TimeoutError),
    )

    def forget() -> None:
        for name in [name for name in sys.modules if name.startswith("policert.ray")]:
            del sys.modules[name]

    forget()
    monkeypatch.setitem(sys.modules, "ray", ray)
    yield
    forget()


def dies() -> policert.Policy:
    raise RayError


def test_a_study_is_resumed(icy_road: str, tmp_path: Path) -> None:
    from policert.ray import Study

    folder = tmp_path / "road"
    shutil.copytree(Path(icy_road).parent, folder)
    study = Study(tmp_path / "answers.jsonl")
    study.add("careful", folder / "model.jani", "careful")
    study.add("hasty", folder / "model.jani", "hasty")
    study.add("wrong", folder / "model.jani", "nix")
    study.add("dies", folder / "model.jani", "careful", dies)
    answers = study.run()
    assert answers["careful"].is_safe and answers["hasty"].is_unsafe
    assert isinstance(answers["wrong"], policert.PolicertError) and answers["wrong"].code == 40
    assert "worker" in str(answers["dies"])
    # What a worker died of is asked again; so is what was about a file that has changed since.
    assert list(study.answers()) == ["careful", "hasty", "wrong"]
    shutil.copy(folder / "hasty.nnet", folder / "careful.nnet")
    assert list(study.answers()) == ["hasty", "wrong"]
    asked: list[str] = []
    assert study.run(told=lambda name, _: asked.append(name))["careful"].is_unsafe
    assert asked == ["careful", "dies"]


def test_parts_are_merged(icy_road: str, root: Path, tmp_path: Path) -> None:
    from policert.ray import boxes, partition, partition_reach, slices

    starts = slices(icy_road, "position", 3, "position <= 6")
    merged = partition(icy_road, "careful", starts=starts, journal=tmp_path / "starts.jsonl")
    assert merged.is_safe and not merged.is_unsafe and list(merged.parts) == starts
    with pytest.raises(TypeError):
        bool(merged)

    task = root / "examples/cart/cells.toml"
    parts = boxes(task, {"p": 2, "v": 2})
    assert [str(end) for end in parts[3]["p"]] == ["1/2", "3/5"]
    merged = partition_reach(task, boxes=parts, journal=tmp_path / "parts.jsonl")
    assert merged.is_safe and len(merged.parts) == 4
    assert all(isinstance(part, policert.ReachAnswer) for part in merged.parts.values())
    refuse_parts(task, tmp_path)


def test_programs_bring_back_their_files(tmp_path: Path) -> None:
    from policert.ray.programs import serve

    files = tmp_path / "files"
    files.mkdir()
    # It waits for a while: its input has to stay open.
    script = "import select, sys; print(select.select([sys.stdin], [], [], 0.2)[0]); open(sys.argv[1], 'w').write('x')"
    task = {
        "task": 0,
        "words": [sys.executable, "-c", script, str(files / "result.json")],
        "folder": str(tmp_path),
        "files": str(files),
        "output": "output",
        "messages": "messages",
        "threads": 64,
    }
    reading, writing = os.pipe()
    answers = io.StringIO()
    with os.fdopen(reading, encoding="utf-8") as lines, os.fdopen(writing, "w") as more:
        # As long as nothing ends there, somebody waits.
        more.write(json.dumps(task) + "\n\n")
        more.flush()
        serve("here", lines, answers)
        more.close()
    said = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert said == [{"version": policert.__version__}, {"task": 0}]
    assert (files / "output").read_text() == "[]\n" and (files / "messages").exists()
    assert (files / "result.json").read_text() == "x"
