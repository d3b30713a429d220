#include "plan/open_findings.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

#include <string.h>

static void free_texts(struct ek_open_finding *one)
{
    ek_free(one->dimension);
    ek_free(one->value);
}

void ek_open_findings_release(struct ek_open_findings *o)
{
    for (int i = 0; i < o->count; i++)
        free_texts(&o->item[i]);
    ek_free(o->item);
    *o = (struct ek_open_findings){.count = 0};
}

int ek_open_findings_reserve(struct ek_open_findings *o, int room)
{
    if (room <= o->room)
        return EK_OK;
    struct ek_open_finding *more = ek_realloc(o->item, (size_t)room, sizeof *more);
    if (!more)
        return EK_ENOMEM;
    o->item = more;
    o->room = room;
    return EK_OK;
}

struct ek_open_finding *ek_open_findings_add(struct ek_open_findings *o, const struct ek_finding *f)
{
    if (o->count == o->room && ek_open_findings_reserve(o, o->room ? 2 * o->room : 8))
        return NULL;
    o->item[o->count] = (struct ek_open_finding){.f = *f};
    return &o->item[o->count++];
}

struct ek_open_finding *ek_open_findings_at(const struct ek_open_findings *o, int feature, int cell)
{
    for (int i = 0; i < o->count; i++)
        if (o->item[i].f.feature == feature && o->item[i].f.cell == cell)
            return &o->item[i];
    return NULL;
}

void ek_open_findings_remove(struct ek_open_findings *o, struct ek_open_finding *one)
{
    free_texts(one);
    memmove(one, one + 1, (size_t)(&o->item[o->count] - (one + 1)) * sizeof *one);
    o->count--;
}

bool ek_open_findings_is_handed_over(const struct ek_open_findings *o,
                                     const struct ek_open_finding *gone)
{
    struct ek_text dimension = ek_text_from(gone->f.dimension);
    for (const struct ek_open_finding *one = gone + 1; one < o->item + o->count; one++)
        if (one->present && one->f.feature == gone->f.feature &&
            !ek_text_same(ek_text_from(one->f.dimension), dimension))
            return true;
    return false;
}

void ek_open_findings_follow(struct ek_open_findings *o, const struct ek_finding *f)
{
    struct ek_open_finding *one = ek_open_findings_at(o, f->feature, f->cell);
    bool over = ek_finding_is_over(f->state);
    if (over && one)
        ek_open_findings_remove(o, one);
    else if (!over && !one && o->count < EK_EPISODES_MAX)
        ek_open_findings_add(o, f);
}

bool ek_open_findings_match(const struct ek_open_findings *o, const int16_t *cells, int count)
{
    for (int i = 0; i < o->count; i++)
        for (int c = 0; c < count; c++)
            if (o->item[i].f.cell == cells[c])
                return true;
    return false;
}
