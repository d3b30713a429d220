#include "daemon/kafka/partition_offsets.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"

#include <string.h>

enum { BLOCK_TICKETS = 256 };

struct block {
    struct block *next;
    struct ek_ticket tickets[BLOCK_TICKETS];
};

struct ek_lanes {
    struct ek_lane *first;
    struct ek_lane **numbered; /* [most] the first lane of each partition number */
    int most;
    struct block *blocks;
    struct ek_ticket *spare;
    size_t in_flight, bytes;
};

struct ek_lanes *ek_lanes_new(void)
{
    return ek_calloc(1, sizeof(struct ek_lanes));
}

void ek_lanes_free(struct ek_lanes *l)
{
    if (!l)
        return;
    for (struct block *b = l->blocks, *next; b; b = next) {
        next = b->next;
        ek_free(b);
    }
    for (struct ek_lane *lane = l->first, *next; lane; lane = next) {
        next = lane->sibling;
        ek_free(lane->topic);
        ek_free(lane->pointer);
        ek_free(lane);
    }
    ek_free(l->numbered);
    ek_free(l);
}

/* Topics are few and partitions many. */
static struct ek_lane *lane_of(struct ek_lanes *l, const char *topic, int partition)
{
    struct ek_lane *lane = partition >= 0 && partition < l->most ? l->numbered[partition] : NULL;
    while (lane && strcmp(lane->topic, topic) != 0)
        lane = lane->namesake;
    return lane;
}

static bool room_for_number(struct ek_lanes *l, int partition)
{
    if (partition < l->most)
        return true;
    size_t most = (size_t)partition + 1 + (size_t)l->most;
    struct ek_lane **numbered = ek_realloc(l->numbered, most, sizeof *numbered);
    if (!numbered)
        return false;
    memset(numbered + l->most, 0, (most - (size_t)l->most) * sizeof *numbered);
    l->numbered = numbered;
    l->most = (int)most;
    return true;
}

static struct ek_lane *new_lane(struct ek_lanes *l, const char *topic, int partition)
{
    struct ek_lane *lane = room_for_number(l, partition) ? ek_calloc(1, sizeof *lane) : NULL;
    if (!lane)
        return NULL;
    lane->topic = ek_strdup(topic);
    if (!lane->topic) {
        ek_free(lane);
        return NULL;
    }
    lane->partition = partition;
    lane->reached = -1;
    lane->refused.offset = -1;
    lane->sibling = l->first;
    l->first = lane;
    lane->namesake = l->numbered[partition];
    l->numbered[partition] = lane;
    return lane;
}

static void give_back(struct ek_lanes *l, struct ek_ticket *t)
{
    t->next = l->spare;
    l->spare = t;
}

void ek_lanes_close(struct ek_lanes *l, struct ek_lane *lane)
{
    for (struct ek_ticket *t = lane->head, *next; t; t = next) {
        next = t->next;
        if (t->done)
            give_back(l, t);
    }
    atomic_fetch_add_explicit(&lane->epoch, 1, memory_order_relaxed);
    lane->head = lane->tail = NULL;
    lane->open = lane->leaving = false;
}

void ek_lanes_rewind(struct ek_lanes *l, struct ek_lane *lane)
{
    int64_t first = lane->head ? lane->head->offset : -1;
    ek_lanes_close(l, lane);
    lane->open = true;
    lane->next = lane->taken = lane->committed;
    lane->expected = first;
}

void ek_lanes_expect(struct ek_lane *lane, int64_t from)
{
    lane->taken = from;
    lane->expected = lane->expected >= from && from == lane->committed ? lane->expected : -1;
}

int ek_lane_point(struct ek_lane *lane, const char *pointer)
{
    char *copy = pointer ? ek_strdup(pointer) : NULL;
    if (pointer && !copy)
        return EK_ENOMEM;
    ek_free(lane->pointer);
    lane->pointer = copy;
    lane->pointed = false;
    return EK_OK;
}

