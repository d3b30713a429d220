/* All kernels of this folder for 16-byte vectors, which every 64-bit processor supports. */
#include "num/bet_steps_isa.h"
#include "num/dense_isa.h"
#include "num/gemm_isa.h"
#include "num/list_stats_isa.h"
#include "num/list_moments_isa.h"
#include "num/ln_isa.h"
#include "num/sketch_internal.h"

#include <string.h>

typedef float four __attribute__((vector_size(16)));

#ifdef __SSE__
#include <xmmintrin.h>
#define EK_MIN(a, b) _mm_min_ps(a, b)
#define EK_MAX(a, b) _mm_max_ps(a, b)
#else
static inline four least(four a, four b)
{
    int32_t below __attribute__((vector_size(16))) = a < b;
    return (four)((below & (__typeof__(below))a) | (~below & (__typeof__(below))b));
}
#define EK_MIN(a, b) least(a, b)
#define EK_MAX(a, b) (-least(-(a), -(b)))
#endif

#define EK_LANES          4
#define EK_KERNEL(name)   name##_portable
#define EK_NARROWER(name) name##_scalar
#define EK_FMA(a, b, c)   ((a) * (b) + (c))
#define EK_DENSE_ROWS     3
#define EK_DENSE_PANELS   1
#include "num/bet_steps_body.h"
#include "num/dense_body.h"
#include "num/gemm_body.h"
#include "num/list_moments_body.h"
#include "num/list_stats_body.h"
#include "num/ln_body.h"
#include "num/sketch_add_body.h"
#include "num/sketch_keys_body.h"
