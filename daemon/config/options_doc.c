/* docs/config.md out of the option table. */
#include "daemon/config/options.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

static const char *const TYPES[] = {"text",  "texts", "path",    "integer", "duration",
                                    "bytes", "word",  "mapping", "later"};

static int write_number(enum ek_option_type type, int64_t value, struct ek_buf *out)
{
    if (type == EK_OPTION_DURATION)
        return value % 1000 ? ek_buf_printf(out, "%" PRId64 "ms", value)
                            : ek_buf_printf(out, "%" PRId64 "s", value / 1000);
    if (type == EK_OPTION_BYTES && value % (1 << 20) == 0)
        return ek_buf_printf(out, "%" PRId64 "MiB", value >> 20);
    if (type == EK_OPTION_BYTES && value % (1 << 10) == 0)
        return ek_buf_printf(out, "%" PRId64 "KiB", value >> 10);
    return ek_buf_printf(out, "%" PRId64, value);
}

/* What values are allowed, for people. */
static int write_values(const struct ek_option *o, struct ek_buf *out)
{
    int rc = EK_OK;
    if (o->type == EK_OPTION_CHOICE) {
        for (const char *p = o->choices; !rc && *p; p += strcspn(p, " "), p += *p == ' ')
            rc = ek_buf_printf(out, "%s`%.*s`", p == o->choices ? "" : ", ", (int)strcspn(p, " "),
                               p);
        return rc;
    }
    if (o->low >= o->high)
        return ek_buf_text(out, TYPES[o->type]);
    rc = o->word ? ek_buf_printf(out, "`%s` or ", o->word) : EK_OK;
    if (!rc)
        rc = ek_buf_printf(out, "%s, ", TYPES[o->type]);
    if (!rc)
        rc = write_number(o->type, o->low, out);
    if (!rc)
        rc = ek_buf_text(out, " to ");
    return rc ? rc : write_number(o->type, o->high, out);
}

static int write_row(const struct ek_option *o, struct ek_buf *out)
{
    int rc = ek_buf_printf(out, "| `%s` | ", o->key);
    if (!rc)
        rc = write_values(o, out);
    if (!rc && o->initial)
        rc = ek_buf_printf(out, " | `%s` | ", o->initial);
    else if (!rc)
        rc = ek_buf_printf(out, " | %s | ", o->required ? "required" : "none");
    return rc ? rc : ek_buf_printf(out, "%s%s |\n", o->help, o->reloadable ? ". **Reload**" : "");
}

static const char HEAD[] =
    "# Configuration of `evenkeel run`\n\n"
    "This page is made from the option table by `evenkeel run --config-docs`; do not edit it.\n\n"
    "The file is YAML. A key `input.brokers` stands for `brokers` under `input`. Unknown keys are\n"
    "errors. `${NAME}` in a value is replaced from the environment, `${file:PATH}` by the content "
    "of a\n"
    "file, `$${` stands for `${`. Paths are relative to the folder of the file. Durations are "
    "`250ms`,\n"
    "`10s`, `5m`, `2h`, `7d`; sizes `64KiB`, `4MiB`, `1GiB`. `alerts` is a list of\n"
    "sinks ([alerts.md](alerts.md)).\n\n"
    "```yaml\n"
    "service: {name: hotel-ranker}\n"
    "input:   {brokers: \"localhost:9092\", topics: [scored], group: evenkeel-hotels}\n"
    "output:  {topic: ranked, dead_letter: ranked.dead}\n"
    "assets:  {manifest: features.yaml, profile: profile.ekp, model: model.safetensors, rules: "
    "rules.yaml}\n"
    "alerts:\n"
    "  - {kafka: {topic: evenkeel-alerts}}\n"
    "  - {alertmanager: {url: \"http://localhost:9093\"}}\n"
    "```\n\n"
    "`evenkeel run -c FILE --print-config` prints what is in force, defaults included, with "
    "secrets\n"
    "hidden. Keys with **Reload** behind them take effect with a [reload](operations.md#reload), "
    "all\n"
    "others with a restart.\n\n"
    "| key | values | default | what it is |\n|---|---|---|---|\n";

int ek_options_document(struct ek_buf *out)
{
    int rc = ek_buf_text(out, HEAD);
    for (size_t i = 0; !rc && i < ek_option_count(); i++)
        if (ek_option_at(i)->type != EK_OPTION_LATER)
            rc = write_row(ek_option_at(i), out);
    if (!rc)
        rc = ek_buf_text(out, "\nKnown, but not available in this version (an error says so):\n\n");
    for (size_t i = 0; !rc && i < ek_option_count(); i++) {
        const struct ek_option *o = ek_option_at(i);
        if (o->type == EK_OPTION_LATER)
            rc = ek_buf_printf(out, "- `%s`: %s\n", o->key, o->help);
    }
    return rc;
}
