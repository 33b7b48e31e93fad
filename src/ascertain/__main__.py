"""`python -m ascertain` is `ascertain`."""

from __future__ import annotations

from ascertain.cli.main import main

if __name__ == "__main__":
    main()
