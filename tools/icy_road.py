"""The road of examples/icy_road as an environment of Gymnasium that is written by hand, for comparisons with
`policert.gym.JaniEnv`."""

import pathlib

import gymnasium
import numpy as np

MODEL = pathlib.Path(__file__).resolve().parent.parent / "examples/icy_road/model.jani"
STEPS_OF_AN_EPISODE = 60
REWARDS = {"goal": 1.0, "unsafe": -1.0, "stuck": -1.0, "step": -0.02}
ACTIONS = ["accelerate", "coast", "brake"]


class Road(gymnasium.Env):
    """The icy road as its README describes it."""

    def __init__(self, icy):
        self.icy = icy
        high = np.array([30, 3], dtype=np.float32)
        self.observation_space = gymnasium.spaces.Box(np.zeros(2, np.float32), high)
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.position, self.speed, self.steps = 0, 0, 0
        if self.icy:
            self.position, self.speed = (int(x) for x in self.np_random.integers([7, 4]))
        return self.seen(), {}

    def seen(self):
        return np.array([self.position, self.speed], dtype=np.float32)

    def step(self, action):
        self.steps += 1
        speed = self.speed + {"accelerate": 1, "coast": 0, "brake": -1}[ACTIONS[action]]
        is_icy = self.icy and ACTIONS[action] == "brake" and 16 <= self.position <= 22
        speed = max(speed, 0)
        if is_icy and self.speed > 0 and self.np_random.random() < 0.25:
            speed = self.speed
        reward = REWARDS["step"]
        if speed > 3 or self.position + speed > 30:
            return self.seen(), reward + REWARDS["stuck"], True, False, {}
        self.position, self.speed = self.position + speed, speed
        if self.position >= 26:
            end = "unsafe" if self.speed >= 2 else "goal"
            return self.seen(), reward + REWARDS[end], True, False, {}
        return self.seen(), reward, False, self.steps >= STEPS_OF_AN_EPISODE, {}
