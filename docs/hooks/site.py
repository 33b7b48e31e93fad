"""What the site has beyond the pages of `docs/`: the tutorials with their output, and pages of the repository.

Pages link to files of the repository as a forge wants it, `../examples/plants/lamp.py`. In the site the few pages in
`PAGES` stand beside the others, a link to a tutorial leads to its page, and other files that are linked to are copied.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from percent import render

import ascertain

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/RESULTS.md")
LINK = re.compile(r"(?<=\]\()(?P<target>[^)#:\s]+)(?P<anchor>#[^)\s]*)?(?=\))")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

log = logging.getLogger("mkdocs.hooks.ascertain")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and check that the vocabulary is documented."""
    _check_vocabulary()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        for path in sorted((DOCS / "tutorials").glob("*.py")):
            page = f"{render(path, Path(folder))}\n[This tutorial as a file]({path.name}): a notebook and a script.\n"
            files.append(File.generated(config, f"tutorials/{path.stem}.md", content=page))
    for name in PAGES:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    for name in sorted(_linked_files(files)):
        files.append(File.generated(config, f"repository/{name}", abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links of a forge to where things are in the site."""
    here = page.file.src_uri

    def lead(match: re.Match[str]) -> str:
        name = _in_repository(here, match["target"])
        if name is None:
            return match[0]
        if name.startswith("docs/"):
            target = name.removeprefix("docs/")
            target = f"{target.removesuffix('.py')}.md" if _is_tutorial(name) else target
        else:
            target = name if name in PAGES else f"repository/{name}"
        return relpath(target, str(PurePosixPath(here).parent)) + (match["anchor"] or "")

    return _outside_code(markdown, lambda text: LINK.sub(lead, text))


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Apply a change to what is no block of code."""
    parts, at = list[str](), 0
    for block in CODE.finditer(markdown):
        parts += [change(markdown[at : block.start()]), block[0]]
        at = block.end()
    return "".join([*parts, change(markdown[at:])])


def _in_repository(here: str, target: str) -> str | None:
    """The name in the repository of what a page links to; None where it needs no change."""
    base = PurePosixPath(here).parent if here in PAGES else PurePosixPath("docs") / PurePosixPath(here).parent
    name = normpath(str(base / target))
    here_stays = here.startswith("tutorials/") and PurePosixPath(here).stem == PurePosixPath(name).stem
    changes = here in PAGES or not name.startswith("docs/") or (_is_tutorial(name) and not here_stays)
    return name if changes and (ROOT / name).is_file() else None


def _is_tutorial(name: str) -> bool:
    """Whether a file is a tutorial, whose page has the same name and shows what it prints."""
    return PurePosixPath(name).match("docs/tutorials/*.py")


def _linked_files(files: Files) -> set[str]:
    """Files of the repository, pages and `docs/` apart, that pages link to."""
    found: set[str] = set()
    for file in files.documentation_pages():
        text = CODE.sub("", file.content_string)
        names = {_in_repository(file.src_uri, match["target"]) for match in LINK.finditer(text)}
        found |= {name for name in names if name is not None and name not in PAGES and not name.startswith("docs/")}
    return found


def _check_vocabulary() -> None:
    """Warn, which a strict build refuses, of every public name without a docstring or a place in the reference."""
    shown = set(re.findall(r"^::: ascertain\.(\w+)$", "".join(_read_reference()), re.MULTILINE))
    for name in ascertain.__all__:
        if name != "__version__" and name not in shown:
            log.warning("%s is public, but no page of docs/api/ shows it", name)
        elif not (getattr(ascertain, name).__doc__ or "").strip():
            log.warning("%s is public and has no docstring", name)
    for name in sorted(shown - set(ascertain.__all__)):
        log.warning("docs/api/ shows %s, which is no name of ascertain", name)


def _read_reference() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((DOCS / "api").glob("*.md"))]
