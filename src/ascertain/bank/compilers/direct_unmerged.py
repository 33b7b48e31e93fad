"""The direct compiler as the paper has it: every partial path by itself, stopped by the admissible bound alone.

It shares probe, bound, proof and fallback with `direct.py`, where paths that have the same future are merged. A node is
laid for every alternative of every path, so that it takes more memory, and a proof comes where the probe meets enough
shells before its evaluations are spent.
"""

from __future__ import annotations

from functools import partial

from ascertain.bank.compile import Compiler
from ascertain.bank.compilers.direct import DEFAULT_SHELLS, compile_direct

DIRECT_UNMERGED = Compiler("direct-unmerged", partial(compile_direct, merges=False), DEFAULT_SHELLS)
