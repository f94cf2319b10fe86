"""Policies of PyTorch, Stable-Baselines3 and Keras."""

from __future__ import annotations

import io
import itertools
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .comparison import compare
from .errors import Unsupported, UsageError
from .policy import Policy

# Inputs of this range tell the choices of a policy apart well enough to compare them.
RANGE = (-10, 10)
# The name of an input that is the only one.
ALONE = "input"


def from_torch(cls: type[Policy], module: Any, example: Any, words: dict[str, Any]) -> Policy:
    import torch

    module = module.eval()
    if example.dim() != 2 or example.shape[0] != 1:
        raise UsageError("example: a tensor with one row is expected, of shape (1, inputs)", 42)
    policy = cls(onnx_bytes(module, (example,), ["input"]), **words)
    width = int(example.shape[1])
    with torch.no_grad():
        outputs = int(module(example).shape[-1])
    compare(policy, outputs, [RANGE] * width, _argmax(module))
    return policy


def _argmax(module: Any) -> Callable[[list[list[int]]], Sequence[int]]:
    import torch

    def predict(rows: list[list[int]]) -> Sequence[int]:
        with torch.no_grad():
            scores = module(torch.tensor(rows, dtype=torch.float32))
        return [int(k) for k in scores.argmax(dim=1)]

    return predict


def onnx_bytes(module: Any, examples: tuple[Any, ...], names: list[str]) -> bytes:
    """A module with these inputs as ONNX, by the exporter that this version of PyTorch has."""
    import torch

    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(
                module, examples, buffer, input_names=names, dynamo=False, opset_version=17
            )
            return buffer.getvalue()
        except TypeError:
            # Before there was a choice.
            torch.onnx.export(module, examples, buffer, input_names=names)
            return buffer.getvalue()
        except (RuntimeError, ImportError, ValueError, torch.onnx.errors.OnnxExporterError):
            path = Path(tempfile.mkstemp(suffix=".onnx")[1])
            try:
                torch.onnx.export(
                    module,
                    examples,
                    str(path),
                    input_names=names,
                    dynamo=True,
                    external_data=False,
                )
                return path.read_bytes()
            except (RuntimeError, torch.onnx.errors.OnnxExporterError) as error:
                first = (str(error).splitlines() or ["without a reason"])[0]
                raise Unsupported(f"PyTorch does not export this module: {first}", 41) from error
            finally:
                os.unlink(path)


def from_sb3(cls: type[Policy], model: Any, env: Any, words: dict[str, Any]) -> Policy:
    import torch

    algorithm = words.pop("algorithm", None)
    if isinstance(model, str | os.PathLike):
        model = _loaded(model, algorithm)
    elif algorithm is not None:
        raise UsageError("algorithm has no effect: an agent knows its own", 42)
    policy = model.policy.to("cpu")
    policy.set_training_mode(False)
    space = model.observation_space
    parts = dict(space.spaces) if type(space).__name__ == "Dict" else {ALONE: space}
    sizes = {name: _observation(part) for name, part in parts.items()}
    groups = {name: width for name, (width, _) in sizes.items()}
    ranges = [pair for _, pairs in sizes.values() for pair in pairs]
    is_flat = type(space).__name__ != "Dict"
    module = _Scores(policy, model.action_space, None if is_flat else groups)
    spaces = _gym_words(env)
    entries = words.pop("inputs", spaces.get("inputs"))
    outputs = words.pop("outputs", spaces.get("outputs"))
    if (entries is None) != (outputs is None):
        raise UsageError("inputs and outputs go together", 42)
    if entries is not None:
        words["inputs"] = _inputs(entries, space, _normalisation(model, env))
        words["outputs"] = outputs
        if type(model).__name__ == "MaskablePPO":
            words.setdefault("filter", True)
    examples = tuple(torch.zeros(1, width) for width in groups.values())
    exported = cls(onnx_bytes(module.module, examples, list(groups)), **words)
    if module.is_continuous:
        return exported

    def predict(rows: list[list[int]]) -> list[int]:
        observations = np.array(rows, dtype=np.float32)
        with torch.no_grad():
            return module.choices(torch.from_numpy(observations))

    compare(exported, module.outputs, ranges, predict, None if is_flat else groups)
    _compare_with_predict(model, module, space)
    return exported


def from_keras(cls: type[Policy], model: Any, words: dict[str, Any]) -> Policy:
    path = Path(tempfile.mkstemp(suffix=".onnx")[1])
    try:
        model.export(str(path), format="onnx")
        policy = cls(path.read_bytes(), **words)
    finally:
        os.unlink(path)
    width, outputs = int(model.input_shape[-1]), int(model.output_shape[-1])

    def predict(rows: list[list[int]]) -> list[int]:
        scores = model.predict(np.array(rows, dtype=np.float32), verbose=0)
        return [int(k) for k in np.argmax(scores, axis=1)]

    compare(policy, outputs, [RANGE] * width, predict)
    return policy


