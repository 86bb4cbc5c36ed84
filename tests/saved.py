"""Saved decompositions for tests: files in memory, their parts, and the comparison with the estimator."""

import io
import json
import zipfile

import numpy as np

import fasthdmr


def content_of(hdmr):
    """The file of an estimator."""
    file = io.BytesIO()
    hdmr.save(file)
    return file.getvalue()


def loaded(content):
    return fasthdmr.load_decomposition(io.BytesIO(content))


def parts_of(content):
    """The document of a file, and its arrays in NumPy's format, by the names of the members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("document.json")), members


def with_parts(document, members):
    """The file with these parts, whose checksums are right."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        text = document if isinstance(document, bytes) else json.dumps(document).encode()
        archive.writestr("document.json", text)
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def array_of(data):
    return np.load(io.BytesIO(data), allow_pickle=False)


def data_of(array):
    """An array in NumPy's format."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def assert_same(first, second, rows):
    """Everything that both give is equal to the last bit."""
    for method in ("predict", "transform", "evaluate"):
        np.testing.assert_array_equal(getattr(first, method)(rows), getattr(second, method)(rows))
    assert first.subspaces_ == second.subspaces_
    for method in ("shapley_values", "shapley_interactions"):
        np.testing.assert_array_equal(getattr(first, method)(rows[:50]), getattr(second, method)(rows[:50]))
    assert first.feature_names_ == second.feature_names_
    np.testing.assert_array_equal(first.get_feature_names_out(), second.get_feature_names_out())
    for attribute in ("intercept_", "residual_", "fidelity_unused_"):
        np.testing.assert_equal(getattr(second, attribute), getattr(first, attribute))
    np.testing.assert_equal(second.coef_, first.coef_)
    assert_same_results(first.decomposition_, second.decomposition_)


def assert_same_results(first, second):
    """The same for the results that estimators hold."""
    indices, again = first.sensitivity, second.sensitivity
    assert str(indices) == str(again)
    for name in ("Sa", "Sb", "S", "ST", "R", "residual", "variance"):
        for suffix in ("", "_conf") if name not in ("residual", "variance") else ("",):
            np.testing.assert_equal(getattr(again, name + suffix), getattr(indices, name + suffix))
    np.testing.assert_equal(second.concurvity, first.concurvity)
    assert second.targets == first.targets and second.warnings == first.warnings
    assert str(second.summary()) == str(first.summary())
    assert second.unit == first.unit and second.levels == first.levels and second.groups == first.groups
    for f, g in zip(first.components, second.components, strict=True):
        np.testing.assert_equal(g.variance, f.variance)
        np.testing.assert_equal(g.bounds, f.bounds)
        assert (g.names, g.arguments, g.unit, g.levels) == (f.names, f.arguments, f.unit, f.levels)
        if len(f.arguments) == 1 and not f.levels and indices.uncertainty is not None:
            points = np.linspace(*f.bounds[0], 30)
            np.testing.assert_array_equal(g(points), f(points))
            np.testing.assert_array_equal(g.standard_error(points), f.standard_error(points))
