"""Query logs of `policert verify --record-queries`: reading them, and what they mean exactly.

The format is described in docs/formats/queries.md. Everything here is exact: weights are the
64-bit numbers nearest to the decimals of the network file, and scores are integers in units of a
power of two.
"""

import argparse
import hashlib
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from trees import Trees


class Unsupported(Exception):
    """A query or a network that the scripts cannot put to another solver."""


@dataclass
class Network:
    """Layers of weights (a row for each neuron) and biases; ReLU between layers."""

    weights: list[list[list[float]]]
    biases: list[list[float]]

    def __post_init__(self):
        # Weights and biases of a layer as integers, in units of one power of two.
        self.integers = []
        for rows, biases in zip(self.weights, self.biases):
            numbers = [number for row in rows for number in row] + biases
            shift = max(Fraction(number).denominator.bit_length() - 1 for number in numbers)
            scaled = lambda number: int(Fraction(number) * (1 << shift))
            rows = [[(i, scaled(w)) for i, w in enumerate(row) if w] for row in rows]
            self.integers.append((rows, [scaled(bias) for bias in biases], shift))

    def scores(self, inputs):
        """The exact scores at integer inputs, all multiplied by one power of two."""
        values, unit = inputs, 0
        last = len(self.integers) - 1
        for layer, (rows, biases, shift) in enumerate(self.integers):
            sums = [
                sum(w * values[i] for i, w in row) + (bias << unit)
                for row, bias in zip(rows, biases)
            ]
            values, unit = sums, unit + shift
            if layer < last:
                values = [max(value, 0) for value in sums]
        return values


def read_nnet(path):
    """The network of an NNet file that does not normalise its inputs and outputs."""
    lines = [line for line in Path(path).read_text().splitlines() if not line.startswith("//")]
    rows = [[entry for entry in line.split(",") if entry.strip()] for line in lines]
    sizes = [int(size) for size in rows[1]]
    means, ranges = rows[5], rows[6]
    if any(float(mean) != 0 for mean in means) or any(float(size) != 1 for size in ranges):
        raise Unsupported(f"{path}: the file normalises inputs or outputs")
    weights, biases, at = [], [], 7
    for size in sizes[1:]:
        weights.append([[float(entry) for entry in row] for row in rows[at : at + size]])
        biases.append([float(row[0]) for row in rows[at + size : at + 2 * size]])
        at += 2 * size
    for width, layer in zip(sizes, weights):
        if any(len(row) != width for row in layer):
            raise Unsupported(f"{path}: a row of weights does not have {width} entries")
    return Network(weights, biases)


@dataclass
class QueryLog:
    """The header of a log, its network or ensemble, and its queries."""

    header: dict
    network: Network | Trees
    queries: list[dict]

    @property
    def inputs(self):
        """For each network input the position of its variable."""
        return self.header["inputs"]

    @property
    def ties(self):
        return self.header["ties"]

    @property
    def applicable(self):
        """For each output where it is applicable, or None without filter."""
        return self.header["applicable"] if self.header["filter"] == "applicable" else None

    def is_witness(self, query, point):
        """Whether a point of integers answers the query with yes, exactly."""
        for value, (low, high) in zip(point, query["box"]):
            if (low is not None and value < low) or (high is not None and value > high):
                return False
        if not all(holds(condition, point) for condition in query["conditions"]):
            return False
        competes = [True] * len(self.header["outputs"])
        if self.applicable is not None:
            competes = [holds(condition, point) for condition in self.applicable]
        chosen = query["output"]
        if not competes[chosen]:
            return False
        scores = self.network.scores([point[variable] for variable in self.inputs])
        for other, score in enumerate(scores):
            if other == chosen or not competes[other]:
                continue
            if scores[chosen] < score:
                return False
            if scores[chosen] == score and is_strict(self.ties, chosen, other):
                return False
        return True


def is_strict(ties, chosen, other):
    """Whether the chosen output must beat the other one, not only draw level."""
    return ties == "strict" or (ties == "first" and other < chosen)


def holds(condition, point):
    """Whether a condition holds at a point of integers."""
    ((kind, value),) = condition.items()
    if kind == "constant":
        return value
    if kind == "linear":
        return sum(c * point[v] for v, c in value["terms"]) <= value["upper"]
    if kind == "and":
        return all(holds(part, point) for part in value)
    if kind == "or":
        return any(holds(part, point) for part in value)
    raise Unsupported(f"a condition that is not linear: {value}")


def negation(condition):
    """The condition that holds at exactly the points of integers where this one does not."""
    ((kind, value),) = condition.items()
    if kind == "constant":
        return {"constant": not value}
    if kind == "linear":
        terms = [[v, -c] for v, c in value["terms"]]
        return {"linear": {"terms": terms, "upper": -value["upper"] - 1}}
    if kind in ("and", "or"):
        return {"or" if kind == "and" else "and": [negation(part) for part in value]}
    raise Unsupported(f"a condition that is not linear: {value}")


