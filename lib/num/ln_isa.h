/* Kernels of ln.h for each instruction set; for dispatch and tests. */
#ifndef EK_NUM_LN_ISA_H
#define EK_NUM_LN_ISA_H

#include "num/isa.h"
#include "num/ln.h"

#include <stdint.h>

#define EK_LN_GRID 0x1.8p12 /* adding and subtracting it rounds to a multiple of 2^-40 */

/* Functions of ln.h for one instruction set. */
struct ek_ln_kernels {
    void (*of)(const double *x, double *y, size_t count);
    void (*signed_ln)(const struct ek_ln_rows *rows, const double *mean, const double *scale);
    bool (*center)(const struct ek_ln_list *list);
};

extern const struct ek_ln_kernels ek_ln_portable;
#if defined(__x86_64__)
extern const struct ek_ln_kernels ek_ln_avx2, ek_ln_avx512;
#elif defined(__aarch64__)
extern const struct ek_ln_kernels ek_ln_neon;
#endif

/* Return the kernels for `isa`, or the portable ones if this build has none. */
const struct ek_ln_kernels *ek_ln_kernels_get(enum ek_isa isa);

#endif