def _loaded(path: Any, algorithm: Any) -> Any:
    """The agent in a file of Stable-Baselines3, which does not say of which class it is."""
    if algorithm is not None and not isinstance(algorithm, str):
        return algorithm.load(path, device="cpu")
    import stable_baselines3

    kinds: dict[str, Any] = {
        name: getattr(stable_baselines3, name) for name in ("DQN", "PPO", "A2C", "SAC", "TD3")
    }
    try:
        import sb3_contrib

        for name in ("QRDQN", "MaskablePPO", "TRPO"):
            kinds[name] = getattr(sb3_contrib, name)
    except ImportError:
        pass
    if algorithm is not None:
        if algorithm not in kinds:
            raise UsageError(f"algorithm: {algorithm!r} is none of {', '.join(kinds)}", 42)
        return kinds[algorithm].load(path, device="cpu")
    for kind in kinds.values():
        try:
            return kind.load(path, device="cpu")
        except Exception:  # noqa: BLE001 - the next class may fit
            continue
    raise UsageError(
        f"{path}: no agent of {', '.join(kinds)}; give algorithm=, or the agent itself", 42
    )


def _observation(space: Any) -> tuple[int, list[tuple[int, int]]]:
    """The number of inputs of the network, and integers that each can be."""
    kind = type(space).__name__
    if kind == "Discrete":
        return int(space.n), [(0, 1)] * int(space.n)
    if kind == "MultiDiscrete":
        width = int(sum(space.nvec))
        return width, [(0, 1)] * width
    if kind == "MultiBinary":
        width = int(np.prod(space.shape))
        return width, [(0, 1)] * width
    if kind == "Box" and len(space.shape) == 1:
        ranges = []
        for low, high in zip(space.low, space.high, strict=True):
            least = int(np.ceil(max(low, RANGE[0]))) if np.isfinite(low) else RANGE[0]
            greatest = int(np.floor(min(high, RANGE[1]))) if np.isfinite(high) else RANGE[1]
            ranges.append((least, max(least, greatest)))
        return int(space.shape[0]), ranges
    raise Unsupported(
        f"observations of {space}: export the policy with torch.onnx.export, and give the file to "
        "Policy with an interface",
        41,
    )


def _inputs(entries: Any, space: Any, statistics: dict[str, dict[str, Any]]) -> Any:
    """What the network reads, of each input where there are several."""
    if type(space).__name__ != "Dict":
        return _preprocessed(entries, space, statistics.get(ALONE))
    if not isinstance(entries, Mapping) or set(entries) != set(space.spaces):
        raise UsageError(f"inputs: a dictionary with {', '.join(space.spaces)} is expected", 42)
    return {
        name: _preprocessed(entries[name], part, statistics.get(name))
        for name, part in space.spaces.items()
    }


def _preprocessed(entries: Any, space: Any, statistics: dict[str, Any] | None) -> list[Any]:
    """What the network reads, where the environment gives these."""
    entries = list(entries)
    kind = type(space).__name__
    if kind == "Discrete" and len(entries) == 1:
        entries = [f"one_hot({entries[0]}, {int(space.start)}, {int(space.start + space.n - 1)})"]
    elif kind == "MultiDiscrete" and len(entries) == len(space.nvec):
        pairs = zip(entries, space.nvec, strict=True)
        entries = [f"one_hot({entry}, 0, {int(n) - 1})" for entry, n in pairs]
    return [{"normalise": entries, **statistics}] if statistics else entries


def _normalisation(model: Any, env: Any) -> dict[str, dict[str, Any]]:
    """The statistics of VecNormalize by input, if the agent was trained with it."""
    found = model.get_vec_normalize_env() if hasattr(model, "get_vec_normalize_env") else None
    if found is None and type(env).__name__ == "VecNormalize":
        found = env
    if found is None or not found.norm_obs:
        return {}
    running = found.obs_rms if isinstance(found.obs_rms, dict) else {ALONE: found.obs_rms}
    return {
        name: {
            "mean": [float(x) for x in statistics.mean],
            "variance": [float(x) for x in statistics.var],
            "epsilon": float(found.epsilon),
            "clip": float(found.clip_obs),
        }
        for name, statistics in running.items()
    }


def _gym_words(env: Any) -> dict[str, Any]:
    """What an environment of :mod:`policert.gym` says about inputs and outputs."""
    while env is not None and not hasattr(type(env), "policy_words"):
        # Wrappers pass on every attribute that they do not have: look at their own only.
        own = vars(env)
        inner = own.get("envs") or own.get("venv") or own.get("env")
        env = inner[0] if isinstance(inner, list) else inner
    return {} if env is None else dict(env.policy_words())


