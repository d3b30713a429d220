#include "guard/guard_accept.h"

#include "base/parse.h"
#include "guard/accept_event.h"
#include "guard/event.h"

#include <math.h>
#include <string.h>

/* A factor that differs by list cannot be joined with another: then it is not known. */
static void note_repair(struct ek_repair *repair, enum ek_action would, double shift_ln)
{
    if (would == EK_ACT_NONE)
        *repair = (struct ek_repair){exp(shift_ln), -1};
    else if (repair->query_feature >= 0)
        *repair = (struct ek_repair){(double)NAN, -1};
    else
        repair->factor *= exp(shift_ln);
}

void ek_guard_treat_accepted(const struct ek_guard *g, struct ek_context *c, const int16_t *cells,
                             int count)
{
    const struct ek_manifest *m = g->assets->manifest;
    const struct ek_rebases *r = ek_detector_rebases(g->detector);
    if (!r->count || !c->routing.wanted)
        return;
    for (int f = 0; f < m->item_count; f++) {
        int k = m->routable_of_item[f];
        double shift_ln = k < 0 ? 0 : ek_rebase_of_list(r, f, cells, count);
        if (shift_ln != 0)
            note_repair(&c->repair[k], c->routing.would[k].action, shift_ln);
    }
    ek_rebase_treat(r, cells, count, m->routable_of_item, c->routing.would);
    if (c->routing.acted)
        ek_rebase_treat(r, cells, count, m->routable_of_item, c->routing.acts);
}

const struct ek_treatment *ek_guard_untreated(const struct ek_guard *g, struct ek_context *c,
                                              const int16_t *cells, int count)
{
    const struct ek_manifest *m = g->assets->manifest;
    const struct ek_rebases *r = ek_detector_rebases(g->detector);
    struct ek_treatment *t = c->routing.acts; /* which has nothing for such a list */
    if (!r->count)
        return NULL;
    memset(t, 0, (size_t)m->routable_count * sizeof *t);
    ek_rebase_treat(r, cells, count, m->routable_of_item, t);
    return t;
}

static int find_feature(const struct ek_manifest *m, const char *name, int *feature,
                        struct ek_error *e)
{
    for (*feature = 0; *feature < m->item_count; ++*feature)
        if (!strcmp(m->item[*feature]->name, name))
            return EK_OK;
    const char *near = ek_manifest_suggest(m, EK_ROLE_ITEM, name);
    return near ? ek_fail(e, EK_EUSAGE, "no item feature '%s', did you mean '%s'?", name, near)
                : ek_fail(e, EK_EUSAGE, "no item feature '%s' in the manifest", name);
}

static int no_segment(const struct ek_rules *rules, const char *segment, struct ek_error *e)
{
    const char *near =
        ek_nearest_word(segment, (const char *const *)rules->segment, (size_t)rules->segment_count);
    return near ? ek_fail(e, EK_EUSAGE, "no segment '%s', did you mean '%s'?", segment, near)
                : ek_fail(e, EK_EUSAGE, "no segment '%s': 'segments' of the rules must name it",
                          segment);
}

/* Whether a cell is the one of these names. */
static bool is_cell(const struct ek_cells *cells, int cell, const char *segment, const char *value)
{
    const char *own = ek_cells_value(cells, cell);
    return !strcmp(ek_cells_dimension_name(cells, cell), segment) &&
           !strcmp(own ? own : EK_SEGMENT_OTHER, value);
}

static int find_cell(const struct ek_guard *g, const char *segment, const char *value, int *cell,
                     struct ek_error *e)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    const struct ek_rules *rules = g->assets->rules;
    int d = 0;
    *cell = 0;
    if (!segment)
        return EK_OK;
    while (d < rules->segment_count && strcmp(rules->segment[d], segment) != 0)
        d++;
    if (d == rules->segment_count)
        return no_segment(rules, segment, e);
    if (!value)
        return ek_fail(e, EK_EUSAGE, "segment '%s' needs a value", segment);
    for (*cell = 1; *cell < ek_cells_count(cells); ++*cell)
        if (is_cell(cells, *cell, segment, value))
            return EK_OK;
    return ek_fail(e, EK_ESTATE,
                   "no lists of %s=%s are watched on their own: wait for the first, or set "
                   "'limits.cells' higher where many values share a cell",
                   segment, value);
}

static int check_text(const char *what, const char *text, size_t most, struct ek_error *e)
{
    size_t length = text ? strlen(text) : 0;
    return length > most
               ? ek_fail(e, EK_EUSAGE, "the %s has %zu bytes, at most %zu", what, length, most)
               : EK_OK;
}

static int check(const struct ek_guard *g, const char *author, const char *reason,
                 struct ek_error *e)
{
    int rc = check_text("author", author, EK_AUTHOR_BYTES, e);
    if (!rc)
        rc = check_text("reason", reason, EK_REASON_BYTES, e);
    if (!rc && g->member)
        rc = ek_fail(e, EK_ESTATE,
                     "instances of a fleet cannot be told yet what is normal: make the profile "
                     "anew (evenkeel profile --messages)");
    return rc;
}

/* What came of it, and then the decision. */
static int tell(struct ek_guard *g, const struct ek_accept_told *told, struct ek_error *e)
{
    uint64_t query = ek_detector_queries(g->detector);
    int rc = ek_guard_take_findings(g, query);
    if (!rc)
        rc = ek_event_accept(&g->event, g->assets->manifest, ek_detector_registry(g->detector),
                             told, query, g->time_ms);
    if (!rc)
        rc = ek_guard_tell(g, (const char *)g->event.data, g->event.length);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

int ek_guard_accept(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                    const char *author, const char *reason, uint64_t *version, struct ek_error *e)
{
    struct ek_accept_told told = {.author = author, .reason = reason};
    int number, cell;
    int rc = check(g, author, reason, e);
    if (!rc)
        rc = find_feature(g->assets->manifest, feature, &number, e);
    if (!rc)
        rc = find_cell(g, segment, value, &cell, e);
    if (!rc)
        rc = ek_detector_accept(g->detector, number, cell, &told.accept, e);
    if (rc)
        return rc;
    told.version = *version = told.accept.version;
    return tell(g, &told, e);
}

int ek_guard_revert(struct ek_guard *g, uint64_t version, const char *author, const char *reason,
                    struct ek_error *e)
{
    struct ek_accept_told told = {.revert = true, .author = author, .reason = reason};
    int rc = check(g, author, reason, e);
    if (!rc)
        rc = ek_detector_revert(g->detector, version, &told.accept, e);
    if (rc)
        return rc;
    told.version = ek_detector_rebases(g->detector)->version;
    return tell(g, &told, e);
}
