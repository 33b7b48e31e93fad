"""The shape of the code: imports point one way, the checker stands alone, and --help stays quick."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import house

from tests.conftest import ROOT

HEAVY = {"numpy", "scipy", "numba", "matplotlib", "joblib", "jinja2", "regex"}


def test_imports_point_one_way() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_checker_uses_the_standard_library_alone() -> None:
    for path in (ROOT / "src" / "ascertain_check").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            for name in names:
                root = name.split(".")[0]
                assert root in sys.stdlib_module_names or root == "ascertain_check", f"{path.name} imports {name}"


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['ascertain', *{arguments!r}]\n"
        "from ascertain.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print('HEAVY', sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_every_word_of_the_vocabulary_resolves_to_what_type_checkers_see() -> None:
    import ascertain

    tree = ast.parse(Path(ascertain.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    names = [alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert names == ascertain.__all__
    for name in ascertain.__all__:
        assert getattr(ascertain, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ascertain.nonsense  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]  # it must not exist


@pytest.mark.parametrize("page", ["architecture.md", "glossary.md"])
def test_every_file_that_a_page_about_the_code_names_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", text))
    places = (ROOT, ROOT / "src", ROOT / "src" / "ascertain")
    assert named
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def test_few_tests_on_kinds_remain_each_with_its_reason() -> None:
    """What differs by kind of model or question stands behind the two protocols; the exceptions say why."""
    places = [
        (name, node.lineno, source.splitlines())
        for name, source in house.read_tree().items()
        if name.startswith("ascertain/")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and house.is_kind_test(node)
    ]
    assert 0 < len(places) <= 15, [f"{name}:{line}" for name, line, _ in places]
    unexplained = [
        f"{name}:{line}"
        for name, line, lines in places
        if "  # " not in lines[line - 1] and not lines[line - 2].lstrip().startswith("# ")
    ]
    assert unexplained == []


def test_every_module_constant_says_why_it_has_its_value() -> None:
    silent: list[str] = []
    for path in sorted((ROOT / "src" / "ascertain").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines, body = text.splitlines(), ast.parse(text).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=value)
                ) if name.isupper() and not name.startswith("_"):
                    # What a registry finds says what it is itself; a type variable is a name and no value.
                    registered = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
                    documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                    commented = "#" in lines[node.lineno - 1] or lines[node.lineno - 2].startswith("#")
                    if not (registered or documented or commented):
                        silent.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
                case _:
                    pass
    assert silent == []
