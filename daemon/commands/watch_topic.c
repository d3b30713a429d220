#include "daemon/commands/watch_topic.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/topic_admin.h"
#include "lists/codec_draft.h"
#include "lists/codec_shape.h"
#include "yaml/keys.h"

#include <stdio.h>
#include <string.h>

enum {
    TOPICS_MAX = 20, /* opened one after the other, about half a second each */
    MESSAGES = 50,   /* read from each */
    READ_MS = 3000,  /* at most, from each */
    POLL_MS = 200,
    OPEN_MS = 5000,
    NAMES_BYTES = 300
};

/* First messages of a topic. */
struct sample {
    struct ek_buf bytes;
    size_t length[MESSAGES];
    int count;
};

static int read_sample(const struct ek_brokers *brokers, const char *topic, struct sample *s,
                       struct ek_error *e)
{
    struct ek_merged_consumer *consumer;
    struct ek_kafka_record record;
    int got, rc = ek_merged_consumer_open(&consumer, brokers, topic, EK_MERGED_CONSUMER_UNTIL_END,
                                          -1, OPEN_MS, e);
    if (rc)
        return rc;
    int64_t until = ek_now_ms() + READ_MS;
    while (!rc && s->count < MESSAGES && ek_now_ms() < until &&
           !ek_merged_consumer_at_end(consumer)) {
        rc = ek_merged_consumer_next(consumer, &record, POLL_MS, &got, e);
        if (rc || !got || !record.bytes)
            continue;
        s->length[s->count++] = record.length;
        rc = ek_buf_add(&s->bytes, record.bytes, record.length);
        if (rc)
            ek_fail(e, rc, "out of memory");
    }
    ek_merged_consumer_free(consumer);
    return rc;
}

/* Return whether most messages are lists with a numeric feature. */
static bool are_lists(const struct sample *s, struct ek_draft *draft)
{
    struct ek_shape *shape;
    struct ek_mapping mapping;
    struct ek_buf manifest;
    struct ek_error e;
    int readable = 0;
    size_t at = 0;
    for (int i = 0; i < s->count; at += s->length[i++])
        readable += !ek_draft_add(draft, s->bytes.data + at, s->length[i], &e);
    if (2 * readable <= s->count || ek_draft_mapping(draft, &mapping, &e) ||
        mapping.layout == EK_LAYOUT_ITEM || ek_shape_new(&shape, &mapping, &e))
        return false;
    readable = 0;
    at = 0;
    for (int i = 0; i < s->count; at += s->length[i++])
        readable += !ek_shape_add(shape, s->bytes.data + at, s->length[i], &e);
    ek_buf_init(&manifest, 0);
    bool some = 2 * readable > s->count && !ek_shape_manifest(shape, &manifest, &e);
    ek_buf_release(&manifest);
    ek_shape_free(shape);
    return some;
}

/* Set *lists to whether a topic has lists. A topic that cannot be read has none. */
static int probe(const struct ek_brokers *brokers, const char *topic, bool *lists,
                 struct ek_error *e)
{
    struct sample s = {.count = 0};
    struct ek_draft *draft;
    struct ek_error why;
    int rc = ek_draft_new(&draft, e);
    if (rc)
        return rc;
    ek_buf_init(&s.bytes, 0);
    rc = read_sample(brokers, topic, &s, &why);
    *lists = !rc && are_lists(&s, draft);
    ek_buf_release(&s.bytes);
    ek_draft_free(draft);
    return rc == EK_ENOMEM ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

static void add_name(char names[NAMES_BYTES], const char *name)
{
    size_t length = strlen(names), room = NAMES_BYTES - length;
    if (strlen(name) + sizeof ", , ..." <= room)
        snprintf(names + length, room, "%s%s", length ? ", " : "", name);
    else if (room >= sizeof ", ..." && (length < 3 || strcmp(names + length - 3, "...") != 0))
        snprintf(names + length, room, ", ...");
}

static int choose(const struct ek_brokers *brokers, const struct ek_text_list *all, char **topic,
                  struct ek_error *e)
{
    char names[NAMES_BYTES] = "", with_lists[NAMES_BYTES] = "";
    const char *found = NULL;
    int count = 0, rc = EK_OK;
    for (size_t i = 0; i < all->count; i++)
        add_name(names, all->items[i]);
    if (!all->count)
        return ek_fail(e, EK_EUSAGE, "'%s' has no topic that can be read; name one with --topic",
                       brokers->addresses);
    if (all->count > TOPICS_MAX)
        return ek_fail(e, EK_EUSAGE, "'%s' has %zu topics; name one with --topic: %s",
                       brokers->addresses, all->count, names);
    for (size_t i = 0; !rc && i < all->count; i++) {
        bool lists = false;
        rc = probe(brokers, all->items[i], &lists, e);
        if (!lists)
            continue;
        found = all->items[i];
        add_name(with_lists, found);
        count++;
    }
    if (rc)
        return rc;
    if (!count)
        return ek_fail(e, EK_EUSAGE,
                       "no topic of '%s' has lists that can be read; name one with --topic: %s",
                       brokers->addresses, names);
    if (count > 1)
        return ek_fail(e, EK_EUSAGE, "%d topics have lists; name one with --topic: %s", count,
                       with_lists);
    *topic = ek_strdup(found);
    return *topic ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_watch_find_topic(const struct ek_brokers *brokers, int wait_ms, char **topic,
                        struct ek_error *e)
{
    struct ek_topic_admin *admin;
    struct ek_text_list all = {NULL, 0};
    int rc = ek_topic_admin_open(&admin, brokers, wait_ms, e);
    if (rc)
        return rc;
    rc = ek_topic_admin_list(admin, &all, e);
    ek_topic_admin_free(admin);
    if (!rc)
        rc = choose(brokers, &all, topic, e);
    ek_topic_admin_release(&all);
    return rc;
}
