"""`python -m ascertain` is `ascertain`."""

import os
import signal


def main() -> None:
    """Load the command line and run it; Ctrl-C is clean already while it loads."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and not ignored, as in the background
        signal.signal(signal.SIGINT, _leave)
    from ascertain.cli.main import main as run  # a tenth of a second, in which Ctrl-C may come

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _leave(*_: object) -> None:
    os.write(2, b"ascertain: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
