/* The two products of dense samples with a thin matrix: X W and X' D, K columns each.

   A few rows (of X W) or columns (of X' D) at a time keep their sums in registers while X goes by.
   What reaches past K in the last vector of a row is of the next row, and never kept. */

#define CHUNK 1024 /* features whose part of W stays in the cache */
#define ROWS 64    /* samples of X' D at a time, whose D does */
#define AHEAD 256  /* bytes: what is fetched of so many rows at once, no processor does by itself */

/* out (R rows of K) += X (R rows) W, over `count` features. */
INLINE void OWN(across_)(const REAL *X, long stride, const REAL *W, REAL *out, long count, long K,
                         const int R, const int V)
{
    OWN(vec_) sum[24], w[MOST];
    REAL row[MOST * LANES];
    long j = 0, safe = (count * K - V * LANES) / K;
#pragma GCC unroll 24
    for (int i = 0; i < R * V; i++)
        sum[i] = (OWN(vec_)){};
    for (; j < safe; j++) {
#pragma GCC unroll 8
        for (int v = 0; v < V; v++)
            memcpy(w + v, W + j * K + v * LANES, BYTES);
#pragma GCC unroll 8
        for (int r = 0; r < R; r++)
#pragma GCC unroll 8
            for (int v = 0; v < V; v++)
                sum[r * V + v] += X[r * stride + j] * w[v];
    }
    for (; j < count; j++) { /* near the end of W */
        memset(w, 0, sizeof w);
        memcpy(w, W + j * K, K * sizeof(REAL));
#pragma GCC unroll 8
        for (int r = 0; r < R; r++)
#pragma GCC unroll 8
            for (int v = 0; v < V; v++)
                sum[r * V + v] += X[r * stride + j] * w[v];
    }
    memset(row, 0, sizeof row);
    for (int r = 0; r < R; r++) {
        memcpy(row, sum + r * V, V * BYTES);
        for (long k = 0; k < K; k++)
            out[r * K + k] += row[k];
    }
}

/* out (R rows of K) += X' D for R columns of X, over n <= ROWS samples. */
INLINE void OWN(down_)(const REAL *X, long stride, const OWN(vec_) *D, REAL *out, long n, long K,
                       const int R, const int V)
{
    OWN(vec_) sum[24];
#pragma GCC unroll 8
    for (int r = 0; r < R; r++)
#pragma GCC unroll 8
        for (int v = 0; v < V; v++)
            memcpy(sum + r * V + v, out + r * K + v * LANES, BYTES);
    for (long i = 0; i < n; i++) {
        __builtin_prefetch((const char *)(X + i * stride) + AHEAD);
#pragma GCC unroll 8
        for (int r = 0; r < R; r++)
#pragma GCC unroll 8
            for (int v = 0; v < V; v++)
                sum[r * V + v] += X[i * stride + r] * D[i * V + v];
    }
    /* In this order: what a row writes past its end, the next one overwrites or D's zeros kept. */
#pragma GCC unroll 8
    for (int r = 0; r < R; r++)
#pragma GCC unroll 8
        for (int v = 0; v < V; v++)
            memcpy(out + r * K + v * LANES, sum + r * V + v, BYTES);
}

#define FIT(most, V) ((most) / (V) < 1 ? 1 : (most) / (V) > 8 ? 8 : (most) / (V))

#define CASE(V)                                                                                    \
    case V: {                                                                                      \
        enum { R = FIT(REGISTERS * 3 / 4, V) };                                                    \
        for (long j = 0; j < M; j += CHUNK) {                                                      \
            long count = M - j < CHUNK ? M - j : CHUNK, i = 0;                                     \
            for (; i + R <= n; i += R)                                                             \
                OWN(across_)(X + i * stride + j, stride, W + j * K, out + i * K, count, K, R, V);  \
            for (; i < n; i++)                                                                     \
                OWN(across_)(X + i * stride + j, stride, W + j * K, out + i * K, count, K, 1, V);  \
        }                                                                                          \
        return 1;                                                                                  \
    }

TARGET static int OWN(cross_)(const REAL *X, long stride, const REAL *W, REAL *out, long n, long M,
                              long K)
{
    memset(out, 0, n * K * sizeof(REAL));
    switch ((K + LANES - 1) / LANES) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
    }
    return 0;
}

