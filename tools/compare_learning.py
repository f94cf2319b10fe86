#!/usr/bin/env python3
"""Trains DQN of Stable-Baselines3 in `policert.gym.JaniEnv` and in an environment of the same model that is
written by hand, with the same seeds, and prints both learning curves.

On a dry road with one start state there is no chance: there the curves have to be the same, and the program
fails if they are not. On the icy road each environment draws numbers of its own. The table has means and standard
deviations over the seeds, and for the difference of the means an interval (95 %, by resampling the seeds) and the
share of permutations of the trainings between the two sides that differ at least as much (p). One p is about the
whole curve: the greatest difference over all steps, in standard errors, so that looking at several steps is
accounted for. The program fails if that p is below 0.01. Needs the package `policert` and Stable-Baselines3:

    python3 tools/compare_learning.py --seeds 10 --steps 8000
"""

import argparse
import json
import sys

import numpy as np
import policert
import torch
from icy_road import ACTIONS, MODEL, REWARDS, STEPS_OF_AN_EPISODE, Road
from policert.gym import JaniEnv
from stable_baselines3 import DQN

EVALUATIONS = 8
RUNS = 30
# Without chance there is nothing to learn from more of them.
SEEDS_OF_THE_DRY_ROAD = 2
# Permutations and resamples that are drawn.
DRAWN = 20_000
# The curves differ if permutations differ as much with at most this probability.
DOUBT = 0.01


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
    # The agent is asked once for all observations.
    sizes = env.observation_space.high.astype(int) + 1
    every = np.indices(sizes).reshape(len(sizes), -1).T.astype(np.float32)
    actions = agent.predict(every, deterministic=True)[0].reshape(sizes)
    for run in range(RUNS if icy else 1):
        observation, _ = env.reset(seed=run)
        over = False
        while not over:
            action = int(actions[tuple(observation.astype(int))])
            observation, reward, terminated, truncated, _ = env.step(action)
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


def standardised(first, second):
    """The difference of the means at each step, in standard errors; 0 where nothing varies. The axis before
    the last one is that of the trainings."""
    apart = second.mean(-2) - first.mean(-2)
    spread = first.var(-2, ddof=1) / first.shape[-2] + second.var(-2, ddof=1) / second.shape[-2]
    return apart / np.sqrt(np.maximum(spread, 1e-12))


def permutation_test(by_hand, of_jani):
    """The shares of permutations that differ at least as much: at each step, and over the whole curve."""
    numbers = np.random.default_rng(1)
    both, count = np.concatenate([by_hand, of_jani]), len(by_hand)
    order = numbers.permuted(np.tile(np.arange(len(both)), (DRAWN, 1)), axis=1)
    drawn = np.abs(standardised(both[order[:, :count]], both[order[:, count:]]))
    # What was found is one of the permutations.
    found = np.abs(standardised(by_hand, of_jani))
    steps = (1 + (drawn >= found - 1e-9).sum(0)) / (1 + DRAWN)
    curve_as_far = drawn.max(1) >= found.max() - 1e-9
    return steps, (1 + curve_as_far.sum()) / (1 + DRAWN)


def interval(by_hand, of_jani):
    """By step, where 95 % of the differences of means lie if the seeds are drawn again."""
    numbers = np.random.default_rng(2)
    count = len(by_hand)
    first, second = (numbers.integers(count, size=(DRAWN, count)) for _ in range(2))
    apart = of_jani[second].mean(1) - by_hand[first].mean(1)
    return np.quantile(apart, [0.025, 0.975], axis=0)


def show(name, by_hand, of_jani, steps):
    """Prints the table of a road; the probability of the whole curve's difference."""
    by_step, of_curve = permutation_test(by_hand, of_jani)
    low, high = interval(by_hand, of_jani)
    print(f"\n{name} road\n   steps        by hand        JaniEnv  difference, 95 %        p")
    for k in range(EVALUATIONS):
        cells = [f"{group[:, k].mean():7.3f} ±{group[:, k].std(ddof=1):6.3f}" for group in (by_hand, of_jani)]
        at = (k + 1) * (steps // EVALUATIONS)
        print(f"{at:8} {'  '.join(cells)}  [{low[k]:6.3f}, {high[k]:6.3f}]  {by_step[k]:7.3f}")
    area = [float(group.mean()) for group in (by_hand, of_jani)]
    print(f"means of the curves: {area[0]:.3f} and {area[1]:.3f}; p of the whole curve: {of_curve:.3f}")
    return of_curve


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=8000)
    arguments = parser.parse_args()
    if arguments.seeds < 2 or arguments.steps < EVALUATIONS:
        parser.error(f"at least 2 seeds and {EVALUATIONS} steps are needed")
    torch.set_num_threads(1)
    print(f"policert {policert.version()}, {arguments.seeds} seeds; returns after steps of training, mean ± deviation")
    for icy in (False, True):
        seeds = arguments.seeds if icy else SEEDS_OF_THE_DRY_ROAD
        by_hand, of_jani = (
            np.array([curve(env(icy), icy, seed, arguments.steps) for seed in range(seeds)])
            for env in (Road, road_of_jani)
        )
        likely = show("icy" if icy else "dry", by_hand, of_jani, arguments.steps)
        if not icy and not np.array_equal(by_hand, of_jani):
            sys.exit("the curves of the dry road differ")
        if icy and likely < DOUBT:
            sys.exit("the curves of the icy road differ")
    print("\nOn the dry road the curves are the same; on the icy road they do not differ more than chance explains.")


if __name__ == "__main__":
    main()
