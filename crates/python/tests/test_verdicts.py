"""Verdicts, their evidence, and what else the commands say."""

from __future__ import annotations

import json
import pickle
import signal
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import counters

import policert


def test_a_model_says_what_is_in_it(icy_road: str) -> None:
    model = policert.Model(icy_road)
    assert model.name == "icy_road"
    assert model.labels == ["accelerate", "coast", "brake"]
    assert model.variables["position"] == (0, 30)
    assert model.properties == ["careful", "hasty"]
    assert "position" in model._repr_html_()


def test_verdicts_of_both_kinds(icy_road: str) -> None:
    careful = policert.verify(icy_road, "careful")
    assert (careful.verdict, careful.is_safe, careful.is_unsafe) == ("safe", True, False)
    assert careful.trace == [] and careful.exit_code == 0
    hasty = policert.verify(icy_road, "hasty")
    assert hasty.is_unsafe and len(hasty.trace) == 8 and len(hasty.actions) == 7
    assert hasty.trace[-1]["position"] >= 26 and hasty.trace[-1]["speed"] >= 2
    frame = hasty.trace_frame()
    assert list(frame["position"]) == [state["position"] for state in hasty.trace]
    assert "<table>" in hasty._repr_html_() and "unsafe" in repr(hasty)
    with pytest.raises(TypeError, match="ask is_safe"):
        bool(hasty)


@pytest.mark.parametrize("engine", ["explicit", "ppa", "cegar", "ic3", "bmc"])
def test_evidence_of_engines_is_confirmed(icy_road: str, engine: str, tmp_path: Path) -> None:
    for name in ("careful", "hasty"):
        verdict = policert.verify(icy_road, name, engine=engine)
        if verdict.evidence is None:
            assert verdict.verdict in ("unknown", "safe")
            continue
        certificate = policert.certify(verdict)
        assert certificate.is_confirmed and certificate.verdict == verdict.verdict
        path = verdict.save_evidence(tmp_path / f"{name}.json")
        assert policert.certify(path).is_confirmed


def test_evidence_that_was_changed_is_not_confirmed(icy_road: str) -> None:
    evidence = policert.verify(icy_road, "hasty").evidence
    assert evidence is not None
    lie = json.loads(json.dumps(evidence))
    lie["trace"][0]["state"]["position"] += 1
    certificate = policert.certify(lie)
    assert not certificate.is_confirmed and certificate.exit_code == 51
    assert certificate.reason


def test_probabilities_are_exact_bounds(icy_road: str) -> None:
    found = policert.probability(icy_road, "hasty")
    assert found.verdict == "probability" and found.probability is not None
    low, high = found.probability
    assert low <= Fraction(1, 16) <= high and high - low < Fraction(1, 10**6)
    exact = policert.probability(icy_road, "hasty", exact=True)
    assert exact.value == Fraction(1, 16)
    assert policert.verify(icy_road, "hasty", engine="prob", bound=0.1).is_safe
    assert policert.verify(icy_road, "hasty", engine="prob", bound="1/20").is_unsafe


def test_models_from_texts_and_dictionaries(icy_road: str) -> None:
    text = Path(icy_road).read_text(encoding="utf-8")
    policy = policert.Policy(
        Path(icy_road).with_name("hasty.onnx"),
        inputs=["position", "speed"],
        outputs=["accelerate", "coast", "brake"],
    )
    for source in (text, json.loads(text)):
        model = pickle.loads(pickle.dumps(policert.Model(source)))
        again = pickle.loads(pickle.dumps(policy))
        assert policert.verify(model, "hasty", again).is_unsafe


def test_a_property_from_a_dictionary(icy_road: str) -> None:
    condition = {"op": "≥", "left": "speed", "right": 3}
    for limit, verdict in ((3, "unsafe"), (31, "safe")):
        fast = {"op": "≥", "left": "position", "right": limit}
        reach = {"op": "state-condition", "exp": {"op": "∧", "left": condition, "right": fast}}
        asked = policert.Property({"name": "fast", "expression": {"op": "PA", "reach": reach}})
        assert policert.verify(icy_road, asked, no_policy=True).verdict == verdict


def test_unsafe_and_start_states_as_conditions(icy_road: str) -> None:
    fast = policert.verify(icy_road, no_policy=True, unsafe="speed >= 3", start="position = 0")
    assert fast.is_unsafe and fast.trace[0]["position"] == 0
    assert policert.certify(fast).is_confirmed
    assert policert.verify(icy_road, unsafe="position > 30", no_policy=True).is_safe
    runs = policert.simulate(icy_road, no_policy=True, unsafe="speed >= 0", runs=10)
    assert runs.endings["unsafe"] == 10
    for option in ("unsafe", "start"):
        with pytest.raises(policert.UsageError, match=f"--{option}"):
            policert.verify(icy_road, no_policy=True, **{option: "speed >="})


