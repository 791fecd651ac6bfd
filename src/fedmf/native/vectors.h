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

INLINE WHOLE OWN(any_)(OWN(mask_) bits)
{
    WHOLE all = 0;
    for (int i = 0; i < LANES; i++)
        all |= bits[i];
    return all;
}

/* The numbers between the bounds; a NaN stays, to be seen. */
INLINE OWN(vec_) OWN(clip_)(OWN(vec_) sum, OWN(vec_) low, OWN(vec_) high)
{
    OWN(mask_) under = sum < low, over;
    sum = (OWN(vec_))((under & (OWN(mask_))low) | (~under & (OWN(mask_))sum));
    over = sum > high;
    return (OWN(vec_))((over & (OWN(mask_))high) | (~over & (OWN(mask_))sum));
}

#include "products.h"
#include "steps.h"

#undef INLINE
#undef MOST
#undef BITS
#undef LANES
#undef OWN
#endif
