// The LAPACK and BLAS routines the core calls. Whoever loads the core hands them over: SciPy's own, so that there is no
// second BLAS in the process. Fortran conventions: everything by address, column-major, integers are int.
#pragma once

namespace fasthdmr {

struct Lapack {
    // QR of a triangle stacked on a (trapezoidal) block.
    void (*dtpqrt)(int* m, int* n, int* l, int* nb, double* a, int* lda, double* b, int* ldb, double* t, int* ldt,
                   double* work, int* info);
    // Some steps of pivoted QR.
    void (*dlaqps)(int* m, int* n, int* offset, int* nb, int* kb, double* a, int* lda, int* jpvt, double* tau,
                   double* vn1, double* vn2, double* auxv, double* f, int* ldf);
    // Cholesky factor, and the solution with it.
    void (*dpotrf)(char* uplo, int* n, double* a, int* lda, int* info);
    // The reciprocal of the condition of what dpotrf has factored.
    void (*dpocon)(char* uplo, int* n, double* a, int* lda, double* anorm, double* rcond, double* work, int* iwork,
                   int* info);
    // Eigenvalues of a symmetric matrix, rising.
    void (*dsyev)(char* jobz, char* uplo, int* n, double* a, int* lda, double* w, double* work, int* lwork, int* info);
    // The product of a matrix and its transpose, added.
    void (*dsyrk)(char* uplo, char* trans, int* n, int* k, double* alpha, double* a, int* lda, double* beta, double* c,
                  int* ldc);
    // A product, added, and the solution with a triangle.
    void (*dgemm)(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a, int* lda, double* b,
                  int* ldb, double* beta, double* c, int* ldc);
    void (*dtrsm)(char* side, char* uplo, char* transa, char* diag, int* m, int* n, double* alpha, double* a, int* lda,
                  double* b, int* ldb);
};

const Lapack& lapack();
void set_lapack(const Lapack& routines);

}  // namespace fasthdmr
