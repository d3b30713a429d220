/* The instruction sets behind ln.h, for the choice at run time and for tests; internal. */
#ifndef EK_NUM_LN_ISA_H
#define EK_NUM_LN_ISA_H

#include "num/isa.h"

#include <stddef.h>

typedef void ek_ln_fn(const double *x, double *y, size_t count);

ek_ln_fn ek_ln_portable;
#if defined(__x86_64__)
ek_ln_fn ek_ln_avx2, ek_ln_avx512;
#endif

/* The kernel for `isa`; the portable one where this program has none. */
ek_ln_fn *ek_ln_fn_of(enum ek_isa isa);

#endif
