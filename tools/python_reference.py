#!/usr/bin/env python3
"""Writes the reference of the Python package, docs/python-reference.md, from its docstrings and types. Needs the
package `griffelib`, which reads the sources and runs none of them:

    python3 tools/python_reference.py > docs/python-reference.md

A public name, or a parameter of one, that has no doc is an error.
"""

import logging
import pathlib
import re
import sys

import griffe

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "crates/python/python"
MODULES = ["policert", "policert.gym", "policert.ray"]
# Names that stand in signatures.
TYPES = [
    "policy.Inputs",
    "commands.ModelLike",
    "options.Number",
    "files.PathLike",
    "commands.Progress",
    "commands.PropertyLike",
]
# The longest signature in one line.
WIDTH = 100
BEGINNING = """# Python reference

<!-- Written by tools/python_reference.py from the docstrings of crates/python/python/policert. -->

All public names of the [Python package](python.md). Times are in seconds, memory in bytes, probabilities are exact
fractions. An exception carries the exit code of the command line, which its description gives.
"""


class Reference:
    """The names that have a place on the page, and what is missing."""

    def __init__(self, modules, types):
        self.missing = []
        self.types = types
        self.modules = {name: self.public(module) for name, module in modules.items()}
        self.places = set()
        for things in self.modules.values():
            for thing in things:
                self.places.add(thing.name)
                if thing.is_class:
                    self.places |= {f"{thing.name}.{m.name}" for m in functions(thing)}

    def public(self, module):
        """What a module exports, by its final target, in the order of its parts: functions, classes, exceptions."""
        found = [module[name] for name in module.exports]
        found = [thing.final_target if thing.is_alias else thing for thing in found]
        # A function that has the name of its file.
        found = [thing[thing.name] if thing.is_module else thing for thing in found]
        kinds = {"function": 0, "class": 1, "attribute": 3}
        return sorted(found, key=lambda t: (2 if is_error(t) else kinds[t.kind.value], t.name))

    def text(self, text, owner=None):
        """A docstring as Markdown: roles of Sphinx become links, and examples of the interpreter are left out."""

        def linked(match):
            name = match[1].removeprefix("~").removeprefix("policert.")
            short = name.removeprefix("gym.").removeprefix("ray.")
            for place in (f"{owner}.{short}", short):
                if place in self.places:
                    return f"[`{name}`](#{anchor(place)})"
            return f"`policert.{name}`" if name in ("gym", "ray") else f"`{name}`"

        text = re.sub(r":(?:class|func|meth|mod|attr):`([^`]+)`", linked, text)
        parts = [part for part in text.strip().split("\n\n") if not part.lstrip().startswith(">>>")]
        return "\n\n".join(parts).replace("``", "`")

    def documented(self, thing, signature):
        """The sections of a docstring, by their kinds, and a note of each parameter without a doc."""
        if thing.docstring is None:
            self.missing.append(thing.path)
            return {}
        sections = {s.kind.value: s.value for s in thing.docstring.parse("sphinx")}
        known = {parameter.name for parameter in sections.get("parameters", [])}
        for parameter in signature:
            if parameter.name not in known:
                self.missing.append(f"{thing.path}: {parameter.name}")
        unknown = known - {parameter.name for parameter in signature}
        self.missing += [f"{thing.path}: there is no {name}" for name in sorted(unknown)]
        return sections

    def sections(self, thing, signature, owner=None):
        """The lines of a docstring."""
        found = self.documented(thing, signature)
        lines = [self.text(found.get("text", ""), owner), ""]
        if signature and found.get("parameters"):
            lines += ["| parameter | meaning |", "|---|---|"]
            for parameter in found["parameters"]:
                lines.append(f"| `{parameter.name}` | {self.cell(parameter.description, owner)} |")
            lines.append("")
        if found.get("returns"):
            (returned,) = found["returns"]
            lines += [f"**Returns** {self.line(returned.description, owner)}", ""]
        if found.get("raises"):
            lines += ["| exception | raised |", "|---|---|"]
            for raised in found["raises"]:
                name = str(raised.annotation)
                link = f"[`{name}`](#{anchor(name)})" if name in self.places else f"`{name}`"
                lines.append(f"| {link} | {self.cell(raised.description, owner)} |")
            lines.append("")
        return lines

    def line(self, text, owner):
        return " ".join(self.text(text, owner).split())

    def cell(self, text, owner):
        return self.line(text, owner).replace("|", "\\|")

    def function(self, function, owner=None):
        """A function, or a method of a class."""
        name = f"{owner}.{function.name}" if owner else function.name
        given = parameters(function)
        result = f" -> {function.returns}" if function.returns is not None else ""
        lines = [f"{'####' if owner else '###'} {name}", "", *signature(name, given, result), ""]
        return lines + self.sections(function, given, owner)

    def kind(self, kind):
        """A class, with its attributes and methods."""
        # Nobody but the package makes objects of a data class.
        is_made = "__init__" in kind.members and "dataclass" not in kind.labels
        given = parameters(kind["__init__"]) if is_made else []
        bases = [b for b in map(self.base, kind.bases) if b]
        lines = [f"### {kind.name}", ""]
        if given:
            lines += [*signature(kind.name, given, ""), ""]
        if bases:
            lines += [f"A kind of {' and '.join(bases)}.", ""]
        lines += self.sections(kind, given, kind.name)
        # What is set without a word is a detail.
        shown = [m for m in attributes(kind) if m.docstring]
        if shown:
            lines += ["| attribute | type | meaning |", "|---|---|---|"]
            for member in shown:
                annotation = str(member.annotation).replace("|", "\\|")
                meaning = self.cell(member.docstring.value, kind.name)
                lines.append(f"| `{member.name}` | `{annotation}` | {meaning} |")
            lines.append("")
        for attribute in attributes(kind):
            if "property" in attribute.labels and not attribute.docstring:
                self.missing.append(attribute.path)
        for method in functions(kind):
            lines += self.function(method, kind.name)
        return lines

    def base(self, base):
        name = str(base).split("[", 1)[0]
        if name in self.places:
            return f"[`{name}`](#{anchor(name)})"
        return None if name in ("TypedDict", "ABC") else f"`{name}`"

    def page(self):
        lines = [BEGINNING]
        for name, things in self.modules.items():
            lines += [f"## {name}", ""]
            for thing in things:
                if thing.is_function:
                    lines += self.function(thing)
                elif thing.is_class:
                    lines += self.kind(thing)
                else:
                    lines += [f"### {thing.name}", "", f"`{thing.name} = {thing.value}`", ""]
                    lines += self.sections(thing, [])
        lines += ["## Types in signatures", "", "| type | meaning |", "|---|---|"]
        for thing in self.types:
            lines.append(f"| `{thing.name}` | {self.cell(thing.docstring.value, None)} |")
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def is_error(thing):
    return thing.is_class and thing.path.split(".")[1] in ("errors", "comparison")


