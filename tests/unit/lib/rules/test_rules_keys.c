/* Key table of the rules against the parser, and against the generated page. */
#include "base/buf.h"
#include "base/file.h"
#include "rules/rules.h"
#include "daemon/config/config_keys.h"
#include "rules/rules_keys.h"
#include "tests/check.h"
#include "tests/unit/key_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 400 };

/* Context of each mapping's keys, in one line. */
static const struct frame {
    const char *section, *before, *after;
} FRAMES[] = {
    {"", "{", "}"},
    {"defaults", "{defaults: {", "}}"},
    {"defaults.actions", "{defaults: {actions: {", "}}}"},
    {"defaults.canary", "{defaults: {canary: {", "}}}"},
    {"defaults.canary.abort_if", "{defaults: {canary: {abort_if: {", "}}}}"},
    {"limits", "{limits: {", "}}"},
    {"windows", "{windows: {", "}}"},
    {"features.*", "{features: {a: {", "}}}"},
    {"pins.*", "{pins: [{", "}]}"},
    {"tests.*", "{tests: [{", "}]}"},
    {"tests.*.inject", "{tests: [{name: a, expect: none, inject: {", "}}]}"},
    {"tests.*.expect", "{tests: [{name: a, inject: {feature: a, zero: true}, expect: {", "}}]}"},
};

/* Write a file in which one key has a value, with the required siblings. Return the column of the
 * value. */
static long write_file(char *text, const struct frame *f, const struct ek_key_row *key,
                       const char *value)
{
    const char *name = ek_key_name(key);
    size_t used = (size_t)snprintf(text, TEXT_BYTES, "%s%s: %s", f->before, name, value);
    for (size_t i = 0; i < ek_rules_keys()->count; i++) {
        const struct ek_key_row *k = &ek_rules_keys()->keys[i];
        if (k != key && k->flags & EK_KEY_REQUIRED && ek_key_is_in(k, f->section))
            used += (size_t)snprintf(text + used, TEXT_BYTES - used, ", %s: none", ek_key_name(k));
    }
    used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s", f->after);
    ck_assert_uint_lt(used, TEXT_BYTES);
    return (long)(strlen(f->before) + strlen(name) + strlen(": ")) + 1;
}

static bool is_told_at(const char *text, long column)
{
    struct ek_rules *r = NULL;
    struct ek_error_list faults;
    struct ek_error e;
    bool told = false;
    ek_error_list_init(&faults);
    if (!ek_rules_parse_all(&r, NULL, "r", text, strlen(text), &faults, &e))
        ek_rules_free(r);
    for (size_t i = 0; i < faults.count; i++)
        told |= faults.errors[i].column == column;
    ek_error_list_release(&faults);
    return told;
}

/* Return a value that no key of that type accepts. */
static const char *wrong_value(enum ek_key_type type)
{
    bool is_scalar = type != EK_KEY_MAP && type != EK_KEY_LIST && type != EK_KEY_SEGMENT;
    return is_scalar ? "{x: 1}" : "wrong";
}

START_TEST(every_key_of_the_table_is_read)
{
    char text[TEXT_BYTES];
    size_t read = 0;
    for (size_t f = 0; f < sizeof FRAMES / sizeof *FRAMES; f++)
        for (size_t i = 0; i < ek_rules_keys()->count; i++) {
            const struct ek_key_row *k = &ek_rules_keys()->keys[i];
            if (!ek_key_is_in(k, FRAMES[f].section))
                continue;
            long column = write_file(text, &FRAMES[f], k, wrong_value(k->type));
            ck_assert_msg(is_told_at(text, column), "taken: %s", text);
            read += !(k->also && !strcmp(FRAMES[f].section, "features.*"));
        }
    ck_assert_uint_eq(read + 1, ek_rules_keys()->count); /* all but defaults.mode_in.*.* */
}
END_TEST

START_TEST(a_key_that_is_in_no_table_is_refused_everywhere)
{
    static const struct ek_key_row none = {.path = "no_such_key", .help = ""};
    char text[TEXT_BYTES];
    for (size_t f = 0; f < sizeof FRAMES / sizeof *FRAMES; f++) {
        long column = write_file(text, &FRAMES[f], &none, "1");
        ck_assert_msg(is_told_at(text, column - (long)strlen("no_such_key: ")), "taken: %s", text);
    }
}
END_TEST

