"""Docstrings of everything public are complete: numpydoc's validation."""

import inspect
import sys
from dataclasses import is_dataclass
from importlib import import_module
from pkgutil import iter_modules

import pytest
from numpydoc.validate import validate

import fasthdmr

# Of numpydoc's checks we leave out: further paragraphs, "See Also", names of returns, and descriptions of returns,
# because type and shape are often sufficient. GL01 forbids a summary beside the quotes in versions before 1.11.
NOT_ASKED = {"ES01", "SA01", "RT02", "RT03", "GL01"}
# The methods that people call most have examples.
WITH_EXAMPLES = {
    f"fasthdmr.{name}.{method}"
    for name in ("Forest", "HDMR", "KernelHDMR", "Sensitivity", "TreeHDMR")
    for method in (
        *("component", "evaluate", "explain", "explained", "fidelity", "level_set", "order_for", "predict"),
        *("residual", "score", "shapley_interactions", "shapley_values", "to_frame", "transform"),
    )
}


def public_modules():
    """Return the modules that people import from."""
    names = [info.name for info in iter_modules(fasthdmr.__path__) if not info.name.startswith("_")]
    return [fasthdmr, *(import_module(f"fasthdmr.{name}") for name in names)]


def is_ours(member):
    """Return whether a member of a class is written here, not inherited from scikit-learn or Python."""
    function = getattr(member, "fget", getattr(member, "func", getattr(member, "__func__", member)))
    return callable(function) and getattr(function, "__module__", "").startswith("fasthdmr")


def public_names():
    """Yield the full names of all public classes, functions, methods and properties."""
    for module in public_modules():
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or not callable(thing):
                continue
            yield f"{module.__name__}.{name}"
            if inspect.isclass(thing):
                for attribute in dir(thing):
                    if not attribute.startswith("_") and is_ours(inspect.getattr_static(thing, attribute)):
                        yield f"{module.__name__}.{name}.{attribute}"


NAMES = sorted(set(public_names()))


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_public_modules_list_what_is_public(module):
    assert module.__all__ and not any(name.startswith("_") for name in module.__all__)
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert not missing


@pytest.mark.parametrize("name", NAMES)
def test_docstring(name):
    module, _, attribute = name.rpartition(".")
    left_out = set(NOT_ASKED) if name in WITH_EXAMPLES else {*NOT_ASKED, "EX01"}
    if is_dataclass(getattr(sys.modules.get(module), attribute, None)):
        left_out.add("PR01")  # fields are described as attributes
    errors = [f"{code}: {text}" for code, text in validate(name)["errors"] if code not in left_out]
    assert not errors
