/* Command `watch`: observes a topic without any file, against a baseline that it learns. */
#include "base/alloc.h"
#include "base/date.h"
#include "base/file.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/base/process.h"
#include "daemon/base/text_table.h"
#include "daemon/commands/capture.h"
#include "daemon/commands/learned_baseline.h"
#include "daemon/commands/watch_instance.h"
#include "daemon/commands/watch_text.h"
#include "daemon/commands/watch_topic.h"
#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "daemon/files/field_mapping.h"
#include "daemon/kafka/tool_client.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WAIT_MS = 30000, /* for a broker */
    POLL_MS = 100,
    TICK_MS = 1000,    /* between two lines on a terminal */
    LINE_MS = 10000,   /* elsewhere */
    SILENT_MS = 10000, /* without a message, until the first note */
    SILENT_AGAIN_MS = 60000,
    LINE_BYTES = 600,
    GROUP_BYTES = 40,
    PATH_BYTES = 400,
    PROPERTIES_MAX = 64,
    LEARN_MAX = 20000,
    KEY_SINCE = 256,
    KEY_SAVE,
    KEY_LEARN
};

static const char CONFIG_NAME[] = "evenkeel.yaml";

struct watch_args {
    const char *brokers, *topic, *config, *save;
    const char *properties[PROPERTIES_MAX]; /* name=value */
    size_t property_count;
    int64_t since_ms; /* time of the first message; -1: new messages only */
    uint64_t learn;
};

struct watch {
    struct watch_args args;
    struct ek_config *access; /* brokers and properties, and of --config the fields */
    struct ek_field_mapping given;
    char *topic;
    char folder[PATH_BYTES]; /* temporary; "": none */
    struct ek_merged_consumer *consumer;
    struct ek_learned_baseline *baseline;
    struct ek_watch_instance *instance; /* NULL while learning the first profile */
    bool replaced_brokers;              /* --brokers differs from --config, or only it has them */
    bool past;                          /* messages from before the start are read */
    bool stale;                         /* the instance does not use the last profile yet */
    bool live;                          /* the last line of a terminal is overwritten */
    int64_t line_ms, message_ms, silent_ms; /* last line, last message, last note without one */
    uint64_t shown_lists;                   /* lists and their time in the last line */
    int64_t shown_ms;
    struct ek_error e;
};

static volatile sig_atomic_t interrupted;

/* A second signal ends a slow end. */
static void on_signal(int number)
{
    if (interrupted)
        _exit(EK_EXIT_SIGNAL + number);
    interrupted = 1;
}

/* Before the first connection, a signal ends the process by its default action. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static const struct ek_cli_slot SLOTS[] = {{'b', offsetof(struct watch_args, brokers)},
                                           {'t', offsetof(struct watch_args, topic)},
                                           {'c', offsetof(struct watch_args, config)},
                                           {KEY_SAVE, offsetof(struct watch_args, save)},
                                           {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct watch_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case 'X':
        if (a->property_count == PROPERTIES_MAX)
            argp_error(state, "more than %d properties", PROPERTIES_MAX);
        a->properties[a->property_count++] = arg;
        return 0;
    case KEY_SINCE:
        a->since_ms = ek_capture_parse_since(state, arg);
        return 0;
    case KEY_LEARN:
        a->learn = ek_cli_parse_integer(state, "learn", arg, EK_LEARNED_FIRST_LEAST, LEARN_MAX);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected '%s', did you mean '--topic %s'?", arg, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Set brokers, properties and fields to those of options and --config. */
static int load_access(struct watch *w)
{
    static const char *const uses[] = {"input.", "message.", "limits.", NULL};
    const struct watch_args *a = &w->args;
    struct ek_error *e = &w->e;
    int rc =
        a->config ? ek_config_load(&w->access, a->config, uses, e) : ek_config_new(&w->access, e);
    if (rc)
        return a->config ? ek_cli_config_fault(e) : rc;
    w->replaced_brokers =
        a->config &&
        (!w->access->brokers || (a->brokers && strcmp(a->brokers, w->access->brokers) != 0));
    if (a->brokers || !w->access->brokers)
        rc = ek_config_set(w->access, "input.brokers", a->brokers ? a->brokers : "localhost:9092",
                           e);
    for (size_t i = 0; !rc && i < a->property_count; i++)
        rc = ek_config_set_property(w->access, a->properties[i], e);
    if (!rc && ek_config_has_secret(w->access))
        ek_secret_protect();
    return rc ? rc : ek_field_mapping_load(&w->given, a->config, e);
}

