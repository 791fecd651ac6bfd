/* Projected gradient steps on rows: z <- clip(z T + d), some hundred times, for many rows.

   The rows are independent and short (K numbers), so a few of them at a time do all their steps in
   registers; only T (K x K) is read again, from the nearest cache. Every entry is summed as
   d_k + z_0 T_0k + z_1 T_1k + ..., in this order, so that its bits (but for a zero's sign) depend
   neither on which rows are done together nor on whether the terms of zeros are left out. */

/* What is done to which rows; V vectors hold the K numbers of a row. */
typedef struct {
    REAL *Z;                /* (n, K) */
    const REAL *D;          /* (n, K) */
    const OWN(vec_) * T;    /* (K, V), filled up with zeros */
    const OWN(mask_) * bit; /* (V), 1 << k for entry k, where K <= BITS */
    long K;
    REAL lower, upper;
} OWN(work_);

/* Which of the entries are not zero: a bit for each. */
INLINE unsigned WHOLE OWN(held_)(const OWN(vec_) *z, const OWN(mask_) *bit, const int V)
{
    OWN(mask_) set = {};
#pragma GCC unroll 8
    for (int v = 0; v < V; v++)
        set |= (z[v] != (OWN(vec_)){}) & bit[v];
    return OWN(any_)(set);
}

/* One step of R rows that share each row of T; returns which bits changed. */
INLINE OWN(mask_) OWN(dense_)(OWN(vec_) *z, const OWN(vec_) *d, const OWN(vec_) *T, long K,
                              OWN(vec_) low, OWN(vec_) high, const int R, const int V)
{
    OWN(vec_) sum[16];
    OWN(mask_) moved = {};
#pragma GCC unroll 16
    for (int i = 0; i < R * V; i++)
        sum[i] = d[i];
    for (long l = 0; l < K; l++)
#pragma GCC unroll 8
        for (int r = 0; r < R; r++)
#pragma GCC unroll 8
            for (int v = 0; v < V; v++)
                sum[r * V + v] += ((const REAL *)(z + r * V))[l] * T[l * V + v];
#pragma GCC unroll 16
    for (int i = 0; i < R * V; i++) {
        sum[i] = OWN(min_)(OWN(max_)(sum[i], low), high);
        moved |= (OWN(mask_))sum[i] ^ (OWN(mask_))z[i];
        z[i] = sum[i];
    }
    return moved;
}

/* The same without the terms of zeros, which add nothing; `held` has a bit for each other entry. */
INLINE OWN(mask_) OWN(sparse_)(OWN(vec_) *z, const OWN(vec_) *d, const OWN(vec_) *T,
                               unsigned WHOLE *held, const OWN(mask_) *bit, OWN(vec_) low,
                               OWN(vec_) high, const int R, const int V)
{
    OWN(mask_) moved = {};
    for (int r = 0; r < R; r++) {
        OWN(vec_) sum[MOST];
#pragma GCC unroll 8
        for (int v = 0; v < V; v++)
            sum[v] = d[r * V + v];
        for (unsigned WHOLE rest = held[r]; rest; rest &= rest - 1) {
            const int l = __builtin_ctzll(rest);
#pragma GCC unroll 8
            for (int v = 0; v < V; v++)
                sum[v] += ((const REAL *)(z + r * V))[l] * T[l * V + v];
        }
#pragma GCC unroll 8
        for (int v = 0; v < V; v++) {
            sum[v] = OWN(min_)(OWN(max_)(sum[v], low), high);
            moved |= (OWN(mask_))sum[v] ^ (OWN(mask_))z[r * V + v];
            z[r * V + v] = sum[v];
        }
        held[r] = OWN(held_)(z + r * V, bit, V);
    }
    return moved;
}

