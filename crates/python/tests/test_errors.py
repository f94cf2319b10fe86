"""Bad input: exceptions with the words and places of the command line; never an abort."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import policert


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"model": "missing.jani"}, policert.InvalidInput, "missing.jani"),
        ({"model": '{"jani-version": 1}'}, policert.InvalidInput, "automata"),
        ({"property": "nix"}, policert.InvalidInput, "nix"),
        ({"ties": "sometimes"}, policert.UsageError, "first, any, strict"),
        ({"engine": "magic"}, policert.UsageError, "explicit"),
        ({"preset": "nix"}, policert.UsageError, "nix"),
        ({"settings": {"nix": 1}}, policert.UsageError, "nix"),
        ({"predicates": "many"}, policert.UsageError, "splits:N"),
        ({"states": "some"}, policert.UsageError, "until-unsafe"),
        ({"bound": 2}, policert.UsageError, "bound"),
        ({"bound": 0.5, "engine": "ic3"}, policert.UsageError, "bound"),
        ({"precision": 3.0}, policert.UsageError, "precision"),
        ({"timeout": -1}, policert.UsageError, "timeout"),
        ({"policy": "missing.onnx"}, policert.InvalidInput, "missing.onnx"),
        ({"policy": policert.Policy(b"nothing")}, policert.Unsupported, "ONNX"),
    ],
)
def test_what_is_wrong_is_named(
    icy_road: str, arguments: dict[str, Any], kind: type[Exception], words: str
) -> None:
    given = {"model": icy_road, "property": "careful", **arguments}
    with pytest.raises(kind, match=words) as caught:
        policert.verify(**given)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_findings_have_places(tmp_path: Path, icy_road: str) -> None:
    text = Path(icy_road).read_text(encoding="utf-8").replace('"coast"', '"roll"', 1)
    path = tmp_path / "model.jani"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(policert.InvalidInput) as caught:
        policert.verify(path, "careful")
    finding = caught.value.findings[0]
    assert finding["file"] == str(path) and finding["line"] >= 1 and finding["pointer"]
    assert caught.value.code == 40


def test_arguments_that_contradict_each_other(icy_road: str) -> None:
    policy = policert.Policy(Path(icy_road).with_name("careful.onnx"))
    with pytest.raises(policert.UsageError):
        policert.verify(icy_road, "careful", policy, no_policy=True)
    with pytest.raises(TypeError):
        policert.verify(icy_road, "careful", surprise=1)
    with pytest.raises(TypeError):
        policert.Policy("p.onnx", inputs=["x"])
    with pytest.raises(TypeError):
        policert.Policy("p.onnx", inputs=["x"], outputs=["a"], interface="i.json")


def test_damaged_objects_never_abort(icy_road: str) -> None:
    numbers = random.Random(7)
    model = Path(icy_road).read_text(encoding="utf-8")
    network = Path(icy_road).with_name("careful.onnx").read_bytes()
    labels = ["accelerate", "coast", "brake"]
    kinds = set()
    for _ in range(300):
        text, bytes_ = list(model), bytearray(network)
        for _ in range(numbers.randint(0, 3)):
            text[numbers.randrange(len(text))] = numbers.choice('{}[]",:0x-')
        for _ in range(numbers.randint(0, 3)):
            bytes_[numbers.randrange(len(bytes_))] = numbers.randrange(256)
        inputs = numbers.choice([["position", "speed"], ["speed"], ["position +", "speed"], []])
        policy = policert.Policy(bytes(bytes_), inputs=inputs, outputs=labels)
        try:
            found = policert.verify("{" + "".join(text)[1:], "careful", policy, timeout=2)
            kinds.add(found.verdict)
        except policert.PolicertError as error:
            assert error.code in (40, 41, 42), error
            kinds.add(type(error).__name__)
    assert "InvalidInput" in kinds and len(kinds) >= 2


def test_wrong_states(icy_road: str) -> None:
    assert policert.choices(icy_road, "careful", None, [[0, 0, 0]]) == [["accelerate"]]
    for state in ([], [0, 0], [0, 99, 0], [0, 0, 0, 0]):
        with pytest.raises(policert.UsageError):
            policert.choices(icy_road, "careful", None, [state])


def test_no_character_of_an_input_moves_a_cursor(tmp_path: Path, icy_road: str) -> None:
    network = (Path(icy_road).parent / "careful.nnet").read_bytes()
    damaged = tmp_path / "damaged.nnet"
    damaged.write_bytes(network.replace(b"0.", b"0\x1b[2K.", 1))
    with pytest.raises(policert.InvalidInput) as caught:
        policert.verify(icy_road, "careful", policert.Policy(damaged))
    assert "\\u{1b}" in str(caught.value) and "\x1b" not in str(caught.value)


def test_json_of_findings_is_plain() -> None:
    with pytest.raises(policert.InvalidInput) as caught:
        policert.Model({"jani-version": 1}).shape  # noqa: B018
    assert json.dumps(caught.value.findings)