def test_a_problem_in_pddl_and_a_network_for_all_problems(root: Path) -> None:
    folder = root / "benchmarks/asnets"
    model = policert.Model(folder / "blocks.pddl", problem=folder / "blocksworld_4_3.pddl")
    texts = policert.Model(
        (folder / "blocks.pddl").read_text(), problem=(folder / "blocksworld_4_3.pddl").read_text()
    )
    network = folder / "blocks_2_4_1.json"
    flat = " and ".join(f"on-table(b{k})" for k in range(4))
    for given in (model, texts, pickle.loads(pickle.dumps(texts))):
        assert given.variables["on-table(b3)"] == (0, 1) and "stack(b0,b1)" in given.labels
        assert policert.verify(given, policy=network, reach_goal=True).is_safe
        found = policert.verify(given, policy=policert.Policy(network.read_bytes()), unsafe=flat)
        assert found.verdict == policert.verify(model, policy=network, unsafe=flat).verdict
        everything = policert.verify(given, no_policy=True, unsafe=flat)
        assert everything.is_unsafe and len(everything.trace) == 7
    with pytest.raises(policert.UsageError, match="PDDL"):
        policert.verify(folder / "blocks.pddl", no_policy=True)
    with pytest.raises(policert.UsageError):
        policert.Model(folder / "blocks.pddl", {"N": 1}, folder / "blocksworld_4_3.pddl").shape  # noqa: B018


def test_a_network_for_all_problems_in_a_model_of_jani(root: Path) -> None:
    folder = root / "benchmarks"
    network = policert.Policy(
        folder / "asnets/blocks_2_4_1.json",
        interface=folder / "asnets/blocksworld_4_3.translation.json",
    )
    model = folder / "blocksworld_4_ci/blocksworld_4_3.jani"
    asked = f"{folder / 'blocksworld_4_ci/pa_blocksworld_4_3.jani'}:0"
    found = policert.verify(model, asked, network)
    assert (
        found.verdict == policert.verify(model, asked, pickle.loads(pickle.dumps(network))).verdict
    )
    assert found.verdict in ("safe", "unsafe")


def test_constants() -> None:
    model = counters(1, 5)
    model["constants"] = [{"name": "N", "type": "int"}]
    model["properties"][0]["expression"]["reach"]["exp"] = {"op": "=", "left": "c0", "right": "N"}
    for value, verdict in ((4, "unsafe"), (9, "safe")):
        found = policert.verify(policert.Model(model, {"N": value}), no_policy=True)
        assert found.verdict == verdict


def test_simulation(icy_road: str) -> None:
    runs = policert.simulate(icy_road, "hasty", runs=200)
    assert runs.runs == 200 and sum(runs.endings.values()) == 200
    assert runs.endings == policert.simulate(icy_road, "hasty", runs=200).endings


def test_query(root: Path) -> None:
    answer = policert.query(
        root / "examples/icy_road/careful.onnx", root / "examples/queries/brakes_on_ice.vnnlib"
    )
    assert answer.answer in ("sat", "unsat")
    assert (answer.witness is not None) == (answer.answer == "sat")


def test_parts_of_initial_boxes(root: Path) -> None:
    task = root / "examples/cart/cells.toml"
    answer = policert.reach(task, initial={"p": (0.5, "11/20")})
    assert answer.is_safe and not answer.is_unsafe
    assert answer.initial == ["p from 1/2 to 11/20"] and "p from 1/2" in repr(answer)
    assert policert.reach(task).initial == []
    with pytest.raises(TypeError):
        bool(answer)
    for initial in ({"p": (0.3, 0.5)}, {"p": (0.5, 0.4)}, {"q": (0, 1)}, {"p": ("x", 1)}):
        with pytest.raises(policert.UsageError, match="initial"):
            policert.reach(task, initial=initial)


def test_reach(root: Path) -> None:
    answer = policert.reach(root / "examples/cart/cells.toml")
    assert answer.verdict in ("safe", "unsafe", "unknown")


def test_convert(icy_road: str, tmp_path: Path) -> None:
    files = policert.convert(
        icy_road,
        "careful",
        output=tmp_path / "m.prism",
        format="prism",
        policy_as_automaton="discrete:6",
    )
    assert all(path.exists() for path in files) and len(files) == 2


def test_interface_skeleton(icy_road: str, tmp_path: Path) -> None:
    path = tmp_path / "first.jani2nnet"
    network = Path(icy_road).with_name("careful.onnx")
    _notes, misfit = policert.interface(icy_road, network, path)
    assert misfit is None
    assert policert.verify(icy_road, "careful", policert.Policy(network, interface=path)).is_safe


def test_progress_is_told() -> None:
    events: list[dict[str, Any]] = []
    found = policert.verify(
        counters(4, 20), no_policy=True, engine="explicit", progress=events.append
    )
    assert found.is_safe
    assert {event["event"] for event in events} >= {"phase", "progress"}


def test_an_error_in_progress_stops_the_work() -> None:
    def fails(_: dict[str, Any]) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        policert.verify(counters(8, 20), no_policy=True, engine="explicit", progress=fails)


def test_limits_end_with_unknown() -> None:
    found = policert.verify(counters(8, 20), no_policy=True, engine="explicit", timeout=0.2)
    assert found.verdict == "unknown" and found.reason and found.exit_code == 30
    found = policert.verify(counters(8, 20), no_policy=True, engine="explicit", state_limit=1000)
    assert found.verdict == "unknown"


def test_a_signal_interrupts() -> None:
    def raises(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, raises)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            policert.verify(counters(8, 20), no_policy=True, engine="explicit", timeout=60)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert time.monotonic() - begin < 20


def test_threads_of_the_interpreter_go_on() -> None:
    import threading

    found: list[str] = []
    work = threading.Thread(
        target=lambda: found.append(policert.verify(counters(4, 25), no_policy=True).verdict)
    )
    work.start()
    turns = 0
    while work.is_alive():
        turns += 1
    work.join()
    assert found == ["safe"] and turns > 100
