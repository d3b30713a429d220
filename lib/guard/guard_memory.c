#include "guard/guard_memory.h"

#include "serve/context.h"
#include "plan/control_internal.h"
#include "guard/guard_internal.h"
#include "serve/trial_sums.h"

/* Texts of a decision, or of a pin: names of a feature, a segment and its value, who and why. */
static const size_t TEXTS_BYTES =
    2 * EK_NAME_BYTES_MAX + EK_SEGMENT_BYTES_MAX + EK_AUTHOR_BYTES + EK_REASON_BYTES + 256;

/* Two guards may be joined, or take over from each other: control is there twice. */
static size_t plans_memory(const struct ek_assets *a)
{
    const struct ek_guard *g = NULL;
    size_t past = a->codec && ek_codec_layout(a->codec) == EK_LAYOUT_ITEM
                      ? EK_PAST_PLANS * sizeof(struct ek_plan)
                      : 0;
    return sizeof *g + 2 * sizeof(struct ek_control) + past + ek_trials_memory() +
           ek_reach_memory() + EK_PINS_MAX * TEXTS_BYTES +
           EK_DECISIONS_KEPT * (sizeof(struct ek_decided) + TEXTS_BYTES) +
           (a->model ? ek_agreement_watch_memory() : 0);
}

/* Those that wait, and the one that is being made. */
static size_t events_memory(void)
{
    enum { OF_AN_ALLOCATION = 32 };
    return EK_EVENTS_BYTES_MAX + EK_EVENTS_MAX * (sizeof(char *) + OF_AN_ALLOCATION) +
           3 * (size_t)EK_EVENT_BYTES_MAX;
}

static size_t sketches_memory(const struct ek_assets *a, int cells)
{
    int features = a->manifest->item_count;
    const struct ek_window_rule *rule = &a->rules->windows;
    size_t some = (size_t)(cells < rule->cells ? cells : rule->cells);
    return ek_traffic_bytes_most(features, rule, cells) + some * EK_WINDOWS_SCRATCH +
           (size_t)features * (sizeof(struct ek_bins) + sizeof(struct ek_values)) +
           (some ? ek_sketch_set_bytes_most(features) : 0) + 2 * ek_sketch_memory_most();
}

struct ek_guard_memory ek_guard_memory_of(const struct ek_assets *a,
                                          const struct ek_list_limits *most, bool fleet)
{
    int limit = a->cells ? a->cells : EK_CELLS_DEFAULT_MAX;
    struct ek_guard_memory out = {
        .cells = limit + a->rules->segment_count,
        .detector = ek_detector_memory(a->manifest, a->profile, a->rules, limit, fleet),
        .plans = plans_memory(a),
        .events = events_memory(),
        .own_context = ek_context_memory(a, most, false)};
    out.sketches = sketches_memory(a, out.cells);
    if (ek_codec_layout(a->codec) == EK_LAYOUT_ITEM)
        out.items = ek_assembly_memory(&a->assembly) + ek_context_memory(a, most, true);
    return out;
}

size_t ek_guard_memory_all(const struct ek_guard_memory *m)
{
    return m->detector + m->sketches + m->plans + m->events + m->items + m->own_context;
}

size_t ek_assets_memory(const struct ek_assets *a)
{
    return ek_manifest_memory(a->manifest) + ek_profile_memory(a->profile) +
           ek_rules_memory(a->rules) + (a->model ? ek_model_memory(a->model) : 0);
}
