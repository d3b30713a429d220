/* Configurations: all parsers agree. An accepted one that is printed and parsed again is equal,
 * except for secrets, which never affect the output. An input of one line KEY=VALUE sets a key in
 * code. */
#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "yaml/yaml.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <string.h>

enum { SECRET_FILE = 100, PAIR_BYTES = 1024 };

static void key_words(struct ek_fuzz_words *w, const struct ek_key_row *k)
{
    ek_fuzz_key(w, ek_key_name(k));
    ek_fuzz_values(w, k->choices);
    if (k->built_in)
        ek_fuzz_value(w, k->built_in);
}

/* Uses the key table as dictionary. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char values[] = "127.0.0.1:9092 [scored,more] http://x/y?z https://h:1/ ${HOME} "
                                 "$${ ${file:/dev/null} {security.protocol:ssl} off [::1]:9464 "
                                 "{sasl.password:geheim} {a:b} model.safetensors auto 16 1GiB "
                                 "${file:/proc/self/fd/100}";
    static const char more[] = "input output service message assets limits pipeline http state "
                               "fleet alerts webhook alertmanager pagerduty kafka url token "
                               "manifest profile";
    static struct ek_fuzz_words w;
    if (!w.keys) {
        ek_fuzz_keys(&w, more);
        for (size_t i = 0; i < ek_config_keys()->count; i++)
            key_words(&w, &ek_config_keys()->keys[i]);
        ek_fuzz_values(&w, values);
    }
    return ek_fuzz_mutate_lines(data, size, most, seed, &w);
}

static void print(const struct ek_config *c, struct ek_buf *out)
{
    ek_buf_init(out, 0);
    ek_fuzz_require(!ek_config_print(c, out), "not to be printed");
}

static bool same(const struct ek_buf *a, const struct ek_buf *b)
{
    return a->length == b->length && !memcmp(a->data, b->data, a->length);
}

/* Secrets print as stars, so the output may lack a key or have an invalid value. Without secrets it
 * is valid and prints identically. */
static void read_printed(const struct ek_buf *printed)
{
    struct ek_config *again;
    struct ek_buf twice;
    struct ek_error e = {0};
    ek_fuzz_require(
        !ek_config_parse(&again, "printed", (char *)printed->data, printed->length, NULL, &e),
        e.message);
    print(again, &twice);
    ek_fuzz_require(same(printed, &twice), "prints as another");
    ek_buf_release(&twice);
    ek_config_free(again);
}

static void blot_some(char *text, size_t length)
{
    memset(text, 'x', length);
}

static void blot(char *text)
{
    if (text)
        blot_some(text, strlen(text));
}

/* Change the user info, and the text after the first character of the path. */
static void blot_address(char *url)
{
    if (!url)
        return;
    char *start = strstr(url, "://") + strlen("://"), *rest = start + strcspn(start, "/?#");
    char *user = memrchr(start, '@', (size_t)(rest - start));
    if (user)
        blot_some(start, (size_t)(user - start));
    if (*rest)
        blot(rest + 1);
}

static void blot_properties(struct ek_property_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].secret)
            blot(list->items[i].value);
}

/* Two configurations that differ only in secrets print identically. */
static void blot_secrets(struct ek_config *c, const struct ek_buf *printed)
{
    struct ek_buf blotted;
    blot_properties(&c->librdkafka);
    blot_properties(&c->output_librdkafka);
    for (size_t i = 0; i < c->sinks.count; i++) {
        blot_address(c->sinks.items[i].url);
        blot(c->sinks.items[i].token);
        blot(c->sinks.items[i].routing_key);
    }
    print(c, &blotted);
    ek_fuzz_require(same(printed, &blotted), "a secret is shown");
    ek_buf_release(&blotted);
}

static void check(struct ek_config *c)
{
    struct ek_buf printed;
    print(c, &printed);
    if (!ek_config_has_secret(c))
        read_printed(&printed);
    blot_secrets(c, &printed);
    ek_buf_release(&printed);
}

/* A partial parser accepts every configuration that the full one accepts, and more. */
static void read_part(const char *text, size_t size, const struct ek_config *whole)
{
    static const char *const uses[] = {"input.", "http.", NULL};
    struct ek_yaml *yaml;
    struct ek_config *part;
    struct ek_error e = {0};
    if (ek_yaml_parse(&yaml, "input", text, size, &e))
        return;
    int rc = ek_config_from_tree(&part, yaml, uses, NULL, &e);
    ek_yaml_free(yaml);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    ek_fuzz_require(!rc || !whole, "refused by who uses a part of it");
    if (rc)
        return;
    ek_fuzz_require(!whole || (!part->part && ek_config_sinks_same(&part->sinks, &whole->sinks)),
                    "read otherwise by who uses a part of it");
    ek_config_free(part);
}

/* Return 0 if the input is one. */
static int set(const uint8_t *data, size_t size)
{
    char pair[PAIR_BYTES] = "";
    struct ek_config *c;
    struct ek_error e = {0};
    const uint8_t *equals = memchr(data, '=', size);
    if (!equals || size >= sizeof pair || memchr(data, '\n', size) || memchr(data, 0, size))
        return -1;
    memcpy(pair, data, size);
    char *value = pair + (equals - data);
    *value++ = 0;
    ek_fuzz_require(!ek_config_new(&c, &e), e.message);
    if (ek_config_set(c, pair, value, &e) || ek_config_finish(c, NULL, &e))
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    ek_fuzz_require(ek_config_commit_interval_ms(c) > 0, "it never commits");
    ek_config_free(c);
    return 0;
}

/* Create a world-readable secret file. */
static void set_up(void)
{
    static const char secret[] = "in confidence\n";
    char path[EK_FUZZ_PATH_BYTES];
    int fd = ek_fuzz_file((const uint8_t *)secret, sizeof secret - 1, path);
    ek_fuzz_require(dup2(fd, SECRET_FILE) == SECRET_FILE, "no file in memory");
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_config *c, *again;
    struct ek_error_list faults;
    struct ek_error e = {0};
    const char *text = (const char *)data;
    static bool ready;
    if (!ready)
        set_up();
    ready = true;
    if (!set(data, size))
        return 0;
    ek_error_list_init(&faults);
    int rc = ek_config_parse(&c, "input", text, size, NULL, &e);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    int all = ek_config_parse(&again, "input", text, size, &faults, &e);
    ek_fuzz_require(!rc == !all, "taken by one reading and refused by the other");
    read_part(text, size, rc ? NULL : c);
    if (!rc) {
        ek_fuzz_take();
        check(c);
        ek_config_free(c);
        ek_config_free(again);
    }
    ek_error_list_release(&faults);
    return 0;
}
