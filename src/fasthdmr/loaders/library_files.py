"""Models from files that xgboost, LightGBM and CatBoost write. Reading them runs no code from the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fasthdmr import _core
from fasthdmr._forest.forest import Forest
from fasthdmr._support.optional import require
from fasthdmr.loaders import catboost_models, lightgbm_models, xgboost_models
from fasthdmr.loaders.checks import checked
from fasthdmr.loaders.trees import Trees


def kind_of_file(start: bytes) -> str:
    r"""Return "JSON", "LightGBM", "CatBoost" or "old xgboost" by the first bytes of a file; "" for any other.

    Examples
    --------
    >>> kind_of_file(b' {"learner":'), kind_of_file(b"tree\nversion=v4"), kind_of_file(b"tree,age\n1,2")
    ('JSON', 'LightGBM', '')
    """
    if start.lstrip().startswith((b"{", b"[")):
        return "JSON"
    if start.split(b"\n", 1)[0].rstrip() == b"tree":
        return "LightGBM"
    return {b"CBM1": "CatBoost", b"binf": "old xgboost"}.get(start[:4], "")


def read_library_file(path: Path) -> Forest:
    """Read the trees of a model with which its library predicts after loading the same file.

    Parameters
    ----------
    path : Path
        A file of xgboost (JSON or UBJSON), LightGBM (text) or CatBoost (binary or JSON). Its content, not its name,
        decides which.

    Raises
    ------
    ValueError
        If the file is damaged or of another kind, or if its model is not supported. The message names the path.
    ImportError
        If it is in CatBoost's binary format, and catboost is not installed.
    """
    try:
        return checked(_read(path)).forest()
    except (ImportError, OSError):
        raise
    except (KeyError, IndexError) as error:
        raise ValueError(f"{path} cannot be loaded: the model is damaged, it has no {error}.") from error
    except Exception as error:  # reading a damaged file can raise any error
        raise ValueError(f"{path} cannot be loaded: {error}") from error


def _read(path: Path) -> Trees:
    content = path.read_bytes()
    kind = kind_of_file(content[:100])
    if kind == "CatBoost":
        return catboost_models.read_model(_catboost_model(path))
    if kind == "LightGBM":
        return lightgbm_models.of_text(content)
    if kind == "old xgboost":
        raise ValueError(
            "It is in the binary format of old versions of xgboost. Load it with xgboost before 3.1 and save it "
            "again as .ubj or .json."
        )
    library, arrays, document = _core.read_document(content)
    if library == "xgboost":
        return xgboost_models.of_document(arrays, document)
    return catboost_models.of_document(arrays, document)


def _catboost_model(path: Path) -> Any:
    return require("catboost", extra="catboost").CatBoost().load_model(str(path))
