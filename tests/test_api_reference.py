"""The API reference lists all that is public, and describes all that objects have."""

import dataclasses
import inspect
import re
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc
from sklearn.svm import SVR
from test_docstrings import public_modules

import fasthdmr

PAGE = Path(__file__).parents[1] / "docs" / "api.rst"
LISTED = re.findall(r"^   ([A-Za-z]\w*(?:\.\w+)*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in public_modules()
    for name in module.__all__
    if not inspect.ismodule(getattr(module, name))
}
CLASSES = {thing.__name__: thing for thing in PUBLIC.values() if inspect.isclass(thing)}

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
FITTED = {
    "TreeHDMR": fasthdmr.TreeHDMR(random_state=0),
    "HDMR": fasthdmr.HDMR(),
    "KernelHDMR": fasthdmr.KernelHDMR(SVR(kernel="poly", degree=2).fit(X, X[:, 0])),
}


def listed_objects():
    return [resolve_name(f"fasthdmr:{name}") for name in LISTED]


def described(thing):
    """Return the names in the sections Parameters and Attributes of the class and of its bases."""
    names = set()
    for base in inspect.getmro(thing):
        if base.__module__.startswith("fasthdmr") and base.__doc__:
            document = ClassDoc(base)
            for field in (*document["Parameters"], *document["Attributes"]):
                names.update(re.split(r",\s*", field.name))
    return names


def test_each_public_name_is_listed():
    listed = listed_objects()
    missing = [name for name, thing in PUBLIC.items() if not any(thing is one for one in listed)]
    assert not missing


def test_each_listed_name_is_public_and_listed_once():
    assert [name for name in LISTED if f"fasthdmr.{name}" not in PUBLIC] == []
    assert len(LISTED) == len(set(map(id, listed_objects())))


@pytest.mark.parametrize("name", [name for name, thing in CLASSES.items() if dataclasses.is_dataclass(thing)])
def test_fields_are_described(name):
    fields = {field.name for field in dataclasses.fields(CLASSES[name]) if not field.name.startswith("_")}
    properties = {field for field in fields if isinstance(inspect.getattr_static(CLASSES[name], field, None), property)}
    assert fields - properties <= described(CLASSES[name])


@pytest.mark.parametrize("name", FITTED)
def test_attributes_of_fitted_estimators_are_described(name):
    fitted = FITTED[name].fit(X, X[:, 0] * X[:, 1])
    attributes = {attribute for attribute in vars(fitted) if not attribute.startswith("_")}
    assert attributes <= described(type(fitted))