START_TEST(a_mapping_has_no_more_keys_than_the_reader_has_room_for)
{
    const struct ek_key_table *const tables[] = {ek_rules_keys(), ek_config_keys()};
    const char *names[EK_KEYS_MAX];
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t]->count; i++) {
            const char *path = tables[t]->keys[i].path;
            ck_assert(ek_keys_list(tables[t], path, names, EK_KEYS_MAX) <= EK_KEYS_MAX);
        }
    for (size_t f = 0; f < sizeof FRAMES / sizeof *FRAMES; f++) {
        size_t count = ek_keys_list(ek_rules_keys(), FRAMES[f].section, names, EK_KEYS_MAX);
        ck_assert(count > 0 && count <= EK_KEYS_MAX);
    }
}
END_TEST

static struct ek_rules *read_rules(const char *text)
{
    struct ek_rules *r = NULL;
    struct ek_error e = {0};
    ck_assert_msg(!ek_rules_parse(&r, NULL, "r", text, strlen(text), &e), "%s: %s", text,
                  e.message);
    return r;
}

static void check_same(const struct ek_rules *a, const struct ek_rules *b, const char *text)
{
    const struct ek_feature_rule *x = &a->defaults, *y = &b->defaults;
    ck_assert_msg(x->watch == y->watch && x->mode == y->mode &&
                      x->report_threshold == y->report_threshold &&
                      x->action_threshold == y->action_threshold &&
                      x->action_min_fraction == y->action_min_fraction &&
                      !memcmp(x->actions, y->actions, sizeof x->actions),
                  "%s", text);
    const struct ek_canary *c = &x->canary, *d = &y->canary;
    ck_assert_msg(c->initial_percent == d->initial_percent && c->step_percent == d->step_percent &&
                      c->max_percent == d->max_percent &&
                      c->step_interval_ms == d->step_interval_ms && c->min_lists == d->min_lists,
                  "%s", text);
    const struct ek_guardrails *g = &c->abort_if, *h = &d->abort_if;
    ck_assert_msg(g->rank_change_p95 == h->rank_change_p95 && g->error_rate == h->error_rate &&
                      g->dead_letter_rate == h->dead_letter_rate &&
                      g->latency_p99_ms == h->latency_p99_ms && g->model_drift == h->model_drift &&
                      g->worse_than_unmitigated == h->worse_than_unmitigated,
                  "%s", text);
    ck_assert_msg(
        a->false_alarms == b->false_alarms && a->dedup_key == b->dedup_key &&
            !a->stratify_by == !b->stratify_by && a->confirmation_lists == b->confirmation_lists &&
            a->min_duration_ms == b->min_duration_ms && a->max_duration_ms == b->max_duration_ms &&
            a->recover_auto == b->recover_auto,
        "%s", text);
    ck_assert_msg(a->max_routed_features == b->max_routed_features &&
                      a->max_routed_share == b->max_routed_share && a->on_limit == b->on_limit &&
                      a->windows.length_ms == b->windows.length_ms &&
                      a->windows.retention == b->windows.retention &&
                      a->windows.max_segments == b->windows.max_segments,
                  "%s", text);
}

