#include "deploy/key_pages.h"

#include "daemon/base/metrics_table.h"
#include "daemon/config/config_keys.h"
#include "rules/rules_keys.h"

#include <string.h>

enum { QUANTITY_BYTES = 32 };

static const char CONFIG_HEAD[] =
    "# Configuration of `evenkeel run`\n\n"
    "This page is generated from the table of keys (`make reference`); do not edit it.\n\n"
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
    "output:  {topic: ranked, dead_letter_topic: ranked.dead}\n"
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
    "others with a restart. A JSON Schema for editors is installed as\n"
    "`share/evenkeel/schema/config.schema.json`.\n\n"
    "| key | values | default | what it is |\n|---|---|---|---|\n";

static const char RULES_HEAD[] =
    "# Keys of the rules\n\n"
    "This page is generated from the table of keys (`make reference`); do not edit it. What the\n"
    "words mean, and which one counts where several are said, is in "
    "[format/rules.md](format/rules.md).\n\n"
    "The file is YAML. Every key may be left out unless it is required; unknown keys are errors. "
    "Durations\n"
    "are `250ms`, `10s`, `5m`, `2h`, `7d`. Keys marked * may stand under a feature as well, and "
    "are said of\n"
    "that one alone there. A JSON Schema for editors is installed as\n"
    "`share/evenkeel/schema/rules.schema.json`.\n";

static const char METRICS_HEAD[] =
    "# Metrics\n\n"
    "This page is generated from the table of metrics (`make reference`); do not edit it.\n\n"
    "`/metrics` has all that is worked out now, as Prometheus text; what a configuration has no "
    "use for, as a\n"
    "fleet or a state, is not there. Counters begin at 0 with the process unless they are said to "
    "be life-long.\n"
    "What to alert on: [runbooks](runbooks.md), with rules and a dashboard in `deploy/prometheus` "
    "and\n`deploy/grafana`.\n\n"
    "The number of series is bounded. `feature` and `segment` (`all`, or `arm=B`) stand on 12 "
    "series for each\n"
    "feature of each of the `metrics.max_feature_segments` segments with the most lists, 16 unless "
    "said "
    "otherwise and\n"
    "none for 0, and on 6 for each of the first 64 routes of the plan. `partition` is one that is "
    "assigned.\n"
    "All other labels have the values given here.\n";

static const char *const TYPES[EK_KEY_TYPES] = {[EK_KEY_TEXT] = "text",
                                                [EK_KEY_PATH] = "path",
                                                [EK_KEY_BOOL] = "`true`, `false`",
                                                [EK_KEY_INT] = "integer",
                                                [EK_KEY_NUMBER] = "number",
                                                [EK_KEY_DURATION] = "duration",
                                                [EK_KEY_SIZE] = "bytes",
                                                [EK_KEY_CHOICE] = "",
                                                [EK_KEY_TEXTS] = "list of texts",
                                                [EK_KEY_RATE] = "`1 per N lists`",
                                                [EK_KEY_DATE] = "date",
                                                [EK_KEY_SEGMENT] = "`{dimension: value}`",
                                                [EK_KEY_PROPERTIES] = "mapping",
                                                [EK_KEY_MAP] = "mapping",
                                                [EK_KEY_LIST] = "list"};

/* Words with one space between, each in backquotes. */
static void write_words(const char *words, FILE *out)
{
    for (const char *p = words; *p; p += strcspn(p, " "), p += *p == ' ')
        fprintf(out, "%s`%.*s`", p == words ? "" : ", ", (int)strcspn(p, " "), p);
}

static void write_range(const struct ek_key_row *k, FILE *out)
{
    char low[QUANTITY_BYTES], high[QUANTITY_BYTES];
    if (k->low >= k->high)
        return;
    if (ek_key_is_whole(k))
        fprintf(out, ", %s to %s", ek_key_quantity(k, (int64_t)k->low, low, sizeof low),
                ek_key_quantity(k, (int64_t)k->high, high, sizeof high));
    else if (k->type == EK_KEY_TEXTS)
        fprintf(out, ", at most %.10g", k->high);
    else
        fprintf(out, ", %.10g to %.10g%s", k->low, k->high, k->type == EK_KEY_TEXT ? " bytes" : "");
}