def alternatives(condition):
    """A condition as a list of alternatives, each a list of linear constraints."""
    ((kind, value),) = condition.items()
    if kind == "constant":
        return [[]] if value else []
    if kind == "linear":
        return [[value]]
    if kind == "or":
        return [alternative for part in value for alternative in alternatives(part)]
    if kind == "and":
        result = [[]]
        for part in value:
            result = [a + b for a in result for b in alternatives(part)]
            if len(result) > 1000:
                raise Unsupported("a condition with more than 1000 alternatives")
        return result
    raise Unsupported(f"a condition that is not linear: {value}")


def arguments(description):
    """The options that all peers have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("log", type=Path, help="the query log")
    parser.add_argument("--network", type=Path, help="the network file, if it has moved")
    parser.add_argument("--sample", type=int, metavar="K", help="ask K of the queries, by chance")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default 0)")
    parser.add_argument(
        "--timeout-per-query", type=float, metavar="SECONDS", help="give up on a query after this"
    )
    parser.add_argument("--json", type=Path, help="write the result as JSON")
    return parser


def read_log(options, readers={".nnet": read_nnet}):
    """The log with the queries that were asked for; `readers` by the ending of the policy's file."""
    with options.log.open() as file:
        header = json.loads(next(file))
        queries = [json.loads(line) for line in file]
    if header["format"] != "policert-queries" or header["version"] != 1:
        raise SystemExit(f"{options.log}: not a query log of version 1")
    path = options.network or Path(header["network"])
    if path.suffix not in readers:
        raise SystemExit(f"{path}: only {' and '.join(readers)} files are read here")
    if hashlib.sha256(path.read_bytes()).hexdigest() != header["network_sha256"]:
        raise SystemExit(f"{path}: not the network that the queries are about")
    if header["numbers"] != "real":
        raise SystemExit("only scores in real arithmetic are meant here")
    chosen = range(len(queries))
    if options.sample is not None and options.sample < len(queries):
        chosen = sorted(random.Random(options.seed).sample(chosen, options.sample))
    queries = [queries[number] | {"number": number} for number in chosen]
    try:
        return QueryLog(header, readers[path.suffix](path), queries)
    except Unsupported as error:
        raise SystemExit(str(error)) from error


@dataclass
class Answer:
    """`refuted`, `possible`, `timeout` or `unsupported`, and the time in the solver alone."""

    answer: str
    solver_seconds: float = 0.0


@dataclass
class Tally:
    """What a run found out."""

    answers: Counter = field(default_factory=Counter)
    differ: list = field(default_factory=list)
    total_seconds: float = 0.0
    solver_seconds: float = 0.0
    recorded_seconds: float = 0.0
    slowest_seconds: float = 0.0


def ask_all(log, ask):
    """Puts all queries to `ask`, one after the other."""
    tally = Tally()
    for query in log.queries:
        begin = time.perf_counter()
        try:
            found = ask(query)
        except Unsupported:
            found = Answer("unsupported")
        seconds = time.perf_counter() - begin
        tally.answers[found.answer] += 1
        tally.total_seconds += seconds
        tally.solver_seconds += found.solver_seconds
        tally.slowest_seconds = max(tally.slowest_seconds, seconds)
        tally.recorded_seconds += query["time_us"] / 1e6
        if found.answer in ("refuted", "possible") and found.answer != query["answer"]:
            tally.differ.append(query["number"])
    return tally


def report(solver, options, log, tally):
    """Prints what came out, and writes it where it is wanted."""
    count = len(log.queries)
    print(f"{solver}: {count} queries in {tally.total_seconds:.3f} s")
    print(f"  in the solver     {tally.solver_seconds:.3f} s")
    mean = tally.total_seconds / max(count, 1)
    print(f"  mean, slowest     {mean:.4f} s, {tally.slowest_seconds:.3f} s")
    print(f"  recorded          {tally.recorded_seconds:.4f} s for the same queries")
    print("  answers           " + ", ".join(f"{n} {a}" for a, n in sorted(tally.answers.items())))
    print(f"  other answers     {len(tally.differ)}" + "".join(f" #{n}" for n in tally.differ[:20]))
    if options.json:
        result = {
            "solver": solver,
            "log": str(options.log),
            "queries": count,
            "answers": dict(tally.answers),
            "differ": tally.differ,
            "total_s": tally.total_seconds,
            "solver_s": tally.solver_seconds,
            "slowest_s": tally.slowest_seconds,
            "recorded_s": tally.recorded_seconds,
        }
        options.json.write_text(json.dumps(result, indent=2) + "\n")