class _Scores:
    """The network of an agent, from preprocessed observations to scores."""

    def __init__(self, policy: Any, space: Any, groups: dict[str, int] | None) -> None:
        import torch

        kind = type(space).__name__
        self.is_continuous = kind == "Box"
        self.heads: list[int] = []
        if kind == "Discrete":
            self.outputs = int(space.n)
        elif kind == "MultiDiscrete":
            self.heads = [int(n) for n in space.nvec]
            self.outputs = int(np.prod(space.nvec))
        elif not self.is_continuous:
            raise Unsupported(
                f"actions of {space}: an agent chooses one number, MultiDiscrete ones, or a Box", 41
            )
        scores, heads, self.groups = _forward(policy, space), self.heads, groups

        class Network(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.policy = policy

            def forward(self, *parts: Any) -> Any:
                observation = parts[0] if groups is None else dict(zip(groups, parts, strict=True))
                result = scores(self.policy, observation)
                if heads:
                    parts = torch.split(result, heads, dim=1)
                    return torch.cat([part.argmax(1, keepdim=True) for part in parts], dim=1)
                return result

        self.module = Network().eval()

    def choices(self, observations: Any) -> list[int]:
        import torch

        if self.groups is None:
            parts = [observations]
        else:
            parts = list(torch.split(observations, list(self.groups.values()), dim=1))
        result = self.module(*parts)
        if not self.heads:
            return [int(k) for k in result.argmax(dim=1)]
        combinations = list(itertools.product(*(range(n) for n in self.heads)))
        return [combinations.index(tuple(int(k) for k in row)) for row in result]


def _forward(policy: Any, space: Any) -> Callable[[Any, Any], Any]:
    """How this kind of policy computes its scores, or its action."""
    import torch

    continuous = type(space).__name__ == "Box"
    if hasattr(policy, "lstm_actor"):
        raise Unsupported(
            "a recurrent policy: put what is to be remembered into the state, as a variable of the "
            "model, and train without recurrence",
            41,
        )
    if hasattr(policy, "q_net"):
        return lambda p, x: p.q_net.q_net(p.q_net.features_extractor(x))
    if hasattr(policy, "quantile_net"):

        def mean(p: Any, x: Any) -> Any:
            net = p.quantile_net
            quantiles = net.quantile_net(net.features_extractor(x))
            return quantiles.view(-1, net.n_quantiles, int(net.action_space.n)).mean(dim=1)

        return mean
    if hasattr(policy, "actor") and continuous:

        def act(p: Any, x: Any) -> Any:
            low, high = torch.tensor(space.low), torch.tensor(space.high)
            features = p.actor.features_extractor(x)
            if hasattr(p.actor, "latent_pi"):
                action = torch.tanh(p.actor.mu(p.actor.latent_pi(features)))
            else:
                action = p.actor.mu(features)
            return low + 0.5 * (action + 1.0) * (high - low)

        return act
    if hasattr(policy, "mlp_extractor"):

        def logits(p: Any, x: Any) -> Any:
            latent = p.mlp_extractor.forward_actor(p.pi_features_extractor(x))
            action = p.action_net(latent)
            if continuous:
                low, high = torch.tensor(space.low), torch.tensor(space.high)
                action = torch.max(torch.min(action, high), low)
            return action

        return logits
    raise Unsupported(
        f"a policy of {type(policy).__name__}: export it with torch.onnx.export, and give the file to "
        "Policy with an interface",
        41,
    )


def _compare_with_predict(model: Any, module: _Scores, space: Any) -> None:
    """The network against the agent's own ``predict``."""
    import torch

    from .comparison import Difference

    space.seed(1)
    for _ in range(100):
        observation = _within_range(space.sample(), space)
        row = _preprocessed_row(observation, space)
        with torch.no_grad():
            ours = module.choices(row.reshape(1, -1))[0]
        theirs = np.atleast_1d(model.predict(observation, deterministic=True)[0])
        if module.heads:
            combinations = list(itertools.product(*(range(n) for n in module.heads)))
            expected = combinations.index(tuple(int(k) for k in theirs.reshape(-1)))
        else:
            expected = int(theirs.reshape(-1)[0])
        if ours != expected:
            raise Difference([int(x) for x in row.reshape(-1)], [ours], expected)


def _within_range(observation: Any, space: Any) -> Any:
    kind = type(space).__name__
    if kind == "Dict":
        parts = space.spaces.items()
        return {name: _within_range(observation[name], part) for name, part in parts}
    if kind == "Box":
        clipped = np.clip(np.clip(observation, *RANGE), space.low, space.high)
        return clipped.astype(space.dtype)
    return observation


def _preprocessed_row(observation: Any, space: Any) -> Any:
    """What the network reads, as Stable-Baselines3 prepares it."""
    import torch
    from stable_baselines3.common.preprocessing import preprocess_obs

    if type(space).__name__ == "Dict":
        rows = [_preprocessed_row(observation[name], part) for name, part in space.spaces.items()]
        return torch.cat(rows)
    tensor = torch.as_tensor(np.asarray(observation)[None])
    row: Any = preprocess_obs(tensor, space)
    return row.reshape(-1).float()
