/* Steps on the few entries of a row that are not zero, as if the others were not there.

   Most rows of a factor hold few entries, and after some steps it is settled which: its members.
   Their own part of T is small, so that a step costs a fraction. That the other entries stay at
   zero, the lower bound, is looked at in the end; where it does not hold, nothing was done. */

/* Whether all entries but the members stay at zero while these are between `least` and `most`.
   Rounding keeps order: every sum is at most the one, taken in the same order, of what each term
   is at the largest. */
TARGET static int OWN(stays_)(const REAL *d, const OWN(vec_) *T, const int *member, int count,
                       const REAL *least, const REAL *most, long K, const int V)
{
    OWN(vec_) sum[MOST] = {};
    OWN(mask_) over = {};
    memcpy(sum, d, K * sizeof(REAL));
    for (int i = 0; i < count; i++) {
        const OWN(vec_) low = least[i] - (OWN(vec_)){}, high = most[i] - (OWN(vec_)){};
#pragma GCC unroll 8
        for (int v = 0; v < V; v++) {
            const OWN(vec_) t = T[member[i] * V + v];
            const OWN(mask_) up = t > 0;
            sum[v] += (OWN(vec_))((up & (OWN(mask_))high) | (~up & (OWN(mask_))low)) * t;
        }
    }
    for (int i = 0; i < count; i++)
        ((REAL *)sum)[member[i]] = 0;
#pragma GCC unroll 8
    for (int v = 0; v < V; v++)
        over |= ~(sum[v] <= 0);
    return !OWN(any_)(over);
}

/* All steps of the R rows `at`, whose members, the bits of `held`, fit C vectors; returns a bit for
   each row that is done. */
INLINE unsigned OWN(members_)(const OWN(work_) *work, const long *at, const unsigned WHOLE *held,
                              long steps, const int R, const int C, const int V)
{
    OWN(vec_) z[8] = {}, d[8] = {}, least[8], most[8]; /* R * C of each */
    OWN(vec_) t[8 * C * LANES];
    const OWN(vec_) low = {}, high = work->upper - (OWN(vec_)){};
    const long K = work->K;
    int member[8][C * LANES], count[8], longest = 0;
    unsigned done = 0;
    memset(t, 0, sizeof t);
    for (int r = 0; r < R; r++) {
        count[r] = 0;
        for (unsigned WHOLE rest = held[r]; rest; rest &= rest - 1)
            member[r][count[r]++] = __builtin_ctzll(rest);
        longest = count[r] > longest ? count[r] : longest;
        for (int i = 0; i < count[r]; i++) {
            const int k = member[r][i];
            ((REAL *)(z + r * C))[i] = work->Z[at[r] * K + k];
            ((REAL *)(d + r * C))[i] = work->D[at[r] * K + k];
            for (int j = 0; j < count[r]; j++)
                ((REAL *)(t + (i * R + r) * C))[j] = ((REAL *)(work->T + k * V))[member[r][j]];
        }
    }
    memcpy(least, z, sizeof z);
    memcpy(most, z, sizeof z);
    for (long step = 0; step < steps; step++) {
        OWN(mask_) moved = {};
        OWN(vec_) sum[8];
#pragma GCC unroll 8
        for (int i = 0; i < R * C; i++)
            sum[i] = d[i];
        for (int l = 0; l < longest; l++)
#pragma GCC unroll 8
            for (int r = 0; r < R; r++)
#pragma GCC unroll 8
                for (int c = 0; c < C; c++)
                    sum[r * C + c] += ((REAL *)(z + r * C))[l] * t[(l * R + r) * C + c];
#pragma GCC unroll 8
        for (int i = 0; i < R * C; i++) {
            sum[i] = OWN(min_)(OWN(max_)(sum[i], low), high);
            moved |= (OWN(mask_))sum[i] ^ (OWN(mask_))z[i];
            z[i] = sum[i];
            least[i] = OWN(min_)(least[i], z[i]);
            most[i] = OWN(max_)(most[i], z[i]);
        }
        if (step % 4 == 0 && !OWN(any_)(moved))
            break;
    }
    for (int r = 0; r < R; r++) {
        int finite = 1; /* or zeros times infinity would be left out */
        for (int i = 0; i < count[r]; i++) {
            const REAL top = ((REAL *)(most + r * C))[i];
            finite &= ((REAL *)(z + r * C))[i] + (top - top) <= top;
        }
        if (!finite ||
            !OWN(stays_)(work->D + at[r] * K, work->T, member[r], count[r],
                         (REAL *)(least + r * C), (REAL *)(most + r * C), K, V))
            continue;
        done |= 1u << r;
        for (int i = 0; i < count[r]; i++)
            work->Z[at[r] * K + member[r][i]] = ((REAL *)(z + r * C))[i];
    }
    return done;
}

/* Rows with about as many members, which wait until they fill eight vectors. */
typedef struct {
    long at[8];
    unsigned WHOLE held[8];
    int count;
} OWN(group_);

/* Do a group's steps; the rows that are not done go to the end of `left`. Returns its new length. */
TARGET static long OWN(flush_)(const OWN(work_) *work, OWN(group_) *group, const int C, long *left,
                        long length, long steps, const int V)
{
    unsigned done = 0;
    for (int r = group->count; r < 8 / C; r++) { /* filled up with the first row, over and over */
        group->at[r] = group->at[0];
        group->held[r] = group->held[0];
    }
    if (C == 1)
        done = OWN(members_)(work, group->at, group->held, steps, 8, 1, V);
    else if (C == 2)
        done = OWN(members_)(work, group->at, group->held, steps, 4, 2, V);
    else
        done = OWN(members_)(work, group->at, group->held, steps, 2, 4, V);
    for (int r = 0; r < group->count; r++)
        if (!(done >> r & 1))
            left[length++] = group->at[r];
    group->count = 0;
    return length;
}

/* All steps of those of the rows that have few members. The others are put at the front of `at`;
   returns how many they are. */
TARGET static long OWN(few_)(const OWN(work_) *work, long *at, long count, long steps, const int V)
{
    OWN(group_) groups[5] = {}; /* by how many vectors the members need: 1, 2 or 4 */
    long left = 0;
    for (long i = 0; i < count; i++) {
        OWN(vec_) z[MOST] = {};
        memcpy(z, work->Z + at[i] * work->K, work->K * sizeof(REAL));
        const unsigned WHOLE held = OWN(held_)(z, work->bit, V);
        const int members = __builtin_popcountll(held);
        const int C = members <= LANES ? 1 : members <= 2 * LANES ? 2 : 4;
        OWN(group_) *group = groups + C;
        if (members > 4 * LANES || 2 * C > V) {
            at[left++] = at[i];
            continue;
        }
        group->at[group->count] = at[i];
        group->held[group->count++] = held;
        if (group->count == 8 / C)
            left = OWN(flush_)(work, group, C, at, left, steps, V);
    }
    for (int C = 1; C <= 4; C *= 2)
        if (groups[C].count)
            left = OWN(flush_)(work, groups + C, C, at, left, steps, V);
    return left;
}
