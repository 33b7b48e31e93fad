"""Single results of a campaign as a Parquet file, for other people's tools; needs the extra `parquet`."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ascertain.errors import AscertainError, FileError
from ascertain.model.files.json_text import parse_json


def export_parquet(store: Path, path: Path) -> int:
    """Write the results of a store, nested fields as columns "runs.eager.reads"; returns how many there are."""
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise AscertainError("pyarrow is not installed; install it with: pip install 'ascertain[parquet]'") from None
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT number, data FROM result ORDER BY number").fetchall()
    except sqlite3.Error as reason:
        raise FileError(f"{store}: the results cannot be read ({reason})") from None
    flat = [{"number": number, **_flatten(_parse(store, number, text))} for number, text in rows]
    columns = dict.fromkeys(name for row in flat for name in row)
    table = arrow.table({name: [row.get(name) for row in flat] for name in columns})
    beside = path.with_name(f".{path.name}.part")
    parquet.write_table(table, beside)
    os.replace(beside, path)
    return len(rows)


def _parse(store: Path, number: object, text: object) -> object:
    if not isinstance(text, str):
        raise FileError(f"{store}: result {number} is not text; the store is damaged")
    return parse_json(text, f"{store}: result {number}")


def _flatten(value: object, prefix: str = "") -> dict[str, Any]:
    """Nested tables by dotted names; lists stay as they are."""
    if not isinstance(value, dict):
        return {prefix or "result": value}
    flat: dict[str, Any] = {}
    for key, item in cast("dict[str, Any]", value).items():
        flat |= _flatten(item, f"{prefix}.{key}" if prefix else key)
    return flat
