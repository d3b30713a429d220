/* Matrix products for every vector width: the including file sets EK_LANES, which divides
 * EK_GEMM_COLUMNS, and EK_KERNEL.
 *
 * A tile of up to 4 rows and 2 vectors of C stays in registers over the whole depth.
 */
typedef float gemm_v __attribute__((vector_size(EK_LANES * 4)));
typedef float gemm_u __attribute__((vector_size(EK_LANES * 4), aligned(4), may_alias));

enum { GEMM_ROWS = 4, GEMM_VECTORS = 2 }; /* of a tile */

#define GEMM_INLINE static inline __attribute__((always_inline))

GEMM_INLINE gemm_v gemm_load(const float *p)
{
    return *(const gemm_u *)p;
}

GEMM_INLINE gemm_v gemm_first(const struct ek_gemm *g, size_t row, size_t column)
{
    if (g->add)
        return gemm_load(g->c + row * g->c_row + column);
    if (g->start)
        return gemm_load(g->start + column);
    return (gemm_v){0};
}

/* rows and vectors are constants where this is called, so the loops unroll. */
GEMM_INLINE void gemm_tile(const struct ek_gemm *g, size_t row, size_t column, int rows,
                           int vectors)
{
    gemm_v sum[GEMM_ROWS][GEMM_VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            sum[r][v] = gemm_first(g, row + (size_t)r, column + (size_t)v * EK_LANES);
    const float *a = g->a + row * g->a_row, *b = g->b + column;
    for (size_t k = 0; k < g->depth; k++, a += g->a_step, b += g->b_row)
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vectors; v++)
                sum[r][v] += a[(size_t)r * g->a_row] * gemm_load(b + (size_t)v * EK_LANES);
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            *(gemm_u *)(g->c + (row + (size_t)r) * g->c_row + column + (size_t)v * EK_LANES) =
                sum[r][v];
}

GEMM_INLINE void gemm_all_rows(const struct ek_gemm *g, size_t column, int vectors)
{
    size_t row = 0;
    for (; row + GEMM_ROWS <= g->rows; row += GEMM_ROWS)
        gemm_tile(g, row, column, GEMM_ROWS, vectors);
    switch (g->rows - row) {
    case 3:
        gemm_tile(g, row, column, 3, vectors);
        break;
    case 2:
        gemm_tile(g, row, column, 2, vectors);
        break;
    case 1:
        gemm_tile(g, row, column, 1, vectors);
        break;
    default:
        break;
    }
}

void EK_KERNEL(ek_gemm)(const struct ek_gemm *g)
{
    size_t column = 0;
    for (; column + GEMM_VECTORS * EK_LANES <= g->columns; column += GEMM_VECTORS * EK_LANES)
        gemm_all_rows(g, column, GEMM_VECTORS);
    for (; column < g->columns; column += EK_LANES)
        gemm_all_rows(g, column, 1);
}
