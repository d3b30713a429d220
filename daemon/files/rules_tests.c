#include "daemon/files/rules_tests.h"

#include "daemon/files/field_mapping.h"
#include "lists/capture.h"
#include "lists/codec.h"
#include "offline/world/rules_test.h"

/* Lists of a capture; each test starts with the first. */
struct recorded {
    const char *path;
    const struct ek_field_mapping *field_mapping;
    struct ek_codec *codec;
    struct ek_capture_reader *in;
    struct ek_score_check scores;
    uint64_t seen; /* lists checked for scores; later tests read the same lists */
};

static int next_recorded(void *context, uint64_t i, struct ek_list *q, struct ek_error *e)
{
    struct recorded *r = context;
    struct ek_record record;
    int more, rc = EK_OK;
    if (!i && r->in)
        ek_capture_close(r->in);
    if (!i) {
        r->in = NULL;
        rc = ek_capture_open(&r->in, r->path, 0, e);
    }
    if (!rc)
        rc = ek_capture_next(r->in, &record, &more, e);
    if (!rc && !more)
        return ek_fail_at(e, EK_ESTATE, r->path, 0, 0, "only %llu lists, but a test needs more",
                          (unsigned long long)i);
    if (!rc)
        rc = ek_codec_decode(r->codec, record.bytes, record.length, q, e);
    if (!rc && record.timestamp_ms >= 0 && q->time_ms < 0)
        q->time_ms = record.timestamp_ms;
    if (rc)
        ek_field_mapping_hint(r->field_mapping, e);
    else if (i >= r->seen) {
        r->seen = i + 1;
        ek_score_check_missing(&r->scores, q);
    }
    return rc ? ek_error_place(e, r->path, 0, 0) : EK_OK;
}

static int run_recorded(const struct ek_check_tests *how, const struct ek_rules *rules,
                        const struct ek_manifest *m, const char *file, struct ek_error_list *faults,
                        struct ek_error *e)
{
    struct recorded r = {.path = how->messages, .field_mapping = how->field_mapping};
    struct ek_profile *profile = NULL;
    int rc = ek_field_mapping_needs_lists(how->field_mapping, how->messages, e);
    if (!rc)
        rc = ek_profile_load(&profile, how->profile, e);
    if (!rc && (rc = ek_profile_check(profile, m, e)))
        ek_error_place(e, how->profile, 0, 0);
    if (!rc)
        rc =
            ek_codec_new(&r.codec, m, &how->field_mapping->mapping, &how->field_mapping->limits, e);
    if (!rc) {
        const struct ek_healthy_lists from = {next_recorded, &r, profile};
        rc = ek_rules_tests_run(rules, m, file, &from, faults, e);
    }
    if (!rc)
        ek_score_check_add(&r.scores, how->field_mapping->config);
    if (r.in)
        ek_capture_close(r.in);
    ek_codec_free(r.codec);
    ek_profile_free(profile);
    return rc;
}

int ek_check_tests_run(const struct ek_check_tests *how, const struct ek_rules *rules,
                       const struct ek_manifest *m, const char *file, struct ek_error_list *faults,
                       struct ek_error *e)
{
    if (how->off || !rules->test_count)
        return EK_OK;
    return how->messages ? run_recorded(how, rules, m, file, faults, e)
                         : ek_rules_tests_run(rules, m, file, NULL, faults, e);
}
