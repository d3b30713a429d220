#include "serve/context.h"

#include "base/alloc.h"
#include "lists/codec_json.h"
#include "serve/assets.h"

#include <math.h>

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

/* Create a context with shared objects. */
static int make(struct ek_context **out, const struct ek_assets *assets,
                struct ek_list_stats_builder *reader, struct ek_scorer *scorer, struct ek_error *e)
{
    struct ek_context *c = ek_calloc(1, sizeof *c);
    if (!c)
        return out_of_memory(e);
    c->assets = assets;
    c->reader = reader;
    c->scorer = scorer;
    ek_list_init(&c->query);
    ek_buf_init(&c->output, 0);
    size_t routables = (size_t)assets->manifest->routable_count;
    c->routing.acts = ek_calloc(routables, sizeof *c->routing.acts);
    c->routing.would = ek_calloc(routables, sizeof *c->routing.would);
    c->repair = ek_calloc(routables, sizeof *c->repair);
    c->repaired = ek_calloc(routables, sizeof *c->repaired);
    if (!c->routing.acts || !c->routing.would || !c->repair || !c->repaired) {
        ek_context_free(c);
        return out_of_memory(e);
    }
    *out = c;
    return EK_OK;
}

int ek_context_new(struct ek_context **out, const struct ek_assets *assets, struct ek_error *e)
{
    struct ek_list_stats_builder *reader = NULL;
    int rc =
        ek_list_stats_builder_new(&reader, assets->manifest, assets->profile, assets->rules, e);
    if (!rc)
        rc = ek_context_new_with(out, assets, reader, e);
    if (rc)
        ek_list_stats_builder_free(reader);
    else
        (*out)->own_reader = reader;
    return rc;
}

int ek_context_new_with(struct ek_context **out, const struct ek_assets *assets,
                        struct ek_list_stats_builder *reader, struct ek_error *e)
{
    struct ek_scorer *scorer = NULL;
    int rc = assets->model ? ek_scorer_new(&scorer, assets->model, e) : EK_OK;
    if (!rc)
        rc = make(out, assets, reader, scorer, e);
    if (rc)
        ek_scorer_free(scorer);
    else
        (*out)->own_scorer = scorer;
    return rc;
}

int ek_context_new_paired(struct ek_context **out, const struct ek_context *with,
                          struct ek_error *e)
{
    struct ek_list_stats_builder *reader = NULL;
    int rc = ek_list_stats_builder_new_paired(&reader, with->reader, e);
    if (!rc)
        rc = make(out, with->assets, reader, with->scorer, e);
    if (rc)
        ek_list_stats_builder_free(reader);
    else
        (*out)->own_reader = reader;
    return rc;
}

void ek_context_free(struct ek_context *c)
{
    if (!c)
        return;
    ek_list_stats_builder_free(c->own_reader);
    ek_scorer_free(c->own_scorer);
    ek_list_release(&c->query);
    ek_buf_release(&c->output);
    ek_free(c->routing.acts);
    ek_free(c->routing.would);
    ek_free(c->repair);
    ek_free(c->repaired);
    ek_rank_comparison_free(c->ways);
    ek_free(c->scores);
    ek_free(c);
}

/* Entries beyond EK_ROUTING_ENTRIES have no known repair. */
void ek_context_note_entries(struct ek_context *c, const struct ek_plan *plan)
{
    const struct ek_manifest *m = c->assets->manifest;
    _Static_assert(EK_ROUTING_ENTRIES <= 32, "a bit for each");
    c->acting = 0;
    for (int k = 0; k < m->routable_count && c->routing.desired; k++)
        c->repair[k] = (struct ek_plan_repair){NAN, -1};
    for (int i = 0; i < c->routing.entries; i++) {
        const struct ek_plan_entry *entry = &plan->entry[c->routing.entry[i]];
        int k = m->routable_of_item[entry->feature];
        c->repair[k] = entry->repair;
        if (c->routing.acts[k].action != EK_ACT_NONE)
            c->acting |= (uint32_t)1 << i;
    }
}

int ek_context_decode(struct ek_context *c, const void *message, size_t length, struct ek_error *e)
{
    c->prepared = c->taken = c->counted = c->scored = c->failed = false;
    c->routing = (struct ek_plan_routing){.acts = c->routing.acts, .would = c->routing.would};
    c->outcome = EK_LIST_PASSED;
    int rc = ek_codec_decode(c->assets->codec, message, length, &c->query, e);
    if (!rc && ek_codec_layout(c->assets->codec) == EK_LAYOUT_LIST)
        rc = ek_list_stats_builder_read(c->reader, &c->query, e);
    if (rc)
        return rc;
    c->message = message;
    c->length = length;
    c->prepared = true;
    return EK_OK;
}

int ek_context_reserve_scores(struct ek_context *c, struct ek_error *e)
{
    size_t items = (size_t)c->query.items;
    if (items <= c->score_capacity)
        return EK_OK;
    double *scores = ek_realloc(c->scores, items + items / 2, sizeof *scores);
    if (!scores)
        return out_of_memory(e);
    c->scores = scores;
    c->score_capacity = items + items / 2;
    return EK_OK;
}

/* Only failures of the model or the plan (EK_ESTATE) count as failed, because guardrails roll
 * routes back by them. Errors of the message (EK_EFORMAT) are checked first: otherwise a producer
 * could cause a rollback. */
static int score(struct ek_context *c, struct ek_error *e)
{
    int rc = ek_codec_has_scores(&c->query, e);
    if (!rc)
        rc = ek_context_reserve_scores(c, e);
    if (!rc)
        rc = ek_scorer_score_finite(c->scorer, &c->query, c->routing.acts, c->scores, e);
    c->failed = rc == EK_ESTATE;
    if (rc)
        return rc;
    return ek_codec_patch(&c->query, c->message, c->length, c->scores, &c->output, e);
}

const void *ek_context_score(struct ek_context *c, size_t *length, struct ek_error *e)
{
    if (!c->taken) {
        ek_fail(e, EK_ESTATE, "no message was observed");
        return NULL;
    }
    if (!c->routing.acted || !c->query.items) {
        if (!c->routing.acted)
            c->outcome = c->routing.outcome;
        *length = c->length;
        return c->message;
    }
    if (score(c, e))
        return NULL;
    c->scored = true;
    c->outcome = c->routing.outcome;
    *length = c->output.length;
    return c->output.data;
}

const char *ek_context_action(const struct ek_context *c)
{
    return ek_list_outcome_name(c->outcome);
}

uint64_t ek_context_plan_version(const struct ek_context *c)
{
    return c->plan_version;
}

size_t ek_context_bytes(const struct ek_context *c)
{
    return ek_list_bytes(&c->query) + c->output.capacity + c->score_capacity * sizeof *c->scores;
}

void ek_context_shrink(struct ek_context *c, size_t most)
{
    if (ek_context_bytes(c) <= most)
        return;
    ek_list_release(&c->query);
    ek_buf_release(&c->output);
    ek_free(c->scores);
    c->scores = NULL;
    c->score_capacity = 0;
    ek_rank_comparison_free(c->ways);
    c->ways = NULL;
    c->prepared = c->taken = c->counted = c->scored = c->failed = false;
}
