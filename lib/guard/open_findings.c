#include "guard/open_findings.h"

static int place_of(const struct ek_open_findings *o, const struct ek_finding *f)
{
    int i = 0;
    while (i < o->count && (o->entry[i].feature != f->feature || o->entry[i].cell != f->cell))
        i++;
    return i;
}

void ek_open_findings_take(struct ek_open_findings *o, const struct ek_finding *f)
{
    int i = place_of(o, f);
    bool over = f->state == EK_DISMISSED || f->state == EK_RECOVERED;
    if (over && i < o->count) {
        o->entry[i] = o->entry[--o->count];
    } else if (!over && i == o->count && i < EK_EPISODES_MAX) {
        o->entry[i].feature = f->feature;
        o->entry[i].cell = f->cell;
        o->count++;
    }
}

bool ek_open_findings_concern(const struct ek_open_findings *o, const int16_t *cells, int count)
{
    for (int i = 0; i < o->count; i++)
        for (int c = 0; c < count; c++)
            if (o->entry[i].cell == cells[c])
                return true;
    return false;
}
