#include "daemon/http/event_stream.h"

#include "base/parse.h"
#include "daemon/views/journal.h"

#include <inttypes.h>
#include <string.h>

enum { RETRY_MS = 2000 }; /* before he comes again */

/* Where his `last` is of: "NUMBER", taken for one of ours, or an id "STARTED_MS-NUMBER". False: it
 * is neither. */
static bool read_last(struct ek_event_stream *s, const char *last, uint64_t count)
{
    const char *dash = strchr(last, '-');
    uint64_t started = (uint64_t)s->started_ms;
    if ((dash && ek_parse_u64(last, (size_t)(dash - last), &started)) ||
        ek_parse_u64(dash ? dash + 1 : last, EK_WHOLE, &s->after))
        return false;
    bool other = started != (uint64_t)s->started_ms;
    s->lost = other || s->after > count;
    if (s->lost) /* of another process he has none of ours */
        s->after = other ? 0 : count;
    return true;
}

bool ek_event_stream_init(struct ek_event_stream *s, struct ek_stage *stage, int64_t started_ms,
                          const char *last)
{
    uint64_t count = ek_journal_count(ek_stage_journal(stage));
    *s = (struct ek_event_stream){.stage = stage, .started_ms = started_ms, .after = count};
    ek_buf_init(&s->status, 0);
    return !last || read_last(s, last, count);
}

void ek_event_stream_release(struct ek_event_stream *s)
{
    ek_buf_release(&s->status);
}

static const char *truth(bool is)
{
    return is ? "true" : "false";
}

static int write_status(const struct ek_event_stream *s, struct ek_buf *out)
{
    struct ek_stage_stats t;
    struct ek_trouble_state trouble;
    struct ek_journal *journal = ek_stage_journal(s->stage);
    ek_stage_stats(s->stage, &t);
    bool good = t.ready && !ek_stage_trouble(s->stage, &trouble);
    return ek_buf_printf(
        out,
        "event: status\ndata: {\"started_ms\":%" PRId64 ",\"ready\":%s,\"paused\":%s,"
        "\"plan_version\":%" PRIu64 ",\"observed_queries\":%" PRIu64 ",\"consumed\":%" PRIu64
        ",\"routed\":%" PRIu64 ",\"dead_letters\":%" PRIu64
        ",\"open_findings\":%zu,\"lag\":%" PRId64 ",\"events\":%" PRIu64 "}\n\n",
        s->started_ms, truth(good), truth(ek_pause_is_on(ek_stage_paused(s->stage))),
        t.plan_version, t.queries, t.consumed, t.routed, t.dead, ek_journal_open(journal), t.lag,
        ek_journal_count(journal));
}

/* Where it is not what was told last. */
static int add_status(struct ek_event_stream *s, struct ek_buf *out)
{
    struct ek_buf now;
    ek_buf_init(&now, 0);
    int rc = write_status(s, &now);
    bool same =
        now.length == s->status.length && !memcmp(now.data, s->status.data, s->status.length);
    if (!rc && !same) {
        rc = ek_buf_add(out, now.data, now.length);
        ek_buf_clear(&s->status);
        if (!rc)
            rc = ek_buf_add(&s->status, now.data, now.length);
    }
    ek_buf_release(&now);
    return rc;
}

/* The number of the first status is where he is: one who comes again before any event goes on
 * there. */
static int begin(struct ek_event_stream *s, struct ek_buf *out)
{
    s->begun = true;
    ek_buf_printf(out, "retry: %d\n\n", RETRY_MS);
    if (s->lost)
        ek_buf_text(out, "event: missed\ndata: {\"missed\":null}\n\n");
    return ek_buf_printf(out, "id: %" PRId64 "-%" PRIu64 "\n", s->started_ms, s->after);
}

int ek_event_stream_next(struct ek_event_stream *s, int64_t now_ms, struct ek_buf *out)
{
    size_t before = out->length;
    int rc = s->begun ? EK_OK : begin(s, out);
    if (!rc && now_ms >= s->status_due_ms) {
        s->status_due_ms = now_ms + EK_STREAM_STATUS_MS;
        rc = add_status(s, out);
    }
    if (!rc)
        rc = ek_journal_stream(ek_stage_journal(s->stage), s->started_ms, &s->after,
                               EK_STREAM_BYTES, out);
    if (!rc && out->length == before && now_ms >= s->alive_due_ms)
        rc = ek_buf_text(out, ": alive\n\n");
    if (out->length > before)
        s->alive_due_ms = now_ms + EK_STREAM_ALIVE_MS;
    return rc;
}

bool ek_event_stream_has_news(const struct ek_event_stream *s, int64_t now_ms)
{
    return !s->begun || now_ms >= s->status_due_ms || now_ms >= s->alive_due_ms ||
           ek_journal_count(ek_stage_journal(s->stage)) > s->after;
}