def is_public(member):
    return not member.name.startswith("_") and not member.is_alias


def functions(kind):
    return [m for m in kind.members.values() if is_public(m) and m.is_function]


def attributes(kind):
    return [m for m in kind.members.values() if is_public(m) and m.is_attribute]


def parameters(function):
    return [p for p in function.parameters if p.name not in ("self", "cls")]


def anchor(heading):
    return heading.lower().replace(".", "")


def signature(name, given, result):
    """A block of code, in several lines if it is long."""
    words, is_keyword = [], False
    for parameter in given:
        kind = parameter.kind.value
        if kind == "keyword-only" and not is_keyword:
            words.append("*")
            is_keyword = True
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        text = f"{stars}{parameter.name}"
        if parameter.annotation is not None:
            text += f": {parameter.annotation}"
        if parameter.default is not None and not stars:
            text += f" = {parameter.default}"
        words.append(text)
    line = f"{name}({', '.join(words)}){result}"
    if len(line) > WIDTH:
        line = f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){result}"
    return ["```python", line, "```"]


def reference():
    """The page, or the end of the program if something has no doc."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    package = griffe.load("policert", search_paths=[str(PACKAGE)], allow_inspection=False)
    modules = {name: package if name == "policert" else package[name.split(".", 1)[1]] for name in MODULES}
    found = Reference(modules, [package[name] for name in TYPES])
    page = found.page()
    if found.missing:
        sys.exit("without a doc: " + ", ".join(found.missing))
    return page


if __name__ == "__main__":
    sys.stdout.write(reference())
