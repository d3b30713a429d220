#include "num/ln_isa.h"

#if defined(__x86_64__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define EK_LANES  4
#define EK_KERNEL ek_ln_avx2
#include "num/ln_body.h"

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