/* Return whether an option replaces a value of --config, which --save copies. */
static bool names_other(const struct watch *w)
{
    const struct watch_args *a = &w->args;
    const struct ek_text_list *topics = &w->access->topics;
    bool topic = a->topic && (topics->count != 1 || strcmp(a->topic, topics->items[0]) != 0);
    return topic || w->replaced_brokers;
}

static int find_topic(struct watch *w)
{
    const struct ek_config *c = w->access;
    const struct ek_brokers brokers = {c->brokers, &c->librdkafka};
    if (w->args.save && w->args.config && names_other(w))
        return ek_fail(&w->e, EK_EUSAGE,
                       "--save copies '%s': set input.brokers and input.topics there to what you "
                       "watch",
                       w->args.config);
    const char *named = w->args.topic          ? w->args.topic
                        : c->topics.count == 1 ? c->topics.items[0]
                                               : NULL;
    if (named) {
        w->topic = ek_strdup(named);
        return w->topic ? EK_OK : ek_fail(&w->e, EK_ENOMEM, "out of memory");
    }
    fprintf(stderr, "looking for lists in the topics of '%s'\n", c->brokers);
    int rc = ek_watch_find_topic(&brokers, WAIT_MS, &w->topic, &w->e);
    if (!rc)
        fprintf(stderr, "topic '%s' has lists\n", w->topic);
    return rc;
}

static int open_consumer(struct watch *w)
{
    const struct ek_config *c = w->access;
    const struct ek_brokers brokers = {c->brokers, &c->librdkafka};
    w->past = w->args.since_ms >= 0;
    unsigned flags = EK_MERGED_CONSUMER_VERBOSE | (w->past ? 0u : EK_MERGED_CONSUMER_FROM_END);
    return ek_merged_consumer_open(&w->consumer, &brokers, w->topic, flags, w->args.since_ms,
                                   WAIT_MS, &w->e);
}

/* Create the folder of --save, which must not have the files, since they may be edited. */
static int check_save(const struct watch_args *a, struct ek_error *e)
{
    char path[2 * PATH_BYTES];
    if (!a->save)
        return EK_OK;
    if (strlen(a->save) >= PATH_BYTES - 20)
        return ek_fail(e, EK_EUSAGE, "--save: the path is too long");
    if (mkdir(a->save, 0777) && errno != EEXIST)
        return ek_fail(e, EK_EIO, "cannot create '%s': %s", a->save, strerror(errno));
    for (int i = 0; i <= EK_LEARNED_FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", a->save,
                 i ? ek_learned_file_name((enum ek_learned_file)(i - 1)) : CONFIG_NAME);
        if (!access(path, F_OK))
            return ek_fail(e, EK_EUSAGE,
                           "--save: '%s' exists; watch with its configuration (--config), or save "
                           "to another folder",
                           path);
    }
    return EK_OK;
}

static int make_folder(struct watch *w)
{
    const char *base = getenv("TMPDIR");
    base = base && *base ? base : "/tmp";
    int n = snprintf(w->folder, sizeof w->folder, "%s/evenkeel-watch-XXXXXX", base);
    if (n < (int)sizeof w->folder - 20 && mkdtemp(w->folder))
        return EK_OK;
    w->folder[0] = 0;
    return ek_fail(&w->e, EK_EIO, "cannot make a temporary folder in '%.200s'; set TMPDIR", base);
}

/* End a line that would be overwritten, before other output. */
static void end_line(struct watch *w)
{
    if (w->live)
        fputs("\r\033[K", stdout);
    w->live = false;
}

/* Print a line: the next one on a terminal overwrites it. */
static void show_line(struct watch *w, const char *text)
{
    int columns, rows;
    if (!ek_terminal_live(stdout)) {
        printf("%s\n", text);
    } else {
        ek_terminal_size(stdout, &columns, &rows);
        printf("\r%.*s\033[K\r", columns > 1 ? columns - 1 : 1, text);
        w->live = true;
    }
    fflush(stdout);
    w->line_ms = ek_now_ms();
}

