#include "daemon/stage/fence.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/transaction_thread.h"
#include "daemon/state/checkpoint_ref.h"

#include <string.h>

/* Begin after AFTER_MS, because the transactions of a graceful rebalance end within that, and
 * repeat a query without a result after RETRY_MS. Abandon a fence after LIMIT_MS: the owner may
 * have started again. */
enum { AFTER_MS = 300, RETRY_MS = 500, LIMIT_MS = 5000, REQUEST_MS = 1000 };

struct ek_fence {
    struct ek_fence_tools tools;
    struct ek_kafka_watch watch; /* of `client`, without a log: its failure is no error */
    int64_t due_ms;              /* of the next query, monotonic; 0: no partition is held */
    rd_kafka_queue_t *answers;   /* NULL: no query is in flight */
    rd_kafka_topic_partition_list_t *opened; /* opened partitions to check; NULL: none */
    rd_kafka_topic_partition_list_t *known;  /* offsets with metadata, being checked; NULL: none */
    bool known_opened;                       /* they are of opened partitions, else of held ones */
    rd_kafka_topic_partition_list_t *fenced; /* partitions with an owner that was fenced */
    char name[EK_INSTANCE_BYTES];            /* of the owner being fenced */
    rd_kafka_t *client;
    struct ek_txn *txn; /* NULL: no owner is being fenced */
    int64_t limit_ms;   /* monotonic end of the attempt */
    bool logged;        /* that the owner is a member */
};

int ek_fence_new(struct ek_fence **out, const struct ek_fence_tools *tools, struct ek_error *e)
{
    struct ek_fence *f = ek_calloc(1, sizeof *f);
    if (!f)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    f->tools = *tools;
    f->watch = (struct ek_kafka_watch){.role = "fencing producer", .owner = f};
    f->fenced = rd_kafka_topic_partition_list_new(1);
    *out = f;
    return EK_OK;
}

enum ek_owner_state ek_fence_find_owner(const struct ek_fence_tools *tools, const char *owner,
                                        const char *const *client_ids, size_t count)
{
    char prefix[EK_TRANSACTIONAL_ID_BYTES];
    size_t length = ek_transactional_id(tools->config, "", prefix);
    bool present = false, member = false;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(client_ids[i], prefix, length) != 0)
            return EK_OWNER_UNKNOWN;
        present = present || !strcmp(client_ids[i], owner);
        member = member || !strcmp(client_ids[i], tools->transactional_id);
    }
    return !member ? EK_OWNER_UNKNOWN : present ? EK_OWNER_PRESENT : EK_OWNER_GONE;
}

static rd_kafka_AdminOptions_t *options_of(rd_kafka_t *consumer, rd_kafka_admin_op_t operation)
{
    char why[200];
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(consumer, operation);
    rd_kafka_AdminOptions_set_request_timeout(options, REQUEST_MS, why, sizeof why);
    return options;
}

static void begin_query(struct ek_fence *f, rd_kafka_t *consumer)
{
    f->answers = rd_kafka_queue_new(consumer);
    ek_kafka_signal_on_event(f->answers, f->tools.wakeup);
}

/* Query the last known offsets: without those in open transactions, unlike rd_kafka_committed. */
static void query_known(struct ek_fence *f, rd_kafka_t *consumer,
                        const rd_kafka_topic_partition_list_t *held)
{
    begin_query(f, consumer);
    rd_kafka_AdminOptions_t *options =
        options_of(consumer, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);
    rd_kafka_ListConsumerGroupOffsets_t *group =
        rd_kafka_ListConsumerGroupOffsets_new(f->tools.config->group, held);
    rd_kafka_ListConsumerGroupOffsets(consumer, &group, 1, options, f->answers);
    rd_kafka_ListConsumerGroupOffsets_destroy(group);
    rd_kafka_AdminOptions_destroy(options);
}

static void query_members(struct ek_fence *f, rd_kafka_t *consumer)
{
    const char *group = f->tools.config->group;
    begin_query(f, consumer);
    rd_kafka_AdminOptions_t *options =
        options_of(consumer, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS);
    rd_kafka_DescribeConsumerGroups(consumer, &group, 1, options, f->answers);
    rd_kafka_AdminOptions_destroy(options);
}

static void forget_known(struct ek_fence *f)
{
    if (f->known)
        rd_kafka_topic_partition_list_destroy(f->known);
    f->known = NULL;
    f->known_opened = false;
}

static void get_known(struct ek_fence *f, rd_kafka_event_t *event)
{
    size_t count = 0;
    const rd_kafka_ListConsumerGroupOffsets_result_t *result =
        rd_kafka_event_ListConsumerGroupOffsets_result(event);
    const rd_kafka_group_result_t **groups =
        result ? rd_kafka_ListConsumerGroupOffsets_result_groups(result, &count) : NULL;
    const rd_kafka_topic_partition_list_t *parts = count && !rd_kafka_group_result_error(groups[0])
                                                       ? rd_kafka_group_result_partitions(groups[0])
                                                       : NULL;
    if (parts)
        f->known = rd_kafka_topic_partition_list_copy(parts);
}

