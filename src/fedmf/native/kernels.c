/* The hot loops, for the vectors that the processor has.

   Plain C with GCC's vector extensions, called through ctypes: no header of Python's is needed.
   A function returns 1 where it did the work and 0, having done nothing that counts, where its
   caller has to: K is too large for it. All matrices are stored row by row. */

#include <string.h>

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)

/* How wide the vectors of this processor are is looked up when it runs, not when it is built; the
   tests build for narrower ones. */
#ifndef WIDEST
#define WIDEST 512
#endif

#if defined(__x86_64__)
#define SUFFIX _512
#define BYTES 64
#define REGISTERS 32
#define TARGET __attribute__((target("avx512f,fma")))
#include "vectors.h"

#define SUFFIX _256
#define BYTES 32
#define REGISTERS 16
#define TARGET __attribute__((target("avx2,fma")))
#include "vectors.h"
#endif

#define SUFFIX _128
#define BYTES 16
#define REGISTERS 16
#define TARGET
#include "vectors.h"

#if defined(__x86_64__)
#define CHOOSE(name, ...)                                                                          \
    (WIDEST >= 512 && __builtin_cpu_supports("avx512f")                                            \
         ? name##_512(__VA_ARGS__)                                                                 \
         : WIDEST >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")        \
               ? name##_256(__VA_ARGS__)                                                           \
               : name##_128(__VA_ARGS__))
#else
#define CHOOSE(name, ...) name##_128(__VA_ARGS__)
#endif

#define BOTH(real, name)                                                                           \
    /* Z (n, K), in and out; D (n, K); T (K, K) */                                                 \
    __attribute__((visibility("default"))) int steps_##name(                                       \
        real *Z, const real *D, const real *T, long n, long K, long steps, double lower,           \
        double upper)                                                                              \
    {                                                                                              \
        return CHOOSE(steps_##real, Z, D, T, n, K, steps, (real)lower, (real)upper);               \
    }                                                                                              \
    /* X (n, M), `stride` numbers from row to row; W (M, K); out (n, K) */                         \
    __attribute__((visibility("default"))) int cross_##name(                                       \
        const real *X, long stride, const real *W, real *out, long n, long M, long K)              \
    {                                                                                              \
        return CHOOSE(cross_##real, X, stride, W, out, n, M, K);                                   \
    }                                                                                              \
    /* X as before; D (n, K); out (M, K), in and out, and 64 bytes that follow it */               \
    __attribute__((visibility("default"))) int moment_##name(                                      \
        const real *X, long stride, const real *D, real *out, long n, long M, long K)              \
    {                                                                                              \
        return CHOOSE(moment_##real, X, stride, D, out, n, M, K);                                  \
    }                                                                                              \
    /* the same with CSR samples */                                                                \
    __attribute__((visibility("default"))) int sparse_cross_##name(                                \
        const real *x, const int *col, const int *place, const real *W, real *out, long n, long M, \
        long K)                                                                                    \
    {                                                                                              \
        return CHOOSE(sparse_cross_##real, x, col, place, W, out, n, M, K);                        \
    }                                                                                              \
    __attribute__((visibility("default"))) int sparse_moment_##name(                               \
        const real *x, const int *col, const int *place, const real *D, real *out, long n, long M, \
        long K)                                                                                    \
    {                                                                                              \
        return CHOOSE(sparse_moment_##real, x, col, place, D, out, n, M, K);                       \
    }

BOTH(double, float64)
BOTH(float, float32)