static bool is_line_due(const struct watch *w)
{
    return ek_now_ms() - w->line_ms >= (ek_terminal_live(stdout) ? TICK_MS : LINE_MS);
}

/* Print a sentence that stays, with the time. */
static void note(struct watch *w, const char *text)
{
    char when[EK_DATE_TEXT];
    end_line(w);
    printf("%s ", ek_date_text(ek_wall_ms(), when));
    ek_print_safe(text, stdout);
    putchar('\n');
    fflush(stdout);
}

static void note_silence(struct watch *w)
{
    char text[LINE_BYTES];
    int64_t now = ek_now_ms(), gap = w->silent_ms > w->message_ms ? SILENT_AGAIN_MS : SILENT_MS;
    int64_t since = w->silent_ms > w->message_ms ? w->silent_ms : w->message_ms;
    if (now - since < gap)
        return;
    snprintf(text, sizeof text, "no message on topic '%s' for %" PRId64 " s", w->topic,
             (now - w->message_ms) / 1000);
    note(w, text);
    w->silent_ms = now;
}

static void show_learning(struct watch *w)
{
    char text[LINE_BYTES];
    uint64_t lists = ek_learned_lists(w->baseline);
    if (!is_line_due(w))
        return;
    if (lists)
        snprintf(text, sizeof text,
                 "topic '%s': learning from the past, a baseline of %" PRIu64 " lists", w->topic,
                 lists);
    else
        snprintf(text, sizeof text, "topic '%s': learning from %smessages, %" PRIu64 " of %" PRIu64,
                 w->topic, w->past ? "" : "new ", ek_learned_collected(w->baseline), w->args.learn);
    show_line(w, text);
}

static void show_watching(struct watch *w)
{
    char text[LINE_BYTES], found[100];
    struct ek_stage_stats stats;
    int suspected, confirmed;
    if (!is_line_due(w))
        return;
    ek_watch_instance_stats(w->instance, &stats);
    ek_watch_instance_open(w->instance, &suspected, &confirmed);
    int64_t now = ek_now_ms();
    double seconds = (double)(now - w->shown_ms) / 1000;
    double rate = seconds > 0 ? (double)(stats.queries - w->shown_lists) / seconds : 0;
    const char *reason = ek_watch_instance_reason(w->instance);
    snprintf(found, sizeof found, "%d suspected, %d confirmed", suspected, confirmed);
    snprintf(text, sizeof text,
             "%" PRIu64 " lists, %.0f/s%s%s; %s; baseline of %" PRIu64 " lists%s", stats.queries,
             rate, reason ? ", not ready: " : "", reason ? reason : "",
             suspected + confirmed ? found : "nothing suspected", ek_learned_lists(w->baseline),
             ek_learned_is_complete(w->baseline)  ? ""
             : ek_learned_is_waiting(w->baseline) ? ", learning waits"
                                                  : ", learning");
    show_line(w, text);
    w->shown_lists = stats.queries;
    w->shown_ms = now;
}

/* Write a file of the folder of --save. */
static int save_bytes(struct watch *w, const char *name, const struct ek_buf *bytes)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", w->args.save, name);
    return ek_file_write_bytes(path, bytes->data, bytes->length, &w->e);
}

static int save_copy(struct watch *w, const char *from, const char *name)
{
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    int rc = ek_file_read(from, &bytes, &w->e);
    if (!rc)
        rc = save_bytes(w, name, &bytes);
    ek_buf_release(&bytes);
    return rc;
}

/* Save profile and rules, and the other files too if `all` is set. config: text of evenkeel.yaml.
 */
static int save(struct watch *w, const struct ek_buf *config, bool all)
{
    int rc = EK_OK;
    if (!w->args.save)
        return EK_OK;
    for (int i = all ? 0 : EK_LEARNED_RULES; !rc && i < EK_LEARNED_FILES; i++)
        rc = save_copy(w, ek_learned_path(w->baseline, (enum ek_learned_file)i),
                       ek_learned_file_name((enum ek_learned_file)i));
    if (!rc && all)
        rc = w->args.config ? save_copy(w, w->args.config, CONFIG_NAME)
                            : save_bytes(w, CONFIG_NAME, config);
    return rc;
}

