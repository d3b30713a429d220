/* Fleet records: an accepted record is usable, every other one is rejected with a message. Each
 * input runs twice: unchanged, and with a valid header and checksum. */
#include "base/hash.h"
#include "fleet/diagnosis.h"
#include "fleet/leader.h"
#include "fleet/fleet_instance.h"
#include "fleet/command_record.h"
#include "tests/fuzz/fuzz.h"
#include "tests/shop.h"

enum { MAGIC = 4, CRC = 4, CLOCK_MS = 1000, OFTEN = 4 };

static struct ek_manifest *manifest;
static struct ek_profile *profile;
static struct ek_rules *rules;

static void set_up(void)
{
    static const char text[] = "version: 1\nsegments: [arm, market]\ndefaults: {mode: enforce}\n";
    manifest = shop_manifest();
    profile = shop_profile(manifest, 400, 4, NULL);
    ek_fuzz_require(!ek_rules_parse(&rules, manifest, "rules", text, sizeof text - 1, NULL),
                    "no rules");
}

/* Command replies must be readable and applicable by followers. */
static int hear(void *context, const void *bytes, size_t length)
{
    static struct ek_fleet_reply answer;
    struct ek_error e = {0};
    ek_fuzz_require(!ek_fleet_reply_open(&answer, bytes, length, &e), e.message);
    ek_fuzz_require(answer.code == EK_OK || answer.refusal.length, "refused without a word");
    ek_fuzz_require(!ek_leader_apply_record(context, bytes, length, &e), e.message);
    return 0;
}

/* A leader that received the input writes a readable plan. Only a leader applies commands, so it
 * receives the record again. */
static void decide(struct ek_leader *d, struct ek_instance_plans *plans, const uint8_t *data,
                   size_t size)
{
    struct ek_buf out;
    struct ek_error e = {0};
    ek_buf_init(&out, 0);
    ek_leader_start(d, CLOCK_MS);
    for (int tick = 0; tick < 3; tick++) {
        ek_buf_clear(&out);
        int rc = tick == 1 ? ek_leader_check(d, CLOCK_MS, &out, &e)
                           : ek_leader_advance(d, CLOCK_MS, &out, &e);
        ek_fuzz_require(!rc, e.message);
        if (!tick && ek_leader_receive(d, data, size, CLOCK_MS, &e))
            ek_fuzz_require(e.message[0] != 0, "refused without a word");
        if (!out.length) /* no instance has reported a list, or the plan is unchanged */
            continue;
        ek_fuzz_require(!ek_leader_apply_record(d, out.data, out.length, &e), e.message);
        ek_fuzz_require(!ek_instance_plans_receive(plans, out.data, out.length, CLOCK_MS, 0, &e),
                        e.message);
        ek_fuzz_require(!ek_leader_write_replies(d, hear, d), "an answer cannot be written");
    }
    ek_buf_release(&out);
}

/* Return whether it is a record of any kind. */
static int is_record(const uint8_t *data, size_t size)
{
    struct ek_evidence_report tick;
    struct ek_fleet_plan plan;
    struct ek_fleet_rows rows;
    struct ek_fleet_comparisons trials;
    struct ek_fleet_order_read order;
    static struct ek_fleet_reply answer;
    struct ek_error e[6] = {{0}};
    if (!ek_evidence_report_open(&tick, data, size, manifest, &e[0]) ||
        !ek_fleet_plan_open(&plan, data, size, manifest, &e[1]) ||
        !ek_fleet_rows_open(&rows, data, size, manifest, profile->strata, &e[2]) ||
        !ek_fleet_comparisons_open(&trials, data, size, manifest, &e[3]) ||
        !ek_fleet_order_open(&order, data, size, manifest, &e[4]))
        return 1;
    if (!ek_fleet_reply_open(&answer, data, size, &e[5])) {
        ek_fuzz_require(answer.code || answer.decided.is.request, "an answer to no order");
        return 1;
    }
    for (int i = 0; i < 6; i++)
        ek_fuzz_require(e[i].message[0] != 0, "refused without a word");
    return 0;
}

static void try(const uint8_t *data, size_t size)
{
    struct ek_detector *detector;
    struct ek_fleet_instance *member;
    struct ek_leader *d;
    struct ek_error e = {0};
    if (!is_record(data, size) || ek_crc32(data, size - CRC) % OFTEN)
        return; /* a fleet costs milliseconds, so only a sample gets one */
    const struct ek_fleet_instance_setup setup = {profile, "me", 1, 0};
    const struct ek_leader_setup decider = {.manifest = manifest,
                                            .profile = profile,
                                            .rules = rules,
                                            .means = {.model = true},
                                            .name = "me",
                                            .places = 8};
    ek_fuzz_require(!ek_detector_new_with(&detector, manifest, profile, rules, 4, NULL) &&
                        !ek_fleet_instance_new(&member, detector, &setup, NULL) &&
                        !ek_leader_new(&d, &decider, NULL),
                    "no fleet");
    struct ek_instance_plans *plans = ek_fleet_instance_plans(member);
    if (ek_leader_receive(d, data, size, 0, &e))
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    e.message[0] = 0;
    if (ek_leader_apply_record(d, data, size, &e))
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    else
        ek_fuzz_require(!ek_instance_plans_receive(plans, data, size, 0, 0, &e), e.message);
    const struct ek_plan *plan = ek_instance_plans_get(plans, 0, 0);
    ek_fuzz_require(plan != NULL, "no plan");
    ek_fuzz_require(ek_instance_plans_levels(plans, plan)->count <= EK_LEVEL_OFFSETS_MAX,
                    "no levels");
    ek_instance_plans_apply_accepted(plans);
    decide(d, plans, data, size);
    ek_leader_free(d);
    ek_fleet_instance_free(member);
    ek_detector_free(detector);
}

