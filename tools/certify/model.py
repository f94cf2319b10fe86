"""JANI models by their definition: states, operators, and what an operator leads to (docs/formats/jani.md)."""

import math
from fractions import Fraction
from itertools import product
from math import ceil, floor

import infix
from expressions import Empty, Lowering, Wide, compiled, constant, listed, narrow, node, scalar, span, truthful, truths
from stops import Invalid, Rejected, Unknown, Unsupported, of_type

MOST = 1 << 20  # outcomes of an operator, values of a free choice
BEYOND = 1 << 63  # values are 64-bit integers
ROUNDED = Fraction(1, 10**6)


NEEDED = {"automata", "elements", "locations", "edges", "destinations"}


class Variable:
    def __init__(self, name, kind, low, high, initial, names=()):
        self.name, self.kind, self.low, self.high, self.names = name, kind, low, high, names
        self.initial = initial  # the initial values, or None for all

    def shown(self, value):
        """A value as evidence writes it."""
        return {"int": value, "bool": bool(value), "location": self.names[value] if self.names else None}[self.kind]

    def read(self, value):
        """The value that evidence writes so."""
        if self.kind == "location" and value in self.names:
            return self.names.index(value)
        wanted = bool if self.kind == "bool" else int
        if self.kind == "location" or not isinstance(value, wanted) or isinstance(value, bool) != (wanted is bool):
            raise Invalid(f"{str(value)[:40]!r} is no value of {self.name}")
        return int(value)


class Edge:
    """An edge of an instance: where it begins, its guard, and its destinations of positive probability."""

    def __init__(self, source, action, guard, destinations, pointer):
        self.source, self.action, self.pointer = source, action, pointer
        self.guard, self.holds = guard, compiled(guard)
        self.destinations = destinations  # (probability, location, assignments)
        self.probabilities = [compiled(p) for p, _, _ in destinations]
        self.fixed = [p[1] for p, _, _ in destinations] if all(p[0] == "num" for p, _, _ in destinations) else None


class Operator:
    """Edges that are taken together: `edges` are pairs of an instance and a position among its edges."""

    def __init__(self, model, vector, edges):
        self.vector, self.edges = vector, edges
        self.label = None if vector is None else model.vectors[vector][1]
        self.parts = [model.edges[i][e] for i, e in edges]
        if math.prod(len(edge.destinations) for edge in self.parts) > MOST:
            raise Unsupported("an operator with that many outcomes")
        self.outcomes = list(product(*(range(len(edge.destinations)) for edge in self.parts)))

    def groups(self, outcome):
        """The assignments of an outcome, by index: those of one index happen at once."""
        groups = {}
        for edge, d in zip(self.parts, self.outcomes[outcome]):
            for assignment in edge.destinations[d][2]:
                groups.setdefault(assignment[0], []).append(assignment)
        return [groups[order] for order in sorted(groups)]

    def locations(self, outcome):
        """Where an outcome leads to: pairs of an instance and a location."""
        parts = zip(self.edges, self.parts, self.outcomes[outcome])
        return [(i, edge.destinations[d][1]) for (i, _), edge, d in parts]


