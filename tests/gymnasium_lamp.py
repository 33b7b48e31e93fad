"""A lamp as a Gymnasium environment, which goes wrong at its step number `at` if it is told to."""

import time
from typing import Any

import gymnasium
import numpy as np


class Lamp(gymnasium.Env[Any, Any]):
    def __init__(self, lit: bool = True, at: int = 0, mode: str = "", seconds: float = 0.0) -> None:
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Box(-1e6, 1e6, (2,), np.float64)
        self.begins, self.at, self.mode, self.seconds = lit, at, mode, seconds

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.lit, self.steps = self.begins, 0
        return self.see(), {"seed": seed}

    def see(self) -> Any:
        return np.array([120.5 if self.lit else 0.3, 21.0])

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        mode = self.mode if self.steps == self.at else ""
        if mode == "gone":
            raise ConnectionResetError("the simulator has died")
        if mode == "bug":
            raise ZeroDivisionError("a bug")
        self.lit ^= bool(action)
        if mode == "slow":
            time.sleep(self.seconds)
        info = {"part": np.int64(3), "deep": {"x": (1, np.float32(0.5))}}
        seen = self.see()
        if mode == "nan":
            seen = np.array([np.nan, 0.0])
        if mode == "odd":
            seen = "bright"
        return seen, float(self.lit), mode == "end", False, info


gymnasium.register("AscertainLamp-v0", entry_point=f"{__name__}:Lamp")
