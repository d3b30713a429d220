#include "serve/past_plans.h"

#include "base/alloc.h"
#include "plan/plan_snap.h"

#include <stddef.h>
#include <string.h>

void ek_past_plans_release(struct ek_past_plans *p)
{
    for (int i = 0; i < EK_PAST_PLANS; i++)
        ek_free(p->plan[i]);
    *p = (struct ek_past_plans){.count = 0};
}

static bool same(const struct ek_plan *a, const struct ek_plan *b)
{
    if (a->version != b->version || a->normal != b->normal || !ek_plan_same(a, b))
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->entry[i].feature != b->entry[i].feature || a->entry[i].cell != b->entry[i].cell ||
            a->entry[i].treatment.value != b->entry[i].treatment.value)
            return false;
    return true;
}

/* Entries and modes that are not there are left alone: most plans are short. */
static void copy(struct ek_plan *to, const struct ek_plan *from)
{
    memcpy(to, from, offsetof(struct ek_plan, entry) + (size_t)from->count * sizeof *from->entry);
    memcpy(to->mode, from->mode, (size_t)from->modes * sizeof *from->mode);
}

static struct ek_plan **place(struct ek_past_plans *p, uint64_t number)
{
    return &p->plan[number % EK_PAST_PLANS];
}

static struct ek_plan *room(struct ek_past_plans *p, uint64_t number)
{
    struct ek_plan **to = place(p, number);
    if (!*to)
        *to = ek_calloc(1, sizeof **to);
    return *to;
}

int ek_past_plans_keep(struct ek_past_plans *p, const struct ek_plan *plan, uint64_t *number)
{
    if (!p->count || !same(*place(p, p->count - 1), plan)) {
        struct ek_plan *to = room(p, p->count);
        if (!to)
            return EK_ENOMEM;
        copy(to, plan);
        p->count++;
    }
    *number = p->count - 1;
    return EK_OK;
}

const struct ek_plan *ek_past_plans_find(const struct ek_past_plans *p, uint64_t number)
{
    if (number >= p->count || p->count - number > EK_PAST_PLANS)
        return NULL;
    return p->plan[number % EK_PAST_PLANS];
}

void ek_past_plans_forget(struct ek_past_plans *p, int cell)
{
    for (int k = 0; k < EK_PAST_PLANS; k++) {
        struct ek_plan *plan = p->plan[k];
        int kept = 0;
        for (int i = 0; plan && i < plan->count; i++)
            if (plan->entry[i].cell != cell)
                plan->entry[kept++] = plan->entry[i];
        if (plan)
            plan->count = kept;
        kept = 0;
        for (int i = 0; plan && i < plan->modes; i++)
            if (plan->mode[i].cell != cell)
                plan->mode[kept++] = plan->mode[i];
        if (plan)
            plan->modes = kept;
    }
}

void ek_past_plans_snap(struct ek_past_plans *p, struct ek_snap *s, int features, int cells)
{
    ek_snap_u64(s, &p->count);
    ek_snap_require(s, p->count < (uint64_t)1 << 62); /* it goes on rising */
    uint64_t kept = p->count < EK_PAST_PLANS ? p->count : EK_PAST_PLANS;
    for (uint64_t i = p->count - kept; i < p->count && !s->rc; i++) {
        struct ek_plan *plan = room(p, i);
        if (plan)
            ek_plan_snap(plan, s, features, cells);
        else
            s->rc = EK_ENOMEM;
    }
}
