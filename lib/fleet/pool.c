#include "fleet/pool.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "detect/evidence.h"

#include <stdlib.h>
#include <string.h>

static const double LATE_LISTS = 8192; /* above this number of lists, halve all counts */
static const int64_t APART_MS = 60000; /* maximum distance of event times from their median */

struct ek_pool_instance {
    char name[EK_FLEET_NAME_MAX + 1];
    uint64_t start, newest;
    uint64_t normal, former_normal; /* version of accepted levels for the findings; for those of the
                                       previous run */
    uint64_t seen;                  /* bit i: report newest - i was received */
    int64_t time_ms, received_ms;
    struct ek_finding *finding; /* of the previous run, then of the last report */
    int former, findings, room; /* `former` of the `findings` are of the previous run */
    int64_t began_ms;           /* clock: first report of this run */
    bool passed_over;           /* the last report was of an earlier run */
    int turns;                  /* number of such reports between those of this run */
    int64_t turned_ms;          /* time of the last such report */
};

struct ek_pool_instances {
    int count;
    struct ek_pool_instance instance[EK_FLEET_INSTANCES_MAX];
};

int ek_pool_instances_new(struct ek_pool_instances **out)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : EK_ENOMEM;
}

void ek_pool_instances_free(struct ek_pool_instances *s)
{
    for (int i = 0; s && i < s->count; i++)
        ek_free(s->instance[i].finding);
    ek_free(s);
}

/* Return the instance with the oldest report. */
static struct ek_pool_instance *oldest_absent(struct ek_pool_instances *s)
{
    struct ek_pool_instance *gone = &s->instance[0];
    for (int i = 1; i < s->count; i++)
        if (s->instance[i].received_ms < gone->received_ms)
            gone = &s->instance[i];
    return gone;
}

static struct ek_pool_instance *one_more(struct ek_pool_instances *s, int64_t clock_ms)
{
    if (s->count < EK_FLEET_INSTANCES_MAX)
        return &s->instance[s->count++];
    struct ek_pool_instance *gone = oldest_absent(s);
    if (clock_ms - gone->received_ms <= EK_FLEET_EXPIRED_MS)
        return NULL;
    ek_free(gone->finding);
    return gone;
}

static int find_instance(const struct ek_pool_instances *s, struct ek_text name)
{
    for (int i = 0; i < s->count; i++)
        if (!ek_text_compare(name, s->instance[i].name))
            return i;
    return -1;
}

struct ek_pool_instance *ek_pool_instances_find(struct ek_pool_instances *s, struct ek_text name,
                                                int64_t clock_ms)
{
    int known = find_instance(s, name);
    if (known >= 0)
        return &s->instance[known];
    struct ek_pool_instance *one = one_more(s, clock_ms);
    if (!one)
        return NULL;
    memset(one, 0, sizeof *one);
    memcpy(one->name, name.text, name.length);
    return one;
}

static enum ek_fleet_arrival newest(struct ek_pool_instance *i, const struct ek_fleet_head *head,
                                    int64_t clock_ms)
{
    i->time_ms = head->time_ms;
    i->received_ms = clock_ms;
    i->normal = head->normal;
    i->passed_over = false;
    if (clock_ms - i->began_ms > EK_FLEET_EXPIRED_MS)
        i->former = 0;
    i->findings = i->former;
    return EK_FLEET_NEWEST;
}

/* Findings of the previous run stay open until the new run has had the time to detect them. */
static void begin(struct ek_pool_instance *i, const struct ek_fleet_head *head, int64_t clock_ms)
{
    i->start = head->start;
    i->newest = head->number;
    i->seen = 1;
    i->began_ms = clock_ms;
    if (!i->former || i->normal < i->former_normal)
        i->former_normal = i->normal; /* the older version of both */
    i->former = i->findings;
}

