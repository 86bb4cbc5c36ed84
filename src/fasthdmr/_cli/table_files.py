"""Tables as the content of files: CSV, JSON and parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

from fasthdmr._support.optional import require

FORMATS = ("csv", "json", "parquet")


def table_files(
    tables: Mapping[str, Any], kind: str | None, facts: Mapping[str, Any] | None = None
) -> dict[str, bytes]:
    """Return the files of tables by name. All tables and the facts are in one file of JSON, named as the first table.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    kind : {"csv", "json", "parquet"} or None
        None: CSV and JSON.
    facts : mapping of str to value, optional
        What else the file of JSON holds.

    Returns
    -------
    dict of str to bytes
    """
    files: dict[str, bytes] = {}
    if kind in (None, "csv"):
        files |= {f"{name}.csv": csv_text(frame).encode("utf-8", "backslashreplace") for name, frame in tables.items()}
    if kind in (None, "json"):
        content = dict(facts or {}) | {name: _records(frame) for name, frame in tables.items()}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        files[f"{next(iter(tables))}.json"] = text.encode("utf-8", "backslashreplace")
    if kind == "parquet":
        files |= {f"{name}.parquet": _parquet(frame) for name, frame in tables.items()}
    return files


def file_names(tables: tuple[str, ...], kind: str | None) -> list[str]:
    """Return the names of the files of `table_files`."""
    kinds = ("csv", "json") if kind is None else (kind,)
    names = [f"{name}.{one}" for one in kinds if one != "json" for name in tables]
    return names + [f"{tables[0]}.json"] * ("json" in kinds)


def csv_text(frame: Any) -> str:
    """Return a table as CSV."""
    # Fields with carriage returns are quoted only if ends of lines have them, too.
    text: str = frame.to_csv(index=False, lineterminator="\r\n").replace("\r\n", "\n")
    return text


def _records(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a table for JSON."""
    if "subspace" in frame:
        frame = frame.assign(subspace=_lists(frame["subspace"]))
    records: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return records


def _parquet(frame: Any) -> bytes:
    """Return a table as parquet: subspaces as lists, and levels, which may be of several types, as text."""
    require("pyarrow", extra="arrow")
    columns = {}
    for name, column in frame.items():
        if name in ("level", "values"):
            columns[name] = column.astype(object).map(str, na_action="ignore")
        elif name == "subspace":
            columns[name] = _lists(column)
        else:
            columns[name] = column
    content = io.BytesIO()
    frame.assign(**columns).to_parquet(content, engine="pyarrow", index=False)
    return content.getvalue()


def _lists(column: Any) -> Any:
    """Return subspaces, which are text in tables, as lists of indices."""
    return column.map(lambda text: [int(index) for index in text.split(" & ") if index], na_action="ignore")
