#include "serve/context.h"

#include "base/alloc.h"
#include "lists/codec_json.h"
#include "serve/assets.h"
#include "serve/list_values.h"

#include <math.h>
#include <string.h>

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
    const struct ek_manifest *m = assets->manifest;
    c->slots = ek_assets_repair(assets) ? m->watched_count : m->routable_count;
    size_t slots = (size_t)c->slots;
    c->routing.acts = ek_calloc(slots, sizeof *c->routing.acts);
    c->routing.would = ek_calloc(slots, sizeof *c->routing.would);
    c->repair = ek_calloc(slots, sizeof *c->repair);
    c->repaired = ek_calloc(slots, sizeof *c->repaired);
    c->slot_of_item = ek_calloc((size_t)m->watched_count, sizeof *c->slot_of_item);
    for (int f = 0; c->slot_of_item && f < m->watched_count; f++)
        c->slot_of_item[f] = ek_assets_repair(assets) ? f : m->routable_of_item[f];
    int rc = ek_assets_repair(assets) ? ek_feature_writer_new(&c->writer, m) : EK_OK;
    if (rc || !c->routing.acts || !c->routing.would || !c->repair || !c->repaired ||
        !c->slot_of_item) {
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
    int rc = ek_assets_score(assets) ? ek_scorer_new(&scorer, assets->model, e) : EK_OK;
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
    ek_free(c->slot_of_item);
    ek_feature_writer_free(c->writer);
    ek_rank_comparison_free(c->rank_comparison);
    ek_free(c->scores);
    ek_free(c->values);
    ek_free(c->planned);
    ek_free(c);
}

/* Entries beyond EK_ROUTING_ENTRIES have no known repair for comparisons. */
void ek_context_note_entries(struct ek_context *c, const struct ek_plan *plan)
{
    _Static_assert(EK_ROUTING_ENTRIES <= 32, "a bit for each");
    c->acting = 0;
    for (int k = 0; k < c->slots && c->routing.desired; k++)
        if (c->routing.would[k].action != EK_ACT_NONE)
            c->repair[k] = (struct ek_plan_repair){.factor = NAN, .query_feature = -1};
    for (int i = 0; c->writer && i < plan->count; i++)
        if (ek_routing_has(&c->routing, i))
            c->repair[c->slot_of_item[plan->entry[i].feature]] =
                ek_plan_entry_repair(&plan->entry[i]);
    for (int i = 0; i < c->routing.entries; i++) {
        const struct ek_plan_entry *entry = &plan->entry[c->routing.entry[i]];
        int k = c->slot_of_item[entry->feature];
        if (!c->writer)
            c->repair[k] = entry->repair;
        if (c->routing.acts[k].action != EK_ACT_NONE)
            c->acting |= (uint32_t)1 << i;
    }
}

static void start_list(struct ek_context *c)
{
    c->prepared = c->taken = c->counted = c->scored = c->failed = false;
    c->observed = EK_CELLS_ALL;
    c->routing = (struct ek_plan_routing){.acts = c->routing.acts, .would = c->routing.would};
    c->outcome = EK_LIST_PASSED;
    c->changed = c->would_change = 0;
}

int ek_context_read_values(struct ek_context *c, const struct ek_array_list *list,
                           struct ek_error *e)
{
    start_list(c);
    if (ek_codec_layout(c->assets->codec) == EK_LAYOUT_ITEM)
        return ek_fail(e, EK_ESTATE, "messages are items ('message.layout'), arrays are a list");
    int rc = ek_list_set_values(&c->query, c->assets->manifest, list, e);
    if (!rc)
        rc = ek_list_stats_builder_read(c->reader, &c->query, e);
    if (rc)
        return rc;
    c->message = NULL;
    c->length = 0;
    c->prepared = true;
    return EK_OK;
}

int ek_context_read_message(struct ek_context *c, const void *message, size_t length,
                            struct ek_error *e)
{
    start_list(c);
    int rc = ek_codec_decode(c->assets->codec, message, length, &c->query, e);
    if (rc)
        return rc;
    c->message = message;
    c->length = length;
    c->prepared = true;
    return EK_OK;
}

int ek_context_add_statistics(struct ek_context *c, struct ek_error *e)
{
    if (ek_codec_layout(c->assets->codec) == EK_LAYOUT_ITEM)
        return EK_OK;
    int rc = ek_list_stats_builder_read(c->reader, &c->query, e);
    c->prepared = !rc;
    return rc;
}

