#include "fleet/fleet_instances.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const int64_t APART_MS = 60000; /* from the median of the stream times */

struct ek_fleet_instance {
    char name[EK_FLEET_NAME_MAX + 1];
    uint64_t start, newest;
    uint64_t normal, former_normal; /* that findings are held against; those of the start before */
    uint64_t seen;                  /* bit i: the tick that is i older than the newest */
    int64_t time_ms, heard_ms;
    struct ek_finding *finding; /* those of the start before, then those of the newest tick */
    int former, findings, room; /* `former` of all `findings` are of the start before */
    int64_t began_ms;           /* by the clock: when this start was heard of */
    bool passed_over;           /* the last tick that came was of an earlier start */
    int turns;                  /* how often such ticks came between those of this start */
    int64_t turned_ms;          /* the last time */
};

struct ek_fleet_instances {
    int count;
    struct ek_fleet_instance instance[EK_FLEET_INSTANCES_MAX];
};

int ek_fleet_instances_new(struct ek_fleet_instances **out)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : EK_ENOMEM;
}

void ek_fleet_instances_free(struct ek_fleet_instances *s)
{
    for (int i = 0; s && i < s->count; i++)
        ek_free(s->instance[i].finding);
    ek_free(s);
}

/* The one that was not heard of for longest. */
static struct ek_fleet_instance *longest_gone(struct ek_fleet_instances *s)
{
    struct ek_fleet_instance *gone = &s->instance[0];
    for (int i = 1; i < s->count; i++)
        if (s->instance[i].heard_ms < gone->heard_ms)
            gone = &s->instance[i];
    return gone;
}

static struct ek_fleet_instance *one_more(struct ek_fleet_instances *s, int64_t clock_ms)
{
    if (s->count < EK_FLEET_INSTANCES_MAX)
        return &s->instance[s->count++];
    struct ek_fleet_instance *gone = longest_gone(s);
    if (clock_ms - gone->heard_ms <= EK_FLEET_GONE_MS)
        return NULL;
    ek_free(gone->finding);
    return gone;
}

int ek_fleet_instances_number(const struct ek_fleet_instances *s, struct ek_text name)
{
    for (int i = 0; i < s->count; i++)
        if (!ek_text_compare(name, s->instance[i].name))
            return i;
    return -1;
}

struct ek_fleet_instance *ek_fleet_instances_find(struct ek_fleet_instances *s, struct ek_text name,
                                                  int64_t clock_ms)
{
    int known = ek_fleet_instances_number(s, name);
    if (known >= 0)
        return &s->instance[known];
    struct ek_fleet_instance *one = one_more(s, clock_ms);
    if (!one)
        return NULL;
    memset(one, 0, sizeof *one);
    memcpy(one->name, name.text, name.length);
    return one;
}

static enum ek_fleet_arrival newest(struct ek_fleet_instance *i, const struct ek_fleet_head *head,
                                    int64_t clock_ms)
{
    i->time_ms = head->time_ms;
    i->heard_ms = clock_ms;
    i->normal = head->normal;
    i->passed_over = false;
    if (clock_ms - i->began_ms > EK_FLEET_GONE_MS)
        i->former = 0;
    i->findings = i->former;
    return EK_FLEET_NEWEST;
}

/* What an instance had found is not over because it, or its guard, begins anew: it stands until
 * that has had the time to find it, too. */
static void begin(struct ek_fleet_instance *i, const struct ek_fleet_head *head, int64_t clock_ms)
{
    i->start = head->start;
    i->newest = head->number;
    i->seen = 1;
    i->began_ms = clock_ms;
    if (!i->former || i->normal < i->former_normal)
        i->former_normal = i->normal; /* of those that know least */
    i->former = i->findings;
}

/* An earlier start that goes on beside this one. */
static enum ek_fleet_arrival pass_over(struct ek_fleet_instance *i, int64_t clock_ms)
{
    if (i->passed_over)
        return EK_FLEET_LATE;
    i->passed_over = true;
    i->turns = clock_ms - i->turned_ms > EK_FLEET_GONE_MS ? 1 : i->turns + 1;
    i->turned_ms = clock_ms;
    return EK_FLEET_LATE;
}