static bool contains(const rd_kafka_topic_partition_list_t *list,
                     const rd_kafka_topic_partition_t *p)
{
    return rd_kafka_topic_partition_list_find(list, p->topic, p->partition) != NULL;
}

/* Return whether partition `i` of the known offsets had another owner that was not fenced, and set
 * `f->name` and its transactional id. A partition that is not held any more does not count. */
static bool has_owner(struct ek_fence *f, const rd_kafka_topic_partition_list_t *held, int i,
                      char id[EK_TRANSACTIONAL_ID_BYTES])
{
    const rd_kafka_topic_partition_t *p = &f->known->elems[i];
    ek_owner_read(p->metadata, p->metadata_size, f->name);
    ek_transactional_id(f->tools.config, f->name, id);
    return *f->name && strcmp(id, f->tools.transactional_id) != 0 &&
           (f->known_opened || (held && contains(held, p))) && !contains(f->fenced, p);
}

static bool has_owners(struct ek_fence *f, const rd_kafka_topic_partition_list_t *held)
{
    char id[EK_TRANSACTIONAL_ID_BYTES];
    for (int i = 0; f->known && i < f->known->cnt; i++)
        if (has_owner(f, held, i, id))
            return true;
    return false;
}

/* Exclude all partitions of the owner from a second fence. */
static void note_fenced(struct ek_fence *f)
{
    char name[EK_INSTANCE_BYTES];
    for (int i = 0; i < f->known->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &f->known->elems[i];
        ek_owner_read(p->metadata, p->metadata_size, name);
        if (!strcmp(name, f->name) && !contains(f->fenced, p))
            rd_kafka_topic_partition_list_add(f->fenced, p->topic, p->partition);
    }
}

static int opened(void *context, struct ek_error *e)
{
    (void)context, (void)e;
    return EK_OK;
}

static int make_client(struct ek_fence *f, const char *id, struct ek_error *e)
{
    rd_kafka_conf_t *conf;
    int rc = ek_kafka_conf_producer(&conf, f->tools.config, e);
    if (rc)
        return rc;
    rc = ek_kafka_conf_set(conf, "transactional.id", id, e);
    if (rc) {
        rd_kafka_conf_destroy(conf);
        return rc;
    }
    ek_kafka_watch_attach(&f->watch, conf);
    return ek_kafka_make(&f->client, RD_KAFKA_PRODUCER, conf, EK_EIO, "kafka producer", e);
}

static void log_failure(struct ek_fence *f, const struct ek_error *e)
{
    char text[sizeof e->message + EK_INSTANCE_BYTES + 20];
    snprintf(text, sizeof text, "instance '%s': %s", f->name, e->message);
    ek_log_text(f->tools.log, EK_LOG_WARN, "fencing_failed", text);
}

/* End the attempt. */
static void end_fencing(struct ek_fence *f)
{
    ek_txn_free(f->txn);
    if (f->client)
        rd_kafka_destroy(f->client);
    f->txn = NULL;
    f->client = NULL;
    if (f->known_opened && !f->opened) { /* other owners may be left */
        f->opened = f->known;
        f->known = NULL;
    }
    forget_known(f);
    f->due_ms = ek_now_ms() + RETRY_MS;
}

static void start_fencing(struct ek_fence *f, const char *id)
{
    struct ek_error e;
    int rc = make_client(f, id, &e);
    const struct ek_txn_tools with = {.client = f->client,
                                      .watch = &f->watch,
                                      .wakeup = f->tools.wakeup,
                                      .context = f,
                                      .opened = opened};
    if (!rc)
        rc = ek_txn_new(&f->txn, &with, &e);
    if (!rc)
        rc = ek_txn_start(f->txn, &e);
    f->limit_ms = ek_now_ms() + LIMIT_MS;
    if (!rc)
        return;
    log_failure(f, &e);
    note_fenced(f);
    end_fencing(f);
}

/* Return true when the owner was fenced, here or by another member. */
static bool finish_fencing(struct ek_fence *f)
{
    struct ek_error e;
    enum ek_txn_state state = ek_txn_state(f->txn, &e);
    bool late = ek_now_ms() >= f->limit_ms;
    rd_kafka_poll(f->client, 0);
    if ((state == EK_TXN_BUSY && !late) || !ek_txn_stop(f->txn, 0))
        return false;
    bool done = state == EK_TXN_OPEN || ek_txn_is_lost(f->txn);
    if (state == EK_TXN_BUSY)
        ek_fail(&e, EK_EIO, "no answer within %d ms", LIMIT_MS);
    if (done)
        ek_log_text(f->tools.log, EK_LOG_INFO, "owner_fenced", f->name);
    else
        log_failure(f, &e);
    if (state != EK_TXN_BUSY || f->known_opened) /* else it is tried again */
        note_fenced(f);
    end_fencing(f);
    return done;
}

