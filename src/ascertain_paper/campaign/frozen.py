"""A folder of results belongs to one set of settings, which are frozen in it when the first evaluation begins.

They are kept there as they were read, so that the folder also says what its results were made with. Whoever changed
them since has another study, which is refused unless it is given a name, and with it a folder of its own.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from ascertain.errors import FileError
from ascertain.model.files.text import read_text
from ascertain.writing import write_whole
from ascertain_paper.testbed.settings import Settings

FROZEN = "frozen-settings.toml"


def freeze_settings(folder: Path, settings: Settings) -> None:
    """Freeze the settings in the folder; refuse when others are."""
    path = folder / FROZEN
    if not path.exists():
        write_whole(path, settings.text.encode())
        return
    found = sha256(read_text(path).encode()).hexdigest()
    if found != settings.hash:
        raise FileError(
            f"{folder}: evaluation began there with settings {found:.12}, and these are {settings.hash:.12}; settings "
            "are frozen once evaluation began: name a new study with --study NAME, or give another folder with --out"
        )


def name_folder(folder: Path, study: str) -> Path:
    """The folder of a study with that name, within the folder of all; itself when there is no name."""
    if study and not re.fullmatch(r"[A-Za-z0-9_-]+", study):
        raise FileError(f"--study: {study!r} is no name for a study; letters, digits, - and _ are")
    return folder / study if study else folder
