#include "num/dense_isa.h"

#define EK_LANES        4
#define EK_KERNEL(name) name##_portable
#define EK_FMA(a, b, c) ((a) * (b) + (c))
#define EK_DENSE_ROWS   3
#define EK_DENSE_PANELS 1
#include "num/dense_body.h"
