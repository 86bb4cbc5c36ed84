# cython: language_level=3, freethreading_compatible=True
"""SciPy's LAPACK and BLAS, handed to the C++ core as a table of function pointers."""

from cpython.pycapsule cimport PyCapsule_New
from scipy.linalg.cython_blas cimport dgemm, dsyrk, dtrsm
from scipy.linalg.cython_lapack cimport dlaqps, dpocon, dpotrf, dsyev, dtpqrt


cdef extern from "linalg/lapack.hpp" namespace "fasthdmr":
    struct Lapack:
        void (*dtpqrt)(int*, int*, int*, int*, double*, int*, double*, int*, double*, int*, double*, int*) noexcept nogil
        void (*dlaqps)(int*, int*, int*, int*, int*, double*, int*, int*, double*, double*, double*, double*, double*,
                       int*) noexcept nogil
        void (*dpotrf)(char*, int*, double*, int*, int*) noexcept nogil
        void (*dpocon)(char*, int*, double*, int*, double*, double*, double*, int*, int*) noexcept nogil
        void (*dsyev)(char*, char*, int*, double*, int*, double*, double*, int*, int*) noexcept nogil
        void (*dsyrk)(char*, char*, int*, int*, double*, double*, int*, double*, double*, int*) noexcept nogil
        void (*dgemm)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*,
                      int*) noexcept nogil
        void (*dtrsm)(char*, char*, char*, char*, int*, int*, double*, double*, int*, double*, int*) noexcept nogil


cdef Lapack table
table.dtpqrt = dtpqrt
table.dlaqps = dlaqps
table.dpotrf = dpotrf
table.dpocon = dpocon
table.dsyev = dsyev
table.dsyrk = dsyrk
table.dgemm = dgemm
table.dtrsm = dtrsm

routines = PyCapsule_New(&table, NULL, NULL)
