#include "daemon/inspect.h"

#include "data/capture.h"

#include <inttypes.h>

struct totals {
    uint64_t messages, bytes, largest;
    int partitions;
    int64_t first_ms, last_ms;
};

static int count(const char *path, struct totals *t, struct ek_error *e)
{
    struct ek_capture_reader *in;
    struct ek_record record;
    int more, rc = ek_capture_open(&in, path, 0, e);
    if (rc)
        return rc;
    *t = (struct totals){.first_ms = -1, .last_ms = -1};
    while (!(rc = ek_capture_next(in, &record, &more, e)) && more) {
        t->messages++;
        t->bytes += record.length;
        t->largest = record.length > t->largest ? record.length : t->largest;
        t->partitions = record.partition >= t->partitions ? record.partition + 1 : t->partitions;
        if (t->first_ms < 0)
            t->first_ms = record.timestamp_ms;
        t->last_ms = record.timestamp_ms;
    }
    ek_capture_close(in);
    return rc;
}

int ek_inspect_capture(const char *path, enum ek_inspect_form form, FILE *to, struct ek_error *e)
{
    struct totals t;
    int rc = count(path, &t, e);
    if (rc)
        return rc;
    if (form == EK_INSPECT_JSON)
        fprintf(to,
                "{\"kind\":\"capture\",\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64
                ",\"largest_bytes\":%" PRIu64 ",\"partitions\":%d,\"first_ms\":%" PRId64
                ",\"last_ms\":%" PRId64 "}\n",
                t.messages, t.bytes, t.largest, t.partitions, t.first_ms, t.last_ms);
    else
        fprintf(to,
                "capture\n  messages        %" PRIu64 "\n  bytes           %" PRIu64
                "\n  largest         %" PRIu64 "\n  partitions      %d\n  first           %" PRId64
                " ms\n  last            %" PRId64 " ms\n",
                t.messages, t.bytes, t.largest, t.partitions, t.first_ms, t.last_ms);
    return EK_OK;
}
