// SPDX-License-Identifier: MIT
//
// Libraries of linear algebra, which are opened at run time and stay open. For one thread.
#ifndef VYRE_BENCH_BLAS_H
#define VYRE_BENCH_BLAS_H

#include "kernels/table.h"

typedef struct blas blas;

// NULL: it is not there.
blas *blas_open_openblas(void);
blas *blas_open_mkl(const char *folder); // of `make peers`

const char *blas_version(const blas *b); // for people: the core that it was made for
bool blas_has(const blas *b, const kernel *k);
void blas_run(const blas *b, const kernel *k, void *const *buffers);

// OpenBLAS takes processors that it does not know for very old ones. In that case sets
// OPENBLAS_CORETYPE, which counts only before the library is opened in this process.
void blas_choose_core(void);

#endif
