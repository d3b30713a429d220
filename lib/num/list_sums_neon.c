#include "num/list_sums_isa.h"

#if defined(__aarch64__)

#define EK_LANES    4
#define EK_KERNEL   ek_list_sums_neon
#define EK_NARROWER ek_list_sums_portable
#include "num/list_sums_body.h"

#endif
