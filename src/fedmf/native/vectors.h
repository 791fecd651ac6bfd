/* All kernels for vectors of BYTES bytes, of which there are REGISTERS, and for both types. */

#ifndef REAL
#define REAL double
#define WHOLE long long
#include "vectors.h"
#undef REAL
#undef WHOLE
#define REAL float
#define WHOLE int
#include "vectors.h"
#undef REAL
#undef WHOLE
#undef SUFFIX
#undef BYTES
#undef REGISTERS
#undef TARGET
#else

#define OWN(name) NAME(NAME(name, REAL), SUFFIX)
#define LANES ((int)(BYTES / sizeof(REAL)))
#define BITS ((int)(8 * sizeof(REAL)))
#define MOST 8 /* vectors to a row of K numbers */
#define INLINE TARGET static inline __attribute__((always_inline))

typedef REAL OWN(vec_) __attribute__((vector_size(BYTES)));
typedef WHOLE OWN(mask_) __attribute__((vector_size(BYTES)));

/* All lanes or'ed. */
INLINE WHOLE OWN(any_)(OWN(mask_) bits)
{
    typedef WHOLE quarter __attribute__((vector_size(16)));
    quarter part[BYTES / 16], all = {};
    WHOLE any = 0;
    memcpy(part, &bits, sizeof part);
    for (int i = 0; i < BYTES / 16; i++)
        all |= part[i];
    for (int i = 0; i < (int)(16 / sizeof(REAL)); i++)
        any |= all[i];
    return any;
}

/* The larger and the smaller of two; a NaN in the first one stays, to be seen. */
INLINE OWN(vec_) OWN(max_)(OWN(vec_) a, OWN(vec_) b)
{
    const OWN(mask_) under = a < b;
    return (OWN(vec_))((under & (OWN(mask_))b) | (~under & (OWN(mask_))a));
}

INLINE OWN(vec_) OWN(min_)(OWN(vec_) a, OWN(vec_) b)
{
    const OWN(mask_) over = a > b;
    return (OWN(vec_))((over & (OWN(mask_))b) | (~over & (OWN(mask_))a));
}

#include "products.h"
#include "steps.h"

#undef INLINE
#undef MOST
#undef BITS
#undef LANES
#undef OWN
#endif
