#include "offline/train/optimizer.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

int ek_optimizer_init(struct ek_optimizer *o, enum ek_optimizer_kind kind, size_t count)
{
    *o = (struct ek_optimizer){.kind = kind, .count = count};
    o->mean = ek_calloc_aligned(count, sizeof *o->mean);
    o->square = ek_calloc_aligned(count, sizeof *o->square);
    if (o->mean && o->square)
        return EK_OK;
    ek_optimizer_release(o);
    return EK_ENOMEM;
}

void ek_optimizer_release(struct ek_optimizer *o)
{
    ek_free(o->mean);
    ek_free(o->square);
    memset(o, 0, sizeof *o);
}

static void adamw(struct ek_optimizer *o, float *restrict parameter, const float *restrict gradient,
                  double rate, float keep)
{
    const float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
    float step = (float)(rate / (1 - pow(0.9, (double)o->step)));
    float root = (float)(1 / sqrt(1 - pow(0.999, (double)o->step)));
    float *restrict mean = o->mean, *restrict square = o->square;
    for (size_t i = 0; i < o->count; i++) {
        float g = gradient[i];
        mean[i] = beta1 * mean[i] + (1 - beta1) * g;
        square[i] = beta2 * square[i] + (1 - beta2) * g * g;
        parameter[i] = parameter[i] * keep - step * mean[i] / (sqrtf(square[i]) * root + epsilon);
    }
}

static void adagrad(struct ek_optimizer *o, float *restrict parameter,
                    const float *restrict gradient, double rate, float keep)
{
    const float epsilon = 1e-10f, step = (float)rate;
    float *restrict square = o->square;
    for (size_t i = 0; i < o->count; i++) {
        float g = gradient[i];
        square[i] += g * g;
        parameter[i] = parameter[i] * keep - step * g / (sqrtf(square[i]) + epsilon);
    }
}

void ek_optimizer_step(struct ek_optimizer *o, float *parameter, const float *gradient, double rate,
                       double decay)
{
    float keep = (float)(1 - rate * decay);
    o->step++;
    if (o->kind == EK_ADAGRAD)
        adagrad(o, parameter, gradient, rate, keep);
    else
        adamw(o, parameter, gradient, rate, keep);
}
