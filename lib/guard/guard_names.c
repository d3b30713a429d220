#include "guard/guard_names.h"

#include "base/parse.h"
#include "guard/event.h"
#include "guard/guard_internal.h"

#include <string.h>

/* Tells a name that is none from other wrong calls. */
static int mark(struct ek_error *e)
{
    if (e)
        e->flags |= EK_ERR_NAME;
    return EK_EUSAGE;
}

int ek_guard_find_feature(const struct ek_manifest *m, const char *name, int *feature,
                          struct ek_error *e)
{
    for (*feature = 0; *feature < m->item_count; ++*feature)
        if (!strcmp(m->item[*feature]->name, name))
            return EK_OK;
    const char *near = ek_manifest_suggest(m, EK_ROLE_ITEM, name);
    if (near)
        ek_fail(e, EK_EUSAGE, "no item feature '%s', did you mean '%s'?", name, near);
    else
        ek_fail(e, EK_EUSAGE, "no item feature '%s' in the manifest", name);
    return mark(e);
}

static int no_segment(const struct ek_rules *rules, const char *segment, struct ek_error *e)
{
    const char *near =
        ek_nearest_word(segment, (const char *const *)rules->segment, (size_t)rules->segment_count);
    if (near)
        ek_fail(e, EK_EUSAGE, "no segment '%s', did you mean '%s'?", segment, near);
    else
        ek_fail(e, EK_EUSAGE, "no segment '%s': 'segments' of the rules must name it", segment);
    return mark(e);
}

int ek_guard_check_segment(const struct ek_guard *g, const char *segment, const char *value,
                           struct ek_error *e)
{
    const struct ek_rules *rules = g->assets->rules;
    int d = 0;
    if (!segment)
        return EK_OK;
    while (d < rules->segment_count && strcmp(rules->segment[d], segment) != 0)
        d++;
    if (d == rules->segment_count)
        return no_segment(rules, segment, e);
    return value ? EK_OK : ek_fail(e, EK_EUSAGE, "segment '%s' needs a value", segment);
}

/* Whether a cell is the one of these names. */
static bool is_cell(const struct ek_cells *cells, int cell, const char *segment, const char *value)
{
    const char *own = ek_cells_value(cells, cell);
    return !strcmp(ek_cells_dimension_name(cells, cell), segment) &&
           !strcmp(own ? own : EK_SEGMENT_OTHER, value);
}

int ek_guard_find_cell(const struct ek_guard *g, const char *segment, const char *value, int *cell,
                       struct ek_error *e)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    int rc = ek_guard_check_segment(g, segment, value, e);
    *cell = 0;
    if (rc || !segment)
        return rc;
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

int ek_guard_check_person(const char *author, const char *reason, struct ek_error *e)
{
    int rc = check_text("author", author, EK_AUTHOR_BYTES, e);
    return rc ? rc : check_text("reason", reason, EK_REASON_BYTES, e);
}
