#include "daemon/kafka/partition_offsets.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"

#include <string.h>

enum { BLOCK_TICKETS = 256 };

struct block {
    struct block *next;
    struct ek_inflight inflights[BLOCK_TICKETS];
};

struct ek_partition_offsets {
    struct ek_partition *first;
    struct ek_partition **numbered; /* [most] first partition of each number */
    int most;
    struct block *blocks;
    struct ek_inflight *spare;
    size_t in_flight, bytes;
};

struct ek_partition_offsets *ek_partition_offsets_new(void)
{
    return ek_calloc(1, sizeof(struct ek_partition_offsets));
}

void ek_partition_offsets_free(struct ek_partition_offsets *l)
{
    if (!l)
        return;
    for (struct block *b = l->blocks, *next; b; b = next) {
        next = b->next;
        ek_free(b);
    }
    for (struct ek_partition *assignment = l->first, *next; assignment; assignment = next) {
        next = assignment->next_partition;
        ek_free(assignment->topic);
        ek_free(assignment->pointer);
        ek_free(assignment);
    }
    ek_free(l->numbered);
    ek_free(l);
}

/* By partition number first: topics are few, partitions many. */
static struct ek_partition *find_partition(struct ek_partition_offsets *l, const char *topic,
                                           int partition)
{
    struct ek_partition *assignment =
        partition >= 0 && partition < l->most ? l->numbered[partition] : NULL;
    while (assignment && strcmp(assignment->topic, topic) != 0)
        assignment = assignment->next_same_partition;
    return assignment;
}

static bool reserve_number(struct ek_partition_offsets *l, int partition)
{
    if (partition < l->most)
        return true;
    size_t most = (size_t)partition + 1 + (size_t)l->most;
    struct ek_partition **numbered = ek_realloc(l->numbered, most, sizeof *numbered);
    if (!numbered)
        return false;
    memset(numbered + l->most, 0, (most - (size_t)l->most) * sizeof *numbered);
    l->numbered = numbered;
    l->most = (int)most;
    return true;
}

static struct ek_partition *new_partition(struct ek_partition_offsets *l, const char *topic,
                                          int partition)
{
    struct ek_partition *assignment =
        reserve_number(l, partition) ? ek_calloc(1, sizeof *assignment) : NULL;
    if (!assignment)
        return NULL;
    assignment->topic = ek_strdup(topic);
    if (!assignment->topic) {
        ek_free(assignment);
        return NULL;
    }
    assignment->partition = partition;
    assignment->reached = -1;
    assignment->refused.offset = -1;
    assignment->next_partition = l->first;
    l->first = assignment;
    assignment->next_same_partition = l->numbered[partition];
    l->numbered[partition] = assignment;
    return assignment;
}

static void recycle(struct ek_partition_offsets *l, struct ek_inflight *t)
{
    t->next = l->spare;
    l->spare = t;
}

void ek_partition_offsets_close(struct ek_partition_offsets *l, struct ek_partition *assignment)
{
    for (struct ek_inflight *t = assignment->head, *next; t; t = next) {
        next = t->next;
        if (t->done)
            recycle(l, t);
    }
    atomic_fetch_add_explicit(&assignment->epoch, 1, memory_order_relaxed);
    assignment->head = assignment->tail = NULL;
    assignment->open = assignment->leaving = false;
}

void ek_partition_offsets_rewind(struct ek_partition_offsets *l, struct ek_partition *assignment)
{
    int64_t first = assignment->head ? assignment->head->offset : -1;
    ek_partition_offsets_close(l, assignment);
    assignment->open = true;
    assignment->next = assignment->last_seen = assignment->committed;
    assignment->last_print = assignment->print;
    assignment->next_expected = first;
    /* the message to compare was the one before the former position */
    assignment->misplaced |= assignment->verify_offset >= 0;
    assignment->verify_offset = -1;
}

void ek_partition_offsets_reset(struct ek_partition_offsets *l, struct ek_partition *assignment,
                                int64_t offset)
{
    ek_partition_offsets_close(l, assignment);
    assignment->open = true;
    assignment->next = assignment->committed = offset;
    assignment->last_seen = assignment->next_expected = assignment->verify_offset = -1;
    assignment->replay_until = 0;
    assignment->suspect = 0;
    assignment->refused.offset = -1;
    assignment->print = assignment->last_print = 0;
}

void ek_partition_skip_to(struct ek_partition *assignment, int64_t offset)
{
    if (assignment->last_seen >= 0)
        assignment->last_seen = offset;
    assignment->next_expected = -1;
    assignment->last_print = 0;
    if (!assignment->head)
        assignment->next = offset;
}

void ek_partition_offsets_set_print(struct ek_partition *assignment, struct ek_inflight *t,
                                    uint64_t print)
{
    t->print = print;
    assignment->last_print = print;
}

void ek_partition_expect_offset(struct ek_partition *assignment, int64_t from)
{
    if (from != assignment->next) /* the fingerprint is that of the message before `next` */
        assignment->last_print = 0;
    assignment->last_seen = from;
    assignment->next_expected = assignment->next_expected >= from && from == assignment->committed
                                    ? assignment->next_expected
                                    : -1;
}

