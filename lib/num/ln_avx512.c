#include "num/ln_isa.h"

#if defined(__x86_64__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))),        \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")
#endif

#define EK_LANES  8
#define EK_KERNEL ek_ln_avx512
#include "num/ln_body.h"

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
