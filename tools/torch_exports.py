"""Networks as PyTorch's exporters write them, for `check_versions.py`: each network by each exporter of one version.

Runs inside of an environment with torch. What a network chooses is what its own forward pass says in evaluation mode;
where its weights have 16 bits, the forward pass with these weights in single precision.
"""

import contextlib
import copy
import inspect
import io
import sys
import warnings

import torch
from torch import nn

class Tail(nn.Module):
    """A network and what an actor does with its scores."""

    def __init__(self, network, tail):
        super().__init__()
        self.network, self.tail = network, tail

    def forward(self, x):
        return self.tail(self.network(x))


class Image(nn.Module):
    """Inputs as the pixels of a column."""

    def forward(self, x):
        return x[:, None, :, None]


class Dueling(nn.Module):
    """The value of a state, and the advantages of the actions in it."""

    def __init__(self, inputs, labels):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 8), nn.ReLU())
        self.value, self.advantages = nn.Linear(8, 1), nn.Linear(8, labels)

    def forward(self, x):
        features = self.body(x)
        advantages = self.advantages(features)
        return self.value(features) + advantages - advantages.mean(dim=1, keepdim=True)


class Dictionary(nn.Module):
    """An observation of two parts."""

    def __init__(self, inputs, labels):
        super().__init__()
        self.first, self.second = nn.Linear(inputs - 1, 6), nn.Linear(1, 2)
        self.last = nn.Linear(8, labels)

    def forward(self, position, speed):
        parts = [torch.relu(self.first(position)), torch.tanh(self.second(speed))]
        return self.last(torch.cat(parts, dim=1))


class Discrete(nn.Module):
    """Integers from 0 on, each as a one-hot vector, as Stable-Baselines3 reads `MultiDiscrete` observations."""

    def __init__(self, inputs, values, labels):
        super().__init__()
        self.values, self.last = values, nn.Linear(inputs * values, labels)

    def forward(self, x):
        vectors = [nn.functional.one_hot(column.long(), self.values).float() for column in x.split(1, dim=1)]
        return self.last(torch.cat(vectors, dim=-1).flatten(1))


class Embedded(nn.Module):
    """Integers from 0 on, each with a row of a table."""

    def __init__(self, inputs, values, labels):
        super().__init__()
        self.table, self.last = nn.Embedding(values, 4), nn.Linear(inputs * 4, labels)

    def forward(self, x):
        return self.last(torch.relu(self.table(x).flatten(1)))


class Normalised(nn.Module):
    """The statistics of `VecNormalize` in front of a network."""

    def __init__(self, network, mean, variance):
        super().__init__()
        self.network = network
        self.register_buffer("mean", mean)
        self.register_buffer("variance", variance)

    def forward(self, x):
        x = (x - self.mean) / torch.sqrt(self.variance + 1e-8)
        return self.network(torch.clamp(x, -10.0, 10.0))


class Masked(nn.Module):
    """Scores of which one never counts."""

    def __init__(self, network, labels):
        super().__init__()
        self.network = network
        self.register_buffer("allowed", torch.arange(labels) > 0)

    def forward(self, x):
        return torch.where(self.allowed, self.network(x), torch.tensor(-1e8))


def body(inputs, labels, activation=nn.ReLU, norm=None):
    """A perceptron with one hidden layer, and perhaps a normalisation in it."""
    layers = [nn.Linear(inputs, 8), activation(), nn.Linear(8, labels)]
    if norm is not None:
        layers.insert(1, norm(8))
    return nn.Sequential(*layers)


