#include "daemon/files/field_mapping.h"

#include "daemon/config/config_keys.h"

#include "daemon/base/command.h"
#include "lists/capture.h"
#include "lists/codec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ek_field_mapping_load(struct ek_field_mapping *d, const char *config, struct ek_error *e)
{
    static const char *const uses[] = {"message.", "limits.", NULL};
    *d = (struct ek_field_mapping){0};
    if (!config)
        return EK_OK;
    int rc = ek_config_load_part(&d->config, config, uses, e);
    if (rc)
        return ek_cli_config_fault(e);
    ek_config_mapping(d->config, &d->mapping, &d->limits);
    return EK_OK;
}

void ek_field_mapping_release(struct ek_field_mapping *d)
{
    ek_config_free(d->config);
    *d = (struct ek_field_mapping){0};
}

int ek_field_mapping_needs_lists(const struct ek_field_mapping *d, const char *path,
                                 struct ek_error *e)
{
    return d->mapping.layout != EK_LAYOUT_ITEM
               ? EK_OK
               : ek_fail_at(e, EK_EUSAGE, path, 0, 0,
                            "each message is an item ('message.layout' of the configuration), but "
                            "lists are needed");
}

/* Append to the error message, as far as there is room. */
static void add(struct ek_error *e, const char *format, ...)
{
    size_t length = strlen(e->message);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(e->message + length, sizeof e->message - length, format, args);
    va_end(args);
    if (more < 0 || length + (size_t)more >= sizeof e->message)
        e->message[length] = 0;
}

static void add_encoding(const struct ek_config *c, struct ek_error *e)
{
    static const char *const words[] = {"msgpack", "json"};
    struct ek_error at = {0};
    ek_config_place(c, "message.encoding", &at);
    if (at.line)
        add(e, "; %s:%ld: 'message.encoding' is '%s', but '%s' can read it", c->path, at.line,
            words[c->encoding], words[!c->encoding]);
    else
        add(e, "; %s has no 'message.encoding', whose default is '%s', but '%s' can read it",
            c->path, words[c->encoding], words[!c->encoding]);
}

int ek_field_mapping_hint(const struct ek_field_mapping *d, struct ek_error *e)
{
    if (!d->config && e->flags & EK_ERR_FIELD)
        add(e, "; if fields have other names, use --config");
    if (d->config && e->flags & EK_ERR_ENCODING)
        add_encoding(d->config, e);
    return (int)e->code;
}

static int each(struct ek_capture_reader *capture, const struct ek_codec *codec, const char *path,
                const struct ek_field_mapping *field_mapping, ek_list_fn *process, void *context,
                struct ek_error *e)
{
    struct ek_score_check scores = {.some = false};
    struct ek_list q;
    int more = 1, rc = EK_OK;
    ek_list_init(&q);
    for (uint64_t number = 0; !rc; number++) {
        struct ek_record message;
        rc = ek_capture_next(capture, &message, &more, e);
        if (rc || !more)
            break;
        rc = ek_codec_decode(codec, message.bytes, message.length, &q, e);
        if (rc)
            ek_field_mapping_hint(field_mapping, e);
        else
            ek_score_check_missing(&scores, &q);
        if (!rc)
            rc = process(context, &q, number, e);
        if (rc)
            ek_error_place(e, path, (long)number + 1, 0);
    }
    if (!rc)
        ek_score_check_add(&scores, field_mapping->config);
    ek_list_release(&q);
    return rc;
}

int ek_message_for_each(const struct ek_manifest *m, const struct ek_field_mapping *field_mapping,
                        const char *path, ek_list_fn *process, void *context, struct ek_error *e)
{
    struct ek_capture_reader *capture;
    struct ek_codec *codec;
    int rc = ek_field_mapping_needs_lists(field_mapping, path, e);
    if (rc)
        return rc;
    rc = ek_codec_new(&codec, m, &field_mapping->mapping, &field_mapping->limits, e);
    if (rc)
        return rc;
    rc = ek_capture_open(&capture, path, 0, e);
    if (!rc) {
        rc = each(capture, codec, path, field_mapping, process, context, e);
        ek_capture_close(capture);
    }
    ek_codec_free(codec);
    return rc;
}

static struct ek_error place_of(const struct ek_config *c)
{
    struct ek_error at = {0};
    ek_config_place(c, "message.score", &at);
    return at;
}

bool ek_time_expected(const struct ek_config *c)
{
    return c->places[ek_config_key("message.time_ms") - ek_config_keys()->keys].line > 0;
}

bool ek_score_check_expected(const struct ek_config *c)
{
    return c->output_writes == EK_WRITES_SCORES && (c->model || place_of(c).line);
}

static bool has_score(const struct ek_list *q)
{
    for (int i = 0; i < q->items; i++)
        if (q->place[i].length)
            return true;
    return false;
}

unsigned long ek_score_check_missing(struct ek_score_check *s, const struct ek_list *q)
{
    if (atomic_load_explicit(&s->some, memory_order_relaxed) || !q->items)
        return 0;
    if (!has_score(q))
        return atomic_fetch_add(&s->without, 1) + 1;
    atomic_store(&s->some, true);
    return 0;
}

void ek_score_check_text(const struct ek_config *c, unsigned long lists, char *text, size_t size)
{
    struct ek_error at = place_of(c), what;
    char message[500];
    ek_fail_at(&what, EK_ECONFIG, at.file, at.line, at.column,
               "no item of %lu list%s has '%.100s', the 'message.score': such lists are monitored, "
               "but cannot be re-scored",
               lists, lists > 1 ? "s" : "", c->score);
    snprintf(text, size, "%s", ek_error_text(&what, message, sizeof message));
}

void ek_score_check_add(const struct ek_score_check *s, const struct ek_config *c)
{
    char text[500];
    unsigned long lists = atomic_load(&s->without);
    if (!c || !lists || atomic_load(&s->some) || !ek_score_check_expected(c))
        return;
    ek_score_check_text(c, lists, text, sizeof text);
    fprintf(stderr, "evenkeel: note: %s\n", text);
}
