"""Puts the queries of a log to Marabou, one after the other, in one process and one thread.

Marabou decides over the real numbers. For a query over the integers its answer *unsat* is taken as
a refutation; a solution is rounded and checked exactly, and if it is no witness, the box is split
and both parts are asked again. Where an output must have the greater score, Marabou is asked for
greater or equal, and the exact check decides. `--relaxed` takes the first answer instead.
"""

import math
import os
import time
import warnings
from importlib.metadata import version

os.environ["OMP_NUM_THREADS"] = "1"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from maraboupy import Marabou, MarabouCore

from query_log import (
    Answer,
    Unsupported,
    alternatives,
    arguments,
    ask_all,
    negation,
    read_log,
    report,
)

# A value of a solution that is this near to an integer counts as one.
TOLERANCE = 1e-6


class TimeOut(Exception):
    """A query that takes longer than it may."""


class MarabouPeer:
    """Marabou with the network of a log."""

    def __init__(self, log, timeout, relaxed):
        self.log = log
        self.timeout = timeout
        self.relaxed = relaxed
        self.solver_seconds = 0.0
        # Without conditions only bounds change from query to query: one problem for each output.
        self.problems = {}

    def ask(self, query):
        """The answer to a query."""
        self.solver_seconds = 0.0
        deadline = None if self.timeout is None else time.perf_counter() + self.timeout
        try:
            answer = self.decide(query, deadline)
        except TimeOut:
            answer = "timeout"
        return Answer(answer, self.solver_seconds)

    def decide(self, query, deadline):
        boxes = [self.used(query)]
        while boxes:
            box = boxes.pop()
            values = self.solve(query, box, deadline)
            if values is None:
                continue
            if self.relaxed or query["relaxed"]:
                return "possible"
            point = [
                round(values[v]) if v in values else low or 0
                for v, (low, _) in enumerate(query["box"])
            ]
            if self.log.is_witness(query, point):
                return "possible"
            boxes.extend(parts(box, values))
        return "refuted"

    def used(self, query):
        """Bounds of the variables that matter: those of the network and of the conditions."""
        used = set(self.log.inputs)
        for condition in query["conditions"] + (self.log.applicable or []):
            used |= variables(condition)
        box = {v: tuple(query["box"][v]) for v in sorted(used)}
        if any(bound is None for side in box.values() for bound in side):
            raise Unsupported("a variable without bounds")
        return box

    def solve(self, query, box, deadline):
        """Values of a solution by variable, or None if there is none."""
        problem, place = self.problem(query, list(box))
        for variable, (low, high) in box.items():
            problem.setLowerBound(place[variable], float(low))
            problem.setUpperBound(place[variable], float(high))
        seconds = 0
        if deadline is not None:
            seconds = math.ceil(deadline - time.perf_counter())
            if seconds <= 0:
                raise TimeOut
        options = Marabou.createOptions(verbosity=0, numWorkers=1, timeoutInSeconds=seconds)
        begin = time.perf_counter()
        try:
            verdict, values, _ = MarabouCore.solve(problem, options, "")
        except (IndexError, RuntimeError, ValueError) as error:
            raise Unsupported(f"Marabou fails: {error}") from error
        self.solver_seconds += time.perf_counter() - begin
        if verdict == "unsat":
            return None
        if verdict == "sat":
            return {variable: values[at] for variable, at in place.items()}
        if verdict == "TIMEOUT":
            raise TimeOut
        raise Unsupported(f"Marabou answers {verdict}")

    def problem(self, query, used):
        """Marabou's problem without the bounds of the box, and where its variables are."""
        plain = not query["conditions"] and self.log.applicable is None
        if plain and query["output"] in self.problems:
            return self.problems[query["output"]]
        place = {variable: at for at, variable in enumerate(used)}
        problem = MarabouCore.InputQuery()
        outputs = self.encode_network(problem, place)
        conditions = list(query["conditions"])
        chosen = query["output"]
        if self.log.applicable is not None:
            conditions.append(self.log.applicable[chosen])
        for condition in conditions:
            add_alternatives(problem, inequalities(alternatives(condition), place))
        for other, output in enumerate(outputs):
            if other == chosen:
                continue
            wins = at_least_as_good(outputs[chosen], output)
            absent = []
            if self.log.applicable is not None:
                absent = alternatives(negation(self.log.applicable[other]))
            add_alternatives(problem, [[wins]] + inequalities(absent, place))
        if plain:
            self.problems[chosen] = problem, place
        return problem, place

    def encode_network(self, problem, place):
        """Adds the network; returns the variables of its outputs."""
        network = self.log.network
        hidden = sum(len(biases) for biases in network.biases[:-1])
        problem.setNumberOfVariables(len(place) + 2 * hidden + len(network.biases[-1]))
        values = [place[variable] for variable in self.log.inputs]
        for number, variable in enumerate(dict.fromkeys(values)):
            problem.markInputVariable(variable, number)
        fresh, last = len(place), len(network.weights) - 1
        for layer, (rows, biases) in enumerate(zip(network.weights, network.biases)):
            sums = range(fresh, fresh + len(rows))
            fresh += len(rows)
            for variable, row, bias in zip(sums, rows, biases):
                equation = MarabouCore.Equation()
                for weight, value in zip(row, values):
                    if weight:
                        equation.addAddend(weight, value)
                equation.addAddend(-1.0, variable)
                equation.setScalar(-bias)
                problem.addEquation(equation)
            if layer == last:
                for number, variable in enumerate(sums):
                    problem.markOutputVariable(variable, number)
                return list(sums)
            values = list(range(fresh, fresh + len(rows)))
            fresh += len(rows)
            for before, after in zip(sums, values):
                MarabouCore.addReluConstraint(problem, before, after)
        raise Unsupported("a network without layers")


