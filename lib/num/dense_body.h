/* Dense layer kernel for any vector width. The including file defines EK_LANES, EK_KERNEL, EK_FMA,
 * EK_DENSE_ROWS and EK_DENSE_PANELS.
 *
 * A tile of up to EK_DENSE_ROWS rows and EK_DENSE_PANELS panels of outputs stays in registers over
 * all inputs. Each weight is loaded once for all rows of the tile, each input once for all its
 * outputs.
 */
typedef float dense_v __attribute__((vector_size(EK_LANES * 4)));
typedef int32_t dense_i __attribute__((vector_size(EK_LANES * 4)));
typedef float dense_u __attribute__((vector_size(EK_LANES * 4), aligned(4), may_alias));

enum { DENSE_VECTORS = EK_DENSE_PANEL / EK_LANES }; /* per panel */

#define DENSE_INLINE static inline __attribute__((always_inline))

DENSE_INLINE void dense_store(const struct ek_dense *d, float *y, int output, const dense_v *sum,
                              int relu)
{
    float lanes[EK_DENSE_PANEL];
    int whole = output + EK_DENSE_PANEL <= d->outputs;
    float *to = whole ? y + output : lanes;
    for (int v = 0; v < DENSE_VECTORS; v++) {
        dense_i negative = relu ? sum[v] < 0.f : (dense_i){0};
        *(dense_u *)(to + v * EK_LANES) = (dense_v)((dense_i)sum[v] & ~negative);
    }
    for (int i = 0; !whole && output + i < d->outputs; i++)
        y[output + i] = lanes[i];
}

/* Callers pass constant `rows` and `panels`, so the loops unroll. */
DENSE_INLINE void dense_tile(const struct ek_dense *d, const struct ek_dense_rows *all, int row,
                             int panel, int rows, int panels)
{
    dense_v sum[EK_DENSE_ROWS][EK_DENSE_PANELS * DENSE_VECTORS];
    int vectors = panels * DENSE_VECTORS;
    size_t step = (size_t)d->inputs * EK_DENSE_PANEL;
    const float *bias = (all->start ? all->start : d->bias) + panel * EK_DENSE_PANEL;
    const float *weight = d->weight + (size_t)panel * step;
    const float *x = all->x + (size_t)row * all->x_stride;
    for (int v = 0; v < vectors; v++)
        for (int r = 0; r < rows; r++)
            sum[r][v] = *(const dense_u *)(bias + v * EK_LANES);
    for (int i = 0; i < d->inputs - all->idle; i++, weight += EK_DENSE_PANEL) {
        dense_v w[EK_DENSE_PANELS * DENSE_VECTORS];
        for (int v = 0; v < vectors; v++)
            w[v] = *(const dense_u *)(weight + (size_t)(v / DENSE_VECTORS) * step +
                                      v % DENSE_VECTORS * EK_LANES);
        for (int r = 0; r < rows; r++) {
            /* Subtracting 0 compiles to a broadcast load; adding 0 would be a real addition. */
            dense_v value = x[(size_t)r * all->x_stride + (size_t)i] - (dense_v){0};
            for (int v = 0; v < vectors; v++)
                sum[r][v] = EK_FMA(value, w[v], sum[r][v]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < panels; p++)
            dense_store(d, all->y + (size_t)(row + r) * all->y_stride, (panel + p) * EK_DENSE_PANEL,
                        sum[r] + p * DENSE_VECTORS, all->relu);
}

/* Compute all rows of some panels in tiles of nearly equal height. */
DENSE_INLINE void dense_panels(const struct ek_dense *d, const struct ek_dense_rows *all, int panel,
                               int panels)
{
    int tiles = (all->rows + EK_DENSE_ROWS - 1) / EK_DENSE_ROWS;
    for (int t = 0, row = 0; t < tiles; t++) {
        int rows = (all->rows - row + tiles - t - 1) / (tiles - t);
        switch (rows) {
#define DENSE_CASE(n)                                                                              \
    case n:                                                                                        \
        dense_tile(d, all, row, panel, n, panels);                                                 \
        break;
            DENSE_CASE(1)
            DENSE_CASE(2)
            DENSE_CASE(3)
#if EK_DENSE_ROWS > 3
            DENSE_CASE(4)
            DENSE_CASE(5)
            DENSE_CASE(6)
#endif
#if EK_DENSE_ROWS > 6
            DENSE_CASE(7)
            DENSE_CASE(8)
            DENSE_CASE(9)
            DENSE_CASE(10)
            DENSE_CASE(11)
            DENSE_CASE(12)
#endif
#undef DENSE_CASE
        }
        row += rows;
    }
}

void EK_KERNEL(ek_dense)(const struct ek_dense *d, const struct ek_dense_rows *all)
{
    int panel = 0;
    for (; panel + EK_DENSE_PANELS <= d->panels; panel += EK_DENSE_PANELS)
        dense_panels(d, all, panel, EK_DENSE_PANELS);
    for (; panel < d->panels; panel++)
        dense_panels(d, all, panel, 1);
}
