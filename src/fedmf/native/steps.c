/* Projected gradient steps on rows: z <- clip(z T + d), some hundred times, for many rows.

   The rows are independent and short (K numbers), so a few of them at a time do all their steps in
   registers; only T (K x K) is read again, from the nearest cache. Every entry is summed as
   d_k + z_0 T_0k + z_1 T_1k + ..., in this order, with whatever vectors: the same bits for every
   width, number of rows together and number of threads.

   Plain C with GCC's vector extensions, called through ctypes: no header of Python's is needed.
   A function returns 1 where it did the work and 0 where the caller has to (K too large for it). */

#include <string.h>

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)

/* What the widest vectors of this processor are is looked up when it runs, not when it is built. */
#if defined(__x86_64__)
#define SUFFIX _512
#define BYTES 64
#define REGISTERS 32
#define TARGET __attribute__((target("avx512f,fma")))
#include "steps.h"

#define SUFFIX _256
#define BYTES 32
#define REGISTERS 16
#define TARGET __attribute__((target("avx2,fma")))
#include "steps.h"
#endif

#define SUFFIX _128
#define BYTES 16
#define REGISTERS 16
#define TARGET
#include "steps.h"

#if defined(__x86_64__)
#define CHOOSE(real, ...)                                                                          \
    (__builtin_cpu_supports("avx512f")                                                             \
         ? real##_512(__VA_ARGS__)                                                                 \
         : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")                         \
               ? real##_256(__VA_ARGS__)                                                           \
               : real##_128(__VA_ARGS__))
#else
#define CHOOSE(real, ...) real##_128(__VA_ARGS__)
#endif

#define EXPORT __attribute__((visibility("default")))

/* Z (n, K), in and out; D (n, K); T (K, K); all row by row. */
EXPORT int steps_float64(double *Z, const double *D, const double *T, long n, long K, long steps,
                         double lower, double upper)
{
    return CHOOSE(steps_double, Z, D, T, n, K, steps, lower, upper);
}

EXPORT int steps_float32(float *Z, const float *D, const float *T, long n, long K, long steps,
                         double lower, double upper)
{
    return CHOOSE(steps_float, Z, D, T, n, K, steps, (float)lower, (float)upper);
}