/* Exchange the keys below `prefix` of two configurations. */
static void exchange_keys(struct ek_config *a, struct ek_config *b, const char *prefix)
{
    const struct ek_key_table *t = ek_config_keys();
    unsigned char kept[UCHAR_MAX]; /* the size of a row is an unsigned char */
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (!k->size || k->base != EK_IN_CONFIG || strncmp(k->path, prefix, strlen(prefix)) != 0)
            continue;
        memcpy(kept, ek_key_member(k, a), k->size);
        memcpy(ek_key_member(k, a), ek_key_member(k, b), k->size);
        memcpy(ek_key_member(k, b), kept, k->size);
    }
}

/* Make the configuration of the instance from the text of evenkeel.yaml. The group is new, so that
 * the instance reads all partitions, and the next one does not continue at its offsets. */
static int make_config(struct watch *w, const struct ek_buf *text, struct ek_config **out)
{
    char name[PATH_BYTES + 20], group[GROUP_BYTES];
    struct ek_config *c;
    snprintf(name, sizeof name, "%s/%s", w->folder, CONFIG_NAME);
    int rc = ek_config_parse(&c, name, (const char *)text->data, text->length, NULL, &w->e);
    if (rc)
        return rc;
    snprintf(group, sizeof group, "evenkeel-watch-%016" PRIx64, ek_instance_salt());
    rc = ek_config_set(c, "input.group", group, &w->e);
    if (!rc) {
        exchange_keys(c, w->access, "input.librdkafka");
        if (w->args.config) {
            exchange_keys(c, w->access, "message.");
            exchange_keys(c, w->access, "limits.");
        }
        rc = ek_config_finish(c, NULL, &w->e);
    }
    if (rc)
        ek_config_free(c);
    else
        *out = c;
    return rc;
}

static void print_start(struct watch *w)
{
    char sharpness[EK_LEARNED_TEXT_BYTES];
    int port = ek_watch_instance_port(w->instance);
    ek_learned_sharpness(w->baseline, sharpness);
    if (w->args.save)
        printf("saved to '%s': 'evenkeel run -c %s/%s' starts from there\n", w->args.save,
               w->args.save, CONFIG_NAME);
    else
        printf(
            "wrong? save the files (--save DIR), correct DIR/%s, and watch again with --config\n",
            CONFIG_NAME);
    printf("baseline of %s\n", sharpness);
    if (port)
        printf("watching topic '%s'; page: http://127.0.0.1:%d/\n", w->topic, port);
    else
        printf("watching topic '%s'\n", w->topic);
    fflush(stdout);
}

/* Start the instance with the first profile. */
static int start_instance(struct watch *w)
{
    struct ek_config *config = NULL;
    struct ek_buf text;
    ek_buf_init(&text, 0);
    int rc = ek_learned_measure(w->baseline, &w->e);
    if (!rc)
        rc = ek_watch_config_text(w->baseline, w->access->brokers, w->topic,
                                  w->access->librdkafka.count > 0, &text, &w->e);
    if (!rc)
        rc = save(w, &text, true);
    if (!rc)
        rc = make_config(w, &text, &config);
    if (!rc)
        rc = ek_watch_instance_start(&w->instance, config, &w->e);
    ek_buf_release(&text);
    if (rc)
        return rc;
    print_start(w);
    w->shown_ms = w->line_ms = ek_now_ms();
    return EK_OK;
}

/* Print the fields once they are known. */
static int show_fields(struct watch *w)
{
    const struct ek_learned_fields *f = ek_learned_fields(w->baseline);
    static const char *const layouts[] = {"a list of items", "an item", "a list in columns"};
    end_line(w);
    printf("topic '%s': each message is %s%s\n", w->topic,
           layouts[ek_learned_mapping(w->baseline)->layout], f->json ? ", in JSON" : "");
    return ek_watch_print_fields(w->baseline, stdout, &w->e);
}

