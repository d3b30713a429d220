#include "daemon/commands/replay_compare.h"

#include "daemon/base/cli.h"
#include "daemon/commands/compare_print.h"
#include "lists/capture.h"

#include <stdio.h>

enum { UNREADABLE_SHOWN = 5 };

struct run {
    const struct ek_dialect *dialect;
    struct ek_compare *compare;
    struct ek_capture_reader *in;
    uint64_t messages, unreadable;
};

static int one_message(struct run *r, const struct ek_record *record, struct ek_error *e)
{
    char text[700];
    int64_t now_ms = record->timestamp_ms >= 0 ? record->timestamp_ms : (int64_t)r->messages;
    int rc = ek_compare_take(r->compare, record->bytes, record->length, now_ms, e);
    if (rc != EK_EFORMAT && rc != EK_ELIMIT && rc != EK_ESTATE)
        return rc;
    ek_dialect_hint(r->dialect, e);
    if (++r->unreadable <= UNREADABLE_SHOWN)
        fprintf(stderr, "evenkeel: message %llu left out: %s\n", (unsigned long long)r->messages,
                ek_error_text(e, text, sizeof text));
    return EK_OK;
}

static int take_all(struct run *r, struct ek_progress *progress, struct ek_error *e)
{
    struct ek_record record;
    uint64_t done, total;
    int more, rc;
    while (!(rc = ek_capture_next(r->in, &record, &more, e)) && more) {
        if ((rc = one_message(r, &record, e)))
            return rc;
        r->messages++;
        ek_capture_position(r->in, &done, &total);
        ek_progress_update(progress, done, total, NULL);
    }
    return rc;
}

static int tell_json(const struct ek_replay_compare *a, const struct run *r,
                     const struct ek_compared *c, struct ek_error *e)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    int rc = ek_compare_json(c, a->rules[0], a->rules[1], r->unreadable, &out);
    if (!rc)
        fwrite(out.data, 1, out.length, stdout);
    ek_buf_release(&out);
    return rc ? ek_fail(e, (enum ek_code)rc, "no memory for the comparison") : EK_OK;
}

static int tell(const struct ek_replay_compare *a, const struct run *r, const struct ek_compared *c,
                struct ek_progress *progress, struct ek_error *e)
{
    char note[80];
    snprintf(note, sizeof note, "%llu message%s, %llu unreadable", (unsigned long long)r->messages,
             r->messages == 1 ? "" : "s", (unsigned long long)r->unreadable);
    ek_progress_finish(progress, note);
    if (a->json)
        return tell_json(a, r, c, e);
    ek_compare_print(c, a->rules[0], a->rules[1], stdout);
    return EK_OK;
}

int ek_replay_compare(const struct ek_replay_compare *a, bool *differ, struct ek_error *e)
{
    struct run r = {.dialect = a->dialect};
    struct ek_progress progress;
    const struct ek_compared *c;
    int rc = ek_compare_new(&r.compare, a->assets[0], a->assets[1], e);
    if (!rc)
        rc = ek_capture_open(&r.in, a->messages, 0, e);
    ek_progress_start(&progress, "replay");
    if (!rc)
        rc = take_all(&r, &progress, e);
    if (!rc)
        rc = ek_compare_end(r.compare, &c, e);
    if (!rc)
        rc = tell(a, &r, c, &progress, e);
    if (!rc)
        *differ = c->differ;
    if (r.in)
        ek_capture_close(r.in);
    ek_compare_free(r.compare);
    return rc;
}
