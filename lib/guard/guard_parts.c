#include "guard/guard_parts.h"

#include "base/alloc.h"
#include "guard/event_json.h"

#include <stdio.h>
#include <string.h>

void ek_part_numbered(char name[EK_PART_NAME], const char *part, int number)
{
    snprintf(name, EK_PART_NAME, "%s/%05d", part, number);
}

void ek_part_of_window(char name[EK_PART_NAME], int cell, int place)
{
    snprintf(name, EK_PART_NAME, "%s/%05d/%04d", EK_PART_OF_WINDOW, cell, place);
}

void ek_part_of_detector(char name[EK_PART_NAME], enum ek_detector_part part, int number)
{
    static const char *const names[] = {EK_PART_OF_CELLS,   EK_PART_OF_LISTS,
                                        EK_PART_OF_ROWS,    EK_PART_OF_EVIDENCE,
                                        EK_PART_OF_CHANGES, EK_PART_OF_ACCEPTS};
    if (part == EK_PART_ROWS || part == EK_PART_EVIDENCE)
        ek_part_numbered(name, names[part], number);
    else
        snprintf(name, EK_PART_NAME, "%s", names[part]);
}

void ek_guard_plan_snap(struct ek_guard *g, struct ek_snap *s)
{
    ek_control_wanted_snap(g->control, s, g->assets->manifest->item_count,
                           ek_cells_count(ek_detector_registry(g->detector)));
}

void ek_guard_control_snap(struct ek_guard *g, struct ek_snap *s)
{
    ek_control_snap(g->control, s, g->assets->manifest->item_count,
                    ek_cells_count(ek_detector_registry(g->detector)));
}

static void open_snap(struct ek_guard *g, struct ek_snap *s)
{
    int cells = ek_cells_count(ek_detector_registry(g->detector));
    int count = g->open.count;
    ek_snap_int(s, &count, 0, EK_EPISODES_MAX);
    for (int i = 0; i < count && !s->rc; i++) {
        struct ek_finding f = {.feature = 0};
        if (i < g->open.count)
            f = g->open.item[i].f;
        ek_snap_int(s, &f.feature, 0, g->assets->manifest->item_count - 1);
        ek_snap_int(s, &f.cell, 0, cells - 1);
        if (ek_snap_reads(s))
            ek_open_findings_add(&g->open, &f);
    }
}

static void event_snap(struct ek_guard *g, uint64_t number, struct ek_snap *s)
{
    struct ek_buf json;
    char *text = NULL;
    ek_buf_init(&json, 0);
    if (!ek_snap_reads(s)) {
        int rc = ek_event_json(g->events[number % EK_EVENTS_MAX], &json);
        text = rc || !ek_buf_string(&json) ? NULL : (char *)json.data;
        s->rc = s->rc ? s->rc : text ? EK_OK : EK_ENOMEM;
    }
    if (!s->rc)
        ek_snap_text(s, &text);
    ek_buf_release(&json);
    if (!ek_snap_reads(s))
        return;
    const struct ek_event v = {.kind = EK_EVENT_TEXT, .text = text};
    if (!s->rc)
        s->rc = ek_guard_emit(g, ek_event_copy(&v));
    ek_free(text);
}

void ek_guard_part_snap(struct ek_guard *g, struct ek_snap *s)
{
    uint32_t said = g->said;
    int waiting = (int)(g->told - g->fetched);
    ek_snap_u64(s, &g->adopted);
    ek_snap_u32(s, &said);
    g->said = said;
    ek_snap_raw(s, g->beyond.count, EK_BOUNDS * sizeof *g->beyond.count);
    open_snap(g, s);
    ek_snap_int(s, &waiting, 0, EK_EVENTS_MAX);
    for (int i = 0; i < waiting && !s->rc; i++)
        event_snap(g, g->fetched + (uint64_t)i, s);
}

void ek_guard_queries_snap(struct ek_guard *g, struct ek_snap *s, int cells)
{
    ek_assembly_snap(g->assembly, s);
    ek_past_plans_snap(&g->past, s, g->assets->manifest->item_count, cells);
}
