#include "detect/detector.h"
#include "detect/detector_internal.h"
#include "detect/tick.h"

/* As ek_detector_grow makes room. */
static int capacity_for(int cells)
{
    int capacity = EK_CELLS_AT_FIRST;
    while (capacity < cells)
        capacity *= 2;
    return capacity;
}

/* By cell. */
static size_t cells_memory(const struct ek_profile *p, int capacity, bool fleet)
{
    const struct ek_detector *d = NULL;
    size_t slots = (size_t)capacity * (size_t)p->features;
    size_t bytes = slots * (sizeof *d->episode_of + sizeof *d->foreign) * 3 / 2 +
                   (size_t)capacity * sizeof *d->planned * 3 / 2;
    bytes += ek_evidence_cells_memory(p->features, capacity) + ek_categories_memory(p, capacity);
    if (p->field)
        bytes += ek_habits_memory(p->features, capacity);
    return bytes + (fleet ? ek_tick_memory(p->features, capacity) : 0);
}

/* By feature, and for a diagnosis. */
static size_t fixed_memory(const struct ek_profile *p, int query_features)
{
    const struct ek_detector *d = NULL;
    size_t feature = sizeof *d->watched + sizeof *d->resembles + sizeof *d->alarm +
                     sizeof *d->settled + sizeof *d->open + 3 * sizeof *d->usual[0] +
                     (size_t)p->strata * sizeof *d->fair;
    size_t row = sizeof *d->window + sizeof *d->window_level + sizeof *d->rows +
                 sizeof *d->residual + sizeof *d->offset + sizeof *d->tail;
    return sizeof *d + (size_t)p->features * feature + (size_t)query_features * sizeof *d->slope +
           EK_HISTORY * row + EK_EPISODES_MAX * sizeof *d->episode +
           EK_FINDINGS_MAX * sizeof *d->finding + sizeof *d->repeats + sizeof *d->relatives;
}

size_t ek_detector_memory(const struct ek_manifest *m, const struct ek_profile *p,
                          const struct ek_rules *rules, int cells, bool fleet)
{
    int dimensions = rules->segment_count;
    return fixed_memory(p, m->query_count) +
           cells_memory(p, capacity_for(cells + dimensions), fleet) +
           ek_history_memory(p->features, m->query_count) + ek_cells_memory(dimensions, cells) +
           ek_list_reader_memory(p, false);
}
