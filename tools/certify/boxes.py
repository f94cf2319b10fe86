"""Sets of states: boxes, each with a condition on the states in it (docs/formats/evidence.md)."""

from expressions import compiled, listed, node, truths
from stops import Invalid, Rejected, Unknown, of_type


class Boxes:
    """Pieces: a box, a condition, the same as a function, and the position in the list."""

    def __init__(self, model, records, where, member):
        self.model, self.member, self.pieces, self.groups = model, member, [], {}
        for record, parts in zip(records, where):
            self.add(self.read_box(record), self.joined("∧", map(self.condition, listed(parts))))

    def add(self, box, condition):
        piece = (box, condition, compiled(condition), len(self.pieces))
        self.pieces.append(piece)
        fixed = tuple(k for k, (low, high, _) in enumerate(box) if low == high)
        group = self.groups.setdefault(fixed, {})
        group.setdefault(tuple(box[k][0] for k in fixed), []).append(piece)

    def read_box(self, record):
        of_type(record, dict, self.member)
        box = list(self.model.domains)
        for name, ends in record.items():
            if name not in self.model.index or len(listed(ends)) != 2:
                raise Invalid(f"`{self.member}`: {name!r} is no variable with two ends")
            k = self.model.index[name]
            low, high = (self.model.variables[k].read(end) for end in ends)
            if low > high:
                raise Invalid(f"`{self.member}`: a box without states")
            if low < box[k][0] or high > box[k][1]:
                raise Rejected(f"`{self.member}`: a box leaves the domain of {name}")
            box[k] = (low, high, True)
        return box

    def condition(self, value):
        if len(of_type(value, dict, "where")) == 1 and next(iter(value)) in ("any", "all"):
            ((kind, parts),) = value.items()
            return self.joined("∨" if kind == "any" else "∧", map(self.condition, listed(parts)))
        if set(value) != {"terms", "at_most"}:
            raise Invalid("a condition has `terms` and `at_most`, or `any`, or `all`")
        total = ("num", 0)
        for name, factor in of_type(value["terms"], dict, "terms").items():
            if name not in self.model.index:
                raise Invalid(f"`terms`: {name!r} is no variable")
            term = node("*", ("num", of_type(factor, int, "terms")), ("var", self.model.index[name]))
            total = node("+", total, term)
        return node("≤", total, ("num", of_type(value["at_most"], int, "at_most")))

    def joined(self, op, parts):
        parts, neutral = list(parts), ("num", int(op == "∧"))
        tree = parts[0] if parts else neutral
        for part in parts[1:]:
            tree = (op, tree, part)
        return tree

    def near(self, box):
        """The pieces that may meet a box: those with its values where both have a single one."""
        for fixed, group in self.groups.items():
            if all(box[k][0] == box[k][1] for k in fixed):
                yield from group.get(tuple(box[k][0] for k in fixed), [])
            else:
                for found in group.values():
                    yield from found

    def holding(self, state):
        """The positions of the pieces that contain a state."""
        inside = lambda box: all(low <= x <= high for x, (low, high, _) in zip(state, box))
        return (k for box, _, test, k in self.near([(x, x) for x in state]) if inside(box) and test(state))

    def contains(self, state):
        return next(self.holding(state), None) is not None

    def outside(self, box, wanted=lambda k: True):
        """The parts of a box that lie in none of the wanted pieces for sure."""
        parts = [box]
        for piece in self.near(box):
            if wanted(piece[3]):
                parts = self.left_by(parts, piece)
            if len(parts) > 1000 or not parts:
                break
        return parts

    def left_by(self, parts, piece):
        """What is left of boxes without that of a piece for sure."""
        other, condition, _, _ = piece
        rest = []
        for part in parts:
            common = [(max(a, c), min(b, d), True) for (a, b, _), (c, d, _) in zip(part, other)]
            if any(low > high for low, high, _ in common):
                rest.append(part)
            elif truths(self.model.bound(condition, common)) != (True, False, False):
                rest.append(part)
            else:
                rest += without(part, common)
        return rest


def diagram_boxes(model, record, limit):
    """The states of a decision diagram as disjoint boxes: one for each way from its root, which is the last node."""
    names, nodes = listed(of_type(record, dict, "diagram").get("variables")), listed(record.get("nodes"))
    if set(record) != {"variables", "nodes"} or not nodes or len(set(map(str, names))) != len(names):
        raise Invalid("`diagram` has `variables`, each once, and `nodes`")
    if any(name not in model.index for name in names):
        raise Invalid("`diagram`: it asks for what is no variable")
    read = []
    for number, numbers in enumerate(nodes):
        level, *edges = (of_type(n, int, "diagram") for n in listed(numbers))
        after, edges = None, [edges[k : k + 3] for k in range(0, len(edges), 3)]
        if not 0 <= level < len(names) or not edges or len(edges[-1]) != 3:
            raise Invalid(f"`diagram`: node {number} is not what it should be")
        least, most, _ = model.domains[model.index[names[level]]]
        for low, high, to in edges:
            is_later = 0 <= to <= number and (to == 0 or read[to - 1][0] > level)
            if low > high or low < least or high > most or (after is not None and low <= after) or not is_later:
                raise Invalid(f"`diagram`: an edge of node {number} is not what it should be")
            after = high
        read.append((level, edges))
    stack, found = [(len(read), list(model.domains))], 0
    while stack:
        at, box = stack.pop()
        if at == 0:
            found += 1
            if found > limit:
                raise Unknown("the diagram has more boxes than the limit of states (`--states`)")
            yield box
            continue
        level, edges = read[at - 1]
        k = model.index[names[level]]
        stack += [(to, [*box[:k], (low, high, True), *box[k + 1 :]]) for low, high, to in edges]


def without(box, inner):
    """A box without a smaller one, as boxes."""
    found = []
    for k, ((low, high, _), (a, b, _)) in enumerate(zip(box, inner)):
        sides = [side for side in ((low, a - 1, True), (b + 1, high, True)) if side[0] <= side[1]]
        found += [[*inner[:k], side, *box[k + 1 :]] for side in sides]
    return found