/* Use a new profile, unless the instance has an open finding, whose evidence would be lost. */
static int reload(struct watch *w)
{
    int suspected, confirmed;
    char text[LINE_BYTES], sharpness[EK_LEARNED_TEXT_BYTES];
    ek_watch_instance_open(w->instance, &suspected, &confirmed);
    if (suspected + confirmed)
        return EK_OK;
    w->stale = false;
    int rc = ek_watch_instance_reload(w->instance, &w->e);
    if (!rc)
        rc = ek_learned_measure(w->baseline, &w->e);
    ek_learned_sharpness(w->baseline, sharpness);
    snprintf(text, sizeof text, "baseline of %s", sharpness);
    if (!rc)
        note(w, text);
    return rc;
}

/* Note a change within the lists to learn. */
static void note_change(struct watch *w, enum ek_learned_step step)
{
    const char *before = "", *after = ", as on an earlier day; these lists are learned";
    char text[LINE_BYTES];
    if (step == EK_LEARNED_RESUMED) {
        before = "these lists were not learned: ";
        after = "; learning continues";
    } else if (step == EK_LEARNED_REFUSED && ek_learned_lists(w->baseline)) {
        before = "these lists are not learned: ";
        after = "; learning continues after the change, or learns it if it returns daily";
    } else if (step == EK_LEARNED_REFUSED) {
        before = "the lists look like two populations: ";
        after = ek_learned_collected(w->baseline)
                    ? "; those since then are discarded, and learning continues after the change"
                    : "; the change lasts, and learning starts again with the next lists";
    }
    snprintf(text, sizeof text, "%s%s%s", before, ek_learned_reason(w->baseline), after);
    note(w, text);
}

static int take_step(struct watch *w, enum ek_learned_step step)
{
    bool first = step == EK_LEARNED_PROFILED && !w->stale && !w->instance;
    if (step == EK_LEARNED_REFUSED || step == EK_LEARNED_RESUMED || step == EK_LEARNED_DAILY)
        note_change(w, step);
    if (step != EK_LEARNED_PROFILED)
        return EK_OK;
    w->stale = true;
    return first ? show_fields(w) : w->instance ? save(w, NULL, false) : EK_OK;
}

/* End the batch with the past. The calm messages of a first batch that is refused may suffice. */
static int end_past(struct watch *w)
{
    uint64_t collected;
    int rc;
    w->past = false;
    do {
        enum ek_learned_step step;
        collected = ek_learned_collected(w->baseline);
        rc = ek_learned_end_batch(w->baseline, &step, &w->e);
        if (!rc)
            rc = take_step(w, step);
    } while (!rc && !ek_learned_lists(w->baseline) &&
             ek_learned_collected(w->baseline) >= EK_LEARNED_FIRST_LEAST &&
             ek_learned_collected(w->baseline) < collected);
    return rc;
}

/* Read the messages of one poll into the baseline. */
static int learn(struct watch *w)
{
    int64_t until = ek_now_ms() + POLL_MS;
    struct ek_kafka_record record;
    int rc = EK_OK, got = 1;
    while (!rc && got && !interrupted && ek_now_ms() < until) {
        enum ek_learned_step step = EK_LEARNED_MORE;
        rc = ek_merged_consumer_next(w->consumer, &record, POLL_MS, &got, &w->e);
        if (rc || !got)
            break;
        w->message_ms = ek_now_ms();
        if (record.bytes)
            rc = ek_learned_add(w->baseline, record.bytes, record.length, record.timestamp_ms,
                                &step, &w->e);
        if (!rc)
            rc = take_step(w, step);
        w->message_ms = ek_now_ms(); /* a new profile takes time */
    }
    return !rc && w->past && ek_merged_consumer_at_end(w->consumer) ? end_past(w) : rc;
}

static void rest(void)
{
    usleep(POLL_MS * 1000);
}

static int print_news(struct watch *w)
{
    char *text;
    while ((text = ek_watch_instance_news(w->instance))) {
        note(w, text);
        ek_free(text);
    }
    return ek_watch_instance_check(w->instance, &w->e);
}

/* Note messages of the instance, once the baseline is complete and reads none. */
static void note_messages(struct watch *w)
{
    struct ek_stage_stats stats;
    ek_watch_instance_stats(w->instance, &stats);
    if (stats.queries != w->shown_lists)
        w->message_ms = ek_now_ms();
}

