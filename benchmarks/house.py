"""How large the house is: `python benchmarks/house.py` for the work tree, `... REVISION` for a commit of the past.

Counted of `src/ascertain`, and of the packages beside it where they exist: lines; lines of code (without docstrings,
comments and blank lines); files; public names (functions, classes and constants at the top of a module, methods not
counted, whose names begin with no underscore); modules that exactly one other module imports; comment and docstring
lines; `isinstance` tests on kinds of models or of questions.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    *("Model", "AbstractModel", "AbstractMachine", "Machine", "NoisyMachine", "HiddenModel", "BooleanPlant"),
    *("BooleanNetwork", "Question", "AbstractQuestion", "Task", "PlantTask", "HiddenTask"),
    *("Problem", "HiddenProblem", "AnyProblem"),
}
SUFFIXES = (".py", ".pyi")
"""The vocabulary is a stub."""
NOT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def main() -> None:
    sources = read_tree() if len(sys.argv) == 1 else read_revision(sys.argv[1])
    for package in ("ascertain", "ascertain_check", "ascertain_paper"):
        inside = {name: text for name, text in sources.items() if name.split("/")[0] == package}
        if inside:
            print(package)
            for what, number in measure(inside).items():
                print(f"  {what:<30}{number:>8,}")


def read_tree() -> dict[str, str]:
    source = ROOT / "src"
    return {
        path.relative_to(source).as_posix(): path.read_text("utf-8")
        for path in source.rglob("*.py*")
        if path.suffix in SUFFIXES
    }


def read_revision(revision: str) -> dict[str, str]:
    command = ["git", "archive", revision, "src"]
    archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        members = [m for m in files.getmembers() if m.name.endswith(SUFFIXES)]
        return {m.name.removeprefix("src/"): files.extractfile(m).read().decode() for m in members}


def measure(sources: dict[str, str]) -> dict[str, int]:
    """The figures of one package."""
    total: Counter[str] = Counter({"files": len(sources)})
    importers: Counter[str] = Counter()
    modules = {name.rsplit(".", 1)[0].removesuffix("/__init__").replace("/", ".") for name in sources}
    for text in sources.values():
        tree = ast.parse(text)
        importers.update(imported(tree) & modules)
        doc, code, comments = lines_of(text, tree)
        total.update({"lines": text.count("\n"), "lines of code": code})
        total.update({"docstring lines": doc, "comment lines": comments})
        total["public names"] += sum(len(public_names(node)) for node in tree.body)
        total["isinstance on kinds"] += sum(is_kind_test(node) for node in ast.walk(tree))
    total["modules with one importer"] = sum(number == 1 for number in importers.values())
    order = ("lines", "lines of code", "files", "public names", "modules with one importer")
    return {what: total[what] for what in (*order, "docstring lines", "comment lines", "isinstance on kinds")}


def imported(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def lines_of(text: str, tree: ast.Module) -> tuple[int, int, int]:
    """How many lines are docstrings, code and comments."""
    doc: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            doc |= set(range(node.lineno, node.end_lineno + 1))
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        comments += token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
        if token.type not in NOT_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(doc), len(code - doc), comments


def public_names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            names = [name]
        case ast.Assign(targets=targets):
            names = [t.id for t in targets if isinstance(t, ast.Name)]
        case _:
            names = []
    return [name for name in names if not name.startswith("_")]


def is_kind_test(node: ast.AST) -> bool:
    """Whether a node is `isinstance(x, KIND)`, for a kind of models or questions, or a union with one."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            return any(isinstance(part, ast.Name) and part.id in KINDS for part in ast.walk(kinds))
        case _:
            return False


if __name__ == "__main__":
    main()
