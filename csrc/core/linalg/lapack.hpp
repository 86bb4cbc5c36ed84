// The LAPACK and BLAS routines that the core calls, as function pointers that are set when the core is loaded. Python
// passes those of SciPy, so that the process does not load a second BLAS. Fortran conventions: arguments by address,
// matrices column-major, integers are int.
#pragma once

namespace fasthdmr {

struct Lapack {
    // QR of a triangle on top of a block, which may be trapezoidal.
    void (*dtpqrt)(int* m, int* n, int* l, int* nb, double* a, int* lda, double* b, int* ldb, double* t, int* ldt,
                   double* work, int* info);
    // Some steps of QR with column pivoting.
    void (*dlaqps)(int* m, int* n, int* offset, int* nb, int* kb, double* a, int* lda, int* jpvt, double* tau,
                   double* vn1, double* vn2, double* auxv, double* f, int* ldf);
    // Cholesky factorisation.
    void (*dpotrf)(char* uplo, int* n, double* a, int* lda, int* info);
    // The reciprocal condition number of a matrix that dpotrf has factored.
    void (*dpocon)(char* uplo, int* n, double* a, int* lda, double* anorm, double* rcond, double* work, int* iwork,
                   int* info);
    // Eigenvalues of a symmetric matrix, in ascending order.
    void (*dsyev)(char* jobz, char* uplo, int* n, double* a, int* lda, double* w, double* work, int* lwork, int* info);
    // C <- alpha A'A + beta C, or with AA'.
    void (*dsyrk)(char* uplo, char* trans, int* n, int* k, double* alpha, double* a, int* lda, double* beta, double* c,
                  int* ldc);
    // Matrix product C <- alpha A B + beta C, and the solution of a triangular system.
    void (*dgemm)(char* transa, char* transb, int* m, int* n, int* k, double* alpha, double* a, int* lda, double* b,
                  int* ldb, double* beta, double* c, int* ldc);
    void (*dtrsm)(char* side, char* uplo, char* transa, char* diag, int* m, int* n, double* alpha, double* a, int* lda,
                  double* b, int* ldb);
};

const Lapack& lapack();
void set_lapack(const Lapack& routines);

}  // namespace fasthdmr
