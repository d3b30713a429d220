/* Command `topics`: checks the topics of a configuration, and creates the missing ones. */
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/base/process.h"
#include "daemon/config/config.h"
#include "daemon/kafka/tool_client.h"
#include "daemon/kafka/topic_admin.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SETTINGS = 4, WAIT_MS = 15000, TOPICS_MAX = 7, VALUE_BYTES = 64, KEY_CREATE = 256 };

struct topics_args {
    const char *config;
    bool create;
};

/* Topic that the stage writes. */
struct written {
    const char *key; /* that names it */
    bool single;     /* has exactly one partition */
    bool output;     /* should have as many partitions as the inputs */
    struct ek_topic_need need;
};

struct plan {
    const struct ek_config *config;
    struct ek_topic_admin *admin;
    bool create;
    char evidence[EK_FLEET_TOPIC_BYTES];
    struct written topic[TOPICS_MAX];
    int count;
    int wrong; /* topics to create or correct */
};

static const struct ek_cli_slot SLOTS[] = {{'c', offsetof(struct topics_args, config)},
                                           {KEY_CREATE, offsetof(struct topics_args, create)},
                                           {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct topics_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    if (key == ARGP_KEY_END && !a->config)
        argp_error(state, "--config is needed");
    return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

static struct ek_topic_need *add(struct plan *p, const char *key, const char *name, int partitions)
{
    struct written *t = &p->topic[p->count];
    if (!name)
        return NULL;
    *t = (struct written){.key = key, .need = {.name = name, .partitions = partitions}};
    p->count++;
    return &t->need;
}

static void set(struct ek_topic_need *need, const char *name, const char *value)
{
    int i = 0;
    while (i < SETTINGS - 1 && need->setting[i].name)
        i++;
    need->setting[i].name = name;
    need->setting[i].value = value;
}

static void add_state(struct plan *p, int partitions)
{
    struct ek_topic_need *need = add(p, "state.topic", p->config->state_topic, partitions);
    if (!need)
        return;
    set(need, "cleanup.policy", "compact");
    set(need, "min.compaction.lag.ms", "600000");
    set(need, "segment.bytes", "67108864");
}

static void add_plan(struct plan *p)
{
    struct ek_topic_need *need = add(p, "plan.topic", p->config->plan_topic, 1);
    if (need)
        set(need, "cleanup.policy", "compact");
}

static void add_fleet(struct plan *p)
{
    struct ek_topic_need *need = add(p, "fleet.topic", p->config->fleet_topic, 1);
    if (!need)
        return;
    p->topic[p->count - 1].single = true;
    set(need, "cleanup.policy", "compact");
    set(need, "segment.ms", "3600000");
    ek_config_evidence_topic(p->config, p->evidence);
    need = add(p, "fleet.evidence_topic", p->evidence, 1);
    p->topic[p->count - 1].single = true;
    set(need, "retention.ms", "3600000");
}

/* Inputs belong to their producers, so they are only reported. *most: partitions of the largest. */
static int check_inputs(struct plan *p, int *most, struct ek_error *e)
{
    const struct ek_text_list *inputs = &p->config->topics;
    *most = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        int partitions, rc = ek_topic_admin_find(p->admin, inputs->items[i], &partitions, e);
        if (rc)
            return rc;
        if (partitions)
            printf("%-26s %s: ok, partitions=%d\n", "input.topics", inputs->items[i], partitions);
        else
            printf("%-26s %s: missing; its producer creates it\n", "input.topics",
                   inputs->items[i]);
        p->wrong += !partitions;
        *most = partitions > *most ? partitions : *most;
    }
    return EK_OK;
}

static void print_tool(const struct plan *p, const char *tool)
{
    printf("%s --bootstrap-server %.*s", tool, (int)strcspn(p->config->brokers, ","),
           p->config->brokers);
}

static void print_create(const struct plan *p, const struct written *t)
{
    printf("%-26s %s: missing; ", t->key, t->need.name);
    print_tool(p, "kafka-topics.sh");
    printf(" --create --topic %s --partitions %d", t->need.name, t->need.partitions);
    for (int i = 0; i < SETTINGS && t->need.setting[i].name; i++)
        printf(" --config %s=%s", t->need.setting[i].name, t->need.setting[i].value);
    puts("");
}

static int create(struct plan *p, const struct written *t, struct ek_error *e)
{
    int rc = ek_topic_admin_create(p->admin, &t->need, e);
    if (!rc)
        printf("%-26s %s: created, partitions=%d\n", t->key, t->need.name, t->need.partitions);
    return rc;
}

/* Check the cleanup policy; other properties are recommendations. Brokers may not report it. */
static bool has_policy(struct plan *p, const struct written *t)
{
    char value[VALUE_BYTES];
    const char *want = t->need.setting[0].name;
    if (!want || strcmp(want, "cleanup.policy") != 0 ||
        !ek_topic_admin_get(p->admin, t->need.name, want, value, sizeof value) ||
        strstr(value, t->need.setting[0].value))
        return true;
    printf("%-26s %s: %s is %s; ", t->key, t->need.name, want, value);
    print_tool(p, "kafka-configs.sh");
    printf(" --alter --topic %s --add-config %s=%s\n", t->need.name, want,
           t->need.setting[0].value);
    return false;
}

static void check_existing(struct plan *p, const struct written *t, int partitions)
{
    bool fits = !t->single || partitions == 1;
    if (!fits)
        printf("%-26s %s: has %d partitions, must have 1\n", t->key, t->need.name, partitions);
    else if (t->output && partitions < t->need.partitions)
        printf("%-26s %s: ok, partitions=%d; with fewer than the %d of the input, the key of a "
               "message selects its partition\n",
               t->key, t->need.name, partitions, t->need.partitions);
    else if (has_policy(p, t))
        printf("%-26s %s: ok, partitions=%d\n", t->key, t->need.name, partitions);
    else
        fits = false;
    p->wrong += !fits;
}

static int check_topic(struct plan *p, const struct written *t, struct ek_error *e)
{
    int partitions, rc = ek_topic_admin_find(p->admin, t->need.name, &partitions, e);
    if (rc)
        return rc;
    if (partitions) {
        check_existing(p, t, partitions);
        return EK_OK;
    }
    if (p->create)
        return create(p, t, e);
    print_create(p, t);
    p->wrong++;
    return EK_OK;
}

static int check_all(struct plan *p, struct ek_error *e)
{
    const struct ek_config *c = p->config;
    int most, rc = check_inputs(p, &most, e);
    most = most ? most : 1;
    if (add(p, "output.topic", c->output_topic, most))
        p->topic[p->count - 1].output = true;
    add(p, "output.dead_letter_topic", c->dead_letter_topic, 1);
    add(p, "alerts.kafka.topic", c->alert_topic, 1);
    add_state(p, most);
    add_plan(p);
    add_fleet(p);
    for (int i = 0; !rc && i < p->count; i++)
        rc = check_topic(p, &p->topic[i], e);
    return rc;
}

static int topics(const struct topics_args *a, int *wrong, struct ek_error *e)
{
    static const char *const uses[] = {"input.",  "input.brokers", "input.topics",
                                       "output.", "alerts",        "state.",
                                       "plan.",   "fleet.",        NULL};
    struct ek_config *c;
    if (ek_config_load(&c, a->config, uses, e))
        return ek_cli_config_fault(e);
    if (ek_config_has_secret(c))
        ek_secret_protect();
    struct plan p = {.config = c, .create = a->create};
    int rc =
        ek_topic_admin_open(&p.admin, &(struct ek_brokers){c->brokers, &c->librdkafka}, WAIT_MS, e);
    if (!rc) {
        rc = check_all(&p, e);
        ek_topic_admin_free(p.admin);
    }
    *wrong = p.wrong;
    ek_config_free(c);
    return rc;
}

static const struct argp_option OPTIONS[] = {
    {"config", 'c', "FILE", 0, "Configuration of `run`", 0},
    {"create", KEY_CREATE, NULL, 0,
     "Create the missing topics, except inputs, with the brokers' replication factor", 0},
    {0}};

int ek_cmd_topics(int argc, char **argv)
{
    static const char doc[] =
        "Check all topics of a configuration: whether they exist, and whether those of state and "
        "fleet have the properties that they need. For each missing or wrong one, print the "
        "command that corrects it; then the exit status is 1.\v  evenkeel topics -c "
        "evenkeel.yaml\n  evenkeel topics -c evenkeel.yaml --create";
    static const struct argp argp = {OPTIONS, parse, "", doc, NULL, NULL, NULL};
    struct topics_args args = {0};
    struct ek_error e;
    int wrong = 0;
    ek_cli_parse(&argp, argc, argv, 0, &args);
    if (topics(&args, &wrong, &e))
        return ek_cli_fail(&e);
    return wrong ? EK_EXIT_FAILURE : EK_EXIT_OK;
}
