#!/usr/bin/env python3
"""Measures how many steps a second environments of the same model make, each in this process, by processor time:
`policert.gym.JaniEnv`, `JaniVectorEnv`, an environment that is written by hand, and that of MoGym, where `momba` is
installed (`pip install "momba[gym]"`):

    python3 tools/measure_environments.py --steps 200000
"""

import argparse
import json
import time

import numpy as np
from icy_road import ACTIONS, MODEL, Road
from policert.gym import JaniEnv, JaniVectorEnv

ENVIRONMENTS = 64


def rate(steps, run):
    """Steps a second of processor time: the best of three."""
    best = 0.0
    for _ in range(3):
        begin = time.process_time()
        run()
        best = max(best, steps / (time.process_time() - begin))
    return best


def gymnasium_rate(env, steps):
    def run():
        env.reset(seed=1)
        step, reset = env.step, env.reset
        for k in range(steps):
            _, _, terminated, truncated, _ = step(k % len(ACTIONS))
            if terminated or truncated:
                reset()

    return rate(steps, run)


def vector_rate(steps):
    env = JaniVectorEnv(str(MODEL), "careful", num_envs=ENVIRONMENTS)
    actions = np.arange(ENVIRONMENTS) % len(ACTIONS)

    def run():
        env.reset(seed=1)
        for _ in range(steps):
            env.step(actions)

    return rate(steps * ENVIRONMENTS, run)


def mogym_rate(steps):
    from momba import gym, jani

    model = json.loads(MODEL.read_text(encoding="utf-8"))
    slow = {"op": "<", "left": "speed", "right": 2}
    yard = {"op": "≥", "left": "position", "right": 26}
    on_the_road = {"op": "∨", "left": {"op": "¬", "exp": yard}, "right": slow}
    until = {"op": "U", "left": on_the_road, "right": yard}
    greatest = {"op": "filter", "fun": "max", "values": {"op": "Pmax", "exp": until}}
    expression = {**greatest, "states": {"op": "initial"}}
    model["properties"] = [{"name": "yard", "expression": expression}]
    network = jani.load_model(json.dumps(model))
    (instance,) = network.instances
    env = gym.create_generic_env(
        network, instance, "yard", actions=gym.generic.Actions.EDGE_BY_LABEL
    )

    def run():
        env.reset()
        for k in range(steps):
            # What is not applicable ends an episode in the others.
            actions = env.available_actions
            if env.is_done or not actions[k % len(actions)]:
                env.reset()
            else:
                env.step(k % len(actions))

    return rate(steps, run)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--steps", type=int, default=200_000)
    steps = parser.parse_args().steps
    rates = {
        "JaniEnv": gymnasium_rate(JaniEnv(str(MODEL), "careful"), steps),
        f"JaniVectorEnv, {ENVIRONMENTS} episodes": vector_rate(max(steps // 10, 1)),
        "written by hand": gymnasium_rate(Road(icy=True), steps),
    }
    try:
        rates["MoGym"] = mogym_rate(max(steps // 10, 1))
    except ImportError as error:
        print(f"MoGym is left out: {error}")
    for name, steps_a_second in rates.items():
        print(f"{name}: {steps_a_second:,.0f} steps a second")


if __name__ == "__main__":
    main()