static int whole(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

/* Defaults of tests and pins apply only within the test itself; other tests cover them. */
START_TEST(what_the_table_calls_built_in_is_what_holds_without_a_file)
{
    char text[TEXT_BYTES];
    struct ek_rules *built_in = NULL;
    ck_assert_int_eq(ek_rules_default(&built_in, NULL, NULL), EK_OK);
    for (size_t f = 0; f < sizeof FRAMES / sizeof *FRAMES; f++)
        for (size_t i = 0; i < ek_rules_keys()->count; i++) {
            const struct ek_key_row *k = &ek_rules_keys()->keys[i];
            if (!k->built_in || !ek_key_is_in(k, FRAMES[f].section))
                continue;
            write_file(text, &FRAMES[f], k, k->built_in);
            if (!strncmp(k->path, "tests.*.inject.", strlen("tests.*.inject.")))
                continue; /* valid by itself */
            struct ek_rules *r = read_rules(text);
            check_same(r, built_in, text);
            if (r->test_count && strstr(text, "queries"))
                ck_assert_int_eq(r->test[0].queries, whole(k->built_in));
            ek_rules_free(r);
        }
    ek_rules_free(built_in);
    struct ek_rules *r = read_rules("tests: [{name: a, inject: none, expect: none}, {name: b, "
                                    "inject: {feature: a, zero: true}, expect: {}}]");
    ck_assert_int_eq(r->test[0].queries,
                     whole(ek_key_find(ek_rules_keys(), "tests.*.lists")->built_in));
    ck_assert_int_eq(r->test[1].queries,
                     whole(ek_key_find(ek_rules_keys(), "tests.*.expect.after_lists")->built_in));
    ck_assert(r->test[1].share == 1 && r->test[1].items == 1);
    ek_rules_free(r);
}
END_TEST

static void check_words(const char *path, const char *(*name)(int), int first, int count)
{
    const char *words = ek_key_find(ek_rules_keys(), path)->choices;
    for (int i = first; i < count; i++) {
        const char *word = name(i);
        size_t length = strlen(word);
        ck_assert_msg(!strncmp(words, word, length) && (!words[length] || words[length] == ' '),
                      "%s: '%s' instead of '%s'", path, words, word);
        words += length + (words[length] == ' ');
    }
    ck_assert_str_eq(words, "");
}

static const char *mode_name(int i)
{
    return ek_mode_name((enum ek_mode)i);
}

static const char *action_name(int i)
{
    return ek_action_name((enum ek_action)i);
}

static const char *class_name(int i)
{
    return ek_class_name((enum ek_class)i);
}

START_TEST(the_words_of_the_table_are_those_of_findings)
{
    char path[TEXT_BYTES];
    check_words("defaults.mode", mode_name, 0, EK_MODE_COUNT);
    check_words("defaults.mode_in.*.*", mode_name, 0, EK_MODE_COUNT);
    check_words("tests.*.expect.mode", mode_name, 0, EK_MODE_COUNT);
    check_words("tests.*.expect.action", action_name, 0, EK_ACTION_COUNT);
    check_words("tests.*.expect.class", class_name, 1, EK_CLASS_COUNT);
    for (int i = 1; i < EK_CLASS_COUNT; i++) {
        snprintf(path, sizeof path, "defaults.actions.%s", class_name(i));
        ck_assert_msg(ek_key_find(ek_rules_keys(), path) != NULL, "no '%s'", path);
    }
}
END_TEST

static bool is_listed(const char *path, const char *word)
{
    char words[TEXT_BYTES], one[TEXT_BYTES];
    snprintf(words, sizeof words, " %s ", ek_key_find(ek_rules_keys(), path)->choices);
    snprintf(one, sizeof one, " %s ", word);
    return strstr(words, one) != NULL;
}

/* form: rules with a placeholder for the action. */
static void check_listed(const char *path, const char *form, const char *action)
{
    char text[TEXT_BYTES];
    struct ek_rules *r = NULL;
    struct ek_error e;
    const char *at = strstr(form, "ACTION");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - form), form, action, at + strlen("ACTION"));
    bool taken = !ek_rules_parse(&r, NULL, "r", text, strlen(text), &e);
    ck_assert_msg(taken == is_listed(path, action), "%s", text);
    if (taken)
        ek_rules_free(r);
}

START_TEST(the_actions_of_the_table_are_those_that_are_taken)
{
    char path[TEXT_BYTES], form[TEXT_BYTES];
    for (int a = 0; a < EK_ACTION_COUNT; a++) {
        check_listed("pins.*.action", "pins: [{feature: a, action: ACTION}]", action_name(a));
        for (int c = 1; c < EK_CLASS_COUNT; c++) {
            snprintf(path, sizeof path, "defaults.actions.%s", class_name(c));
            snprintf(form, sizeof form, "defaults: {actions: {%s: ACTION}}", class_name(c));
            check_listed(path, form, action_name(a));
        }
    }
}
END_TEST

START_TEST(the_page_of_the_keys_is_up_to_date)
{
    check_page("docs/rules.md", ek_page_rules);
}
END_TEST

Suite *suite_rules_keys(void)
{
    return ek_suite("rules_keys", every_key_of_the_table_is_read,
                    a_key_that_is_in_no_table_is_refused_everywhere,
                    a_mapping_has_no_more_keys_than_the_reader_has_room_for,
                    what_the_table_calls_built_in_is_what_holds_without_a_file,
                    the_words_of_the_table_are_those_of_findings,
                    the_actions_of_the_table_are_those_that_are_taken,
                    the_page_of_the_keys_is_up_to_date);
}
