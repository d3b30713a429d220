#include "deploy/key_pages.h"

#include "daemon/base/metrics_table.h"
#include "daemon/config/config_keys.h"
#include "rules/rules_keys.h"

#include <string.h>

enum { QUANTITY_BYTES = 32 };

static const char CONFIG_HEAD[] =

    "# Configuration of `evenkeel run`\n\n"
    "This reference is generated from the table of keys with `make reference`; do not edit it.\n\n"
    "The file is YAML.\n"
    "A key `input.brokers` is `brokers` under `input`.\n"
    "Unknown keys are errors.\n"
    "In values, `${NAME}` is replaced by an environment variable, `${file:PATH}` by the contents "
    "of a file, and `$${` by `${`.\n"
    "Paths are relative to the folder of the file.\n"
    "Durations are `250ms`, `10s`, `5m`, `2h`, `7d`; sizes are `64KiB`, `4MiB`, `1GiB`.\n"
    "`alerts` is a list of [sinks](alerts.md).\n\n"
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
    "`evenkeel run -c FILE --print-config` prints the effective configuration with defaults and "
    "without secrets.\n"
    "Keys marked **Reload** take effect at a [reload](reload.md), all others at a "
    "restart.\n"
    "A JSON Schema for editors is installed as `share/evenkeel/schema/config.schema.json`.\n";

static const char RULES_HEAD[] =

    "# Keys of the rules\n\n"
    "This reference is generated from the table of keys with `make reference`; do not edit it.\n"
    "[Rules](format/rules.md) explains the terms and the precedence of keys.\n\n"
    "The file is YAML.\n"
    "All keys are optional unless required; unknown keys are errors.\n"
    "Durations are `250ms`, `10s`, `5m`, `2h`, `7d`.\n"
    "Keys marked * are also allowed under a feature, where they apply only to it.\n"
    "A JSON Schema for editors is installed as `share/evenkeel/schema/rules.schema.json`.\n";

static const char METRICS_HEAD[] =

    "# Metrics\n\n"
    "This reference is generated from the table of metrics with `make reference`; do not edit "
    "it.\n\n"
    "`/metrics` returns the current values in the Prometheus text format.\n"
    "Metrics of unused features, such as a fleet or a state topic, are absent.\n"
    "Counters start at 0 with the process unless their description differs.\n"
    "[Runbooks](runbooks.md) lists the alerts; their rules and dashboards are in "
    "`deploy/prometheus` and `deploy/grafana`.\n\n"
    "The number of series is bounded:\n\n"
    "- 12 series have the labels `feature` and `segment` (`all`, or `arm=B`) for each feature of "
    "each of the `metrics.max_feature_segments` segments with the most lists, by default 16.\n"
    "- 6 series have these labels for each of the first 64 routes of the plan.\n"
    "- `partition` is an assigned partition.\n"
    "- Other labels have the listed values.\n";

static const char *const TYPES[EK_KEY_TYPES] = {[EK_KEY_TEXT] = "string",
                                                [EK_KEY_PATH] = "path",
                                                [EK_KEY_BOOL] = "`true`, `false`",
                                                [EK_KEY_INT] = "integer",
                                                [EK_KEY_NUMBER] = "number",
                                                [EK_KEY_DURATION] = "duration",
                                                [EK_KEY_SIZE] = "bytes",
                                                [EK_KEY_CHOICE] = "",
                                                [EK_KEY_TEXTS] = "list of strings",
                                                [EK_KEY_RATE] = "`1 per N lists`",
                                                [EK_KEY_DATE] = "date",
                                                [EK_KEY_SEGMENT] = "`{dimension: value}`",
                                                [EK_KEY_PROPERTIES] = "mapping",
                                                [EK_KEY_PATHS] = "string or mapping",
                                                [EK_KEY_MAP] = "mapping",
                                                [EK_KEY_LIST] = "list"};

/* Print space-separated words, each in backquotes. */
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

static void write_heading(const char *title, int length, const char *note, FILE *out)
{
    fprintf(out,
            "\n## %.*s\n\n%s| key | values | default | description |\n"
            "|---|---|---|---|\n",
            length, title, note);
}

void ek_page_config(FILE *out)
{
    const struct ek_key_table *t = ek_config_keys();
    const char *previous = "";
    fputs(CONFIG_HEAD, out);
    for (size_t i = 0; i < t->count; i++) {
        const char *path = t->keys[i].path;
        size_t top = strcspn(path, ".");
        if (!t->keys[i].size)
            continue;
        if (strncmp(path, previous, top + 1))
            write_heading(path, (int)top, "", out);
        write_row(&t->keys[i], path, out);
        previous = path;
    }
    fputs("\n## Reserved\n\nThese keys are errors in this version:\n\n", out);
    for (size_t i = 0; i < t->count; i++)
        if (t->keys[i].type == EK_KEY_UNAVAILABLE)
            fprintf(out, "- `%s`: %s\n", t->keys[i].path, t->keys[i].help);
}

static void write_section(const char *section, const char *title, FILE *out)
{
    const struct ek_key_table *t = ek_rules_keys();
    bool features = !strcmp(section, "features.*");
    write_heading(title, (int)strlen(title),
                  features ? "In addition to the keys marked * above:\n\n" : "", out);
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
                    {"defaults.actions", "actions"},
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
    int sentence = (int)strlen(f->help) - 1; /* without its period */
    if (f->group)
        fprintf(out,
                "\n## %s\n\n| metric | type | labels | description |\n"
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