class Model:
    def __init__(self, document, constants):
        self.document = of_type(document, dict, "the model")
        self.variables, self.slots, self.bounds, self.made = [], [], [], {}
        if document.get("type") not in ("lts", "dtmc", "mdp"):
            raise Unsupported(f"models of the type {str(document.get('type'))[:20]}")
        self.actions = [item.get("name") for item in self.objects(document, "actions")]
        self.functions = self.functions_of(document)
        self.known = {}  # global names
        self.constants(constants)
        self.automata = {automaton.get("name"): automaton for automaton in self.objects(document, "automata")}
        if len(self.automata) < len(document["automata"]):
            raise Invalid("two automata have the same name")
        system = of_type(document.get("system"), dict, "system")
        self.instances = [element.get("automaton") for element in self.objects(system, "elements")]
        if any("input-enable" in e for e in system["elements"]) or any(i not in self.automata for i in self.instances):
            raise Unsupported("elements that are input-enabled, or no automaton")
        self.vectors = [self.vector(sync) for sync in self.objects(system, "syncs")]
        self.places, transients = [], []
        for i, name in enumerate(self.instances):
            automaton = self.automata[name]
            places = [place.get("name") for place in self.objects(automaton, "locations")]
            if len(set(places)) < len(places):
                raise Invalid(f"two locations of {name!r} have the same name")
            first = sorted({places.index(p) for p in listed(automaton.get("initial-locations")) if p in places})
            self.places.append(len(self.variables))
            self.variables.append(Variable(f"{name}#{i}", "location", 0, len(places) - 1, first, places))
        transients += self.declare(document, "", self.known)
        self.local = []  # names by instance
        for i, name in enumerate(self.instances):
            self.local.append({})
            transients += self.declare(self.automata[name], f"{name}#{i}.", self.local[i])
        self.width = len(self.variables)
        self.domains = [(v.low, v.high, True) for v in self.variables]
        # In states, transient variables are what the locations say; in transitions, variables of their own.
        self.moving = [dict(self.known)] + [dict(names) for names in self.local]
        self.transients(transients)
        self.index = {variable.name: k for k, variable in enumerate(self.variables)}
        self.edges = [self.edges_of(i) for i in range(len(self.instances))]
        self.restriction = self.restrictions()

    def objects(self, value, key):
        found = listed(value[key] if key in NEEDED else value.get(key, []))
        for item in found:
            of_type(item, dict, key)
        return found

    def functions_of(self, value):
        return {
            f.get("name"): ([p.get("name") for p in self.objects(f, "parameters")], f.get("body"))
            for f in self.objects(value, "functions")
        }

    def lowering(self, instance=None, moving=False):
        """Reads expressions in the scope of an instance, in states or while a transition is taken."""
        names = self.moving if moving else [self.known, *self.local]

        def find(name):
            for scope in ([names[instance + 1]] if instance is not None else []) + [names[0]]:
                if name in scope:
                    return scope[name]
            raise Invalid(f"unknown name {name[:60]!r}")

        functions = dict(self.functions)
        if instance is not None:
            functions |= self.functions_of(self.automata[self.instances[instance]])
        return Lowering(find, functions)

    def constants(self, given):
        names = [item.get("name") for item in self.objects(self.document, "constants")]
        if any(name not in names for name in given):
            raise Invalid("a value is given for a constant that the model does not have")
        for item in self.document.get("constants", []):
            text = given.get(item["name"])
            value = item.get("value") if text is None else infix.read(text, [], {})
            if value is None:
                raise Invalid(f"constant {item['name']!r} has no value")
            self.known[item["name"]] = ("num", constant(Lowering(self.global_name)(value)))

    def global_name(self, name):
        if name not in self.known:
            raise Invalid(f"unknown name {name[:60]!r}")
        return self.known[name]

    def vector(self, sync):
        actions = listed(sync.get("synchronise"))
        if len(actions) != len(self.instances):
            raise Invalid("a synchronisation vector of another length than the list of elements")
        if any(action not in self.actions for action in [*actions, sync.get("result")] if action is not None):
            raise Invalid("a synchronisation vector names an action that there is not")
        return [(i, action) for i, action in enumerate(actions) if action is not None], sync.get("result")

    def declare(self, owner, prefix, names):
        """Declares the variables of the model or of an instance; returns the transient ones."""
        transients, read = [], Lowering(self.global_name)
        for item in self.objects(owner, "variables"):
            name, kind = item.get("name"), item.get("type")
            if name in names or name in self.known:
                raise Invalid(f"there is another constant or variable named {str(name)[:60]!r}")
            initial = read(item["initial-value"]) if "initial-value" in item else None
            while isinstance(kind, dict) and kind.get("kind") == "array":
                kind = kind.get("base")
            low, high = -BEYOND, BEYOND - 1
            if isinstance(kind, dict) and kind.get("kind") == "bounded":
                low = constant(read(kind["lower-bound"])) if "lower-bound" in kind else low
                high = constant(read(kind["upper-bound"])) if "upper-bound" in kind else high
                kind = kind.get("base")
            if item.get("transient", False):
                if initial is None:
                    raise Unsupported(f"the transient variable {name} without initial value")
                wide = kind == "real" or kind == "int"
                bounds = (low if low > -BEYOND or not wide else None, high if high < BEYOND - 1 or not wide else None)
                transients.append((names, name, initial, (0, 1) if kind == "bool" else bounds))
                names[name] = initial
                continue
            if kind not in ("int", "bool"):
                raise Unsupported(f"the variable {prefix}{name} of another type than int and bool")
            low, high = (0, 1) if kind == "bool" else (ceil(low), floor(high))
            names[name] = self.cells(prefix + str(name), kind, low, high, initial)
        return transients

    def cells(self, name, kind, low, high, initial):
        if isinstance(initial, list):
            return [self.cells(f"{name}[{k}]", kind, low, high, cell) for k, cell in enumerate(initial)]
        values = None if initial is None else [constant(initial)]
        if values and not (low <= values[0] <= high and values[0] == int(values[0])):
            raise Invalid(f"the initial value of {name} is outside of its domain")
        self.variables.append(Variable(name, kind, low, high, values))
        return ("var", len(self.variables) - 1, *["bool"] * (kind == "bool"))

    def transients(self, declared):
        """Places of their own while a transition is taken; in states what locations give them, else initial."""
        for names, name, initial, bounds in declared:
            scope = next(b for a, b in zip([self.known, *self.local], self.moving) if a is names)

            def place(value):
                if isinstance(value, list):
                    return [place(cell) for cell in value]
                self.slots.append(constant(value))
                self.bounds.append((name, bounds))
                return ("var", self.width + len(self.slots) - 1, *["bool"] * (bounds == (0, 1)))

            scope[name] = place(initial)
        for i, name in enumerate(self.instances):
            for at, location in enumerate(self.automata[name]["locations"]):
                here = node("=", ("var", self.places[i]), ("num", at))
                for given in self.objects(location, "transient-values"):
                    value, (names, target, indices) = given.get("value"), self.target(given.get("ref"), i, False)
                    if not any(names is known and target == t for known, t, _, _ in declared):
                        raise Invalid("a location gives a value to what is no transient variable")
                    read = self.lowering(i)
                    path = [constant(index) for index in indices]
                    names[target] = replaced(names[target], path, lambda old: read.ite(here, read(value), old))

    def target(self, reference, instance, moving):
        """The scope, the name and the indices of what is written."""
        indices, read = [], self.lowering(instance, moving)
        while isinstance(reference, dict) and reference.get("op") == "aa":
            indices.insert(0, scalar(read(reference.get("index"))))
            reference = reference.get("exp")
        if not isinstance(reference, str):
            raise Invalid("a variable is expected where a value is assigned")
        scopes = self.moving if moving else [self.known, *self.local]
        names = next((s for s in (scopes[instance + 1], scopes[0]) if reference in s), None)
        if names is None:
            raise Invalid(f"unknown variable {reference[:60]!r}")
        return names, reference, indices

    def edges_of(self, i):
        automaton, found = self.automata[self.instances[i]], []
        places, number = self.variables[self.places[i]].names, list(self.automata).index(self.instances[i])
        for position, edge in enumerate(self.objects(automaton, "edges")):
            destinations = self.objects(edge, "destinations")
            if not destinations:
                continue
            read = self.lowering(i)
            expression = lambda owner, key: scalar(read(owner[key].get("exp"))) if key in owner else ("num", 1)
            chances = [expression(d, "probability") for d in destinations]
            if all(p[0] == "num" for p in chances):
                chances = [("num", p) for p in shares([p[1] for p in chances], Invalid)]
            if edge.get("location") not in places or any(d.get("location") not in places for d in destinations):
                raise Invalid(f"an edge of {self.instances[i]!r} names a location that does not exist")
            shared = self.objects(edge, "assignments")
            rows = [
                (p, places.index(d["location"]), [self.assignment(i, a) for a in shared + self.objects(d, "assignments")])
                for p, d in zip(chances, destinations)
                if p != ("num", 0)
            ]
            pointer = f"/automata/{number}/edges/{position}"
            found.append(Edge(places.index(edge["location"]), edge.get("action"), truthful(expression(edge, "guard")), rows, pointer))
        return found

    def assignment(self, i, item):
        """(index, cells, indices, values, functions of both) of an assignment."""
        names, name, indices = self.target(item.get("ref"), i, True)
        read = self.lowering(i, True)
        if "value" in item:
            values = read(item["value"])
        else:
            values = [scalar(read(item.get(key))) for key in ("lower-bound", "upper-bound")]
        cells, order = names[name], of_type(item.get("index", 0), int, "index")
        if not isinstance(cells, list) and cells[0] != "var":
            raise Invalid(f"{name!r} is no variable")
        parts = [compiled(index) for index in indices], nested(values, compiled), "value" not in item
        return order, cells, indices, values, *parts

    def restrictions(self):
        condition = ("num", 1)
        owners = [(self.document, None)] + [(self.automata[n], i) for i, n in enumerate(self.instances)]
        for owner, i in owners:
            if owner.get("restrict-initial") is not None:
                part = truthful(self.lowering(i)(owner["restrict-initial"]["exp"]))
                condition = self.lowering().two("∧", condition, part)
        return condition

    # What may happen in a state.

    def enabled(self, state, strict, wanted=lambda label: True):
        """The operators whose guards hold; with `strict`, a guard without value is a modelling error."""
        holding = []
        for i, edges in enumerate(self.edges):
            found = [(e, edge) for e, edge in enumerate(edges) if edge.source == state[self.places[i]]]
            values = [edge.holds(state) for _, edge in found]
            holding.append([pair for pair, value in zip(found, values) if value or (value is None and strict)])
        for operator in self.joint(holding, wanted):
            if not strict or self.is_enabled(operator, state, strict):
                yield operator

    def is_enabled(self, operator, state, strict):
        values = [edge.source == state[self.places[i]] and edge.holds(state) for (i, _), edge in zip(operator.edges, operator.parts)]
        if strict and None in values and all(value or value is None for value in values):
            raise Rejected(f"the guard at {operator.parts[values.index(None)].pointer} has no value in {self.text(state)}")
        return all(values)

    def joint(self, edges, wanted):
        """The operators of edges that are given by instance."""
        for i, found in enumerate(edges) if wanted(None) else ():
            for e, edge in found:
                if edge.action is None:
                    yield self.composed(None, ((i, e),))
        for v, (participants, result) in enumerate(self.vectors):
            if participants and wanted(result):
                lists = [[(i, e) for e, edge in edges[i] if edge.action == action] for i, action in participants]
                for chosen in product(*lists):
                    yield self.composed(v, chosen)

    def composed(self, vector, edges):
        if (vector, edges) not in self.made:
            self.made[(vector, edges)] = Operator(self, vector, edges)
        return self.made[(vector, edges)]

    def operator(self, vector, edges):
        """The operator that evidence names."""
        try:
            found = Operator(self, vector, edges)
        except IndexError:
            raise Rejected("the model has no such operator") from None
        wanted = [(edges[0][0], None)] if vector is None and len(edges) == 1 else None
        wanted = self.vectors[vector][0] if vector is not None else wanted
        if not edges or wanted != [(i, part.action) for (i, _), part in zip(edges, found.parts)]:
            raise Rejected("the model has no such operator")
        return found

    def probability(self, operator, outcome, state):
        """The probability of an outcome in a state."""
        total = Fraction(1)
        for edge, d in zip(operator.parts, operator.outcomes[outcome]):
            total *= (edge.fixed or shares([p(state) for p in edge.probabilities], Rejected))[d]
        return total

    def leads(self, operator, outcome, state, strict):
        """What an outcome leads to: pairs of the values that are chosen freely and the state."""
        for choices, values in self.assigned(operator.groups(outcome), [*state, *self.slots], (), strict):
            if self.fits(values, strict, state):
                for i, location in operator.locations(outcome):
                    values[self.places[i]] = location
                yield choices, tuple(values[: self.width])

    def dropped(self, strict, why):
        if strict:
            raise Rejected(f"a modelling error: {why}")

    def fits(self, values, strict, state):
        """Whether each value exists and lies in its domain."""
        for k, value in enumerate(values):
            if k < self.width:
                name, (low, high) = self.variables[k].name, self.domains[k][:2]
            else:
                name, (low, high) = self.bounds[k - self.width]
                if value == self.slots[k - self.width]:
                    continue
            outside = value is None or (low is not None and value < low) or (high is not None and value > high)
            if outside:
                self.dropped(strict, f"{name} leaves its domain after {self.text(state)}")
                if value is not None and not -BEYOND <= value < BEYOND and (low == -BEYOND or high == BEYOND - 1):
                    raise Rejected(f"{name} leaves 64 bits after {self.text(state)}")
                return False
            if k < self.width and value != int(value):
                raise Rejected(f"{name} becomes {value}, which is no integer")
        return True

    def assigned(self, groups, values, choices, strict):
        """Runs the assignments index by index; free choices make for several results."""
        if not groups:
            yield choices, values
            return
        free = [a for a in groups[0] if a[6]]
        ranges = []
        for assignment in free:
            low, high = (bound(values) for bound in assignment[5])
            if low is None or high is None or ceil(low) > floor(high):
                self.dropped(strict, "a free choice without values")
                return
            if high - low > MOST:
                raise Unknown("a free choice among that many values")
            ranges.append(range(ceil(low), floor(high) + 1))
        for chosen in product(*ranges):
            picks, after = list(chosen), list(values)
            written = {}
            for assignment in groups[0]:
                _, cells, _, _, indices, functions, is_free = assignment
                new = (lambda e, pick=picks.pop(0): pick) if is_free else functions
                at = [index(values) for index in indices]
                if not self.write(cells, at, new, values, written, strict):
                    break
            else:
                for place, value in written.items():
                    after[place] = value
                yield from self.assigned(groups[1:], after, choices + chosen, strict)

    def write(self, cells, at, new, values, written, strict):
        for index in at:
            if index is None or not 0 <= index < len(cells) or index != int(index):
                self.dropped(strict, "a cell is written that does not exist")
                return False
            cells = cells[int(index)]
        if isinstance(cells, list):
            if not isinstance(new, list) or len(new) != len(cells):
                raise Unsupported("arrays that change their length")
            return all(self.write(cell, [], part, values, written, strict) for cell, part in zip(cells, new))
        value = new(values)
        if cells[1] in written and written[cells[1]] != value:
            raise Rejected("two different values are assigned at once")
        written[cells[1]] = value
        return True

    # The same over boxes: lists of bounds.

    def possible(self, box):
        """The operators that some state of a box may take."""
        lists = []
        for i, edges in enumerate(self.edges):
            low, high, _ = box[self.places[i]]
            lists.append([(e, x) for e, x in enumerate(edges) if low <= x.source <= high and truths(self.bound(x.guard, box))[0]])
        return self.joint(lists, lambda label: True)

    def bound(self, tree, box):
        """Bounds of a truth value."""
        try:
            return span(tree, box)
        except Wide:
            return (0, 1, False)

    def image(self, operator, outcome, box):
        """A box that contains what an outcome leads to from the states of a box; None if there is nothing."""
        after = list(box)
        after += [value if value is None else (value, value, True) for value in self.slots]
        for group in operator.groups(outcome):
            before = list(after)
            for _, cells, indices, values, _, _, is_free in group:
                if is_free:
                    ends = [span(value, before) for value in values]
                    new = None if None in ends else (ends[0][0], ends[1][1], True)
                else:
                    new = nested(values, lambda value: span(value, before))
                self.overwrite(cells, [span(index, before) for index in indices], new, after, True)
        for k, value in enumerate(after[: self.width]):
            low, high, _ = self.domains[k]
            if value is None or value[0] > high or value[1] < low:
                return None
            after[k] = (max(ceil(value[0]), low), min(floor(value[1]), high), True)
        for i, location in operator.locations(outcome):
            after[self.places[i]] = (location, location, True)
        return after[: self.width]

    def overwrite(self, cells, at, new, after, sure):
        if at:
            if at[0] is not None:
                low, high = max(0, ceil(at[0][0])), min(len(cells) - 1, floor(at[0][1]))
                for k in range(low, high + 1):
                    self.overwrite(cells[k], at[1:], new, after, sure and low == high)
        elif isinstance(cells, list):
            for cell, part in zip(cells, new):
                self.overwrite(cell, at, part, after, sure)
        elif sure or after[cells[1]] is None:
            after[cells[1]] = new
        elif new is not None:
            old = after[cells[1]]
            after[cells[1]] = (min(old[0], new[0]), max(old[1], new[1]), False)

    # States.

    def text(self, state):
        return ", ".join(f"{n}={v}" for n, v in self.record(state).items())[:300]

    def record(self, state):
        """A state as evidence writes it."""
        pairs = zip(self.variables, state)
        return {v.name: v.shown(x) for v, x in pairs if v.kind != "location" or len(v.names) > 1}

    def state(self, record):
        """The state that evidence writes so."""
        if not isinstance(record, dict) or any(name not in self.index for name in record):
            raise Invalid("a state with a variable that the model does not have")
        values = []
        for variable in self.variables:
            alone = variable.kind == "location" and len(variable.names) == 1
            if variable.name not in record and not alone:
                raise Invalid(f"a state without a value of {variable.name}")
            values.append(0 if alone and variable.name not in record else variable.read(record[variable.name]))
        if any(not v.low <= x <= v.high for v, x in zip(self.variables, values)):
            raise Rejected("a state with values that the variables do not take")
        return tuple(values)

    def initial_box(self):
        """The states that the initial values allow, and the condition besides."""
        condition, box, read = self.restriction, list(self.domains), self.lowering()
        for k, variable in enumerate(self.variables):
            if variable.initial is not None:
                if not variable.initial:
                    return None
                box[k] = (int(min(variable.initial)), int(max(variable.initial)), True)
                parts = [node("=", ("var", k), ("num", value)) for value in variable.initial]
                any_of = parts[0]
                for part in parts[1:]:
                    any_of = read.two("∨", any_of, part)
                condition = condition if len(parts) == 1 else read.two("∧", condition, any_of)
        return box, condition

    def points(self, box, condition, holds, limit):
        """The states of a box that satisfy a condition, which is given as an expression and as a function."""
        stack, steps = [list(box)], 0
        while stack:
            box = stack.pop()
            steps += 1
            if steps > limit:
                raise Unknown(f"more than {limit} parts of a box were looked at")
            try:
                for _ in range(2):
                    narrow(condition, 1, 1, box)
            except Empty:
                continue
            if all(low == high for low, high, _ in box):
                state = tuple(low for low, _, _ in box)
                if holds(state):
                    yield state
            else:
                stack += halves(box)


def halves(box):
    """Two boxes of half the width on the widest side."""
    k = max(range(len(box)), key=lambda k: box[k][1] - box[k][0])
    low, high, _ = box[k]
    middle = (low + high) // 2
    return [[*box[:k], side, *box[k + 1 :]] for side in ((low, middle, True), (middle + 1, high, True))]


def nested(value, function):
    return [nested(part, function) for part in value] if isinstance(value, list) else function(value)


def replaced(value, path, new):
    if not path:
        return nested(value, new) if isinstance(value, list) else new(value)
    if not isinstance(value, list) or path[0] not in range(len(value)):
        raise Invalid("a location gives a value to a cell that does not exist")
    return [replaced(cell, path[1:], new) if k == path[0] else cell for k, cell in enumerate(value)]


def shares(values, wrong):
    """Probabilities, scaled where rounding makes their sum miss 1."""
    if any(value is None or value < 0 for value in values):
        raise wrong("a probability that is negative or does not exist")
    total = sum(values)
    if abs(total - 1) > ROUNDED:
        raise wrong(f"probabilities that sum to {total}, not to 1")
    return values if total == 1 else [Fraction(value) / total for value in values]
