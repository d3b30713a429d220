#include "offline/select/row_norm.h"

#include <math.h>

static const double EPSILON = 1e-5;

void ek_row_norm(const float *x, size_t rows, size_t width, float *y, float *scale)
{
    for (size_t r = 0; r < rows; r++, x += width, y += width) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < width; i++)
            sum += (double)x[i];
        double mean = sum / (double)width;
        for (size_t i = 0; i < width; i++)
            squares += ((double)x[i] - mean) * ((double)x[i] - mean);
        double by = 1 / sqrt(squares / (double)width + EPSILON);
        for (size_t i = 0; i < width; i++)
            y[i] = (float)(((double)x[i] - mean) * by);
        scale[r] = (float)by;
    }
}

/* With y centred: dx = scale (dy - mean(dy) - y mean(dy y)). */
void ek_row_norm_below(const float *y, const float *scale, const float *dy, size_t rows,
                       size_t width, float *dx)
{
    for (size_t r = 0; r < rows; r++, y += width, dy += width, dx += width) {
        double sum = 0, along = 0;
        for (size_t i = 0; i < width; i++) {
            sum += (double)dy[i];
            along += (double)dy[i] * (double)y[i];
        }
        float mean = (float)(sum / (double)width), part = (float)(along / (double)width);
        for (size_t i = 0; i < width; i++)
            dx[i] += scale[r] * (dy[i] - mean - y[i] * part);
    }
}
