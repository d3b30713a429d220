/* Allocation failures while decisions are stored, reported and read from a state. */
#include "guard/event_json.h"
#include "plan/decisions.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include <string.h>

static int keep_and_tell(struct ek_decisions *d, struct ek_buf *text)
{
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_PIN);
    bool is_new;
    m.feature = "price";
    m.dimension = "arm";
    m.value = "B";
    m.reason = "since the source was changed";
    int rc = ek_decisions_add(d, &m, &is_new);
    if (rc && ek_decisions_last(d))
        return EK_ESTATE; /* a rejected decision left data behind */
    return rc ? rc : ek_decision_record_json(text, ek_decisions_at(d, 1));
}

static int scenario(struct ek_error *e)
{
    struct ek_decisions *d = NULL, *loaded = NULL;
    struct ek_buf text, part;
    ek_buf_init(&text, 0);
    ek_buf_init(&part, 0);
    struct ek_serialize out = {.out = &part};
    int rc = ek_decisions_new(&d);
    if (!rc)
        rc = ek_decisions_new(&loaded);
    if (!rc)
        rc = keep_and_tell(d, &text);
    if (!rc) {
        ek_decisions_serialize(d, &out, 0);
        rc = out.rc;
    }
    if (!rc) {
        struct ek_serialize in = {.at = part.data, .end = part.data + part.length};
        ek_decisions_serialize(loaded, &in, 0);
        rc = in.rc;
    }
    ek_decisions_free(d);
    ek_decisions_free(loaded);
    ek_buf_release(&text);
    ek_buf_release(&part);
    return rc ? ek_fail(e, (enum ek_code)rc, "no memory for a decision") : EK_OK;
}

START_TEST(decisions_without_memory_leave_nothing)
{
    ek_sweep(scenario);
}
END_TEST

Suite *suite_decisions(void)
{
    return ek_suite("decisions without memory", decisions_without_memory_leave_nothing);
}
