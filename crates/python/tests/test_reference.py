"""The reference of the package, which is written from its docstrings."""

from __future__ import annotations

import importlib.util
import os
import re
from types import ModuleType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from conftest import ROOT

import policert

PAGE = ROOT / "docs/python-reference.md"


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    pytest.importorskip("griffe")
    path = ROOT / "tools/python_reference.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date(writer: ModuleType) -> None:
    written = writer.reference()
    if os.environ.get("UPDATE_EXPECT") == "1":
        PAGE.write_text(written, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == written, "UPDATE_EXPECT=1 writes it"
    headings = re.findall(r"^#+ (.*)$", written, re.MULTILINE)
    assert set(policert.__all__) <= set(headings)
    anchors = {writer.anchor(heading) for heading in headings}
    assert len(anchors) == len(headings)
    links = re.findall(r"\]\(#([^)]*)\)", written)
    assert len(links) > 100 and set(links) <= anchors


def test_what_has_no_doc_is_named(writer: ModuleType, tmp_path: Any) -> None:
    import griffe

    (tmp_path / "bare.py").write_text(
        '__all__ = ["asked"]\n\n\ndef asked(what, how):\n    """Asks.\n\n    :param what: it.\n    """\n',
        encoding="utf-8",
    )
    module = griffe.load("bare", search_paths=[str(tmp_path)], allow_inspection=False)
    found = writer.Reference({"bare": module}, [])
    assert "### asked" in found.page()
    assert found.missing == ["bare.asked: how"]


def test_values_of_options_are_those_of_the_program(icy_road: str) -> None:
    """Types name the values that the program has."""
    tried = 0
    for name, annotation in get_type_hints(policert.QuestionOptions).items():
        for part in get_args(annotation):
            if get_origin(part) is Literal:
                given: Any = {name: "sometimes"}
                with pytest.raises(policert.UsageError, match="is none of") as error:
                    policert.verify(icy_road, "careful", **given)
                values = str(error.value).split("is none of")[1].replace(" and ", ", ")
                assert set(values.strip().split(", ")) == set(get_args(part)), name
                tried += 1
    assert tried >= 7
