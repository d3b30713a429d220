#include "guard/list_sample.h"

#include "base/alloc.h"
#include "guard/guard_internal.h"

#include <string.h>

struct cell {
    uint32_t lists; /* since the start of the period */
    uint32_t mask;  /* a list is observed if these bits of its key are 0 */
};

struct ek_list_sample {
    int cells;
    struct ek_event_clock clock; /* unlike that of the guard, lists alone advance it */
    int64_t since_ms;            /* start of the period; -1: no list yet */
    struct cell *cell;           /* [cells] */
};

int ek_list_sample_new(struct ek_list_sample **out, int cells)
{
    struct ek_list_sample *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    s->cells = cells;
    s->since_ms = -1;
    s->cell = ek_calloc((size_t)cells, sizeof *s->cell);
    if (!s->cell) {
        ek_list_sample_free(s);
        return EK_ENOMEM;
    }
    *out = s;
    return EK_OK;
}

void ek_list_sample_free(struct ek_list_sample *s)
{
    if (s)
        ek_free(s->cell);
    ek_free(s);
}

/* Return the mask of the largest power of two that leaves EK_LIST_SAMPLE_RATE. */
static uint32_t find_mask(uint32_t lists, int64_t elapsed_ms)
{
    uint64_t rate = (uint64_t)lists * 1000 / (uint64_t)elapsed_ms;
    uint32_t every = 1;
    while (rate / 2 / every >= EK_LIST_SAMPLE_RATE)
        every *= 2;
    return every - 1;
}

/* Start a period. The counts of one that the time has left by a step back are no rates. */
static void start_period(struct ek_list_sample *s, int64_t time_ms)
{
    int64_t elapsed_ms = time_ms - s->since_ms;
    bool known = s->since_ms >= 0 && elapsed_ms >= EK_LIST_SAMPLE_MS;
    for (int i = 0; i < s->cells; i++)
        s->cell[i] = (struct cell){0, known ? find_mask(s->cell[i].lists, elapsed_ms) : 0};
    s->since_ms = time_ms;
}

uint32_t ek_list_sample_choose(struct ek_list_sample *s, const int16_t *cells, int count,
                               int64_t time_ms, uint64_t key)
{
    uint32_t observed = 0;
    if (s->since_ms < 0 || time_ms < s->since_ms || time_ms - s->since_ms >= EK_LIST_SAMPLE_MS)
        start_period(s, time_ms);
    for (int i = 0; i < count; i++) {
        if (cells[i] < 0)
            continue;
        struct cell *c = &s->cell[cells[i]];
        c->lists++;
        observed |= (uint32_t) !(key & c->mask) << i;
    }
    return observed;
}

void ek_list_sample_reset_cell(struct ek_list_sample *s, int cell)
{
    s->cell[cell] = (struct cell){0, 0};
}

void ek_guard_choose(struct ek_guard *g, struct ek_context *c, uint64_t key)
{
    int16_t cells[EK_CELLS_PER_LIST];
    struct ek_list_sample *s = g->sample;
    const struct ek_cells *registry = ek_detector_registry(g->detector);
    if (g->assembly)
        return;
    ek_cells_find(registry, &c->query, cells);
    int64_t time_ms = ek_event_clock_list(&s->clock, c->query.time_ms);
    c->observed = ek_list_sample_choose(s, cells, 1 + ek_cells_dimensions(registry), time_ms, key);
}
