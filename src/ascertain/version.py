"""The version, which every result and certificate records."""

from importlib.metadata import version

__version__ = version("ascertain")
