/* Command `capture`: writes records of a topic to a capture file. */
#include "daemon/commands/capture.h"

#include "base/alloc.h"
#include "base/date.h"
#include "base/json.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/base/process.h"
#include "daemon/config/config.h"
#include "daemon/kafka/tool_client.h"
#include "lists/capture.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void ek_record_stats_init(struct ek_record_stats *t)
{
    *t = (struct ek_record_stats){.first_ms = -1, .last_ms = -1};
}

void ek_record_stats_add(struct ek_record_stats *t, size_t length, int64_t time_ms)
{
    t->messages++;
    t->bytes += length;
    t->largest = length > t->largest ? length : t->largest;
    if (time_ms >= 0 && (t->first_ms < 0 || time_ms < t->first_ms))
        t->first_ms = time_ms;
    t->last_ms = time_ms > t->last_ms ? time_ms : t->last_ms;
}

/* Values of the header `ek-error-class`, also labels of evenkeel_dead_letters_total. */
static const char *const NAMES[EK_DEAD_CLASSES] = {"format", "limit", "state", "delivery", "other"};

/* Return the last header of a name, because the stage appends its headers to those of the
 * message. */
static const struct ek_header *find(const struct ek_kafka_record *r, const char *name)
{
    const struct ek_header *found = NULL;
    for (size_t i = 0; i < r->header_count; i++)
        if (r->headers[i].value && !strcmp(r->headers[i].name, name))
            found = &r->headers[i];
    return found;
}

static void copy_header(char *to, size_t size, const struct ek_kafka_record *r, const char *name)
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

/* Return the class header, or NULL if a later `ek-action` shows that the record was sent again
 * successfully. A resent record keeps its headers. */
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
    const struct ek_header *left_out = find(r, "ek-truncated");
    c->count++;
    c->cut += left_out && left_out > class;
    copy_header(c->topic, sizeof c->topic, r, "ek-source-topic");
    copy_header(c->partition, sizeof c->partition, r, "ek-source-partition");
    copy_header(c->offset, sizeof c->offset, r, "ek-source-offset");
    copy_header(c->reason, sizeof c->reason, r, "ek-error");
}

/* Header values are untrusted, so they are quoted. */
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
    if (!rc && lines.length)
        fwrite(lines.data, 1, lines.length, to);
    ek_buf_release(&lines);
    return rc;
}

/* Write the array `dead_letters`. */
static void dead_letters_json(const struct ek_dead_letters *d, struct ek_json_writer *s)
{
    ek_json_open(s, "dead_letters", '[');
    for (int i = 0; i < EK_DEAD_CLASSES; i++) {
        const struct ek_dead_class *c = &d->of[i];
        if (!c->count)
            continue;
        ek_json_open(s, NULL, '{');
        ek_json_add_text(s, "class", NAMES[i]);
        ek_json_add_count(s, "count", c->count);
        ek_json_add_count(s, "truncated", c->cut);
        ek_json_add_text(s, "topic", c->topic);
        ek_json_add_text(s, "partition", c->partition);
        ek_json_add_text(s, "offset", c->offset);
        ek_json_add_text(s, "reason", c->reason);
        ek_json_close(s, '}');
    }
    ek_json_close(s, ']');
}

enum {
    WAIT_MS = 30000,
    POLL_MS = 200,
    KEY_MAX = 1,
    KEY_FROM,
    KEY_SINCE,
    KEY_UNTIL_END,
    KEY_JSON,
    PROPERTIES_MAX = 64
};

struct capture_args {
    const char *brokers, *topic, *output, *config;
    const char *properties[PROPERTIES_MAX]; /* name=value */
    size_t property_count;
    bool from_end, until_end, json;
    int64_t since_ms; /* time of the first message; -1: any */
    uint64_t max;     /* 0: no limit */
};

