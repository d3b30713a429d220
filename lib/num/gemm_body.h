/* Matrix product kernel for any vector width. The including file defines EK_LANES, which divides
 * EK_GEMM_COLUMNS, and EK_KERNEL.
 *
 * A tile of up to 4 rows and 2 vectors of C stays in registers over up to GEMM_DEPTH terms. If
 * enough rows use them, these rows of B are copied first: rows some KiB apart would evict each
 * other from the cache.
 */
typedef float gemm_v __attribute__((vector_size(EK_LANES * 4)));
typedef float gemm_u __attribute__((vector_size(EK_LANES * 4), aligned(4), may_alias));

enum { GEMM_ROWS = 4, GEMM_VECTORS = 2 }; /* per tile */
enum { GEMM_DEPTH = 256, GEMM_ROWS_TO_COPY = 16 };

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

/* Callers pass constant `rows` and `vectors`, so the loops unroll. */
GEMM_INLINE void gemm_tile(const struct ek_gemm *g, size_t row, int rows, int vectors)
{
    gemm_v sum[GEMM_ROWS][GEMM_VECTORS];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            sum[r][v] = gemm_first(g, row + (size_t)r, (size_t)v * EK_LANES);
    const float *a = g->a + row * g->a_row, *b = g->b;
    for (size_t k = 0; k < g->depth; k++, a += g->a_step, b += g->b_row)
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vectors; v++)
                sum[r][v] += a[(size_t)r * g->a_row] * gemm_load(b + (size_t)v * EK_LANES);
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            *(gemm_u *)(g->c + (row + (size_t)r) * g->c_row + (size_t)v * EK_LANES) = sum[r][v];
}

GEMM_INLINE void gemm_all_rows(const struct ek_gemm *g, int vectors)
{
    size_t row = 0;
    for (; row + GEMM_ROWS <= g->rows; row += GEMM_ROWS)
        gemm_tile(g, row, GEMM_ROWS, vectors);
    switch (g->rows - row) {
    case 3:
        gemm_tile(g, row, 3, vectors);
        break;
    case 2:
        gemm_tile(g, row, 2, vectors);
        break;
    case 1:
        gemm_tile(g, row, 1, vectors);
        break;
    default:
        break;
    }
}

/* Return the partial product of terms [from, from + depth) for some columns. */
GEMM_INLINE struct ek_gemm gemm_part(const struct ek_gemm *g, size_t column, size_t from,
                                     size_t depth)
{
    struct ek_gemm part = *g;
    part.a += from * g->a_step;
    part.b += from * g->b_row + column;
    part.c += column;
    part.start = g->start ? g->start + column : NULL;
    part.depth = depth;
    part.add = g->add || from;
    return part;
}

GEMM_INLINE void gemm_columns(const struct ek_gemm *g, size_t column, int vectors)
{
    gemm_v copy[GEMM_DEPTH * GEMM_VECTORS];
    size_t from = 0;
    do {
        size_t depth = g->depth - from < GEMM_DEPTH ? g->depth - from : GEMM_DEPTH;
        struct ek_gemm part = gemm_part(g, column, from, depth);
        if (g->rows >= GEMM_ROWS_TO_COPY) {
            for (size_t k = 0; k < depth; k++)
                for (int v = 0; v < vectors; v++)
                    copy[k * (size_t)vectors + (size_t)v] =
                        gemm_load(part.b + k * g->b_row + (size_t)v * EK_LANES);
            part.b = (const float *)copy;
            part.b_row = (size_t)vectors * EK_LANES;
        }
        gemm_all_rows(&part, vectors);
        from += depth;
    } while (from < g->depth);
}

void EK_KERNEL(ek_gemm)(const struct ek_gemm *g)
{
    size_t column = 0;
    for (; column + GEMM_VECTORS * EK_LANES <= g->columns; column += GEMM_VECTORS * EK_LANES)
        gemm_columns(g, column, GEMM_VECTORS);
    for (; column < g->columns; column += EK_LANES)
        gemm_columns(g, column, 1);
}
