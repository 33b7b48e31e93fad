"""Registries: things of one sort, each found by the words that people write to choose it.

Three ways lead into a registry. Ours stand at the top of a module of one package, so that adding one means adding its
file. `register` adds one at run time. And an installed package may declare an *entry point* in the registry's group,
named like the word: it is imported when that word is looked for and nothing else answers to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Generic, TypeVar, final

from ascertain.errors import AscertainError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

T = TypeVar("T")


@final
class Registry(Generic[T]):
    """Things of the class `sort`: ours in the modules of `packages`, other people's by entry points of `group`.

    `packages` is one package or several; `words_of` says which words choose a thing.
    """

    def __init__(
        self, sort: type[T], packages: str | tuple[str, ...], group: str, words_of: Callable[[T], Iterable[str]]
    ) -> None:
        self._packages = (packages,) if isinstance(packages, str) else packages
        self._sort, self._group, self._words_of = sort, group, words_of

    @cached_property
    def _by_word(self) -> dict[str, T]:
        """Looked through when the first word is asked for: the modules of the package import this registry."""
        found = [(p, iter_modules(import_module(p).__path__)) for p in self._packages]
        modules = [import_module(f"{package}.{module.name}") for package, modules in found for module in modules]
        things = [thing for module in modules for thing in vars(module).values() if isinstance(thing, self._sort)]
        return {word: thing for thing in things for word in self._words_of(thing)}

    def __iter__(self) -> Iterator[T]:
        """Every thing once: ours, then those that were registered or loaded since."""
        return iter(dict.fromkeys(self._by_word.values()))

    def words(self) -> list[str]:
        """All words, those of other packages included; nothing is loaded for that."""
        return list(dict.fromkeys([*self._by_word, *sorted(self._entry_points().names)]))

    def register(self, thing: T) -> None:
        """Add a thing; a word that another one has is refused."""
        for word in self._words_of(thing):
            if self._by_word.setdefault(word, thing) is not thing:
                raise AscertainError(f"{self._group}: {word!r} is taken already; choose another word")

    def find(self, word: str) -> T | None:
        """The thing of that word; None when nobody has it."""
        if word not in self._by_word:
            for point in self._entry_points().select(name=word):
                self.register(self._load(point))
        return self._by_word.get(word)

    def _entry_points(self) -> EntryPoints:
        """Those of our group; looking through all packages takes a while, so it is done when somebody asks."""
        from importlib.metadata import entry_points

        return entry_points(group=self._group)

    def _load(self, point: EntryPoint) -> T:
        where = f"the entry point {point.name} = {point.value!r} of {self._group}"
        try:
            thing = point.load()
        except Exception as reason:  # whatever a package that is not ours may raise when it is imported
            raise AscertainError(f"{where} cannot be loaded: {type(reason).__name__}: {reason}") from reason
        if not isinstance(thing, self._sort) or point.name not in self._words_of(thing):
            raise AscertainError(f"{where} is no {self._sort.__name__} for {point.name!r}; its package must mend it")
        return thing
