#include "tests/fuzz/served.h"

#include "daemon/kafka/mock_cluster.h"
#include "tests/fuzz/fuzz.h"
#include "tests/state_world.h"

enum { TRAINING = 100 };

static void set(struct ek_config *c, const char *key, const char *value)
{
    struct ek_error e = {0};
    ek_fuzz_require(!ek_config_set(c, key, value, &e), e.message);
}

static struct ek_config *configured(const struct ek_mock *mock)
{
    struct ek_config *c;
    ek_fuzz_require(!ek_config_new(&c, NULL), "no configuration");
    set(c, "input.brokers", ek_mock_brokers(mock));
    set(c, "input.topics", "scored");
    set(c, "input.group", "g");
    set(c, "output.topic", "ranked");
    set(c, "output.dead_letter_topic", "ranked.dead");
    return c;
}

static struct ek_tokens *tokens(void)
{
    static const char line[] = "ana " EK_FUZZ_TOKEN "\n";
    char path[EK_FUZZ_PATH_BYTES];
    struct ek_tokens *t;
    struct ek_error e = {0};
    int fd = ek_fuzz_file((const uint8_t *)line, sizeof line - 1, path);
    ek_fuzz_require(!ek_tokens_load(&t, path, &e), e.message);
    close(fd);
    return t;
}

const struct ek_api *ek_fuzz_served(void)
{
    static struct ek_api api;
    static struct ek_assets assets;
    static struct ek_config *config; /* the stage reads it */
    static struct ek_mock *mock;
    struct ek_error e = {0};
    if (api.stage)
        return &api;
    state_assets_open(&assets, STATE_RULES, TRAINING);
    ek_fuzz_require(!ek_mock_start(&mock, &e), e.message);
    config = configured(mock);
    ek_fuzz_require(!ek_stage_new(&api.stage, config, &assets, NULL, &e), e.message);
    api.tokens = tokens();
    return &api;
}
