"""Dictionaries of kernel machines in a file: the kernel, and the affine map to its argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from fasthdmr._kernel_machines.affine_steps import Affine
from fasthdmr._kernel_machines.columns import (
    MAX_COLUMNS,
    CentredPowers,
    KernelDictionary,
    Monomials,
    Waves,
    check_count,
    make_dictionary,
)
from fasthdmr._kernel_machines.machine import KernelForm, Machine, Multiple
from fasthdmr._saved.archive import Archive, Writer
from fasthdmr._saved.context import Context
from fasthdmr._saved.fields import Fields, Refused
from fasthdmr.kernels import AnovaKernel, FourierKernel

_MOST_DEGREES = 1000


def write_kernel(dictionary: KernelDictionary, out: Writer) -> dict[str, Any]:
    """Return the document of the columns of a kernel, and add its arrays."""
    assert isinstance(dictionary, Monomials | Waves | CentredPowers)
    affine = dictionary.affine
    out.add("affine/columns", affine.columns, "<i8")
    out.add("affine/scale", affine.scale)
    out.add("affine/shift", affine.shift)
    if isinstance(dictionary, Monomials):
        out.add("kernel/powers", dictionary.powers)
        out.add("kernel/centre", dictionary.centre)
        out.add("kernel/scale", dictionary.scale)
        return {"kernel": "polynomial"}
    form = dictionary.form
    kernel, found = form.kernel, {"factor": float(form.factor), "constant": float(form.constant)}
    if isinstance(kernel, FourierKernel):
        own = {"degree": int(kernel.degree), "gamma": float(kernel.gamma), "coef0": float(kernel.coef0)}
        return {"kernel": "Fourier", **found, **own}
    out.add("kernel/centre", kernel.centre_)
    out.add("kernel/scale", kernel.scale_)
    out.add("kernel/means", kernel.means_)
    return {"kernel": "ANOVA", **found, "degree": int(kernel.degree)}


def read_kernel(fields: Fields, context: Context) -> KernelDictionary:
    """Return the dictionary of a document."""
    archive, n = context.archive, context.n_columns
    columns = archive.integers("affine/columns", [None], 0, n - 1)
    if (m := len(columns)) > MAX_COLUMNS:
        raise Refused(f"'affine/columns' has more than {MAX_COLUMNS:,} columns")
    affine = Affine(columns, archive.array("affine/scale", [m]), archive.array("affine/shift", [m]))
    centre, scale = np.zeros(n), np.ones(n)
    form: KernelForm
    if (kind := fields.text("kernel")) == "polynomial":
        form = archive.array("kernel/powers", [None])
        centre, scale = _standardisation(archive, n)
        if not 0 < len(form) <= _MOST_DEGREES:
            raise Refused("'kernel/powers' must hold the coefficients of a polynomial")
    elif kind == "Fourier":
        degree = fields.integer("degree", 1, _MOST_DEGREES)
        kernel = FourierKernel(degree, fields.number("gamma"), fields.number("coef0"))
        form = Multiple(kernel, fields.number("factor"), fields.number("constant"))
    elif kind == "ANOVA":
        anova = AnovaKernel(fields.integer("degree", 1, _MOST_DEGREES))
        anova.centre_, anova.scale_ = _standardisation(archive, m)
        anova.means_ = archive.array("kernel/means", [m, anova.degree])
        form = Multiple(anova, fields.number("factor"), fields.number("constant"))
    else:
        raise Refused(f"'kernel' of {fields.where} must be 'polynomial', 'Fourier' or 'ANOVA'")
    none = np.zeros((0, context.n_outputs))
    machine = Machine(form, np.zeros((0, m)), none, np.zeros(context.n_outputs), affine, n, groups=context.groups)
    check_count(machine)
    return make_dictionary(machine, centre, scale)


def _standardisation(archive: Archive, n: int) -> tuple[Any, Any]:
    centre, scale = archive.array("kernel/centre", [n]), archive.array("kernel/scale", [n])
    if not (scale > 0).all():
        raise Refused("'kernel/scale' must be positive")
    return centre, scale