/* Count reports of an earlier run that continues in parallel. */
static enum ek_fleet_arrival pass_over(struct ek_pool_instance *i, int64_t clock_ms)
{
    if (i->passed_over)
        return EK_FLEET_LATE;
    i->passed_over = true;
    i->turns = clock_ms - i->turned_ms > EK_FLEET_EXPIRED_MS ? 1 : i->turns + 1;
    i->turned_ms = clock_ms;
    return EK_FLEET_LATE;
}

enum ek_fleet_arrival ek_pool_instance_classify(struct ek_pool_instance *i,
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
        return EK_FLEET_DUPLICATE;
    i->seen |= (uint64_t)1 << behind;
    return EK_FLEET_OLDER;
}

/* A finding of the current run replaces that of the previous run. */
static void remove_former(struct ek_pool_instance *i, const struct ek_finding *f)
{
    for (int k = 0; k < i->former; k++)
        if (i->finding[k].feature == f->feature && i->finding[k].cell == f->cell) {
            memmove(&i->finding[k], &i->finding[k + 1],
                    (size_t)(--i->findings - k) * sizeof *i->finding);
            i->former--;
            return;
        }
}

/* Append a finding of the last report. Return 0, or EK_ENOMEM. */
static int append_finding(struct ek_pool_instance *i, const struct ek_finding *f)
{
    remove_former(i, f);
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

static bool alive(const struct ek_pool_instance *i, int64_t clock_ms)
{
    return i->newest && clock_ms - i->received_ms <= EK_FLEET_EXPIRED_MS;
}

static int count_alive(const struct ek_pool_instances *s, int64_t clock_ms)
{
    int count = 0;
    for (int i = 0; i < s->count; i++)
        count += alive(&s->instance[i], clock_ms);
    return count;
}

size_t ek_pool_instances_next_duplicate(const struct ek_pool_instances *s, size_t at,
                                        int64_t clock_ms, const char **name)
{
    for (; at < (size_t)s->count; at++) {
        const struct ek_pool_instance *i = &s->instance[at];
        if (i->turns < EK_FLEET_ARRIVALS || clock_ms - i->turned_ms > EK_FLEET_EXPIRED_MS)
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

static int64_t latest_time_ms(const struct ek_pool_instances *s, int64_t clock_ms)
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

static size_t next_finding(const struct ek_pool_instances *s, size_t at, int64_t clock_ms,
                           struct ek_finding *out, int *instance, uint64_t *normal)
{
    for (; at < (size_t)s->count * EK_EPISODES_MAX; at++) {
        const struct ek_pool_instance *i = &s->instance[at / EK_EPISODES_MAX];
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

struct place {
    char *dimension, *value; /* NULL as in struct ek_fleet_cell */
    uint64_t hash;
    double lists; /* recent lists */
};

/* Evidence of one feature in one cell. */
struct pooled {
    struct ek_evidence_sum_values come; /* since the last ek_fleet_pool_advance */
    float r[EK_BETS];
    double total;
};

struct ek_fleet_pool {
    const struct ek_manifest *manifest;
    const struct ek_rules *rules;
    uint64_t profile; /* hash */
    struct ek_bet_tables *tables;
    struct ek_alarm_level level;
    int features, places, places_max;
    struct place *place;   /* [places_max] */
    struct pooled *pooled; /* [places_max, features], grown with the cells */
    int room;              /* capacity of `pooled` in cells */
    struct ek_pool_instances *instances;
    struct ek_fleet_pool_counts counts;
    int now;                           /* cell of the record being read; -1: no space */
    struct ek_pool_instance *reporter; /* of that record */
    uint64_t normal;                   /* current version of accepted levels */
};

static int watched(const struct ek_manifest *m, const struct ek_rules *rules)
{
    int count = 0;
    for (int i = 0; i < m->watched_count; i++)
        count +=
            m->item[i]->type != EK_TYPE_CATEGORY && rules->feature[m->item[i] - m->features].watch;
    return count;
}

int ek_fleet_pool_new(struct ek_fleet_pool **out, const struct ek_manifest *m,
                      const struct ek_profile *p, const struct ek_rules *rules, double share,
                      int places, struct ek_error *e)
{
    struct ek_fleet_pool *o = ek_calloc(1, sizeof *o);
    if (!o)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    o->manifest = m;
    o->rules = rules;
    o->profile = ek_profile_hash(p);
    o->features = m->watched_count;
    o->places_max = places > 1 ? places : 1;
    o->level = ek_alarm_level_compute((double)rules->false_alarms / share, watched(m, rules),
                                      rules->segment_count);
    o->tables = ek_calloc(1, sizeof *o->tables);
    o->place = ek_calloc((size_t)o->places_max, sizeof *o->place);
    const struct ek_fleet_cell all = {{NULL, 0}, {NULL, 0}};
    if (!o->tables || !o->place || ek_pool_instances_new(&o->instances) ||
        ek_fleet_pool_place(o, &all, &o->now)) {
        ek_fleet_pool_free(o);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    ek_bet_tables_fill(o->tables);
    *out = o;
    return EK_OK;
}

void ek_fleet_pool_free(struct ek_fleet_pool *p)
{
    if (!p)
        return;
    for (int i = 0; p->place && i < p->places; i++) {
        ek_free(p->place[i].dimension);
        ek_free(p->place[i].value);
    }
    ek_free(p->place);
    ek_free(p->pooled);
    ek_free(p->tables);
    ek_pool_instances_free(p->instances);
    ek_free(p);
}

struct ek_fleet_pool_counts ek_fleet_pool_counts(const struct ek_fleet_pool *p)
{
    return p->counts;
}

uint64_t ek_fleet_pool_profile(const struct ek_fleet_pool *p)
{
    return p->profile;
}

struct ek_fleet_cell ek_fleet_pool_cell(const struct ek_fleet_pool *p, int place)
{
    return (struct ek_fleet_cell){ek_text_from(p->place[place].dimension),
                                  ek_text_from(p->place[place].value)};
}

int ek_fleet_pool_places(const struct ek_fleet_pool *p)
{
    return p->places;
}

static bool same_text(const char *a, struct ek_text b)
{
    return a ? b.text && !ek_text_compare(b, a) : !b.text;
}

static int grow(struct ek_fleet_pool *p)
{
    int room = p->room ? 2 * p->room : 1;
    if (p->places < p->room)
        return EK_OK;
    if (room > p->places_max)
        room = p->places_max;
    size_t features = (size_t)p->features;
    struct pooled *more = ek_realloc(p->pooled, (size_t)room * features, sizeof *more);
    if (!more)
        return EK_ENOMEM;
    memset(more + (size_t)p->room * features, 0,
           (size_t)(room - p->room) * features * sizeof *more);
    p->pooled = more;
    p->room = room;
    return EK_OK;
}

static int add_place(struct ek_fleet_pool *p, const struct ek_fleet_cell *cell, uint64_t hash)
{
    struct place *one = &p->place[p->places];
    if (grow(p))
        return EK_ENOMEM;
    *one = (struct place){.hash = hash};
    if (cell->dimension.text)
        one->dimension = ek_strndup(cell->dimension.text, cell->dimension.length);
    if (cell->value.text)
        one->value = ek_strndup(cell->value.text, cell->value.length);
    if (!one->dimension != !cell->dimension.text || !one->value != !cell->value.text) {
        ek_free(one->dimension);
        ek_free(one->value);
        return EK_ENOMEM;
    }
    p->places++;
    return EK_OK;
}

/* Return whether the dimension is a segment dimension of the rules, or empty for all traffic. */
static bool knows_dimension(const struct ek_fleet_pool *p, struct ek_text dimension)
{
    for (int i = 0; i < p->rules->segment_count; i++)
        if (ek_text_same(dimension, ek_text_from(p->rules->segment[i])))
            return true;
    return !dimension.text;
}

static uint64_t hash_of(const struct ek_fleet_cell *cell)
{
    return ek_hash(cell->value.text, cell->value.length,
                   ek_hash(cell->dimension.text, cell->dimension.length, 0));
}

int ek_fleet_pool_find(const struct ek_fleet_pool *p, const struct ek_fleet_cell *cell)
{
    uint64_t hash = hash_of(cell);
    for (int i = 0; i < p->places; i++)
        if (p->place[i].hash == hash && same_text(p->place[i].dimension, cell->dimension) &&
            same_text(p->place[i].value, cell->value))
            return i;
    return -1;
}

/* Plan records list only the dimensions of the rules, so no other cell is added. */
int ek_fleet_pool_place(struct ek_fleet_pool *p, const struct ek_fleet_cell *cell, int *place)
{
    *place = ek_fleet_pool_find(p, cell);
    if (*place >= 0 || p->places == p->places_max || !knows_dimension(p, cell->dimension))
        return EK_OK;
    *place = p->places;
    return add_place(p, cell, hash_of(cell));
}

static struct pooled *at(const struct ek_fleet_pool *p, int place, int feature)
{
    return &p->pooled[(size_t)place * (size_t)p->features + (size_t)feature];
}

static int add_cell(void *context, const struct ek_fleet_cell *cell)
{
    struct ek_fleet_pool *p = context;
    int rc = ek_fleet_pool_place(p, cell, &p->now);
    p->counts.beyond += !rc && p->now < 0;
    return rc;
}

static int add_sums(void *context, int feature, const struct ek_evidence_sum_values *s)
{
    struct ek_fleet_pool *p = context;
    if (p->now >= 0 && p->manifest->item[feature]->type != EK_TYPE_CATEGORY)
        ek_evidence_sum_merge(&at(p, p->now, feature)->come, s);
    return EK_OK;
}

static int skip_sums(void *context, int feature, const struct ek_evidence_sum_values *s)
{
    (void)context, (void)feature, (void)s;
    return EK_OK;
}

static int add_finding(void *context, const struct ek_fleet_cell *cell, const struct ek_finding *f)
{
    struct ek_fleet_pool *p = context;
    struct ek_finding one = *f;
    int rc = ek_fleet_pool_place(p, cell, &one.cell);
    p->counts.beyond += !rc && one.cell < 0;
    return rc || one.cell < 0 ? rc : append_finding(p->reporter, &one);
}

static int add_traffic(void *context, const struct ek_fleet_cell *cell, uint64_t lists)
{
    struct ek_fleet_pool *p = context;
    int place = ek_fleet_pool_find(p, cell);
    if (place >= 0)
        p->place[place].lists += (double)lists;
    for (int i = p->places - 1; p->place[0].lists > LATE_LISTS && i >= 0; i--)
        p->place[i].lists /= 2;
    return EK_OK;
}

static bool is_among(int place, const int *places, int count)
{
    for (int i = 0; i < count; i++)
        if (places[i] == place)
            return true;
    return false;
}

double ek_fleet_pool_share(const struct ek_fleet_pool *p, const int *place, int count)
{
    double lists = 0, all = p->place[0].lists;
    for (int i = 0; i < count; i++) {
        if (place[i] == 0 || p->place[place[i]].lists <= 0)
            return 1;
        if (!is_among(place[i], place, i)) /* counted once if two features share it */
            lists += p->place[place[i]].lists;
    }
    return lists < all ? lists / all : count > 0;
}

static int refuse(struct ek_fleet_pool *p, int rc)
{
    p->counts.refused++;
    return rc;
}

int ek_fleet_pool_add(struct ek_fleet_pool *p, const void *bytes, size_t length, int64_t clock_ms,
                      struct ek_error *e)
{
    struct ek_evidence_report_visitor callbacks = {p, add_cell, add_sums, add_finding, add_traffic};
    struct ek_evidence_report report;
    int rc = ek_evidence_report_open(&report, bytes, length, p->manifest, e);
    if (rc)
        return refuse(p, rc);
    if (report.head.profile != p->profile)
        return refuse(p,
                      ek_fail(e, EK_ESTATE, "evidence report of an instance with another profile"));
    p->reporter = ek_pool_instances_find(p->instances, report.head.instance, clock_ms);
    if (!p->reporter)
        return refuse(p, ek_fail(e, EK_ELIMIT, "more than %d instances", EK_FLEET_INSTANCES_MAX));
    enum ek_fleet_arrival arrival = ek_pool_instance_classify(p->reporter, &report.head, clock_ms);
    p->counts.twice += arrival == EK_FLEET_DUPLICATE;
    p->counts.late += arrival == EK_FLEET_LATE;
    if (arrival == EK_FLEET_DUPLICATE || arrival == EK_FLEET_LATE)
        return EK_OK;
    p->counts.taken++;
    if (report.head.normal != p->normal)
        callbacks.sums = skip_sums;
    if (arrival != EK_FLEET_NEWEST)
        callbacks.finding = NULL; /* an older report has outdated findings */
    rc = ek_evidence_report_visit(&report, &callbacks);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

int ek_fleet_pool_advance(struct ek_fleet_pool *p, struct ek_fleet_alarm *alarm, int most)
{
    int alarms = 0;
    for (int place = 0; place < p->places; place++)
        for (int f = 0; f < p->features; f++) {
            struct pooled *o = at(p, place, f);
            if (!o->come.lists)
                continue;
            o->total = ek_evidence_sum_apply(&o->come, p->tables->weight, o->r);
            memset(&o->come, 0, sizeof o->come);
            if (!(o->total >= (double)p->level.alarm) || alarms == most)
                continue;
            alarm[alarms++] =
                (struct ek_fleet_alarm){place, f, ek_bet_strongest(o->r, p->tables->weight)};
            ek_fleet_pool_restart(p, place, f);
        }
    return alarms;
}

void ek_fleet_pool_restart(struct ek_fleet_pool *p, int place, int feature)
{
    memset(at(p, place, feature), 0, sizeof(struct pooled));
}

void ek_fleet_pool_restart_all(struct ek_fleet_pool *p, int feature)
{
    for (int place = 0; place < p->places; place++)
        ek_fleet_pool_restart(p, place, feature);
}

void ek_fleet_pool_set_accepted_version(struct ek_fleet_pool *p, uint64_t normal)
{
    p->normal = normal;
}

double ek_fleet_pool_evidence(const struct ek_fleet_pool *p, int place, int feature)
{
    return at(p, place, feature)->total;
}

int ek_fleet_pool_instance(const struct ek_fleet_pool *p, struct ek_text name)
{
    return find_instance(p->instances, name);
}

int ek_fleet_pool_instances(const struct ek_fleet_pool *p, int64_t clock_ms)
{
    return count_alive(p->instances, clock_ms);
}

size_t ek_fleet_pool_next_duplicate(const struct ek_fleet_pool *p, size_t at, int64_t clock_ms,
                                    const char **name)
{
    return ek_pool_instances_next_duplicate(p->instances, at, clock_ms, name);
}

int64_t ek_fleet_pool_time_ms(const struct ek_fleet_pool *p, int64_t clock_ms)
{
    return latest_time_ms(p->instances, clock_ms);
}

size_t ek_fleet_pool_finding(const struct ek_fleet_pool *p, size_t place, int64_t clock_ms,
                             struct ek_finding *out, int *instance, bool *current)
{
    uint64_t normal = 0;
    size_t next = next_finding(p->instances, place, clock_ms, out, instance, &normal);
    *current = normal == p->normal;
    return next;
}
