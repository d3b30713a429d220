/* One fault of several features is one incident and one alert, with one instance and in a fleet. */
#include "daemon/alerts/alert_registry.h"
#include "fleet/leader.h"
#include "guard/event.h"
#include "guard/guard_fleet.h"
#include "guard/public.h"
#include "lists/codec.h"
#include "offline/world/synthetic_lists.h"
#include "base/rng.h"
#include "serve/assets.h"
#include "tests/check.h"
#include "tests/must.h"

#include <stdio.h>
#include <string.h>

enum {
    CASES = 50,
    FLEET_CASES = 50,
    FEATURES = 10,
    MOST = 3, /* features of a fault */
    TICK_LISTS = 20,
    WARM = 20,
    FAULTY = 90, /* reports */
    ALERTS = 20
};

static const char RULES[] = "version: 1\n"
                            "defaults: {confirmation_lists: 64}\n"
                            "segments: [arm]\n";
static const double FACTORS[] = {100, .01, 10, 3, .3, 1000, 1.8};

static struct ek_assets assets;
static struct ek_synthetic_lists *world;

/* Features of one fault, with their factors. */
struct fault {
    int count, feature[MOST];
    double factor[MOST];
    bool in_arm; /* only in arm b, else in all lists */
};

struct side {
    struct ek_guard *guard[2];
    struct ek_leader *leader; /* NULL: one instance */
    struct ek_alert_registry *book;
    int guards, ticks;
    uint64_t lists;
};

static void open_assets(void)
{
    char text[2000];
    int n = snprintf(text, sizeof text, "features:\n");
    for (int i = 0; i < FEATURES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: x%d, index: %d, role: item, routable: true, positive: true}\n", i,
                      i + 1);
    assets = (struct ek_assets){.cells = 8};
    must(ek_manifest_parse(&assets.manifest, "m", text, (size_t)n, NULL));
    must(ek_rules_parse(&assets.rules, assets.manifest, "rules", RULES, strlen(RULES), NULL));
    must(ek_codec_new(&assets.codec, assets.manifest, NULL, NULL, NULL));
    must(ek_synthetic_lists_new(&world, assets.manifest, assets.rules, 7, NULL));
    must(ek_synthetic_lists_profile(world, &assets.profile, NULL));
}

static void close_assets(void)
{
    ek_synthetic_lists_free(world);
    ek_assets_release(&assets);
}

static void begin(struct side *s, int instances, uint64_t seed)
{
    static const char *const name[] = {"a", "b"};
    const struct ek_leader_setup setup = {
        .manifest = assets.manifest, .profile = assets.profile, .rules = assets.rules, .name = "a"};
    *s = (struct side){.guards = instances > 1 ? instances : 1, .lists = seed * 100000};
    s->book = ek_alert_registry_new(ALERTS);
    ck_assert_ptr_nonnull(s->book);
    for (int i = 0; i < s->guards; i++)
        must(ek_guard_new(&s->guard[i], &assets, NULL));
    if (instances < 2)
        return;
    for (int i = 0; i < s->guards; i++)
        must(ek_guard_join(s->guard[i], name[i], 1, 0, NULL));
    must(ek_leader_new(&s->leader, &setup, NULL));
    ek_leader_start(s->leader, 0);
}

static void end(struct side *s)
{
    for (int i = 0; i < s->guards; i++)
        ek_guard_free(s->guard[i]);
    ek_leader_free(s->leader);
    ek_alert_registry_free(s->book);
}

/* Only the leader, here the first instance, sends alerts. */
static void hear(struct side *s, int instance)
{
    const struct ek_event *v;
    while ((v = ek_guard_pop_event(s->guard[instance]))) {
        struct ek_alert_update update;
        ek_alert_update_read(&update, v);
        if (!instance)
            must(ek_alert_registry_add(s->book, &update, true, false,
                                       (struct ek_alert_times){s->ticks * 1000, s->ticks * 1000}));
    }
}

static void apply(const struct fault *f, struct ek_list *q)
{
    bool is_b = false;
    for (int i = 0; i < q->segment_count; i++)
        is_b |= ek_text_same(q->segments[i].name, ek_text_from("arm")) &&
                ek_text_same(q->segments[i].value, ek_text_from("b"));
    if (f->in_arm && !is_b)
        return;
    for (int k = 0; k < f->count; k++)
        for (int i = 0; i < q->items; i++)
            q->x[i * q->item_features + f->feature[k]] *= (float)f->factor[k];
}