/* All steps of the R rows `at`; R and V are known where this is called. */
INLINE void OWN(rows_)(const OWN(work_) *work, const long *at, long steps, const int R, const int V)
{
    OWN(vec_) z[16], d[16]; /* R * V of each */
    OWN(mask_) moved;
    unsigned WHOLE held[4] = {0, 0, 0, 0};
    const OWN(vec_) low = work->lower - (OWN(vec_)){}, high = work->upper - (OWN(vec_)){};
    const long K = work->K;
    long zeros = 0;
    memset(d, 0, sizeof d);
    memset(z, 0, sizeof z);
    for (int r = 0; r < R; r++) {
        memcpy(z + r * V, work->Z + at[r] * K, K * sizeof(REAL));
        memcpy(d + r * V, work->D + at[r] * K, K * sizeof(REAL));
        if (K <= BITS) {
            held[r] = OWN(held_)(z + r * V, work->bit, V);
            zeros += K - __builtin_popcountll(held[r]);
        }
    }
    for (long step = 0; step < steps; step++) {
        if (2 * zeros > R * K)
            moved = OWN(sparse_)(z, d, work->T, held, work->bit, low, high, R, V);
        else
            moved = OWN(dense_)(z, d, work->T, K, low, high, R, V);
        /* What one step leaves as it is, bit for bit, every further step does too. */
        if (step % 4 == 0 && !OWN(any_)(moved))
            break;
    }
    for (int r = 0; r < R; r++)
        memcpy(work->Z + at[r] * K, z + r * V, K * sizeof(REAL));
}

/* The same for any number of rows, R at a time. */
INLINE void OWN(all_)(const OWN(work_) *work, const long *at, long count, long steps, const int R,
                      const int V)
{
    long i = 0;
    for (; i + R <= count; i += R)
        OWN(rows_)(work, at + i, steps, R, V);
    for (; i < count; i++)
        OWN(rows_)(work, at + i, steps, 1, V);
}

#include "members.h"

#define BATCH 256 /* rows that are looked at together */
#define LONG 24   /* steps from which on it is worth the while to look for members */
#define HEAD 4    /* steps after which they mostly stay the same */

#define CASE(V)                                                                                    \
    case V: {                                                                                      \
        enum { R = REGISTERS / 2 / V < 1 ? 1 : REGISTERS / 2 / V > 4 ? 4 : REGISTERS / 2 / V };    \
        const int apart = V > 1 && steps >= LONG && K <= BITS && lower == 0;                       \
        for (long first = 0; first < n; first += BATCH) {                                          \
            long at[BATCH], count = n - first < BATCH ? n - first : BATCH;                         \
            for (long i = 0; i < count; i++)                                                       \
                at[i] = first + i;                                                                 \
            OWN(all_)(&work, at, count, apart ? HEAD : steps, R, V);                               \
            if (apart) {                                                                           \
                count = OWN(few_)(&work, at, count, steps - HEAD, V);                              \
                OWN(all_)(&work, at, count, steps - HEAD, R, V);                                   \
            }                                                                                      \
        }                                                                                          \
        return 1;                                                                                  \
    }

TARGET static int OWN(steps_)(REAL *Z, const REAL *D, const REAL *T, long n, long K, long steps,
                              REAL lower, REAL upper)
{
    OWN(vec_) wide[MOST * MOST * LANES];
    OWN(mask_) bit[MOST] = {};
    const OWN(work_) work = {Z, D, wide, bit, K, lower, upper};
    const long V = (K + LANES - 1) / LANES;
    if (V > MOST)
        return 0;
    memset(wide, 0, K * V * sizeof *wide);
    for (long l = 0; l < K; l++)
        memcpy(wide + l * V, T + l * K, K * sizeof(REAL));
    for (long k = 0; k < K && K <= BITS; k++)
        ((WHOLE *)bit)[k] = (unsigned WHOLE)1 << k;
    switch (V) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
    }
    return 0;
}

#undef CASE
#undef HEAD
#undef LONG
#undef BATCH
