/* Allocation failures while fleet instances report and the leader publishes a plan. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/shop.h"

#include "fleet/leader.h"
#include "fleet/fleet_instance.h"
#include "fleet/finding_diff.h"

enum { LISTS = 60, CELLS = 8, TICKS = 3 };

static struct ek_manifest *manifest;
static struct ek_profile *profile;
static struct ek_rules *rules;
static struct ek_detector *detector;

/* Records in transit. */
struct fleet {
    struct ek_fleet_instance *member;
    struct ek_leader *decider;
    struct ek_finding_diff *news;
    struct ek_buf record;
    struct ek_error *e;
};

static int to_decider(void *context, const void *bytes, size_t length)
{
    struct fleet *f = context;
    return ek_leader_receive(f->decider, bytes, length, 0, f->e);
}

static int hear(struct fleet *f)
{
    struct ek_finding told;
    struct ek_instance_plans *plans = ek_fleet_instance_plans(f->member);
    int rc = ek_leader_apply_record(f->decider, f->record.data, f->record.length, f->e);
    if (!rc)
        rc = ek_instance_plans_receive(plans, f->record.data, f->record.length, 1000, 1000, f->e);
    if (!rc)
        rc = ek_finding_diff_apply(f->news, f->record.data, f->record.length, f->e);
    while (!rc && ek_finding_diff_next(f->news, &told))
        ;
    return rc;
}

static int tick(struct fleet *f)
{
    int rc = ek_fleet_instance_report(f->member, 1000, to_decider, f, f->e);
    ek_buf_clear(&f->record);
    if (!rc)
        rc = ek_leader_advance(f->decider, 1000, &f->record, f->e);
    return rc ? rc : hear(f);
}

/* Advance between two reports; the first time a finding is reported. */
static int look(struct fleet *f)
{
    int rc = ek_fleet_instance_report_early(f->member, 1000, to_decider, f, f->e);
    ek_buf_clear(&f->record);
    if (!rc)
        rc = ek_leader_check(f->decider, 1000, &f->record, f->e);
    return rc || !f->record.length ? rc : hear(f);
}

/* The detector with its finding is shared by all runs: a fleet leaves no data in it. */
static int together(struct ek_error *e)
{
    const struct ek_fleet_instance_setup member = {profile, "one", 1, 0};
    const struct ek_leader_setup decider = {.manifest = manifest,
                                            .profile = profile,
                                            .rules = rules,
                                            .means = {.model = true},
                                            .name = "one",
                                            .places = CELLS};
    struct fleet f = {.e = e};
    ek_buf_init(&f.record, 0);
    int rc = ek_fleet_instance_new(&f.member, detector, &member, e);
    if (!rc)
        rc = ek_leader_new(&f.decider, &decider, e);
    if (!rc && ek_finding_diff_new(&f.news, manifest, rules))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        ek_leader_start(f.decider, 0);
    for (int i = 0; i < TICKS && !rc; i++) {
        rc = look(&f);
        if (!rc)
            rc = tick(&f);
    }
    ek_leader_free(f.decider);
    ek_fleet_instance_free(f.member);
    ek_finding_diff_free(f.news);
    ek_buf_release(&f.record);
    return rc;
}

static void set_up(void)
{
    static const char text[] = "version: 1\nsegments: [arm, market]\n"
                               "defaults: {confirmation_lists: 8, mode: enforce}\n";
    struct ek_finding told;
    struct shop s;
    manifest = shop_manifest();
    profile = shop_profile(manifest, 500, 4, NULL);
    ck_assert_int_eq(ek_rules_parse(&rules, manifest, "rules", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new_with(&detector, manifest, profile, rules, CELLS, NULL), EK_OK);
    shop_open(&s, 5, 4);
    for (int n = 0; n < LISTS; n++) {
        struct ek_list *q = shop_next(&s);
        for (int i = 0; n > LISTS / 3 && i < q->items; i++)
            q->x[2 * i] *= 100;
        ck_assert_int_eq(ek_detector_observe(detector, q, n, NULL), EK_OK);
        while (ek_detector_next(detector, &told))
            ;
    }
    shop_close(&s);
    ck_assert_int_gt(ek_detector_confirmed(detector, 0, &told), 0);
}

START_TEST(a_fleet_without_memory_says_so_and_leaves_nothing)
{
    set_up();
    ck_assert_int_eq(together(NULL), EK_OK); /* the detector allocates its fleet data here */
    ek_sweep(together);
    ek_detector_free(detector);
    ek_rules_free(rules);
    ek_profile_free(profile);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_fleet(void)
{
    return ek_suite("fleet without memory", a_fleet_without_memory_says_so_and_leaves_nothing);
}