/* Return the description of the group in an answer; NULL if there is none. */
static const rd_kafka_ConsumerGroupDescription_t *group_of(rd_kafka_event_t *event)
{
    size_t count = 0;
    const rd_kafka_DescribeConsumerGroups_result_t *result =
        rd_kafka_event_DescribeConsumerGroups_result(event);
    const rd_kafka_ConsumerGroupDescription_t **groups =
        result ? rd_kafka_DescribeConsumerGroups_result_groups(result, &count) : NULL;
    return count && !rd_kafka_ConsumerGroupDescription_error(groups[0]) ? groups[0] : NULL;
}

/* Fence the first owner that is no member. */
static void fence_missing(struct ek_fence *f, const rd_kafka_topic_partition_list_t *held,
                          const char *const *client_ids, size_t count)
{
    char id[EK_TRANSACTIONAL_ID_BYTES];
    for (int i = 0; i < f->known->cnt; i++) {
        if (!has_owner(f, held, i, id))
            continue;
        enum ek_owner_state owner = ek_fence_find_owner(&f->tools, id, client_ids, count);
        if (owner == EK_OWNER_GONE) {
            start_fencing(f, id);
            return;
        }
        bool awaited = owner == EK_OWNER_PRESENT && !f->known_opened;
        if (awaited && !f->logged)
            ek_log_text(f->tools.log, EK_LOG_INFO, "owner_awaited", f->name);
        f->logged = f->logged || awaited;
    }
}

static void get_members(struct ek_fence *f, rd_kafka_event_t *event,
                        const rd_kafka_topic_partition_list_t *held)
{
    const rd_kafka_ConsumerGroupDescription_t *group = group_of(event);
    size_t count = group ? rd_kafka_ConsumerGroupDescription_member_count(group) : 0;
    const char **client_ids = ek_calloc(count + 1, sizeof *client_ids);
    for (size_t i = 0; client_ids && i < count; i++) {
        client_ids[i] = rd_kafka_MemberDescription_client_id(
            rd_kafka_ConsumerGroupDescription_member(group, i));
        client_ids[i] = client_ids[i] ? client_ids[i] : "";
    }
    if (client_ids)
        fence_missing(f, held, client_ids, count);
    ek_free(client_ids);
}

static void end_query(struct ek_fence *f)
{
    if (f->answers)
        rd_kafka_queue_destroy(f->answers);
    f->answers = NULL;
}

/* Receive the offsets, then the members. */
static void receive(struct ek_fence *f, rd_kafka_t *consumer,
                    const rd_kafka_topic_partition_list_t *held)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(f->answers, 0);
    if (!event)
        return;
    end_query(f);
    bool members = f->known != NULL,
         good = (held || f->known_opened) && !rd_kafka_event_error(event);
    if (good && members)
        get_members(f, event, held);
    else if (good)
        get_known(f, event);
    rd_kafka_event_destroy(event);
    if (!members && good && has_owners(f, held))
        query_members(f, consumer);
    else if (!f->txn)
        forget_known(f);
}

/* Check the owners of opened partitions: their transactions may contain outputs alone. */
static void check_opened(struct ek_fence *f, rd_kafka_t *consumer)
{
    f->known = f->opened;
    f->opened = NULL;
    f->known_opened = true;
    if (has_owners(f, NULL))
        query_members(f, consumer);
    else
        forget_known(f);
}

/* Forget the owners when no partition is held. */
static void reset(struct ek_fence *f)
{
    f->due_ms = 0;
    f->logged = false;
    if (!f->fenced->cnt)
        return;
    rd_kafka_topic_partition_list_destroy(f->fenced);
    f->fenced = rd_kafka_topic_partition_list_new(1);
}

bool ek_fence_step(struct ek_fence *f, rd_kafka_t *consumer,
                   const rd_kafka_topic_partition_list_t *held)
{
    int64_t now = ek_now_ms();
    if (f->txn)
        return finish_fencing(f);
    if (f->answers) {
        receive(f, consumer, held);
    } else if (f->opened) {
        check_opened(f, consumer);
    } else if (!held) {
        reset(f);
    } else if (!f->due_ms) {
        f->due_ms = now + AFTER_MS;
    } else if (now >= f->due_ms) {
        f->due_ms = now + RETRY_MS;
        query_known(f, consumer, held);
    }
    return false;
}

void ek_fence_add_opened(struct ek_fence *f, const rd_kafka_topic_partition_list_t *parts)
{
    if (f->opened)
        rd_kafka_topic_partition_list_destroy(f->opened);
    f->opened = rd_kafka_topic_partition_list_copy(parts);
}

bool ek_fence_is_busy(const struct ek_fence *f)
{
    return f->answers || f->txn || f->opened;
}

void ek_fence_free(struct ek_fence *f)
{
    if (!f)
        return;
    end_query(f);
    end_fencing(f);
    if (f->opened)
        rd_kafka_topic_partition_list_destroy(f->opened);
    rd_kafka_topic_partition_list_destroy(f->fenced);
    ek_free(f);
}
