/* All kernels of this folder for AVX-512. */
#include "num/bet_steps_isa.h"
#include "num/dense_isa.h"
#include "num/gemm_isa.h"
#include "num/list_stats_isa.h"
#include "num/list_moments_isa.h"
#include "num/ln_isa.h"
#include "num/sketch_internal.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")
#endif

#define EK_LANES          16
#define EK_KERNEL(name)   name##_avx512
#define EK_NARROWER(name) name##_avx2
#define EK_FMA(a, b, c)   _mm512_fmadd_ps(a, b, c)
#define EK_MIN(a, b)      _mm256_min_ps(a, b)
#define EK_MAX(a, b)      _mm256_max_ps(a, b)
#define EK_DENSE_ROWS     12
#define EK_DENSE_PANELS   2
#include "num/bet_steps_body.h"
#include "num/dense_body.h"
#include "num/gemm_body.h"
#include "num/list_moments_body.h"
#include "num/list_stats_body.h"
#include "num/ln_body.h"
#include "num/sketch_add_body.h"
#include "num/sketch_keys_body.h"

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