struct captured {
    struct ek_record_stats all;
    struct ek_dead_letters dead;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static const struct ek_cli_slot SLOTS[] = {
    {'b', offsetof(struct capture_args, brokers)},
    {'t', offsetof(struct capture_args, topic)},
    {'o', offsetof(struct capture_args, output)},
    {'c', offsetof(struct capture_args, config)},
    {KEY_JSON, offsetof(struct capture_args, json)},
    {KEY_UNTIL_END, offsetof(struct capture_args, until_end)},
    {0}};

int64_t ek_capture_parse_since(struct argp_state *state, const char *text)
{
    enum { DAY_MS = 86400000, DAY_BYTES = 10 };
    int64_t ms = 0;
    if (!ek_parse_duration_ms(text, strlen(text), &ms))
        return ek_wall_ms() - ms;
    if (ek_parse_until_ms(text, &ms))
        argp_error(state,
                   "--since needs an age such as 6h, a day such as 2027-01-31 or a time such as "
                   "2027-01-31T12:00:00Z, not '%s'",
                   text);
    return strlen(text) == DAY_BYTES ? ms - DAY_MS : ms;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct capture_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case 'X':
        if (a->property_count == PROPERTIES_MAX)
            argp_error(state, "more than %d properties", PROPERTIES_MAX);
        a->properties[a->property_count++] = arg;
        return 0;
    case KEY_FROM:
        if (strcmp(arg, "beginning") != 0 && strcmp(arg, "end") != 0)
            argp_error(state, "--from needs 'beginning' or 'end', not '%s'", arg);
        a->from_end = !strcmp(arg, "end");
        return 0;
    case KEY_SINCE:
        a->since_ms = ek_capture_parse_since(state, arg);
        return 0;
    case KEY_MAX:
        if (ek_parse_u64(arg, EK_WHOLE, &a->max) || !a->max)
            argp_error(state, "--max needs a positive number, not '%s'", arg);
        return 0;
    case ARGP_KEY_END:
        if (!a->output)
            argp_error(state, "--output is needed");
        if (!a->topic && !a->config)
            argp_error(state, "--topic or --config is needed");
        if (!a->brokers && !a->config)
            argp_error(state, "--brokers or --config is needed");
        if (a->from_end && a->since_ms >= 0)
            argp_error(state, "--since excludes --from end");
        if (a->json && ek_is_stdout(a->output))
            argp_error(state, "the messages go to standard output; --json needs -o FILE");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Install the handlers only after the first record, so that Ctrl-C ends a wait for a broker. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int copy_records(struct ek_merged_consumer *tap, struct ek_capture_writer *writer,
                        const struct capture_args *a, struct captured *c, struct ek_error *e)
{
    struct ek_record_stats *totals = &c->all;
    struct ek_progress progress;
    struct ek_kafka_record in;
    int rc = EK_OK, got = 0;
    ek_progress_start(&progress, "capture");
    while (!rc && !interrupted && (!a->max || totals->messages < a->max) &&
           !(a->until_end && ek_merged_consumer_at_end(tap))) {
        rc = ek_merged_consumer_next(tap, &in, POLL_MS, &got, e);
        if (rc || !got)
            continue;
        struct ek_record out = {in.partition,  in.offset, in.timestamp_ms, in.key,
                                in.key_length, in.bytes,  in.length};
        rc = ek_capture_write(writer, &out, e);
        ek_record_stats_add(totals, out.length, out.timestamp_ms);
        ek_dead_letters_add(&c->dead, &in);
        ek_progress_update(&progress, totals->messages, a->max, NULL);
    }
    ek_progress_finish(&progress, NULL);
    return rc;
}

/* Make a configuration from a stage's file and the options. */
static int make_config(struct ek_config **out, const struct capture_args *a, struct ek_error *e)
{
    const char *const uses[] = {"input.", a->brokers ? NULL : "input.brokers", NULL};
    struct ek_config *c;
    int rc = a->config ? ek_config_load(&c, a->config, uses, e) : ek_config_new(&c, e);
    if (rc)
        return a->config ? ek_cli_config_fault(e) : rc;
    if (a->brokers)
        rc = ek_config_set(c, "input.brokers", a->brokers, e);
    for (size_t i = 0; !rc && i < a->property_count; i++)
        rc = ek_config_set_property(c, a->properties[i], e);
    if (rc) {
        ek_config_free(c);
        return rc;
    }
    if (ek_config_has_secret(c))
        ek_secret_protect();
    *out = c;
    return EK_OK;
}

/* Set the topic to that of the configuration, and keep a copy in *owned. */
static int set_topic(struct capture_args *a, const struct ek_config *c, char **owned,
                     struct ek_error *e)
{
    *owned = NULL;
    if (a->topic)
        return EK_OK;
    if (c->topics.count != 1)
        return ek_fail(e, EK_EUSAGE, "'input.topics' has %zu topics: name one with --topic",
                       c->topics.count);
    a->topic = *owned = ek_strdup(c->topics.items[0]);
    return *owned ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

static int open_consumer(struct ek_merged_consumer **out, struct capture_args *a, char **owned,
                         struct ek_error *e)
{
    struct ek_config *c = NULL;
    unsigned flags = EK_MERGED_CONSUMER_VERBOSE | (a->from_end ? EK_MERGED_CONSUMER_FROM_END : 0u) |
                     (a->until_end ? EK_MERGED_CONSUMER_UNTIL_END : 0u);
    int rc = make_config(&c, a, e);
    if (rc)
        return rc;
    rc = set_topic(a, c, owned, e);
    if (!rc)
        rc = ek_merged_consumer_open(out, &(struct ek_brokers){c->brokers, &c->librdkafka},
                                     a->topic, flags, a->since_ms, WAIT_MS, e);
    ek_config_free(c);
    return rc;
}

/* Uses the keys of `inspect --json`. */
static int print_result(const struct capture_args *a, const struct captured *c, struct ek_error *e)
{
    const struct ek_record_stats *t = &c->all;
    struct ek_buf line;
    struct ek_json_writer s;
    fprintf(stderr, "capture: %llu messages of '%s' in '%s'\n", (unsigned long long)t->messages,
            a->topic, a->output);
    if (ek_dead_letters_print(&c->dead, stderr))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (!a->json)
        return EK_OK;
    ek_json_begin_line(&s, &line);
    ek_json_add_text(&s, "output", a->output);
    ek_json_add_text(&s, "topic", a->topic);
    ek_json_add_count(&s, "messages", t->messages);
    ek_json_add_count(&s, "bytes", t->bytes);
    ek_json_add_count(&s, "largest_bytes", t->largest);
    ek_json_add_integer(&s, "first_ms", t->first_ms);
    ek_json_add_integer(&s, "last_ms", t->last_ms);
    dead_letters_json(&c->dead, &s);
    return ek_json_end_line(&s, stdout, e);
}

static int capture_from(const struct capture_args *a, struct ek_merged_consumer *tap,
                        struct ek_error *e)
{
    struct ek_capture_writer *writer;
    struct captured c = {.dead = {.of = {{.count = 0}}}};
    int rc = ek_capture_create(&writer, a->output, 0, e);
    if (!rc) {
        catch_signals();
        ek_record_stats_init(&c.all);
        rc = copy_records(tap, writer, a, &c, e);
        if (rc)
            ek_capture_abort(writer);
        else
            rc = ek_capture_finish(writer, e);
    }
    return rc ? rc : print_result(a, &c, e);
}

static int capture(struct capture_args *a, struct ek_error *e)
{
    struct ek_merged_consumer *tap;
    char *owned = NULL;
    int rc = open_consumer(&tap, a, &owned, e);
    if (!rc) {
        rc = capture_from(a, tap, e);
        ek_merged_consumer_free(tap);
    }
    ek_free(owned);
    return rc;
}

static const struct argp_option OPTIONS[] = {
    {"brokers", 'b', "HOST:PORT,...", 0, "Bootstrap servers", 0},
    {"config", 'c', "FILE", 0,
     "Configuration of `run`; uses its brokers, topic and input.librdkafka", 0},
    {"property", 'X', "NAME=VALUE", 0,
     "librdkafka property; ${NAME} and ${file:PATH} are expanded as in a configuration", 0},
    {"topic", 't', "TOPIC", 0,
     "Topic to read: all partitions, without a consumer group; default: that of --config", 0},
    {"output", 'o', "FILE", 0, "Capture file; .gz and .zst are compressed, - is standard output",
     0},
    {"from", KEY_FROM, "beginning|end", 0, "Start of the capture (beginning)", 0},
    {"since", KEY_SINCE, "TIME", 0,
     "Begin with the messages of this time: an age (6h, 2d), or UTC (2027-01-31, "
     "2027-01-31T12:00:00Z)",
     0},
    {"max", KEY_MAX, "N", 0, "Stop after N messages", 0},
    {"until-end", KEY_UNTIL_END, NULL, 0, "Stop at the current end of the topic", 0},
    {"json", KEY_JSON, NULL, 0, "Print the counts as JSON to standard output", 0},
    {0},
};

int ek_cmd_capture(int argc, char **argv)
{
    static const char doc[] =
        "Write messages of a topic to a capture file, for `replay` and tests. Partitions are "
        "merged by message time. Capture ends with --max, --until-end or an interrupt, which keeps "
        "the messages read. For dead letters it prints the count of each class, and source and "
        "reason of the latest.\v  evenkeel capture -c run.yaml -t scored --until-end -o "
        "scored.ekc.zst";
    static const struct argp argp = {OPTIONS, parse, "", doc, NULL, NULL, NULL};
    struct capture_args args = {.since_ms = -1};
    struct ek_error e;
    ek_cli_parse(&argp, argc, argv, 0, &args);
    return capture(&args, &e) ? ek_cli_fail(&e) : EK_EXIT_OK;
}
