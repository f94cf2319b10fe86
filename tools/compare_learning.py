#!/usr/bin/env python3
"""Trains DQN of Stable-Baselines3 in `policert.gym.JaniEnv` and in an environment of the same model that is
written by hand, with the same seeds, and prints both learning curves.

On a dry road with one start state there is no chance: there the curves have to be the same, and the program
fails if they are not. On the icy road each environment draws numbers of its own: the means over the seeds are
compared with their standard errors. Needs the package `policert` and Stable-Baselines3:

    python3 tools/compare_learning.py --seeds 5 --steps 8000
"""

import argparse
import json
import statistics
import sys

import policert
import torch
from icy_road import ACTIONS, MODEL, REWARDS, STEPS_OF_AN_EPISODE, Road
from policert.gym import JaniEnv
from stable_baselines3 import DQN

EVALUATIONS = 8
RUNS = 30


def road_of_jani(icy):
    """The same from its model."""
    model = json.loads(MODEL.read_text(encoding="utf-8"))
    start = "position <= 6" if icy else "position = 0 && speed = 0"
    if not icy:
        for edge in model["automata"][0]["edges"]:
            # Of two outcomes of braking the first one is that it works.
            edge["destinations"] = edge["destinations"][:1]
            edge["destinations"][0].pop("probability", None)
    return JaniEnv(
        model,
        "careful",
        actions=ACTIONS,
        rewards=REWARDS,
        max_steps=STEPS_OF_AN_EPISODE,
        goal="position >= 26",
        start=start,
        no_initial=True,
    )


def returns(agent, icy):
    """The mean return of greedy episodes, always in the environment that is written by hand."""
    env, total = Road(icy), 0.0
    for run in range(RUNS if icy else 1):
        observation, _ = env.reset(seed=run)
        over = False
        while not over:
            action, _ = agent.predict(observation, deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(int(action))
            total += reward
            over = terminated or truncated
    return total / (RUNS if icy else 1)


def curve(env, icy, seed, steps):
    """Returns after equal numbers of steps of training."""
    agent = DQN(
        "MlpPolicy",
        env,
        learning_rate=1e-3,
        learning_starts=200,
        buffer_size=steps,
        batch_size=32,
        target_update_interval=250,
        exploration_fraction=0.4,
        policy_kwargs={"net_arch": [32, 32]},
        seed=seed,
        device="cpu",
    )
    found = []
    for _ in range(EVALUATIONS):
        agent.learn(steps // EVALUATIONS, reset_num_timesteps=False)
        found.append(returns(agent, icy))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"policert {policert.version()}, {arguments.seeds} seeds; returns after steps of training")
    differs = False
    for icy in (False, True):
        curves = [
            [curve(env(icy), icy, seed, arguments.steps) for seed in range(arguments.seeds)]
            for env in (Road, road_of_jani)
        ]
        print(f"\n{'icy' if icy else 'dry'} road\n   steps  by hand  JaniEnv  standard error")
        for k in range(EVALUATIONS):
            by_hand, of_jani = ([one[k] for one in group] for group in curves)
            means = statistics.fmean(by_hand), statistics.fmean(of_jani)
            apart = [statistics.stdev(group) for group in (by_hand, of_jani)] if len(by_hand) > 1 else [0, 0]
            error = (sum(x * x for x in apart) / arguments.seeds) ** 0.5
            steps = (k + 1) * (arguments.steps // EVALUATIONS)
            print(f"{steps:8} {means[0]:8.3f} {means[1]:8.3f} {error:8.3f}")
            differs |= by_hand != of_jani if not icy else abs(means[0] - means[1]) > 4 * error + 0.05
    if differs:
        sys.exit("the curves differ")
    print("\nthe curves are the same: on the dry road exactly")


if __name__ == "__main__":
    main()
