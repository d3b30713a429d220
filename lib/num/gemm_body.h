/* One body for every vector width: the including file sets EK_LANES, a power of two that divides
 * EK_GEMM_COLUMNS, and EK_KERNEL, the name.
 *
 * A tile of up to 4 rows and 2 vectors of C stays in registers over the whole depth.
 */
#include "num/gemm_isa.h"

#include <string.h>

typedef float lanes_f __attribute__((vector_size(EK_LANES * 4)));
typedef float unaligned_f __attribute__((vector_size(EK_LANES * 4), aligned(4), may_alias));

enum { TILE_ROWS = 4, TILE_VECTORS = 2 };

#define INLINE static inline __attribute__((always_inline))

INLINE lanes_f load(const float *p)
{
    return *(const unaligned_f *)p;
}

INLINE lanes_f first(const struct ek_gemm *g, size_t row, size_t column)
{
    if (g->add)
        return load(g->c + row * g->c_row + column);
    if (g->start)
        return load(g->start + column);
    return (lanes_f){0};
}

/* rows and vectors are constants where this is called, so the loops unroll. */
INLINE void tile(const struct ek_gemm *g, size_t row, size_t column, int rows, int vectors)
{
    lanes_f sum[TILE_ROWS][TILE_VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            sum[r][v] = first(g, row + (size_t)r, column + (size_t)v * EK_LANES);
    const float *a = g->a + row * g->a_row, *b = g->b + column;
    for (size_t k = 0; k < g->depth; k++, a += g->a_step, b += g->b_row)
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vectors; v++)
                sum[r][v] += a[(size_t)r * g->a_row] * load(b + (size_t)v * EK_LANES);
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            *(unaligned_f *)(g->c + (row + (size_t)r) * g->c_row + column + (size_t)v * EK_LANES) =
                sum[r][v];
}

INLINE void all_rows(const struct ek_gemm *g, size_t column, int vectors)
{
    size_t row = 0;
    for (; row + TILE_ROWS <= g->rows; row += TILE_ROWS)
        tile(g, row, column, TILE_ROWS, vectors);
    switch (g->rows - row) {
    case 3:
        tile(g, row, column, 3, vectors);
        break;
    case 2:
        tile(g, row, column, 2, vectors);
        break;
    case 1:
        tile(g, row, column, 1, vectors);
        break;
    default:
        break;
    }
}

void EK_KERNEL(const struct ek_gemm *g)
{
    size_t column = 0;
    for (; column + TILE_VECTORS * EK_LANES <= g->columns; column += TILE_VECTORS * EK_LANES)
        all_rows(g, column, TILE_VECTORS);
    for (; column < g->columns; column += EK_LANES)
        all_rows(g, column, 1);
}
