/* All kernels of this folder for NEON. */
#include "num/bet_steps_isa.h"
#include "num/dense_isa.h"
#include "num/gemm_isa.h"
#include "num/list_stats_isa.h"
#include "num/list_moments_isa.h"
#include "num/ln_isa.h"
#include "num/sketch_internal.h"

#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>

#define EK_LANES          4
#define EK_KERNEL(name)   name##_neon
#define EK_NARROWER(name) name##_portable
#define EK_FMA(a, b, c)   vfmaq_f32(c, a, b)
#define EK_MIN(a, b)      vminq_f32(a, b)
#define EK_MAX(a, b)      vmaxq_f32(a, b)
#define EK_DENSE_ROWS     6
#define EK_DENSE_PANELS   1
#include "num/bet_steps_body.h"
#include "num/dense_body.h"
#include "num/gemm_body.h"
#include "num/list_moments_body.h"
#include "num/list_stats_body.h"
#include "num/ln_body.h"
#include "num/sketch_add_body.h"
#include "num/sketch_keys_body.h"

#endif
