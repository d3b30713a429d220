#include "daemon/commands/memory_bound.h"

#include "daemon/alerts/alerts.h"
#include "daemon/stage/crew.h"
#include "daemon/views/feature_board.h"
#include "daemon/http/http.h"
#include "daemon/views/journal.h"
#include "daemon/kafka/kafka.h"
#include "daemon/kafka/lanes.h"
#include "daemon/views/samples.h"
#include "daemon/views/tracks.h"
#include "serve/context.h"
#include "guard/guard_memory.h"

#include <string.h>

enum {
    PROGRAM_BYTES = 48 << 20, /* code and data of the program and its libraries, log, metrics */
    STACK_BYTES = 256 << 10,  /* of a thread, as far as any goes down */
    MALLOC_PART = 4           /* of what it gives out so much lies idle in its arenas */
};

static void add(struct ek_memory_bound *m, const char *what, size_t count, size_t each)
{
    m->row[m->rows++] = (struct ek_memory_row){what, count, each, count * each};
    m->bytes += count * each;
}

static void leave_open(struct ek_memory_bound *m, const char *what)
{
    m->open[m->opens++] = what;
}

/* Those of librdkafka: one for each broker that is named, for the group's and for none yet. */
static size_t threads(const struct ek_config *c, int brokers)
{
    size_t clients = 2 + (c->state_topic ? 2 : 0) + (c->fleet_topic ? 2 : 0);
    return 8 + (size_t)ek_config_workers(c) + clients * (size_t)(4 + brokers);
}

static struct ek_list_limits lists_of(const struct ek_config *c)
{
    return (struct ek_list_limits){(size_t)c->items_max, (size_t)c->message_bytes,
                                   c->encoding == 1};
}

static void add_guard(struct ek_memory_bound *m, const struct ek_config *c,
                      const struct ek_assets *a, const struct ek_list_limits *lists)
{
    struct ek_guard_memory g = ek_guard_memory_of(a, lists, c->fleet_topic != NULL);
    size_t guards = c->state_topic || c->fleet_topic ? 2 : 1, cells = (size_t)g.cells;
    add(m, "detector, cells", guards * cells, g.detector / cells);
    add(m, "live sketches, cells", guards * cells, g.sketches / cells);
    add(m, "plans, pins, decisions", guards, g.plans);
    add(m, "lists that the guard reads itself", guards, g.own_context);
    if (g.items)
        add(m, "lists that wait for items", guards, g.items);
    if (c->state_topic)
        add(m, "state on its way", 2, g.detector + g.sketches);
    add(m, "events that were not fetched", 1, g.events);
}

static void add_people(struct ek_memory_bound *m, const struct ek_config *c,
                       const struct ek_assets *a, int cells)
{
    int features = a->manifest->item_count;
    size_t shown = (size_t)(cells < a->rules->windows.cells ? cells : a->rules->windows.cells);
    add(m, "events and findings kept for people", 1,
        ek_journal_memory((size_t)c->events_kept, features));
    add(m, "figures of features, cells", shown, ek_board_memory(features));
    add(m, "course of features", 1, ek_tracks_memory());
    add(m, "lists shown to people", 1, ek_samples_memory());
    if (c->sinks.count)
        add(m, "alerts", 1, ek_alerts_memory((size_t)c->alerts_max, c->sinks.count));
    if (strcmp(c->listen, "off") != 0) {
        add(m, "connections of HTTP", (size_t)c->http_connections, ek_http_connection_memory());
        add(m, "answers of HTTP", 1, ek_http_answers_memory());
    }
}

static void add_kafka(struct ek_memory_bound *m, const struct ek_config *c,
                      const struct ek_kafka_memory *k)
{
    add(m, "messages in flight", (size_t)c->in_flight_messages, sizeof(struct ek_ticket) + 64);
    add(m, "bytes in flight, and one message", 1, (size_t)c->in_flight_bytes + k->largest);
    add(m, "messages being sent", 1, k->sending);
    add(m, "messages fetched, their bytes", 1, k->fetched);
    add(m, "messages fetched, what goes with each", 1, k->fetched_of_messages);
}

int ek_memory_bound_of(struct ek_memory_bound *out, const struct ek_config *c,
                       const struct ek_assets *a, struct ek_error *e)
{
    struct ek_kafka_memory k;
    struct ek_list_limits lists = lists_of(c);
    int rc = ek_kafka_memory(&k, c, e);
    if (rc)
        return rc;
    *out = (struct ek_memory_bound){.rows = 0};
    int cells = (int)c->cells + a->rules->segment_count;
    add(out, "model, profile, manifest, rules", 3, ek_assets_memory(a));
    add(out, "workers", (size_t)ek_config_workers(c), ek_crew_worker_memory(c, a, &lists));
    add_guard(out, c, a, &lists);
    add_kafka(out, c, &k);
    add_people(out, c, a, cells);
    add(out, "idle in the arenas of malloc", 1, out->bytes / MALLOC_PART);
    add(out, "program, libraries", 1, PROGRAM_BYTES);
    add(out, "stacks of threads", threads(c, k.brokers), STACK_BYTES);
    leave_open(out, "compressed batches: one of gzip is up to 1030 times as large when unpacked, "
                    "so take a small 'max.message.bytes' of the input topics");
    leave_open(out, "brokers that 'input.brokers' does not name: as much again for each as one "
                    "fetch brings");
    if (c->fleet_topic)
        leave_open(out, "what a fleet tells and pools: about as much as the detector");
    return EK_OK;
}

int ek_memory_bound_text(const struct ek_memory_bound *m, struct ek_buf *out)
{
    int rc = ek_buf_printf(out, "%-38s %10s %12s %12s\n", "memory", "count", "KiB each", "MiB");
    for (int i = 0; !rc && i < m->rows; i++) {
        const struct ek_memory_row *r = &m->row[i];
        rc = ek_buf_printf(out, "%-38s %10zu %12.1f %12.1f\n", r->what, r->count,
                           (double)r->each / 1024, (double)r->bytes / 1048576);
    }
    if (!rc)
        rc = ek_buf_printf(out, "%-38s %10s %12s %12.1f\n", "at most", "", "",
                           (double)m->bytes / 1048576);
    for (int i = 0; !rc && i < m->opens; i++)
        rc = ek_buf_printf(out, "not bounded: %s\n", m->open[i]);
    return rc;
}

int ek_memory_bound_json(const struct ek_memory_bound *m, struct ek_buf *out)
{
    int rc = ek_buf_printf(out, "{\"bytes\":%zu,\"parts\":[", m->bytes);
    for (int i = 0; !rc && i < m->rows; i++) {
        const struct ek_memory_row *r = &m->row[i];
        rc = ek_buf_printf(out, "%s{\"what\":\"%s\",\"count\":%zu,\"each\":%zu,\"bytes\":%zu}",
                           i ? "," : "", r->what, r->count, r->each, r->bytes);
    }
    if (!rc)
        rc = ek_buf_text(out, "],\"not_bounded\":[");
    for (int i = 0; !rc && i < m->opens; i++)
        rc = ek_buf_printf(out, "%s\"%s\"", i ? "," : "", m->open[i]);
    return rc ? rc : ek_buf_text(out, "]}");
}
