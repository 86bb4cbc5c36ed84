"""What importing fasthdmr brings along."""

import subprocess
import sys

import pytest

import fasthdmr
from fasthdmr import _core


def imported(code):
    """The modules that a fresh interpreter has after running code."""
    code += "; import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_is_light():
    modules = imported("import fasthdmr")
    assert "fasthdmr" in modules
    assert not modules & {"numba", "matplotlib", "pandas", "polars", "skops", "sklearn"}


def test_public_names_import_no_optional_package():
    """pandas may come along where it is installed: scikit-learn imports it."""
    names = ", ".join(fasthdmr.__all__)
    modules = imported(f"from fasthdmr import {names}")
    assert {"fasthdmr._estimators.tree_hdmr", "fasthdmr.chisquare"} <= modules
    assert not modules & {"numba", "matplotlib", "polars", "skops", "sklearn.ensemble"}


def test_every_public_name_is_there():
    assert set(fasthdmr.__all__) <= set(dir(fasthdmr))
    for name in fasthdmr.__all__:
        assert getattr(fasthdmr, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fasthdmr.nothing  # noqa: B018


def test_build_config_describes_the_build():
    config = fasthdmr.build_config()
    assert {"compiler", "code_path", "fasthdmr", "numpy", "scipy", "scikit-learn", "pybind11"} <= set(config)
    assert config["fasthdmr"] == fasthdmr.__version__


@pytest.mark.parametrize("wish", ["baseline", "avx2"])
def test_code_path_can_be_forced(wish):
    if _core.build_config()["code_path"] == "baseline" and wish != "baseline":
        pytest.skip("this CPU has the baseline only")
    code = "import fasthdmr; print(fasthdmr.build_config()['code_path'])"
    run = subprocess.run(
        [sys.executable, "-c", code], env={"FASTHDMR_CPU": wish}, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == wish