static int step(struct watch *w)
{
    int rc = EK_OK;
    if (w->consumer)
        rc = learn(w);
    else
        rest();
    bool complete = !rc && ek_learned_is_complete(w->baseline);
    if (complete && w->consumer) {
        ek_merged_consumer_free(w->consumer);
        w->consumer = NULL;
        w->past = false;
    }
    if (!rc && !w->instance && ek_learned_lists(w->baseline) && !w->past) {
        w->stale = false;
        rc = start_instance(w);
    }
    if (!rc && w->instance && w->stale)
        rc = reload(w);
    if (!rc && w->instance)
        rc = print_news(w);
    if (rc)
        return rc;
    if (w->instance && !w->consumer)
        note_messages(w);
    note_silence(w);
    if (w->instance)
        show_watching(w);
    else
        show_learning(w);
    return EK_OK;
}

static int run(struct watch *w)
{
    int rc = load_access(w);
    if (!rc)
        rc = check_save(&w->args, &w->e);
    if (!rc)
        rc = ek_field_mapping_needs_lists(&w->given, w->args.config, &w->e);
    if (!rc)
        rc = find_topic(w);
    if (!rc)
        rc = open_consumer(w);
    if (rc)
        return rc;
    const struct ek_learned_limits limits = {w->args.learn, EK_LEARNED_LISTS_MAX,
                                             EK_LEARNED_BYTES_MAX, EK_LEARNED_FIT_BYTES_MAX};
    catch_signals();
    rc = make_folder(w);
    if (!rc)
        rc = ek_learned_new(&w->baseline, w->folder, &w->given, &limits, &w->e);
    w->message_ms = w->line_ms = ek_now_ms();
    while (!rc && !interrupted && !ferror(stdout))
        rc = step(w);
    return rc;
}

/* Delete files first, since the end of a client may take long. */
static int release(struct watch *w, int rc)
{
    end_line(w);
    ek_learned_free(w->baseline);
    if (w->folder[0])
        rmdir(w->folder);
    int ended = ek_watch_instance_stop(w->instance, rc ? NULL : &w->e);
    ek_merged_consumer_free(w->consumer);
    ek_field_mapping_release(&w->given);
    ek_config_free(w->access);
    ek_free(w->topic);
    return rc ? rc : ended;
}

static const struct argp_option OPTIONS[] = {
    {"brokers", 'b', "HOST:PORT,...", 0, "Bootstrap servers (localhost:9092)", 0},
    {"topic", 't', "TOPIC", 0, "Topic to watch; default: the only one with lists", 0},
    {"config", 'c', "FILE", 0,
     "Configuration of `run`; uses its sections input, message and limits; no key is required", 0},
    {"property", 'X', "NAME=VALUE", 0,
     "librdkafka property; ${NAME} and ${file:PATH} are expanded as in a configuration", 0},
    {"since", KEY_SINCE, "TIME", 0,
     "Learn from the messages since this time first: an age (6h, 2d), or UTC (2027-01-31, "
     "2027-01-31T12:00:00Z); default: from new messages",
     0},
    {"learn", KEY_LEARN, "N", 0, "Messages of the first baseline, 420 to 20000 (500)", 0},
    {"save", KEY_SAVE, "DIR", 0,
     "Write evenkeel.yaml, features.yaml, rules.yaml and profile.ekp to a folder", 0},
    {0},
};

int ek_cmd_watch(int argc, char **argv)
{
    static const char doc[] =
        "Watch a topic without any file: find the fields of its lists, learn a baseline while they "
        "are steady, and report changes until Ctrl-C. The baseline grows to 60,000 lists while "
        "nothing is suspected. No message is written. It requires the permission Read on the topic "
        "and on groups evenkeel-watch-*.\v  evenkeel watch -b localhost:9092 -t scored --save "
        "start";
    static const struct argp argp = {OPTIONS, parse, "", doc, NULL, NULL, NULL};
    struct watch w = {.args = {.since_ms = -1, .learn = EK_LEARNED_FIRST}};
    ek_cli_parse(&argp, argc, argv, 0, &w.args);
    ek_alloc_limit_cache();
    int rc = release(&w, run(&w));
    return rc ? ek_cli_fail(&w.e) : EK_EXIT_OK;
}
