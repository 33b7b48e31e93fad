"""The version, which every result and certificate records; the package takes its own from here."""

__version__ = "0.2.0"
