#include "daemon/files/each_message.h"

#include "daemon/files/scores_seen.h"
#include "lists/capture.h"
#include "lists/codec.h"

static int each(struct ek_capture_reader *capture, const struct ek_codec *codec, const char *path,
                const struct ek_dialect *dialect, ek_take_list *take, void *context,
                struct ek_error *e)
{
    struct ek_scores_seen scores = {.some = false};
    struct ek_query q;
    int more = 1, rc = EK_OK;
    ek_query_init(&q);
    for (uint64_t number = 0; !rc; number++) {
        struct ek_record message;
        rc = ek_capture_next(capture, &message, &more, e);
        if (rc || !more)
            break;
        rc = ek_codec_decode(codec, message.bytes, message.length, &q, e);
        if (rc)
            ek_dialect_hint(dialect, e);
        else
            ek_scores_missing(&scores, &q);
        if (!rc)
            rc = take(context, &q, number, e);
        if (rc)
            ek_error_place(e, path, (long)number + 1, 0);
    }
    if (!rc)
        ek_scores_note(&scores, dialect->config);
    ek_query_release(&q);
    return rc;
}

int ek_each_message(const struct ek_manifest *m, const struct ek_dialect *dialect, const char *path,
                    ek_take_list *take, void *context, struct ek_error *e)
{
    struct ek_capture_reader *capture;
    struct ek_codec *codec;
    int rc = ek_dialect_needs_lists(dialect, path, e);
    if (rc)
        return rc;
    rc = ek_codec_new(&codec, m, &dialect->mapping, &dialect->limits, e);
    if (rc)
        return rc;
    rc = ek_capture_open(&capture, path, 0, e);
    if (!rc) {
        rc = each(capture, codec, path, dialect, take, context, e);
        ek_capture_close(capture);
    }
    ek_codec_free(codec);
    return rc;
}
