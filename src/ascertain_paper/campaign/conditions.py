"""Under what conditions a study is run: the testbed, the engine, quick or full, and where results are kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, final

from ascertain.types import Progress
from ascertain_paper.campaign.campaign import CHUNK, Case, run_campaign
from ascertain_paper.campaign.engines import Engine
from ascertain_paper.campaign.frozen import freeze_settings
from ascertain_paper.campaign.parquet import export_parquet
from ascertain_paper.campaign.store import Store, create_store, open_store
from ascertain_paper.testbed.settings import Settings, parse_settings
from ascertain_paper.testbed.testbed import Testbed, make_testbed


@final
@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What is the same for all studies of one call."""

    settings: Settings
    engine: Engine
    quick: bool = True
    exhaustive: bool = False
    """Whether compilers are compared on every operation, the slow ones too."""
    folder: Path | None = None
    """Where stores are kept, all of the same settings; None: nowhere."""
    resume: bool = False
    parquet: bool = False
    """Whether single results are written beside their store as Parquet too."""
    models: Path | None = None
    """A folder of machines, for the study of the open world; None: machines of our own."""
    progress: Callable[[str], Progress] | None = None
    """Given what is counted, what to call as it goes on."""

    @property
    def testbed(self) -> Testbed:
        return testbed_of(self.settings.text)

    @property
    def form(self) -> str:
        return "quick" if self.quick else "full"

    def counting(self, what: str) -> Progress | None:
        """The callback that counts this."""
        return None if self.progress is None else self.progress(what)

    def freeze(self) -> None:
        """Freeze the settings in the folder, or refuse, before anything is evaluated for it."""
        if self.folder is not None:
            freeze_settings(self.folder, self.settings)

    def campaign(
        self,
        study: str,
        function: Callable[[Case], Any],
        cases: Sequence[Case],
        what: str,
        *,
        engine: Engine | None = None,
        chunk: int = CHUNK,
        measured: int = 1,
    ) -> list[Any]:
        """The results of a study on all cases, kept in its store; `what` is counted. The engine is that of the call,
        unless another is given; the rest is as for `run_campaign` and `store`."""
        with self.store(study, measured) as store:
            progress = self.counting(what)
            return run_campaign(function, cases, engine or self.engine, store=store, chunk=chunk, progress=progress)

    @contextmanager
    def store(self, study: str, measured: int = 1) -> Generator[Store | None]:
        """The store of a study: a new one, one that is resumed, or None where results are not kept.

        `measured` grows when a study's results come to mean something else: those of an earlier number are refused.
        """
        if self.folder is None:
            yield None
            return
        self.freeze()
        name = f"{study}-{self.form}"
        about = {"study": name, "settings": self.settings.hash}
        if measured > 1:  # stores of version 0.1.0 say nothing, and are of the first
            about["measured"] = str(measured)
        path = self.folder / f"{name}.sqlite"
        with open_store(path, about) if self.resume and path.exists() else create_store(path, about) as store:
            yield store
            if self.parquet:
                export_parquet(store, path.with_suffix(".parquet"))


@lru_cache(maxsize=4)
def testbed_of(text: str) -> Testbed:
    """The testbed of a settings text, drawn once in a process: cases of campaigns carry the text."""
    return make_testbed(parse_settings(text, "settings"))
