#include "offline/adamw.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

int ek_adamw_init(struct ek_adamw *a, size_t count)
{
    memset(a, 0, sizeof *a);
    a->mean = ek_calloc_aligned(count, sizeof *a->mean);
    a->square = ek_calloc_aligned(count, sizeof *a->square);
    a->count = count;
    if (a->mean && a->square)
        return EK_OK;
    ek_adamw_release(a);
    return EK_ENOMEM;
}

void ek_adamw_release(struct ek_adamw *a)
{
    ek_free(a->mean);
    ek_free(a->square);
    memset(a, 0, sizeof *a);
}

void ek_adamw_step(struct ek_adamw *a, float *parameter, const float *gradient, double rate,
                   double decay)
{
    const float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
    a->step++;
    float keep = (float)(1 - rate * decay);
    float step = (float)(rate / (1 - pow(0.9, (double)a->step)));
    float root = (float)(1 / sqrt(1 - pow(0.999, (double)a->step)));
    float *restrict mean = a->mean, *restrict square = a->square;
    for (size_t i = 0; i < a->count; i++) {
        float g = gradient[i];
        mean[i] = beta1 * mean[i] + (1 - beta1) * g;
        square[i] = beta2 * square[i] + (1 - beta2) * g * g;
        parameter[i] = parameter[i] * keep - step * mean[i] / (sqrtf(square[i]) * root + epsilon);
    }
}
