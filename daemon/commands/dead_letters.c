#include "daemon/commands/dead_letters.h"

#include <inttypes.h>
#include <string.h>

/* As evenkeel_dead_letters_total has them. */
static const char *const NAMES[EK_DEAD_CLASSES] = {"format", "limit", "state", "delivery", "other"};

/* The last of that name: those of the stage come behind the message's own. */
static const struct ek_header *find(const struct ek_kafka_record *r, const char *name)
{
    const struct ek_header *found = NULL;
    for (size_t i = 0; i < r->header_count; i++)
        if (r->headers[i].value && !strcmp(r->headers[i].name, name))
            found = &r->headers[i];
    return found;
}

static void copy(char *to, size_t size, const struct ek_kafka_record *r, const char *name)
{
    const struct ek_header *h = find(r, name);
    size_t length = !h ? 0 : h->length < size ? h->length : size - 1;
    if (length)
        memcpy(to, h->value, length);
    to[length] = '\0';
}

static int class_of(const struct ek_header *h)
{
    int i = 0;
    while (i < EK_DEAD_CLASSES - 1 &&
           (h->length != strlen(NAMES[i]) || memcmp(h->value, NAMES[i], h->length) != 0))
        i++;
    return i;
}

/* One that was sent again keeps its headers, and the stage adds what it did with it this time. */
static const struct ek_header *class_header(const struct ek_kafka_record *r)
{
    const struct ek_header *class = find(r, "ek-error-class"), *action = find(r, "ek-action");
    return action && action > class ? NULL : class;
}

void ek_dead_letters_add(struct ek_dead_letters *d, const struct ek_kafka_record *r)
{
    const struct ek_header *class = class_header(r);
    if (!class)
        return;
    struct ek_dead_class *c = &d->of[class_of(class)];
    const struct ek_header *left_out = find(r, "ek-left-out");
    c->count++;
    c->cut += left_out && left_out > class;
    copy(c->topic, sizeof c->topic, r, "ek-source-topic");
    copy(c->partition, sizeof c->partition, r, "ek-source-partition");
    copy(c->offset, sizeof c->offset, r, "ek-source-offset");
    copy(c->reason, sizeof c->reason, r, "ek-error");
}

/* What headers say is quoted: it may be anything. */
static int add_line(const struct ek_dead_class *c, const char *name, struct ek_buf *out)
{
    char place[EK_DEAD_TOPIC_BYTES + 80];
    snprintf(place, sizeof place, "%s, partition %s, offset %s", c->topic, c->partition, c->offset);
    ek_buf_printf(out, "dead letters, %s: %" PRIu64, name, c->count);
    if (c->cut)
        ek_buf_printf(out, " (%" PRIu64 " without all of the message)", c->cut);
    ek_buf_text(out, ", the last from ");
    ek_buf_json(out, place, strlen(place));
    ek_buf_text(out, ": ");
    ek_buf_json(out, c->reason, strlen(c->reason));
    return ek_buf_text(out, "\n");
}

int ek_dead_letters_print(const struct ek_dead_letters *d, FILE *to)
{
    struct ek_buf lines;
    int rc = EK_OK;
    ek_buf_init(&lines, 0);
    for (int i = 0; !rc && i < EK_DEAD_CLASSES; i++)
        if (d->of[i].count)
            rc = add_line(&d->of[i], NAMES[i], &lines);
    if (!rc)
        fwrite(lines.data, 1, lines.length, to);
    ek_buf_release(&lines);
    return rc;
}

void ek_dead_letters_json(const struct ek_dead_letters *d, struct ek_json_writer *s)
{
    ek_json_open(s, "dead_letters", '[');
    for (int i = 0; i < EK_DEAD_CLASSES; i++) {
        const struct ek_dead_class *c = &d->of[i];
        if (!c->count)
            continue;
        ek_json_open(s, NULL, '{');
        ek_json_add_text(s, "class", NAMES[i]);
        ek_json_add_count(s, "count", c->count);
        ek_json_add_count(s, "cut", c->cut);
        ek_json_add_text(s, "topic", c->topic);
        ek_json_add_text(s, "partition", c->partition);
        ek_json_add_text(s, "offset", c->offset);
        ek_json_add_text(s, "reason", c->reason);
        ek_json_close(s, '}');
    }
    ek_json_close(s, ']');
}