#undef CASE
#define CASE(V)                                                                                    \
    case V: {                                                                                      \
        enum { R = FIT(REGISTERS * 3 / 4, V) };                                                    \
        OWN(vec_) wide[ROWS * V];                                                                  \
        memset(wide, 0, sizeof wide);                                                              \
        for (long i = 0; i < n; i += ROWS) {                                                       \
            const long count = n - i < ROWS ? n - i : ROWS;                                        \
            long j = 0;                                                                            \
            for (long k = 0; k < count; k++)                                                       \
                memcpy(wide + k * V, D + (i + k) * K, K * sizeof(REAL));                           \
            for (; j + R <= M; j += R)                                                             \
                OWN(down_)(X + i * stride + j, stride, wide, out + j * K, count, K, R, V);         \
            for (; j < M; j++)                                                                     \
                OWN(down_)(X + i * stride + j, stride, wide, out + j * K, count, K, 1, V);         \
        }                                                                                          \
        return 1;                                                                                  \
    }

TARGET static int OWN(moment_)(const REAL *X, long stride, const REAL *D, REAL *out, long n, long M,
                               long K)
{
    switch ((K + LANES - 1) / LANES) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
    }
    return 0;
}

#undef CASE

/* The same two products with CSR samples: the entries of row i are x[place[i]] ... in the columns
   col[place[i]] .... `out` and the rows of D and W are as before. The rows that are needed a few
   entries later are fetched meanwhile: their order is anybody's. */
#undef AHEAD
#define AHEAD 6
#define FETCH(A, V)                                                                                \
    if (e + AHEAD < place[n])                                                                      \
        for (int b = 0; b < V * BYTES; b += 64)                                                    \
            __builtin_prefetch((const char *)((A) + col[e + AHEAD] * K) + b);
#define CASE(V)                                                                                    \
    case V:                                                                                        \
        for (long i = 0; i < n; i++) {                                                             \
            OWN(vec_) sum[V] = {}, w[V];                                                           \
            for (int e = place[i]; e < place[i + 1]; e++) {                                        \
                const REAL *row = W + col[e] * K;                                                  \
                FETCH(W, V)                                                                        \
                memset(w, 0, sizeof w);                                                            \
                if (row < last)                                                                    \
                    memcpy(w, row, sizeof w);                                                      \
                else                                                                               \
                    memcpy(w, row, K * sizeof(REAL));                                              \
                for (int v = 0; v < V; v++)                                                        \
                    sum[v] += x[e] * w[v];                                                         \
            }                                                                                      \
            memcpy(out + i * K, sum, K * sizeof(REAL));                                            \
        }                                                                                          \
        return 1;

TARGET static int OWN(sparse_cross_)(const REAL *x, const int *col, const int *place, const REAL *W,
                                     REAL *out, long n, long M, long K)
{
    const long V = (K + LANES - 1) / LANES;
    const REAL *last = W + M * K - V * LANES; /* a whole vector from here on ends behind W */
    switch (V) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
    }
    return 0;
}

#undef CASE
#define CASE(V)                                                                                    \
    case V:                                                                                        \
        for (long i = 0; i < n; i++) {                                                             \
            OWN(vec_) d[V] = {}, sum[V];                                                           \
            memcpy(d, D + i * K, K * sizeof(REAL));                                                \
            for (int e = place[i]; e < place[i + 1]; e++) {                                        \
                FETCH(out, V)                                                                      \
                memcpy(sum, out + col[e] * K, sizeof sum);                                         \
                for (int v = 0; v < V; v++)                                                        \
                    sum[v] += x[e] * d[v];                                                         \
                memcpy(out + col[e] * K, sum, sizeof sum);                                         \
            }                                                                                      \
        }                                                                                          \
        return 1;

TARGET static int OWN(sparse_moment_)(const REAL *x, const int *col, const int *place,
                                      const REAL *D, REAL *out, long n, long M, long K)
{
    (void)M;
    switch ((K + LANES - 1) / LANES) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
    }
    return 0;
}

#undef CASE
#undef FETCH
#undef AHEAD
#undef FIT
#undef CHUNK
#undef ROWS
