/* Configurations: both readings agree; what is taken, printed and read again is the same, but for
 * secrets, which are nowhere in it.
 */
#include "daemon/config.h"
#include "daemon/options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <string.h>

static void option_words(struct ek_fuzz_words *w, const struct ek_option *o)
{
    const char *dot = strrchr(o->key, '.');
    ek_fuzz_key(w, dot ? dot + 1 : o->key);
    ek_fuzz_values(w, o->choices);
    if (o->initial && *o->initial)
        ek_fuzz_value(w, o->initial);
}

/* The words come from the table of the options. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char values[] = "127.0.0.1:9092 [scored,more] http://x/y?z https://h:1/ ${HOME} "
                                 "$${ ${file:/dev/null} {security.protocol:ssl} off [::1]:9464 "
                                 "{sasl.password:geheim} {a:b} model.safetensors auto 16 1GiB";
    static const char more[] = "input output service message assets limits pipeline http state "
                               "fleet alerts webhook alertmanager pagerduty kafka url token";
    static struct ek_fuzz_words w;
    if (!w.keys) {
        ek_fuzz_keys(&w, more);
        for (size_t i = 0; i < ek_option_count(); i++)
            option_words(&w, ek_option_at(i));
        ek_fuzz_values(&w, values);
    }
    return ek_fuzz_mutate_lines(data, size, most, seed, &w);
}

static void print(const struct ek_config *c, struct ek_buf *out)
{
    ek_buf_init(out, 0);
    ek_fuzz_require(!ek_config_print(c, out), "not to be printed");
}

/* Stars stand for secrets, so that what was printed may lack a key or have a value that is none;
 * without them it is a configuration, and prints as the same. */
static void check(const struct ek_config *c)
{
    struct ek_config *again;
    struct ek_buf printed, twice;
    struct ek_error e = {0};
    print(c, &printed);
    ek_fuzz_require(!strstr(ek_buf_string(&printed), "geheim") || !ek_config_has_secret(c),
                    "a secret is shown");
    if (!ek_config_has_secret(c)) {
        ek_fuzz_require(
            !ek_config_parse(&again, "printed", (char *)printed.data, printed.length, &e),
            e.message);
        print(again, &twice);
        ek_fuzz_require(printed.length == twice.length &&
                            !memcmp(printed.data, twice.data, twice.length),
                        "prints as another");
        ek_buf_release(&twice);
        ek_config_free(again);
    }
    ek_buf_release(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_config *c, *again;
    struct ek_error_list faults;
    struct ek_error e = {0};
    const char *text = (const char *)data;
    ek_error_list_init(&faults);
    int rc = ek_config_parse(&c, "input", text, size, &e);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    int all = ek_config_parse_all(&again, "input", text, size, &faults, &e);
    ek_fuzz_require(!rc == !all, "taken by one reading and refused by the other");
    if (!rc) {
        check(c);
        ek_config_free(c);
        ek_config_free(again);
    }
    ek_error_list_release(&faults);
    return 0;
}
