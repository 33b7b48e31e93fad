"""Addresses that are URLs."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split_url(address: str, *schemes: str) -> SplitResult | None:
    """The parts of an address of one of these schemes that names a host; None where it is none."""
    try:
        parts = urlsplit(address)
        return parts if parts.scheme in schemes and parts.hostname and parts.port != 0 else None
    except ValueError:
        return None
