/* docs/rules.md out of the table of keys. */
#include "rules/rules_keys.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

static const char HEAD[] =
    "# Keys of the rules\n\n"
    "This page is made from the table of keys by `evenkeel check --rules-docs`; do not edit it. "
    "What the\n"
    "words mean, and which one counts where several are said, is in "
    "[format/rules.md](format/rules.md).\n\n"
    "The file is YAML. Every key may be left out unless it is required; unknown keys are errors. "
    "Durations\n"
    "are `250ms`, `10s`, `5m`, `2h`, `7d`. Keys marked * may stand under a feature as well, and "
    "are said of\n"
    "that one alone there. `evenkeel check --schema rules` prints the same as a JSON Schema for "
    "editors.\n";

static const struct {
    const char *section, *title;
} SECTIONS[] = {{"", "The file"},
                {"defaults", "defaults"},
                {"defaults.on", "on"},
                {"defaults.canary", "canary"},
                {"defaults.canary.abort_if", "canary.abort_if"},
                {"limits", "limits"},
                {"windows", "windows"},
                {"features.*", "features: by name"},
                {"pins.*", "pins: a list"},
                {"tests.*", "tests: a list"},
                {"tests.*.inject", "inject"},
                {"tests.*.expect", "expect"}};

static const char *const TYPES[EK_KEY_TYPES] = {"text",          "`true`, `false`",
                                                "integer",       "number",
                                                "duration",      "word",
                                                "list of texts", "`1 per N queries`",
                                                "date",          "`{dimension: value}`",
                                                "mapping",       "list"};

/* Both ends, or the only one that says something. */
static int write_range(const struct ek_rules_key *k, struct ek_buf *out)
{
    if (k->type == EK_KEY_DURATION)
        return ek_buf_printf(out, ", %.10gs to %dd", k->low / 1000, EK_RULES_DAYS_MAX);
    if (k->low >= k->high)
        return EK_OK;
    if (k->type == EK_KEY_TEXT)
        return ek_buf_printf(out, ", %.10g to %.10g bytes", k->low, k->high);
    if (k->type == EK_KEY_TEXTS)
        return ek_buf_printf(out, ", at most %.10g", k->high);
    return ek_buf_printf(out, ", %.10g to %.10g", k->low, k->high);
}

static int write_values(const struct ek_rules_key *k, struct ek_buf *out)
{
    int rc = EK_OK;
    bool words = k->type == EK_KEY_CHOICE;
    if (!words)
        rc = ek_buf_text(out, TYPES[k->type]);
    if (!rc && k->choices && !words)
        rc = ek_buf_text(out, k->type == EK_KEY_TEXTS ? " among " : " or ");
    for (const char *p = k->choices; !rc && p && *p; p += strcspn(p, " "), p += *p == ' ')
        rc = ek_buf_printf(out, "%s`%.*s`", p == k->choices ? "" : ", ", (int)strcspn(p, " "), p);
    return rc ? rc : write_range(k, out);
}

static int write_row(const struct ek_rules_key *k, struct ek_buf *out)
{
    int rc = ek_buf_printf(out, "| `%s`%s | ", ek_rules_key_name(k), k->also_feature ? " *" : "");
    if (!rc)
        rc = write_values(k, out);
    if (!rc && k->built_in)
        rc = ek_buf_printf(out, " | `%s` | ", k->built_in);
    else if (!rc)
        rc = ek_buf_printf(out, " | %s | ", k->required ? "required" : "none");
    return rc ? rc : ek_buf_printf(out, "%s |\n", k->help);
}

static int write_section(const char *section, const char *title, struct ek_buf *out)
{
    bool features = !strcmp(section, "features.*");
    int rc = ek_buf_printf(out,
                           "\n## %s\n\n%s| key | values | built in | what it is |\n"
                           "|---|---|---|---|\n",
                           title, features ? "Beside the keys marked * above:\n\n" : "");
    for (size_t i = 0; !rc && i < ek_rules_key_count(); i++) {
        const struct ek_rules_key *k = ek_rules_key_at(i);
        if (ek_rules_key_in(k, section) && !(features && k->also_feature))
            rc = write_row(k, out);
    }
    return rc;
}

int ek_rules_document(struct ek_buf *out)
{
    int rc = ek_buf_text(out, HEAD);
    for (size_t i = 0; !rc && i < sizeof SECTIONS / sizeof *SECTIONS; i++)
        rc = write_section(SECTIONS[i].section, SECTIONS[i].title, out);
    return rc;
}