def networks(inputs, labels, least, values):
    """Name, network, tail that keeps the order of its scores, and what is special about the interface."""
    perceptron = body(inputs, labels)
    yield "relu", perceptron, None, {}
    yield "tanh", body(inputs, labels, nn.Tanh), None, {}
    yield "silu", body(inputs, labels, nn.SiLU), None, {}
    yield "gelu", body(inputs, labels, nn.GELU), None, {}
    yield "batchnorm", body(inputs, labels, norm=nn.BatchNorm1d), None, {}
    yield "layernorm", body(inputs, labels, norm=nn.LayerNorm), None, {}
    image = nn.Sequential(Image(), nn.Conv2d(1, 4, (2, 1)), nn.ReLU(), nn.Flatten(),
                          nn.Linear(4 * (inputs - 1), labels))
    yield "conv", image, None, {}
    pooled = nn.Sequential(nn.Unflatten(1, (1, inputs)), nn.Conv1d(1, 4, 3, padding=1), nn.ELU(), nn.MaxPool1d(2),
                           nn.Flatten(), nn.Linear(4 * (inputs // 2), labels))
    yield "unflatten", pooled, None, {}
    yield "softmax", perceptron, nn.Softmax(dim=1), {}
    yield "logsoftmax", perceptron, nn.LogSoftmax(dim=1), {}
    yield "argmax", perceptron, ArgMax(), {}
    yield "half", body(inputs, labels).half(), None, {}
    yield "bfloat16", body(inputs, labels).bfloat16(), None, {}
    yield "dictionary", Dictionary(inputs, labels), None, {}
    yield "dueling", Dueling(inputs, labels), None, {}
    shifted = [f"x{k} + {-least}" for k in range(inputs)]
    yield "onehot", Discrete(inputs, values, labels), None, {"input": shifted}
    yield "embedding", Embedded(inputs, values, labels), None, {"input": shifted}
    normal = Normalised(body(inputs, labels, nn.Tanh), torch.linspace(-1, 1, inputs), torch.linspace(0.02, 3, inputs))
    yield "normalised", normal, None, {}
    yield "masked", Masked(body(inputs, labels), labels), None, {}


class ArgMax(nn.Module):
    """The index of the greatest score."""

    def forward(self, scores):
        return scores.argmax(dim=1)


def arguments_of(name, table):
    """The table of states as the network takes it."""
    table = torch.tensor(table, dtype=torch.float32)
    if name == "dictionary":
        return (table[:, :-1].contiguous(), table[:, -1:].contiguous())
    if name in ("onehot", "embedding"):
        return ((table - table.min()).long(),)
    return (table,)


def ways(name):
    """Names of the ways to export, and what `torch.onnx.export` takes for each: all of them for one network."""
    parameters, every = inspect.signature(torch.onnx.export).parameters, name == "relu"
    has_dynamo = "dynamo" in parameters
    old = {"dynamo": False} if has_dynamo else {}
    yield "default", {}
    for opset in range(9, 24) if every else (9, 11, 13, 17, 20):
        yield f"script-{opset}", {**old, "opset_version": opset}
    yield "script-dynamic", {**old, "dynamic": True}
    if has_dynamo:
        if not parameters["dynamo"].default:
            yield "dynamo", {"dynamo": True}
        if every or name == "conv":
            yield "dynamo-inline", {"dynamo": True, "external_data": False}
        for opset in range(18, 26) if every else (23,):
            yield f"dynamo-{opset}", {"dynamo": True, "opset_version": opset}
        yield "dynamo-dynamic", {"dynamo": True, "dynamic": True}
        yield "dynamo-plain", {"dynamo": True, "optimize": False}
    elif hasattr(torch.onnx, "dynamo_export"):
        yield "dynamo-export", {"first": True}


def export(network, arguments, path, settings):
    """Writes the file of one network."""
    settings = dict(settings)
    if settings.pop("first", False):
        torch.onnx.dynamo_export(network, *(part[:1] for part in arguments)).save(str(path))
        return
    dynamic = settings.pop("dynamic", False)
    names = ["x"] if len(arguments) == 1 else ["position", "speed"]
    if settings.get("dynamo") and dynamic:
        batch = torch.export.Dim("batch")
        settings["dynamic_shapes"] = tuple({0: batch} for _ in arguments)
    elif dynamic:
        settings["dynamic_axes"] = {name: {0: "batch"} for name in names}
    rows = 3 if dynamic else 1
    torch.onnx.export(network, tuple(part[:rows] for part in arguments), str(path), input_names=names, **settings)


def make(table, labels, least, values, folder):
    """Trains nothing: random weights choose every label somewhere. Yields file, scores and settings."""
    warnings.simplefilter("ignore")
    torch.manual_seed(7)
    torch.set_num_threads(1)
    for name, network, tail, settings in networks(len(table[0]), labels, least, values):
        arguments, single = arguments_of(name, table), network
        if name in ("half", "bfloat16"):
            arguments = tuple(part.to(next(network.parameters()).dtype) for part in arguments)
            single = copy.deepcopy(network).float()
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.mul_(1.5).add_(0.1 * torch.randn(parameter.shape).to(parameter.dtype))
            single.load_state_dict(network.state_dict())
            taken = [part.float() if part.is_floating_point() else part for part in arguments]
            # The statistics of a batch normalisation.
            single.train()(*taken)
            scores = single.eval()(*taken)
        policy = (network if tail is None else Tail(network, tail)).eval()
        for way, how in ways(name):
            file = f"{name}-{way}.onnx"
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    export(policy, arguments, folder / file, how)
            except Exception as error:  # Each version has exceptions of its own.
                reason = " ".join(str(error).split())[:200]
                print(f"torch does not export {file}: {type(error).__name__}: {reason}", file=sys.stderr)
                continue
            yield file, scores.double().tolist(), settings
