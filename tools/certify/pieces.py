"""Upper bounds of the greatest probability by piece (docs/formats/evidence.md)."""

from fractions import Fraction
from math import prod

from boxes import Boxes
from checks import BoxSteps
from expressions import Wide, compiled, listed, truths
from stops import Invalid, Rejected, Unsupported, f64


class Pieces(BoxSteps):
    """Boxes of states, each with a condition and an upper bound of the values of its states."""

    def __init__(self, bounds, records):
        super().__init__(bounds.question, bounds.policy)
        self.bounds = bounds
        question, policy = self.question, self.policy
        if question.least or question.never or self.strict or (policy is not None and policy.draws):
            raise Unsupported("pieces, other than for the greatest probability of reaching the target")
        if any(len(listed(record)) != 3 for record in records):
            raise Invalid("`pieces`: a piece has a box, conditions and a bound")
        self.boxes = Boxes(self.model, [record[0] for record in records], [record[1] for record in records], "pieces")
        self.uppers = [Fraction(f64(str(record[2]))) for record in records]
        if any(not 0 <= upper <= 1 for upper in self.uppers):
            raise Rejected("the bound of a piece is no probability")

    def least(self, state):
        """The bound of a state: the least one of the pieces that contain it."""
        return min((self.uppers[k] for k in self.boxes.holding(state)), default=1)

    def greatest(self, box):
        """A bound of all states of a box, as far as boxes show it."""
        parts = [box]
        for piece in sorted(self.boxes.near(box), key=lambda piece: self.uppers[piece[3]]):
            parts = self.boxes.left_by(parts, piece)
            if not parts:
                return self.uppers[piece[3]]
            if len(parts) > 1000:
                break
        return 1

    def check(self, claimed, limit):
        self.left = limit
        for box, condition, test, k in self.boxes.pieces:
            self.upper = self.uppers[k]
            if self.upper < 1:
                self.cover(box, condition, test, self.is_settled, self.check_state)
        for box, condition in self.question.regions():
            holds = compiled(condition)
            for part in self.boxes.outside(box, lambda k: self.uppers[k] <= claimed) if claimed < 1 else ():
                for state in self.model.points(part, condition, holds, limit):
                    if self.least(state) > claimed:
                        raise Rejected(f"a start state has no bound as low as {claimed}: {self.model.text(state)}")

    def check_state(self, state):
        if self.question.is_so("unsafe", state):
            raise Rejected(f"a piece with a bound below 1 contains a state of the target: {self.model.text(state)}")
        if self.question.is_so("terminal", state) or self.bounds.stay(state) != 1:
            return
        for step in self.bounds.steps(state):
            if step.mean(1, max) > self.upper:
                raise Rejected(f"a step leads from {self.model.text(state)} to more than the bound of its piece")

    def is_settled(self, box):
        """Whether interval arithmetic shows that no step from a box leads to more than the bound of the piece."""
        question, model = self.question, self.model
        if truths(model.bound(question.unsafe, box))[0]:
            return False
        if truths(model.bound(question.terminal, box)) == (True, False, False):
            return True
        return self.every_step(box, self.stays)

    def stays(self, operator, part):
        if any(edge.fixed is None for edge in operator.parts):
            return False
        mean = 0
        for k, outcome in enumerate(operator.outcomes):
            try:
                after = self.model.image(operator, k, part)
            except Wide:
                return False
            if after is not None:
                mean += prod(edge.fixed[d] for edge, d in zip(operator.parts, outcome)) * self.greatest(after)
        return mean <= self.upper
