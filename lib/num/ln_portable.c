/* Vectors of 16 bytes: every 64-bit processor has them. */
#define EK_LANES  2
#define EK_KERNEL ek_ln_portable
#include "num/ln_body.h"
