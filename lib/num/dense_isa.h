/* Packed layer and kernels of dense.h for each instruction set; for dispatch and tests. */
#ifndef EK_NUM_DENSE_ISA_H
#define EK_NUM_DENSE_ISA_H

#include "num/dense.h"
#include "num/isa.h"

#include <stdint.h>

enum { EK_DENSE_PANEL = 16 }; /* outputs per panel */

struct ek_dense {
    int inputs, outputs, panels;
    float *weight; /* [panels][inputs][EK_DENSE_PANEL], zeros beyond the outputs */
    float *bias;   /* [panels][EK_DENSE_PANEL] */
};

struct ek_dense_rows {
    const float *x;
    float *y;
    size_t x_stride, y_stride;
    int rows, relu;
    const float *start; /* [panels][EK_DENSE_PANEL]; NULL: the layer's bias */
    int idle;           /* trailing inputs that are 0 in all rows and are skipped */
};

typedef void ek_dense_fn(const struct ek_dense *d, const struct ek_dense_rows *rows);

ek_dense_fn ek_dense_portable;
#if defined(__x86_64__)
ek_dense_fn ek_dense_avx2, ek_dense_avx512;
#elif defined(__aarch64__)
ek_dense_fn ek_dense_neon;
#endif

/* Return the kernel for `isa`, or the portable one if this build has none. */
ek_dense_fn *ek_dense_fn_get(enum ek_isa isa);

#endif
