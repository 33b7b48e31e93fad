"""A test bench in a few lines: a lamp behind a light meter."""


class Bench:
    identity = "bench 4"

    def __init__(self) -> None:
        self.lit = True

    def send(self, command: str) -> float | bool:
        if command == "toggle":
            self.lit = not self.lit
            return True
        return 118.5 if self.lit else 0.4  # lux