def inequalities(cases, place):
    """Lists of linear constraints as lists of Marabou's inequalities."""
    return [[at_most(constraint, place) for constraint in case] for case in cases]


def at_most(constraint, place):
    equation = MarabouCore.Equation(MarabouCore.Equation.LE)
    for variable, coefficient in constraint["terms"]:
        equation.addAddend(float(coefficient), place[variable])
    equation.setScalar(float(constraint["upper"]))
    return equation


def at_least_as_good(chosen, other):
    equation = MarabouCore.Equation(MarabouCore.Equation.GE)
    equation.addAddend(1.0, chosen)
    equation.addAddend(-1.0, other)
    equation.setScalar(0.0)
    return equation


def add_alternatives(problem, cases):
    """One of the cases must hold; each is a list of inequalities."""
    if any(not case for case in cases):
        return
    if not cases:
        impossible = MarabouCore.Equation(MarabouCore.Equation.LE)
        impossible.addAddend(0.0, 0)
        impossible.setScalar(-1.0)
        cases = [[impossible]]
    if len(cases) == 1:
        for equation in cases[0]:
            problem.addEquation(equation)
    else:
        MarabouCore.addDisjunctionConstraint(problem, cases)


def variables(condition):
    """The variables that a condition mentions."""
    ((kind, value),) = condition.items()
    if kind == "linear":
        return {variable for variable, _ in value["terms"]}
    if kind in ("and", "or"):
        return set().union(*(variables(part) for part in value))
    return set()


def parts(box, values):
    """Parts of a box that hold all its integers but the rounded solution; none for a point."""
    fraction = lambda v: abs(values[v] - round(values[v]))
    variable = max(box, key=fraction)
    low, high = box[variable]
    if fraction(variable) > TOLERANCE:
        cut = math.floor(values[variable])
        sides = [(low, cut), (cut + 1, high)]
    else:
        variable = max(box, key=lambda v: box[v][1] - box[v][0])
        low, high = box[variable]
        if low == high:
            return []
        cut = min(max(round(values[variable]), low), high)
        sides = [(low, cut - 1), (cut, cut), (cut + 1, high)]
    return [box | {variable: (a, b)} for a, b in sides if a <= b]


def main():
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--relaxed", action="store_true", help="take Marabou's first answer")
    options = parser.parse_args()
    log = read_log(options)
    peer = MarabouPeer(log, options.timeout_per_query, options.relaxed)
    tally = ask_all(log, peer.ask)
    report(f"Marabou {version('maraboupy')}", options, log, tally)


if __name__ == "__main__":
    main()
