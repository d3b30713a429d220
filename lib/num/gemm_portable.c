/* Vectors of 16 bytes: every 64-bit processor has them. */
#define EK_LANES  4
#define EK_KERNEL ek_gemm_portable
#include "num/gemm_body.h"
