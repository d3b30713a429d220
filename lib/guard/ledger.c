#include "guard/ledger.h"

#include "base/alloc.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void ek_ledger_clear(struct ek_ledger *l)
{
    for (int i = 0; i < l->count; i++)
        ek_free(l->part[i].hash);
    ek_free(l->part);
    ek_free(l->index.hash);
    *l = (struct ek_ledger){.base = l->base};
}

struct ek_ledger_part *ek_ledger_add(struct ek_ledger *l, const char *name, int records)
{
    if (l->count == l->capacity) {
        int capacity = l->capacity ? 2 * l->capacity : 64;
        struct ek_ledger_part *part = ek_realloc(l->part, (size_t)capacity, sizeof *part);
        if (!part)
            return NULL;
        l->part = part;
        l->capacity = capacity;
    }
    struct ek_ledger_part *p = &l->part[l->count];
    *p = (struct ek_ledger_part){.records = 0};
    snprintf(p->name, sizeof p->name, "%s", name);
    if (ek_ledger_part_room(p, records))
        return NULL;
    l->count++;
    return p;
}

int ek_ledger_part_room(struct ek_ledger_part *part, int records)
{
    part->hash = ek_calloc((size_t)records, sizeof *part->hash);
    part->records = part->hash ? records : 0;
    return part->hash ? EK_OK : EK_ENOMEM;
}

void ek_ledger_key(char key[EK_KEY_BYTES], const char *part, int record)
{
    snprintf(key, EK_KEY_BYTES, "%s.%03d", part, record);
}

static void part_snap(struct ek_ledger *l, int number, struct ek_snap *s)
{
    char *name = ek_snap_reads(s) ? NULL : l->part[number].name;
    int records = ek_snap_reads(s) ? 0 : l->part[number].records;
    ek_snap_text(s, &name);
    ek_snap_int(s, &records, 0, EK_PART_RECORDS_MAX);
    if (ek_snap_reads(s)) {
        ek_snap_require(s, name && strlen(name) < EK_PART_NAME);
        if (!s->rc && !ek_ledger_add(l, name, records))
            s->rc = EK_ENOMEM;
        ek_free(name);
    }
    if (!s->rc)
        ek_snap_raw(s, l->part[number].hash, (size_t)records * sizeof *l->part[number].hash);
}

void ek_ledger_snap(struct ek_ledger *l, struct ek_snap *s)
{
    int count = l->count;
    ek_snap_int(s, &count, 0, INT_MAX);
    for (int i = 0; i < count && !s->rc; i++)
        part_snap(l, i, s);
}
