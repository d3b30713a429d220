#include "daemon/commands/inspect.h"
#include "daemon/commands/inspect_states.h"
#include "daemon/commands/record_totals.h"

#include "base/date.h"
#include "base/hash_set.h"
#include "lists/capture.h"
#include "lists/codec.h"

#include <inttypes.h>

struct totals {
    struct ek_record_totals all;
    struct ek_hash_set partitions;
    struct ek_inspect_states states;
};

static int add(struct totals *t, const struct ek_record *r, struct ek_error *e)
{
    bool added;
    int64_t ms = r->timestamp_ms >= 0 ? r->timestamp_ms : ek_codec_time(r->bytes, r->length);
    ek_record_totals_add(&t->all, r->length, ms);
    if (ek_hash_set_add(&t->partitions, (uint64_t)r->partition + 1, &added))
        return ek_fail(e, EK_ENOMEM, "no memory for the partitions");
    return ek_inspect_states_add(&t->states, r, e);
}

static int count(const char *path, struct totals *t, struct ek_error *e)
{
    struct ek_capture_reader *in;
    struct ek_record record;
    int more, rc = ek_capture_open(&in, path, 0, e);
    if (rc)
        return rc;
    while (!(rc = ek_capture_next(in, &record, &more, e)) && more)
        if ((rc = add(t, &record, e)))
            break;
    ek_capture_close(in);
    return rc;
}

static int print_json(const struct totals *t, FILE *to)
{
    fprintf(to,
            "{\"kind\":\"capture\",\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64
            ",\"largest_bytes\":%" PRIu64 ",\"partitions\":%zu,\"first_ms\":%" PRId64
            ",\"last_ms\":%" PRId64,
            t->all.messages, t->all.bytes, t->all.largest, t->partitions.count, t->all.first_ms,
            t->all.last_ms);
    int rc = ek_inspect_states_json(&t->states, to);
    fputs("}\n", to);
    return rc;
}

static void print_table(const struct totals *t, FILE *to)
{
    char first[EK_DATE_TEXT], last[EK_DATE_TEXT];
    fprintf(to,
            "capture\n  messages        %" PRIu64 "\n  bytes           %" PRIu64
            "\n  largest         %" PRIu64 "\n  partitions      %zu\n  first           %s\n"
            "  last            %s\n",
            t->all.messages, t->all.bytes, t->all.largest, t->partitions.count,
            ek_date_text(t->all.first_ms, first), ek_date_text(t->all.last_ms, last));
    ek_inspect_states_table(&t->states, to);
}

int ek_inspect_capture(const char *path, enum ek_inspect_form form, FILE *to, struct ek_error *e)
{
    struct totals t = {0};
    ek_record_totals_init(&t.all);
    ek_hash_set_init(&t.partitions);
    int rc = count(path, &t, e);
    if (!rc && form == EK_INSPECT_JSON && print_json(&t, to))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc && form == EK_INSPECT_TABLE)
        print_table(&t, to);
    ek_inspect_states_release(&t.states);
    ek_hash_set_release(&t.partitions);
    return rc;
}