/* Rows of a diagnosis are ordinary lists. */
struct looking {
    struct ek_fleet_diagnosis *of;
    struct ek_fleet_pool *pool;
};

static int give_row(void *context, const struct ek_fleet_row *row)
{
    struct looking *l = context;
    return ek_fleet_diagnosis_row(l->of, l->pool, (int)(row->number % 2), 1, row);
}

/* A pool and a diagnosis cost a millisecond, so only readable rows get them. */
static void look(const uint8_t *data, size_t size)
{
    struct looking l;
    const struct ek_fleet_rows_visitor callbacks = {&l, give_row};
    struct ek_fleet_rows rows;
    struct ek_finding found;
    if (ek_fleet_rows_open(&rows, data, size, manifest, profile->strata, NULL))
        return;
    ek_fuzz_require(!ek_fleet_pool_new(&l.pool, manifest, profile, rules, 1, 8, NULL) &&
                        !ek_fleet_diagnosis_new(&l.of, manifest, profile, rules, 0, 1, NULL),
                    "no case");
    ek_fleet_diagnosis_suspect(l.of, &(struct ek_fleet_alarm){0, 0, 0}, 0);
    if (!ek_fleet_rows_visit(&rows, &callbacks))
        for (int tick = 0; tick < 5; tick++) {
            ek_fuzz_require(!ek_fleet_diagnosis_check(l.of, l.pool, 2), "no memory");
            ek_fuzz_require(ek_fleet_diagnosis_advance(l.of, l.pool, 2) >= 0, "no memory");
        }
    for (int at = 0; (at = ek_fleet_diagnosis_finding(l.of, l.pool, at, &found)) > 0;)
        ek_fuzz_require(found.cell >= 0 && found.feature == 0, "a finding of nothing");
    ek_fleet_diagnosis_free(l.of);
    ek_fleet_pool_free(l.pool);
}

/* Use the input as the body of a record of this kind after a valid header. */
static void try_body(const uint8_t *data, size_t size, enum ek_fleet_kind kind)
{
    struct ek_serialize w;
    struct ek_buf record;
    struct ek_fleet_head head = {.instance = {"it", 2},
                                 .start = 1,
                                 .number = 1,
                                 .manifest = manifest->hash,
                                 .profile = ek_profile_hash(profile),
                                 .dimensions = {2, {{"arm", 3}, {"market", 6}}}};
    ek_buf_init(&record, 0);
    ek_record_writer_start(&w, &record, kind);
    if (kind == EK_FLEET_COMMAND || kind == EK_FLEET_REPLY) {
        ek_wire_text(&w, &(struct ek_text){"it", sizeof "it" - 1}, EK_FLEET_NAME_MAX);
        ek_record_write(&w, 1);
        ek_record_write(&w, 1);
    } else if (kind != EK_FLEET_PLAN)
        ek_fleet_head_walk(&w, &head);
    if (kind == EK_FLEET_COMMAND)
        ek_serialize_u64(&w, &(uint64_t){manifest->hash});
    if (kind == EK_FLEET_REPLY)
        ek_wire_text(&w, &(struct ek_text){"me", sizeof "me" - 1}, EK_FLEET_NAME_MAX);
    if (kind == EK_FLEET_ROWS) {
        ek_wire_text(&w, &(struct ek_text){"price", sizeof "price" - 1}, EK_FLEET_NAME_MAX);
        ek_record_write(&w, 1);
    }
    ek_fuzz_require(!w.rc && !ek_buf_add(&record, data, size) && !ek_record_writer_finish(&w),
                    "no memory");
    uint8_t *exact = ek_fuzz_exact(record.data, record.length);
    try(exact, record.length);
    if (kind == EK_FLEET_ROWS)
        look(exact, record.length);
    free(exact);
    ek_buf_release(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!manifest)
        set_up();
    try(data, size);
    size_t body = size > MAGIC + CRC ? size - MAGIC - CRC : 0;
    try_body(data + (body ? MAGIC : 0), body, EK_FLEET_PLAN);
    try_body(data, size, EK_FLEET_REPORT);
    try_body(data, size, EK_FLEET_ROWS);
    try_body(data, size, EK_FLEET_COMPARISONS);
    try_body(data, size, EK_FLEET_COMMAND);
    try_body(data, size, EK_FLEET_REPLY);
    return 0;
}
