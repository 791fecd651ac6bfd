/* Projected gradient steps on rows: z <- clip(z T + d), some hundred times, for many rows.

   The rows are independent and short (K numbers), so a few of them at a time do all their steps in
   registers; only T (K x K) is read again, from the nearest cache. Every entry is summed as
   d_k + z_0 T_0k + z_1 T_1k + ..., in this order, so that its bits depend neither on which rows are
   done together nor on whether the terms of zeros are left out. */

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
        sum[i] = OWN(clip_)(sum[i], low, high);
        moved |= (OWN(mask_))sum[i] ^ (OWN(mask_))z[i];
        z[i] = sum[i];
    }
    return moved;
}

/* The same without the terms of zeros, which add nothing; `held` has a bit for each other entry.
   Only the rows of `live` are worked on; with `look`, returns those of them that moved. */
INLINE unsigned OWN(sparse_)(OWN(vec_) *z, const OWN(vec_) *d, const OWN(vec_) *T,
                             unsigned WHOLE *held, const OWN(mask_) *bit, OWN(vec_) low,
                             OWN(vec_) high, unsigned live, const int look, const int R,
                             const int V)
{
    unsigned which = look ? 0 : live;
    for (int r = 0; r < R; r++) {
        OWN(vec_) sum[MOST];
        OWN(mask_) set = {}, moved = {};
        if (!(live >> r & 1))
            continue;
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
            sum[v] = OWN(clip_)(sum[v], low, high);
            if (look)
                moved |= (OWN(mask_))sum[v] ^ (OWN(mask_))z[r * V + v];
            set |= (sum[v] != (OWN(vec_)){}) & bit[v];
            z[r * V + v] = sum[v];
        }
        held[r] = OWN(any_)(set);
        if (look)
            which |= (unsigned)(OWN(any_)(moved) != 0) << r;
    }
    return which;
}

/* All steps of R rows, each of V vectors; R and V are known where this is called. */
INLINE void OWN(rows_)(REAL *Z, const REAL *D, const OWN(vec_) *T, long K, long steps, REAL lower,
                       REAL upper, const int R, const int V)
{
    OWN(vec_) z[16], d[16]; /* R * V of each */
    OWN(mask_) bit[MOST];
    unsigned live = (1u << R) - 1; /* the rows that still move */
    unsigned WHOLE held[4] = {0, 0, 0, 0};
    const OWN(vec_) low = lower - (OWN(vec_)){}, high = upper - (OWN(vec_)){};
    int zeros = 0;
    memset(d, 0, sizeof d);
    memset(z, 0, sizeof z);
    memset(bit, 0, sizeof bit);
    for (int r = 0; r < R; r++) {
        memcpy(z + r * V, Z + r * K, K * sizeof(REAL));
        memcpy(d + r * V, D + r * K, K * sizeof(REAL));
    }
    if (K <= BITS)
        for (long k = 0; k < K; k++) {
            ((WHOLE *)bit)[k] = (unsigned WHOLE)1 << k;
            for (int r = 0; r < R; r++)
                if (((REAL *)(z + r * V))[k] != 0)
                    held[r] |= (unsigned WHOLE)1 << k;
                else
                    zeros++;
        }
    /* What one step leaves as it is, bit for bit, every further step does too. */
    for (long step = 0; step < steps && live; step++) {
        if (2 * zeros > R * K)
            live = step % 4 ? OWN(sparse_)(z, d, T, held, bit, low, high, live, 0, R, V)
                            : OWN(sparse_)(z, d, T, held, bit, low, high, live, 1, R, V);
        else {
            const OWN(mask_) moved = OWN(dense_)(z, d, T, K, low, high, R, V);
            if (step % 4 == 0 && !OWN(any_)(moved))
                break;
        }
    }
    for (int r = 0; r < R; r++)
        memcpy(Z + r * K, z + r * V, K * sizeof(REAL));
}

#define CASE(V)                                                                                    \
    case V: {                                                                                      \
        enum { R = REGISTERS / 2 / V < 1 ? 1 : REGISTERS / 2 / V > 4 ? 4 : REGISTERS / 2 / V };    \
        long i = 0;                                                                                \
        for (; i + R <= n; i += R)                                                                 \
            OWN(rows_)(Z + i * K, D + i * K, wide, K, steps, lower, upper, R, V);                  \
        for (; i < n; i++)                                                                         \
            OWN(rows_)(Z + i * K, D + i * K, wide, K, steps, lower, upper, 1, V);                  \
        return 1;                                                                                  \
    }

TARGET static int OWN(steps_)(REAL *Z, const REAL *D, const REAL *T, long n, long K, long steps,
                              REAL lower, REAL upper)
{
    OWN(vec_) wide[MOST * MOST * LANES]; /* T, its rows filled up with zeros */
    const long V = (K + LANES - 1) / LANES;
    if (V > MOST)
        return 0;
    memset(wide, 0, K * V * sizeof *wide);
    for (long l = 0; l < K; l++)
        memcpy(wide + l * V, T + l * K, K * sizeof(REAL));
    switch (V) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
    }
    return 0;
}

#undef CASE