struct ek_lane *ek_lanes_open(struct ek_lanes *l, const char *topic, int partition, int64_t next)
{
    struct ek_lane *lane = lane_of(l, topic, partition);
    if (!lane)
        lane = new_lane(l, topic, partition);
    if (!lane)
        return NULL;
    ek_lanes_close(l, lane);
    lane->open = true;
    lane->next = next;
    lane->committed = next;
    lane->taken = lane->expected = -1;
    lane->keeps = -1;
    lane->sends = 0;
    lane->suspect = 0;
    lane->refused.offset = -1;
    ek_lane_point(lane, NULL);
    return lane;
}

struct ek_lane *ek_lanes_find(struct ek_lanes *l, const char *topic, int partition)
{
    struct ek_lane *lane = lane_of(l, topic, partition);
    return lane && lane->open ? lane : NULL;
}

/* Takes finished tickets off the head; the position follows, and never goes back to those that are
 * for the guard alone. */
static void advance(struct ek_lanes *l, struct ek_lane *lane)
{
    struct ek_ticket *t;
    while ((t = lane->head) && t->done) {
        if (lane->next <= t->offset)
            lane->next = t->offset + 1;
        lane->head = t->next;
        give_back(l, t);
    }
    if (!lane->head)
        lane->tail = NULL;
}

struct ek_lane *ek_lanes_each(struct ek_lanes *l, struct ek_lane *after)
{
    return after ? after->sibling : l->first;
}

static bool add_block(struct ek_lanes *l)
{
    struct block *b = ek_calloc(1, sizeof *b);
    if (!b)
        return false;
    b->next = l->blocks;
    l->blocks = b;
    for (int i = 0; i < BLOCK_TICKETS; i++) {
        b->tickets[i].next = l->spare;
        l->spare = &b->tickets[i];
    }
    return true;
}

struct ek_ticket *ek_lanes_take(struct ek_lanes *l, struct ek_lane *lane, int64_t offset)
{
    if (!l->spare && !add_block(l))
        return NULL;
    struct ek_ticket *t = l->spare;
    l->spare = t->next;
    *t = (struct ek_ticket){.lane = lane, .offset = offset, .partition = -1};
    t->epoch = atomic_load_explicit(&lane->epoch, memory_order_relaxed);
    if (lane->tail)
        lane->tail->next = t;
    else
        lane->head = t;
    lane->tail = t;
    lane->taken = offset + 1;
    lane->expected = -1;
    if (lane->next < 0) {
        lane->next = lane->committed = offset;
        lane->seen = lane->seen < offset ? offset : lane->seen; /* nobody else has the lane yet */
    }
    l->in_flight++;
    return t;
}

void ek_lanes_load(struct ek_lanes *l, struct ek_ticket *t, size_t bytes)
{
    l->bytes += bytes - t->loaded;
    t->loaded = bytes;
}

bool ek_ticket_loose(const struct ek_ticket *t)
{
    return atomic_load_explicit(&t->lane->epoch, memory_order_relaxed) != t->epoch;
}

void ek_lanes_done(struct ek_lanes *l, struct ek_ticket *t)
{
    l->in_flight--;
    l->bytes -= t->loaded;
    t->done = true;
    if (!ek_ticket_loose(t))
        advance(l, t->lane);
    else
        give_back(l, t);
}

size_t ek_lanes_in_flight(const struct ek_lanes *l)
{
    return l->in_flight;
}

size_t ek_lanes_bytes(const struct ek_lanes *l)
{
    return l->bytes;
}

bool ek_lanes_left(struct ek_lanes *l)
{
    for (struct ek_lane *each = l->first; each; each = each->sibling)
        if (each->leaving && each->head)
            return false;
    return true;
}

void ek_ticket_log(struct ek_log *l, enum ek_log_level level, const char *event,
                   const struct ek_ticket *t, const char *class, const char *text)
{
    struct ek_buf quoted;
    ek_buf_init(&quoted, 0);
    const char *told = ek_buf_json(&quoted, text, strlen(text)) ? NULL : ek_buf_string(&quoted);
    ek_log_write(l, level, event, "topic=%s partition=%d offset=%lld%s%s message=%s",
                 t->lane->topic, t->lane->partition, (long long)t->offset, class ? " class=" : "",
                 class ? class : "", told ? told : "\"\"");
    ek_buf_release(&quoted);
}
