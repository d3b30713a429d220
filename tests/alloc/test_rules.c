/* Allocation failures while rules are read, and while traffic is captured and read. */
#include "tests/alloc/scratch.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "base/file.h"
#include "lists/capture.h"
#include "rules/rules.h"
#include "offline/world/hotel.h"

#include <string.h>

static const char RULES[] =
    "version: 1\n"
    "defaults: {mode: observe, stratify_by: market, min_duration: 10m}\n"
    "segments: [arm, currency]\n"
    "units: [{id: points, factor: 250, quantity: money, text: points, from: [pts],\n"
    "         inverse: from_points, inverse_text: money}]\n"
    "features:\n"
    "  price: {mode: enforce, units: [points, \"query_feature:stay_nights\"]}\n"
    "  stars: {watch: false}\n"
    "pins:\n"
    "  - {feature: taxes, segment: {arm: B}, action: route, reason: \"r\"}\n";

static struct ek_manifest *manifest;

static int read_rules(struct ek_error *e)
{
    struct ek_rules *rules;
    int rc = ek_rules_parse(&rules, manifest, "rules.yaml", RULES, sizeof RULES - 1, e);
    if (!rc)
        ek_rules_free(rules);
    return rc;
}

START_TEST(rules_without_memory_leave_nothing)
{
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ek_sweep(read_rules);
    ek_manifest_free(manifest);
}
END_TEST

static const char *named_rules; /* path of the rules in NAMES */
static const char NAMES[] = "units: [own.yaml]\nfeatures: {price: {units: [points]}}\n";
static const char OWN[] = "units: [{id: points, factor: 250, text: points}]\n";

static int read_named(struct ek_error *e)
{
    struct ek_rules *rules;
    int rc = ek_rules_parse(&rules, manifest, named_rules, NAMES, sizeof NAMES - 1, e);
    if (!rc)
        ek_rules_free(rules);
    return rc;
}

/* Rules without a manifest: look up one of the names in them. */
static int name_features(struct ek_error *e)
{
    struct ek_manifest *named;
    int rc = ek_rules_manifest(&named, "rules", RULES, sizeof RULES - 1, e);
    if (!rc)
        ek_manifest_free(named);
    return rc;
}

START_TEST(names_out_of_rules_without_memory_leave_nothing)
{
    ek_sweep(name_features);
}
END_TEST

START_TEST(a_named_catalogue_without_memory_leaves_nothing)
{
    const char *text = ek_hotel_manifest();
    struct ek_scratch own = ek_scratch("own.yaml"), rules = ek_scratch("rules.yaml");
    named_rules = rules.path;
    ck_assert_int_eq(ek_file_write(own.path, OWN, NULL), EK_OK);
    ck_assert_int_eq(ek_manifest_parse(&manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ek_sweep(read_named);
    ek_manifest_free(manifest);
}
END_TEST

static const char *capture_path; /* the extension selects the compression */

static int write_capture(struct ek_error *e)
{
    static const unsigned char bytes[] = {0x81, 0xa1, 'q', 0xa1, 'x'};
    struct ek_capture_writer *w;
    struct ek_record record = {.offset = 7,
                               .timestamp_ms = 1790000000000,
                               .key = "key",
                               .key_length = 3,
                               .bytes = bytes,
                               .length = sizeof bytes};
    int rc = ek_capture_create(&w, capture_path, 0, e);
    if (rc)
        return rc;
    for (int i = 0; i < 3 && !rc; i++)
        rc = ek_capture_write(w, &record, e);
    if (!rc)
        return ek_capture_finish(w, e);
    ek_capture_abort(w);
    return rc;
}

static int read_capture(struct ek_error *e)
{
    struct ek_capture_reader *r;
    struct ek_record record;
    int more = 1;
    int rc = ek_capture_open(&r, capture_path, 1 << 20, e);
    if (rc)
        return rc;
    while (!rc && more)
        rc = ek_capture_next(r, &record, &more, e);
    ek_capture_close(r);
    return rc;
}

START_TEST(a_capture_without_memory_leaves_nothing)
{
    struct ek_scratch plain = ek_scratch("c.ekc"), packed = ek_scratch("c.ekc.zst");
    capture_path = plain.path;
    ek_sweep(write_capture);
    ek_sweep(read_capture);
    capture_path = packed.path;
    ek_sweep(write_capture);
    ek_sweep(read_capture);
}
END_TEST

Suite *suite_rules(void)
{
    return ek_suite("rules and captures without memory", rules_without_memory_leave_nothing,
                    names_out_of_rules_without_memory_leave_nothing,
                    a_named_catalogue_without_memory_leaves_nothing,
                    a_capture_without_memory_leaves_nothing);
}