enum ek_fleet_arrival ek_fleet_instance_arrives(struct ek_fleet_instance *i,
                                                const struct ek_fleet_head *head, int64_t clock_ms)
{
    if (head->start < i->start)
        return pass_over(i, clock_ms);
    if (head->start > i->start || !i->newest) {
        begin(i, head, clock_ms);
        return newest(i, head, clock_ms);
    }
    if (head->number > i->newest) {
        uint64_t by = head->number - i->newest;
        i->seen = by < EK_FLEET_BEHIND ? i->seen << by | 1 : 1;
        i->newest = head->number;
        return newest(i, head, clock_ms);
    }
    uint64_t behind = i->newest - head->number;
    if (behind >= EK_FLEET_BEHIND)
        return EK_FLEET_LATE;
    if (i->seen >> behind & 1)
        return EK_FLEET_TWICE;
    i->seen |= (uint64_t)1 << behind;
    return EK_FLEET_OLDER;
}

/* What the present start says goes before what the one before said. */
static void forget_former(struct ek_fleet_instance *i, const struct ek_finding *f)
{
    for (int k = 0; k < i->former; k++)
        if (i->finding[k].feature == f->feature && i->finding[k].cell == f->cell) {
            memmove(&i->finding[k], &i->finding[k + 1],
                    (size_t)(--i->findings - k) * sizeof *i->finding);
            i->former--;
            return;
        }
}

int ek_fleet_instance_finding(struct ek_fleet_instance *i, const struct ek_finding *f)
{
    forget_former(i, f);
    if (i->findings == i->room) {
        int room = i->room ? 2 * i->room : 4;
        struct ek_finding *more = ek_realloc(i->finding, (size_t)room, sizeof *more);
        if (!more)
            return EK_ENOMEM;
        i->finding = more;
        i->room = room;
    }
    i->finding[i->findings++] = *f;
    return EK_OK;
}

static bool alive(const struct ek_fleet_instance *i, int64_t clock_ms)
{
    return i->newest && clock_ms - i->heard_ms <= EK_FLEET_GONE_MS;
}

int ek_fleet_instances_alive(const struct ek_fleet_instances *s, int64_t clock_ms)
{
    int count = 0;
    for (int i = 0; i < s->count; i++)
        count += alive(&s->instance[i], clock_ms);
    return count;
}

size_t ek_fleet_instances_shared(const struct ek_fleet_instances *s, size_t at, int64_t clock_ms,
                                 const char **name)
{
    for (; at < (size_t)s->count; at++) {
        const struct ek_fleet_instance *i = &s->instance[at];
        if (i->turns < EK_FLEET_TURNS || clock_ms - i->turned_ms > EK_FLEET_GONE_MS)
            continue;
        *name = i->name;
        return at + 1;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t ek_fleet_instances_time_ms(const struct ek_fleet_instances *s, int64_t clock_ms)
{
    int64_t time[EK_FLEET_INSTANCES_MAX];
    int count = 0;
    for (int i = 0; i < s->count; i++)
        if (alive(&s->instance[i], clock_ms) && s->instance[i].time_ms > 0)
            time[count++] = s->instance[i].time_ms;
    if (!count)
        return INT64_MIN;
    qsort(time, (size_t)count, sizeof *time, by_time);
    int64_t most = time[(count - 1) / 2] + APART_MS, highest = time[count - 1];
    return highest < most ? highest : most;
}

size_t ek_fleet_instances_finding(const struct ek_fleet_instances *s, size_t at, int64_t clock_ms,
                                  struct ek_finding *out, int *instance, uint64_t *normal)
{
    for (; at < (size_t)s->count * EK_EPISODES_MAX; at++) {
        const struct ek_fleet_instance *i = &s->instance[at / EK_EPISODES_MAX];
        size_t number = at % EK_EPISODES_MAX;
        if (!alive(i, clock_ms) || number >= (size_t)i->findings) {
            at += EK_EPISODES_MAX - 1 - number;
            continue;
        }
        *out = i->finding[number];
        *instance = (int)(at / EK_EPISODES_MAX);
        *normal = number < (size_t)i->former ? i->former_normal : i->normal;
        return at + 1;
    }
    return 0;
}