int ek_context_decode(struct ek_context *c, const void *message, size_t length, struct ek_error *e)
{
    return ek_context_decode_at(c, message, length, -1, e);
}

int ek_context_decode_at(struct ek_context *c, const void *message, size_t length, int64_t time_ms,
                         struct ek_error *e)
{
    int rc = ek_context_read_message(c, message, length, e);
    if (rc)
        return rc;
    if (c->query.time_ms < 0)
        c->query.time_ms = time_ms;
    return ek_context_add_statistics(c, e);
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
    double *planned = ek_realloc(c->planned, items + items / 2, sizeof *planned);
    if (!planned)
        return out_of_memory(e);
    c->planned = planned;
    c->score_capacity = items + items / 2;
    return EK_OK;
}

static int reserve_values(struct ek_context *c, struct ek_error *e)
{
    size_t count = (size_t)c->query.items * (size_t)c->query.item_features;
    if (count <= c->value_capacity)
        return EK_OK;
    double *values = ek_realloc(c->values, count + count / 2, sizeof *values);
    if (!values)
        return out_of_memory(e);
    c->values = values;
    c->value_capacity = count + count / 2;
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

static int stratum_of(const struct ek_context *c)
{
    char scratch[EK_STRATUM_TEXT];
    if (c->observed && ek_codec_layout(c->assets->codec) != EK_LAYOUT_ITEM)
        return c->reader->stratum;
    struct ek_text name = ek_stratum_name(&c->reader->field, &c->query, scratch);
    return name.text ? ek_profile_stratum(c->assets->profile, name.text, name.length) : 0;
}

/* Count the values that the plan would change in this list but does not, because of the mode. */
static int count_held_back(struct ek_context *c, struct ek_feature_list *list, struct ek_error *e)
{
    struct ek_feature_list held = *list;
    for (int f = 0; f < c->slots; f++)
        c->repaired[f] = c->routing.acts[f].action == EK_ACT_NONE ? c->routing.would[f]
                                                                  : (struct ek_treatment){0};
    held.treatment = c->repaired;
    int rc = c->scorer ? reserve_values(c, e) : EK_OK;
    if (c->scorer)
        held.message = NULL;
    if (!rc)
        rc = c->scorer ? ek_feature_writer_values(c->writer, &held, c->values, &c->output, e)
                       : ek_feature_writer_write(c->writer, &held, &c->output, e);
    c->would_change = ek_feature_writer_changed(c->writer);
    return rc;
}

/* Return the outcome of a list with repaired values. */
static enum ek_list_outcome repair_outcome(const struct ek_context *c)
{
    return c->changed ? EK_LIST_REPAIRED : c->would_change ? EK_LIST_SHADOW : EK_LIST_PASSED;
}

/* Return the output, or the message if nothing was written. */
static const void *written(const struct ek_context *c, size_t *length)
{
    bool is_new = c->output.length > 0;
    *length = is_new ? c->output.length : c->length;
    return is_new ? c->output.data : c->message;
}

static struct ek_feature_list list_of(const struct ek_context *c)
{
    return (struct ek_feature_list){.assets = c->assets,
                                    .query = &c->query,
                                    .stratum = stratum_of(c),
                                    .treatment = c->routing.acts,
                                    .repair = c->repair,
                                    .message = c->message,
                                    .length = c->length};
}

/* Return the message with repaired values. The output is written last. */
static const void *write_features(struct ek_context *c, size_t *length, struct ek_error *e)
{
    struct ek_feature_list list = list_of(c);
    int rc = c->routing.acted < c->routing.desired ? count_held_back(c, &list, e) : EK_OK;
    if (!rc && !c->routing.acted)
        return ek_context_write_columns(c, length, e);
    list.wide = c->assets->wide;
    if (!rc)
        rc = ek_feature_writer_write(c->writer, &list, &c->output, e);
    c->failed = rc == EK_ESTATE;
    if (rc)
        return NULL;
    c->scored = true;
    c->changed = ek_feature_writer_changed(c->writer);
    c->outcome = repair_outcome(c);
    return written(c, length);
}

const void *ek_context_write_columns(struct ek_context *c, size_t *length, struct ek_error *e)
{
    struct ek_feature_list list = list_of(c);
    c->outcome = c->routing.desired ? repair_outcome(c) : c->routing.outcome;
    *length = c->length;
    if (!c->assets->wide || !c->query.items)
        return c->message;
    list.treatment = NULL;
    list.wide = c->assets->wide;
    int rc = ek_feature_writer_write(c->writer, &list, &c->output, e);
    return rc ? NULL : written(c, length);
}

/* Set `scores` to those of trees for the repaired list; a list that shows no fault keeps its own.
 */
static int score_repaired(struct ek_context *c, const struct ek_feature_list *list, double *scores,
                          struct ek_error *e)
{
    int rc = reserve_values(c, e);
    if (!rc)
        rc = ek_feature_writer_values(c->writer, list, c->values, &c->output, e);
    if (!rc && ek_feature_writer_changed(c->writer)) {
        float *given = c->query.query;
        c->query.query = ek_feature_writer_query(c->writer);
        rc = ek_scorer_score_values(c->scorer, &c->query, c->values, scores, e);
        c->query.query = given;
        return rc;
    }
    if (!rc)
        memcpy(scores, c->query.score, (size_t)c->query.items * sizeof *scores);
    return rc;
}

int ek_context_plan_scores(struct ek_context *c, struct ek_error *e)
{
    struct ek_feature_list list = list_of(c);
    list.treatment = c->routing.would;
    list.message = NULL;
    int rc = ek_context_reserve_scores(c, e);
    return rc ? rc : score_repaired(c, &list, c->planned, e);
}

/* Set c->scores to those of the output. *changed: repaired values. */
static int score_output(struct ek_context *c, const struct ek_feature_list *list, size_t *changed,
                        struct ek_error *e)
{
    int rc = ek_codec_has_scores(&c->query, e);
    if (!rc)
        rc = ek_context_reserve_scores(c, e);
    if (!rc)
        rc = score_repaired(c, list, c->scores, e);
    *changed = rc ? 0 : ek_feature_writer_changed(c->writer);
    return rc;
}

/* Return the message with the scores of trees for the repaired values. Errors as in `score`. */
static const void *write_tree_scores(struct ek_context *c, size_t *length, struct ek_error *e)
{
    struct ek_feature_list list = list_of(c);
    size_t changed = 0;
    int rc = c->routing.acted < c->routing.desired ? count_held_back(c, &list, e) : EK_OK;
    if (!rc && c->routing.acted)
        rc = score_output(c, &list, &changed, e);
    c->failed = rc == EK_ESTATE;
    if (!rc && changed)
        rc = ek_codec_patch(&c->query, c->message, c->length, c->scores, &c->output, e);
    if (rc)
        return NULL;
    c->scored = c->routing.acted;
    c->changed = changed;
    c->outcome = repair_outcome(c);
    *length = changed ? c->output.length : c->length;
    return changed ? c->output.data : c->message;
}

const char *ek_context_repair_note(const struct ek_context *c)
{
    return c->changed ? ek_feature_writer_note(c->writer) : NULL;
}

const void *ek_context_score(struct ek_context *c, size_t *length, struct ek_error *e)
{
    if (!c->taken) {
        ek_fail(e, EK_ESTATE, "no message was observed");
        return NULL;
    }
    if (!c->message) {
        ek_fail(e, EK_ESTATE, "the list was read from arrays, so there is no message to forward");
        return NULL;
    }
    if (c->writer && c->routing.desired && c->query.items)
        return c->scorer ? write_tree_scores(c, length, e) : write_features(c, length, e);
    if (c->assets->wide && c->query.items)
        return ek_context_write_columns(c, length, e);
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
    return ek_list_bytes(&c->query) + c->output.capacity +
           2 * c->score_capacity * sizeof *c->scores + c->value_capacity * sizeof *c->values;
}

void ek_context_shrink(struct ek_context *c, size_t most)
{
    if (ek_context_bytes(c) <= most)
        return;
    ek_list_release(&c->query);
    ek_buf_release(&c->output);
    ek_free(c->scores);
    ek_free(c->planned);
    ek_free(c->values);
    c->scores = c->planned = c->values = NULL;
    c->score_capacity = c->value_capacity = 0;
    ek_rank_comparison_free(c->rank_comparison);
    c->rank_comparison = NULL;
    c->prepared = c->taken = c->counted = c->scored = c->failed = false;
}
