/* The kernels of this folder for NEON. */
#include "num/list_sums_isa.h"
#include "num/sketch_internal.h"

#include <string.h>

#if defined(__aarch64__)

#define EK_LANES          4
#define EK_KERNEL(name)   name##_neon
#define EK_NARROWER(name) name##_portable
#include "num/list_sums_body.h"
#include "num/sketch_keys_body.h"

#endif
