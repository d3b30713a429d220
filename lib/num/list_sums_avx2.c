#include "num/list_sums_isa.h"

#if defined(__x86_64__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define EK_LANES    8
#define EK_KERNEL   ek_list_sums_avx2
#define EK_NARROWER ek_list_sums_portable
#include "num/list_sums_body.h"

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