static void write_values(const struct ek_key_row *k, FILE *out)
{
    if (k->word)
        fprintf(out, "`%s` or ", k->word);
    fputs(TYPES[k->type], out);
    if (k->choices && k->type != EK_KEY_CHOICE)
        fputs(k->type == EK_KEY_TEXTS ? " among " : " or ", out);
    if (k->choices)
        write_words(k->choices, out);
    write_range(k, out);
}

static void write_row(const struct ek_key_row *k, const char *name, FILE *out)
{
    fprintf(out, "| `%s`%s | ", name, k->also ? " *" : "");
    write_values(k, out);
    if (k->built_in)
        fprintf(out, " | `%s` | ", k->built_in);
    else
        fprintf(out, " | %s | ", k->flags & EK_KEY_REQUIRED ? "required" : "none");
    fprintf(out, "%s%s |\n", k->help, k->flags & EK_KEY_RELOADABLE ? ". **Reload**" : "");
}

void ek_page_config(FILE *out)
{
    const struct ek_key_table *t = ek_config_keys();
    fputs(CONFIG_HEAD, out);
    for (size_t i = 0; i < t->count; i++)
        if (t->keys[i].size)
            write_row(&t->keys[i], t->keys[i].path, out);
    fputs("\nKnown, but not available in this version (an error says so):\n\n", out);
    for (size_t i = 0; i < t->count; i++)
        if (t->keys[i].type == EK_KEY_UNAVAILABLE)
            fprintf(out, "- `%s`: %s\n", t->keys[i].path, t->keys[i].help);
}

static void write_section(const char *section, const char *title, FILE *out)
{
    const struct ek_key_table *t = ek_rules_keys();
    bool features = !strcmp(section, "features.*");
    fprintf(out,
            "\n## %s\n\n%s| key | values | built in | what it is |\n"
            "|---|---|---|---|\n",
            title, features ? "Beside the keys marked * above:\n\n" : "");
    for (size_t i = 0; i < t->count; i++)
        if (ek_key_is_in(&t->keys[i], section) && !(features && t->keys[i].also))
            write_row(&t->keys[i], ek_key_name(&t->keys[i]), out);
}

void ek_page_rules(FILE *out)
{
    static const struct {
        const char *section, *title;
    } sections[] = {{"", "The file"},
                    {"defaults", "defaults"},
                    {"defaults.actions", "on"},
                    {"defaults.canary", "canary"},
                    {"defaults.canary.abort_if", "canary.abort_if"},
                    {"limits", "limits"},
                    {"windows", "windows"},
                    {"features.*", "features: by name"},
                    {"pins.*", "pins: a list"},
                    {"tests.*", "tests: a list"},
                    {"tests.*.inject", "inject"},
                    {"tests.*.expect", "expect"}};
    fputs(RULES_HEAD, out);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        write_section(sections[i].section, sections[i].title, out);
}

static void write_family(const struct ek_family *f, FILE *out)
{
    int sentence = (int)strlen(f->help) - 1; /* without its full stop */
    if (f->group)
        fprintf(out,
                "\n## %s\n\n| metric | type | labels | what it is |\n"
                "|---|---|---|---|\n",
                f->group);
    fprintf(out, "| `%s` | %s | ", f->name, ek_family_type_name(f->type));
    write_words(f->labels, out);
    fprintf(out, " | %.*s%s%s |\n", sentence, f->help, *f->note ? "; " : "", f->note);
}

void ek_page_metrics(FILE *out)
{
    const struct ek_family *f;
    fputs(METRICS_HEAD, out);
    for (size_t i = 0; (f = ek_family_at(i)); i++)
        write_family(f, out);
}
