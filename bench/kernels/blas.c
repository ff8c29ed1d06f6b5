// SPDX-License-Identifier: MIT
#include "kernels/blas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };

struct blas {
  void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
                float *, int);
  void (*sgemv)(int, int, int, int, float, const float *, int, const float *, int, float, float *,
                int);
  void (*saxpy)(int, float, const float *, int, float *, int);
  float (*sdot)(int, const float *, int, const float *, int);
  char version[200];
};

static const char OPENBLAS[] = "libopenblas.so.0";

static blas *open_library(const char *path, int flags) {
  void *library = dlopen(path, flags);
  if (!library) return NULL;
  blas *b = calloc(1, sizeof *b);
  *(void **)&b->sgemm = dlsym(library, "cblas_sgemm");
  *(void **)&b->sgemv = dlsym(library, "cblas_sgemv");
  *(void **)&b->saxpy = dlsym(library, "cblas_saxpy");
  *(void **)&b->sdot = dlsym(library, "cblas_sdot");
  char *(*corename)(void) = NULL;
  *(void **)&corename = dlsym(library, "openblas_get_corename");
  void (*version)(char *, int) = NULL;
  *(void **)&version = dlsym(library, "MKL_Get_Version_String");
  if (corename) snprintf(b->version, sizeof b->version, "core %s", corename());
  if (version) version(b->version, sizeof b->version - 1);
  if (b->sgemm && b->sgemv && b->saxpy && b->sdot) return b;
  free(b);
  return NULL;
}

blas *blas_open_openblas(void) {
  return open_library(OPENBLAS, RTLD_NOW | RTLD_LOCAL);
}

blas *blas_open_mkl(const char *folder) {
  char path[400];
  for (int version = 4; version > 0; version--) {
    snprintf(path, sizeof path, "%s/lib/libmkl_rt.so.%d", folder, version);
    // Its parts look for one another among what is global.
    if (!access(path, R_OK)) return open_library(path, RTLD_NOW | RTLD_GLOBAL | RTLD_DEEPBIND);
  }
  return NULL;
}

const char *blas_version(const blas *b) {
  return b->version;
}

bool blas_has(const blas *b, const kernel *k) {
  return b && (k->native == NATIVE_matmul || k->native == NATIVE_gemm ||
               k->native == NATIVE_sgemv || k->native == NATIVE_saxpy || k->native == NATIVE_dot);
}

void blas_run(const blas *b, const kernel *k, void *const *m) {
  int n = (int)k->sizes[0];
  if (k->native == NATIVE_saxpy) {
    b->saxpy(n, k->scalars[0], m[0], 1, m[1], 1);
  } else if (k->native == NATIVE_dot) {
    const float *x = m[0], *y = m[1];
    for (int i = 0; i < n / 256; i++)
      ((float *)m[2])[i] = b->sdot(256, x + i * 256, 1, y + i * 256, 1);
  } else if (k->native == NATIVE_sgemv) {
    b->sgemv(ROW_MAJOR, NO_TRANSPOSE, n, n, 1.0f, m[0], n, m[1], 1, 0.0f, m[2], 1);
  } else {
    b->sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1.0f, m[0], n, m[1], n, 0.0f, m[2], n);
  }
}

void blas_choose_core(void) {
  if (getenv("OPENBLAS_CORETYPE")) return;
  // Asked in a child: what is loaded once cannot be told otherwise.
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    blas *b = blas_open_openblas();
    _exit(b && strstr(b->version, "Prescott") ? 1 : 0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) return;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512vl"))
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  else if (__builtin_cpu_supports("avx2"))
    setenv("OPENBLAS_CORETYPE", "Haswell", 1);
#endif
}
