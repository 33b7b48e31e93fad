"""Single results of a campaign as a Parquet file, for other people's tools; needs the extra `parquet`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

from ascertain.errors import FileError, import_extra
from ascertain_paper.campaign.store import Store


def import_parquet() -> tuple[Any, Any]:
    """The packages that write Parquet; whoever will need them asks before there is anything to lose."""
    return import_extra("pyarrow", "parquet"), import_extra("pyarrow.parquet", "parquet")


def export_parquet(store: Store, path: Path) -> None:
    """Write the results of a store, nested fields as columns "runs.eager.reads"."""
    arrow, parquet = import_parquet()
    rows = [{"number": number, **_flatten(result)} for number, result in store.results()]
    columns = dict.fromkeys(name for row in rows for name in row)
    beside = path.with_name(f".{path.name}.part")
    try:
        parquet.write_table(arrow.table({name: [row.get(name) for row in rows] for name in columns}), beside)
        os.replace(beside, path)
    except (OSError, arrow.ArrowException) as reason:
        beside.unlink(missing_ok=True)
        raise FileError(f"{path}: the results cannot be written ({reason})") from None


def _flatten(value: object, prefix: str = "") -> dict[str, Any]:
    """Nested tables by dotted names; lists stay as they are."""
    if not isinstance(value, dict):
        return {prefix or "result": value}
    flat: dict[str, Any] = {}
    for key, item in cast("dict[str, Any]", value).items():
        flat |= _flatten(item, f"{prefix}.{key}" if prefix else key)
    return flat