int ek_partition_set_checkpoint(struct ek_partition *assignment, const char *pointer)
{
    char *copy = pointer ? ek_strdup(pointer) : NULL;
    if (pointer && !copy)
        return EK_ENOMEM;
    ek_free(assignment->pointer);
    assignment->pointer = copy;
    assignment->pointed = false;
    return EK_OK;
}

struct ek_partition *ek_partition_offsets_open(struct ek_partition_offsets *l, const char *topic,
                                               int partition, int64_t next)
{
    struct ek_partition *assignment = find_partition(l, topic, partition);
    if (!assignment)
        assignment = new_partition(l, topic, partition);
    if (!assignment)
        return NULL;
    ek_partition_offsets_close(l, assignment);
    assignment->open = true;
    assignment->next = next;
    assignment->committed = next;
    assignment->last_seen = assignment->next_expected = -1;
    assignment->keeps_partition = -1;
    assignment->replay_until = 0;
    assignment->suspect = 0;
    assignment->refused.offset = -1;
    assignment->print = assignment->last_print = 0;
    assignment->verify_offset = -1;
    assignment->misplaced = assignment->detached = false;
    ek_partition_set_checkpoint(assignment, NULL);
    return assignment;
}

struct ek_partition *ek_partition_offsets_find(struct ek_partition_offsets *l, const char *topic,
                                               int partition)
{
    struct ek_partition *assignment = find_partition(l, topic, partition);
    return assignment && assignment->open ? assignment : NULL;
}

struct ek_partition *ek_partition_offsets_known(struct ek_partition_offsets *l, const char *topic,
                                                int partition)
{
    return find_partition(l, topic, partition);
}

/* Remove finished messages from the head and advance the position, except for messages below it,
 * which only update state. */
static void advance(struct ek_partition_offsets *l, struct ek_partition *assignment)
{
    struct ek_inflight *t;
    while ((t = assignment->head) && t->done) {
        if (assignment->next <= t->offset) {
            assignment->next = t->offset + 1;
            assignment->print = t->print;
        }
        assignment->head = t->next;
        recycle(l, t);
    }
    if (!assignment->head)
        assignment->tail = NULL;
}

struct ek_partition *ek_partition_offsets_each(struct ek_partition_offsets *l,
                                               struct ek_partition *after)
{
    return after ? after->next_partition : l->first;
}

static bool add_block(struct ek_partition_offsets *l)
{
    struct block *b = ek_calloc(1, sizeof *b);
    if (!b)
        return false;
    b->next = l->blocks;
    l->blocks = b;
    for (int i = 0; i < BLOCK_TICKETS; i++) {
        b->inflights[i].next = l->spare;
        l->spare = &b->inflights[i];
    }
    return true;
}

struct ek_inflight *ek_partition_offsets_start(struct ek_partition_offsets *l,
                                               struct ek_partition *assignment, int64_t offset)
{
    if (!l->spare && !add_block(l))
        return NULL;
    struct ek_inflight *t = l->spare;
    l->spare = t->next;
    *t = (struct ek_inflight){.assignment = assignment, .offset = offset, .partition = -1};
    t->epoch = atomic_load_explicit(&assignment->epoch, memory_order_relaxed);
    if (assignment->tail)
        assignment->tail->next = t;
    else
        assignment->head = t;
    assignment->tail = t;
    assignment->last_seen = offset + 1;
    assignment->next_expected = -1;
    if (assignment->next < 0) {
        assignment->next = assignment->committed = offset;
        assignment->seen =
            assignment->seen < offset ? offset : assignment->seen; /* no worker uses the partition
                                                                    * yet */
    }
    l->in_flight++;
    return t;
}

void ek_partition_offsets_add_bytes(struct ek_partition_offsets *l, struct ek_inflight *t,
                                    size_t bytes)
{
    l->bytes += bytes - t->loaded;
    t->loaded = bytes;
}

bool ek_inflight_is_revoked(const struct ek_inflight *t)
{
    return atomic_load_explicit(&t->assignment->epoch, memory_order_relaxed) != t->epoch;
}

void ek_partition_offsets_finish(struct ek_partition_offsets *l, struct ek_inflight *t)
{
    l->in_flight--;
    l->bytes -= t->loaded;
    t->done = true;
    if (!ek_inflight_is_revoked(t))
        advance(l, t->assignment);
    else
        recycle(l, t);
}

size_t ek_partition_offsets_in_flight(const struct ek_partition_offsets *l)
{
    return l->in_flight;
}

size_t ek_partition_offsets_bytes(const struct ek_partition_offsets *l)
{
    return l->bytes;
}

bool ek_partition_offsets_is_drained(struct ek_partition_offsets *l)
{
    for (struct ek_partition *each = l->first; each; each = each->next_partition)
        if (each->leaving && each->head)
            return false;
    return true;
}

void ek_inflight_log(struct ek_log *l, enum ek_log_level level, const char *event,
                     const struct ek_inflight *t, const char *class, const char *text)
{
    struct ek_buf quoted;
    ek_buf_init(&quoted, 0);
    const char *json = ek_buf_json(&quoted, text, strlen(text)) ? NULL : ek_buf_string(&quoted);
    ek_log_write(l, level, event, "topic=%s partition=%d offset=%lld%s%s message=%s",
                 t->assignment->topic, t->assignment->partition, (long long)t->offset,
                 class ? " class=" : "", class ? class : "", json ? json : "\"\"");
    ek_buf_release(&quoted);
}
