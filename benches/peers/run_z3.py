"""Puts the queries of a log to Z3, one after the other, in one process and one thread.

Variables are integers, weights exact rationals, and a ReLU is a case distinction; each query is a
fresh solver, as in the baseline of policy predicate abstraction. A witness is checked exactly.
"""

import os
import time

os.environ["OMP_NUM_THREADS"] = "1"

import z3

from query_log import Answer, Unsupported, arguments, ask_all, is_strict, read_log, report


class Z3Peer:
    """Z3 with the network of a log."""

    def __init__(self, log, timeout):
        self.log = log
        self.timeout = timeout

    def ask(self, query):
        """The answer to a query."""
        number = z3.Real if query["relaxed"] else z3.Int
        point = [number(f"x{v}") for v in range(len(query["box"]))]
        solver = z3.Solver()
        if self.timeout is not None:
            solver.set("timeout", max(1, int(self.timeout * 1000)))
        for variable, (low, high) in zip(point, query["box"]):
            if low is not None:
                solver.add(variable >= low)
            if high is not None:
                solver.add(variable <= high)
        for condition in query["conditions"]:
            solver.add(term(condition, point))
        scores = self.encode_network(solver, point)
        chosen = query["output"]
        applicable = self.log.applicable
        if applicable is not None:
            solver.add(term(applicable[chosen], point))
        for other, score in enumerate(scores):
            if other == chosen:
                continue
            strict = is_strict(self.log.ties, chosen, other)
            wins = scores[chosen] > score if strict else scores[chosen] >= score
            if applicable is not None:
                wins = z3.Or(wins, z3.Not(term(applicable[other], point)))
            solver.add(wins)
        begin = time.perf_counter()
        verdict = solver.check()
        seconds = time.perf_counter() - begin
        if verdict == z3.unsat:
            return Answer("refuted", seconds)
        if verdict == z3.unknown:
            return Answer("timeout", seconds)
        if not query["relaxed"]:
            values = [solver.model().eval(v, model_completion=True).as_long() for v in point]
            if not self.log.is_witness(query, values):
                raise SystemExit(f"query {query['number']}: Z3's witness is none: {values}")
        return Answer("possible", seconds)

    def encode_network(self, solver, point):
        """Adds the network; returns the terms of its scores."""
        network = self.log.network
        values = [z3.ToReal(v) if v.is_int() else v for v in (point[i] for i in self.log.inputs)]
        last = len(network.weights) - 1
        for layer, (rows, biases) in enumerate(zip(network.weights, network.biases)):
            sums = []
            for neuron, (row, bias) in enumerate(zip(rows, biases)):
                total = z3.Real(f"s{layer}_{neuron}")
                parts = [exact(weight) * values[i] for i, weight in enumerate(row) if weight]
                solver.add(total == z3.Sum(parts + [exact(bias)]))
                sums.append(total)
            if layer == last:
                return sums
            values = []
            for neuron, total in enumerate(sums):
                value = z3.Real(f"r{layer}_{neuron}")
                solver.add(value == z3.If(total >= 0, total, z3.RealVal(0)))
                values.append(value)
        raise Unsupported("a network without layers")


def exact(number):
    """A 64-bit number as an exact rational."""
    return z3.Q(*number.as_integer_ratio())


def term(condition, point):
    ((kind, value),) = condition.items()
    if kind == "constant":
        return z3.BoolVal(value)
    if kind == "linear":
        return z3.Sum([c * point[v] for v, c in value["terms"]]) <= value["upper"]
    if kind == "and":
        return z3.And([term(part, point) for part in value])
    if kind == "or":
        return z3.Or([term(part, point) for part in value])
    raise Unsupported(f"a condition that is not linear: {value}")


def main():
    options = arguments(__doc__.splitlines()[0]).parse_args()
    z3.set_param("parallel.enable", False)
    log = read_log(options)
    tally = ask_all(log, Z3Peer(log, options.timeout_per_query).ask)
    report(f"Z3 {z3.get_version_string()}", options, log, tally)


if __name__ == "__main__":
    main()