static int to_leader(void *context, const void *bytes, size_t length)
{
    struct side *s = context;
    return ek_leader_receive(s->leader, bytes, length, s->ticks * 1000, NULL);
}

static void publish(struct side *s)
{
    struct ek_buf record;
    ek_buf_init(&record, 0);
    for (int i = 0; i < s->guards; i++)
        must(ek_guard_write_report(s->guard[i], false, to_leader, s, NULL));
    must(ek_leader_advance(s->leader, s->ticks * 1000, &record, NULL));
    if (record.length)
        must(ek_leader_apply_record(s->leader, record.data, record.length, NULL));
    for (int i = 0; record.length && i < s->guards; i++)
        must(ek_guard_receive_plan(s->guard[i], record.data, record.length, s->ticks * 1000, NULL));
    ek_buf_release(&record);
}

static void run(struct side *s, int ticks, const struct fault *f)
{
    struct ek_list q;
    struct ek_buf message;
    ek_list_init(&q);
    ek_buf_init(&message, 0);
    for (int n = 0; n < ticks * TICK_LISTS; n++) {
        struct ek_guard *g = s->guard[n % s->guards];
        must(ek_synthetic_lists_list(world, s->lists++, &q, NULL));
        if (f)
            apply(f, &q);
        ek_buf_clear(&message);
        must(ek_codec_encode(assets.manifest, &q, EK_FEATURES_ARRAY, &message, NULL));
        must(ek_guard_observe(g, message.data, message.length, q.time_ms, NULL));
        if (n % TICK_LISTS == TICK_LISTS - 1) {
            s->ticks++;
            if (s->leader)
                publish(s);
        }
        for (int i = 0; i < s->guards; i++)
            hear(s, i);
    }
    ek_buf_release(&message);
    ek_list_release(&q);
}

static struct fault draw(struct ek_rng *r)
{
    struct fault f = {.count = 2 + (int)ek_rng_uniform_int(r, 2),
                      .in_arm = ek_rng_uniform_int(r, 2) != 0};
    for (int k = 0; k < f.count; k++) {
        int feature = (int)ek_rng_uniform_int(r, FEATURES), known = 0;
        for (int i = 0; i < k; i++)
            known |= f.feature[i] == feature;
        if (known) {
            k--;
            continue;
        }
        f.feature[k] = feature;
        f.factor[k] = FACTORS[ek_rng_uniform_int(r, sizeof FACTORS / sizeof *FACTORS)];
    }
    return f;
}

static void one_alert(int number, int instances, const struct fault *f)
{
    struct side s;
    char names[200] = "";
    begin(&s, instances, (uint64_t)number + 1);
    run(&s, WARM, NULL);
    run(&s, FAULTY, f);
    for (size_t i = 0; i < ek_alert_registry_count(s.book); i++) {
        size_t length = strlen(names);
        const struct ek_alert *a = &ek_alert_registry_get(s.book, i)->alert;
        snprintf(names + length, sizeof names - length, " %.20s of %.60s;", a->segment,
                 a->features);
    }
    ck_assert_msg(ek_alert_registry_count(s.book) == 1,
                  "case %d, %d instances, x%d x%.3g and x%d x%.3g%s: alerts%s", number, instances,
                  f->feature[0], f->factor[0], f->feature[1], f->factor[1],
                  f->in_arm ? " in an arm" : "", names);
    ck_assert_msg(ek_alert_registry_get(s.book, 0)->alert.features_count == f->count,
                  "case %d, %d instances: %s", number, instances, names);
    end(&s);
}

static void each(int cases, int instances, uint64_t seed)
{
    struct ek_rng r;
    open_assets();
    ek_rng_seed(&r, seed);
    for (int i = 0; i < cases; i++) {
        const struct fault f = draw(&r);
        one_alert(i, instances, &f);
    }
    close_assets();
}

START_TEST(a_fault_of_pairs_and_triples_is_one_alert)
{
    each(CASES, 1, 28);
}
END_TEST

START_TEST(a_fault_of_pairs_and_triples_is_one_alert_of_a_fleet)
{
    each(FLEET_CASES, 2, 1);
}
END_TEST

Suite *suite_one_incident(void)
{
    return ek_suite("one incident", a_fault_of_pairs_and_triples_is_one_alert,
                    a_fault_of_pairs_and_triples_is_one_alert_of_a_fleet);
}
