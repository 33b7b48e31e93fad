"""One file a compiler, each with a `Compiler` at its top (see `bank/compile.py`)."""
