/* `tests`: a fault, and what these rules shall make of it. They are kept as they stand; running
 * them is for others. */
#include "rules/rules_read.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

#define INJECT "tests.*.inject."
#define EXPECT "tests.*.expect."

enum { AFTER_QUERIES = 500, QUIET_QUERIES = 2000 };

static bool is_none(const struct ek_node *n)
{
    return n->kind == EK_NODE_SCALAR && !n->quoted && !strcmp(n->text, "none");
}

static int read_cell(const struct ek_rules_source *s, const struct ek_node *segment,
                     char **dimension, char **value)
{
    return segment ? ek_rules_go_on(s, ek_rules_segment(s, segment, dimension, value)) : EK_OK;
}

static const struct {
    const char *key;
    enum ek_inject inject;
    bool has_amount;
    double nothing; /* the amount that changes nothing */
} KINDS[] = {{INJECT "scale", EK_INJECT_SCALE, true, 1},
             {INJECT "power", EK_INJECT_POWER, true, 1},
             {INJECT "offset", EK_INJECT_OFFSET, true, 0},
             {INJECT "missing", EK_INJECT_MISSING, false, 0},
             {INJECT "zero", EK_INJECT_ZERO, false, 0},
             {INJECT "negative", EK_INJECT_NEGATIVE, false, 0}};

static int read_amount(const struct ek_rules_source *s, const struct ek_node *map, size_t kind,
                       struct ek_rules_test *t)
{
    const char *key = KINDS[kind].key;
    const struct ek_node *n = ek_node_get(map, key + strlen(INJECT));
    bool said = true;
    t->by = NAN;
    int rc = KINDS[kind].has_amount ? ek_rules_double(s, map, key, &t->by)
                                    : ek_rules_bool(s, map, key, &said);
    if (!rc && (!said || t->by == KINDS[kind].nothing))
        rc = ek_rules_go_on(s, ek_node_fail(s->y, n, s->e,
                                            "this changes nothing: take another value, or 'inject: "
                                            "none'"));
    return rc;
}

/* Exactly one of the kinds. */
static int read_kind(const struct ek_rules_source *s, const struct ek_node *map,
                     struct ek_rules_test *t)
{
    size_t found = EK_COUNT(KINDS);
    for (size_t i = 0; i < EK_COUNT(KINDS); i++) {
        const char *name = KINDS[i].key + strlen(INJECT);
        const struct ek_node *n = ek_node_get(map, name);
        if (n && found < EK_COUNT(KINDS))
            return ek_node_fail(s->y, n, s->e,
                                "'%s' and '%s' at once: take one of them, or make "
                                "two tests",
                                KINDS[found].key + strlen(INJECT), name);
        if (n)
            found = i;
    }
    if (found == EK_COUNT(KINDS))
        return ek_node_fail(s->y, map, s->e,
                            "no fault is put in: write one of scale, power, offset, missing, zero, "
                            "negative");
    t->inject = KINDS[found].inject;
    return read_amount(s, map, found, t);
}

static int read_target(const struct ek_rules_source *s, const struct ek_node *n,
                       struct ek_rules_test *t)
{
    int rc = ek_rules_feature(s, n, &t->feature);
    if (!rc && t->feature >= 0 && s->m->features[t->feature].role != EK_ROLE_ITEM)
        rc = ek_node_fail(s->y, n, s->e, "'%s' is a query feature: take an item feature",
                          s->m->features[t->feature].name);
    return ek_rules_go_on(s, rc);
}

static int read_inject(const struct ek_rules_source *s, const struct ek_node *map,
                       struct ek_rules_test *t)
{
    if (is_none(map))
        return EK_OK;
    if (map->kind == EK_NODE_SCALAR)
        return ek_node_fail(s->y, map, s->e,
                            "'inject' must be a fault, like {feature: price, scale: 100}, or none");
    int rc = ek_rules_keys(s, map, "tests.*.inject");
    if (!rc)
        rc = ek_rules_need(s, map, "tests.*.inject", "injection");
    if (!rc)
        rc = read_target(s, ek_node_get(map, "feature"), t);
    if (!rc)
        rc = ek_rules_go_on(s, read_kind(s, map, t));
    if (!rc)
        rc = ek_rules_double(s, map, INJECT "share", &t->share);
    if (!rc)
        rc = ek_rules_double(s, map, INJECT "items", &t->items);
    return rc ? rc : read_cell(s, ek_node_get(map, "segment"), &t->dimension, &t->value);
}

static int read_words(const struct ek_rules_source *s, const struct ek_node *map,
                      struct ek_rules_test *t)
{
    const struct ek_node *class = ek_node_get(map, "class"), *action = ek_node_get(map, "action");
    enum ek_action a = EK_ACT_NONE;
    int rc = EK_OK;
    if (class && is_none(class))
        rc = ek_rules_go_on(s, ek_node_fail(s->y, class, s->e,
                                            "no finding has the class 'none': write 'expect: "
                                            "none'"));
    else if (class)
        rc = ek_rules_go_on(s, ek_rules_class(s, class, &t->class));
    if (!rc && action && !(rc = ek_rules_action(s, action, -1, &a)))
        t->action = (int)a;
    rc = ek_rules_go_on(s, rc);
    return rc ? rc : ek_rules_word(s, map, EXPECT "mode", &t->mode);
}

static int read_expect(const struct ek_rules_source *s, const struct ek_node *map,
                       struct ek_rules_test *t)
{
    const struct ek_node *segment = ek_node_get(map, "segment");
    if (map->kind == EK_NODE_SCALAR)
        return ek_node_fail(
            s->y, map, s->e,
            "'expect' must be a finding, like {class: scale, factor: 100}, or none");
    int rc = ek_rules_keys(s, map, "tests.*.expect");
    if (!rc)
        rc = read_words(s, map, t);
    if (!rc)
        rc = ek_rules_double(s, map, EXPECT "factor", &t->factor);
    if (!rc)
        rc = ek_rules_double(s, map, EXPECT "exponent", &t->exponent);
    if (!rc)
        rc = ek_rules_double(s, map, EXPECT "within_percent", &t->within_percent);
    if (!rc)
        rc = ek_rules_int(s, map, EXPECT "after_queries", &t->queries);
    t->cell_said = segment != NULL;
    if (rc || !segment || is_none(segment))
        return rc;
    return read_cell(s, segment, &t->found_dimension, &t->found_value);
}

/* Nothing can be found where nothing is put in, and what is watched for nothing has no end. */
static int read_outcome(const struct ek_rules_source *s, const struct ek_node *map,
                        struct ek_rules_test *t)
{
    const struct ek_node *expect = ek_node_get(map, "expect"),
                         *queries = ek_node_get(map, "queries");
    t->nothing = is_none(expect);
    if (t->nothing) {
        t->queries = QUIET_QUERIES;
        return ek_rules_int(s, map, "tests.*.queries", &t->queries);
    }
    if (is_none(ek_node_get(map, "inject")))
        return ek_node_fail(s->y, expect, s->e,
                            "nothing is put in, so 'expect' must be none as well");
    if (queries)
        return ek_node_fail(s->y, queries, s->e,
                            "'queries' is for 'expect: none': use 'after_queries' under 'expect'");
    return read_expect(s, expect, t);
}

static int read_test(const struct ek_rules_source *s, const struct ek_node *map,
                     struct ek_rules_test *t)
{
    *t = (struct ek_rules_test){.line = map->line,
                                .column = map->column,
                                .feature = -1,
                                .by = NAN,
                                .share = 1,
                                .items = 1,
                                .action = -1,
                                .mode = -1,
                                .factor = NAN,
                                .exponent = NAN,
                                .within_percent = NAN,
                                .queries = AFTER_QUERIES};
    int rc = ek_rules_keys(s, map, "tests.*");
    if (!rc)
        rc = ek_rules_need(s, map, "tests.*", "test");
    if (!rc)
        rc = ek_rules_text_of(s, map, "tests.*.name", &t->name);
    if (!rc)
        rc = ek_rules_go_on(s, read_inject(s, ek_node_get(map, "inject"), t));
    return rc ? rc : read_outcome(s, map, t);
}

static int check_twice(const struct ek_rules_source *s, const struct ek_node *map)
{
    const struct ek_rules_test *last = &s->r->test[s->r->test_count - 1];
    for (const struct ek_rules_test *t = s->r->test; last->name && t < last; t++)
        if (t->name && !strcmp(t->name, last->name))
            return ek_node_fail(s->y, ek_node_get(map, "name"), s->e,
                                "test '%.60s' is there twice, first at %ld:%ld", t->name, t->line,
                                t->column);
    return EK_OK;
}

int ek_rules_read_tests(const struct ek_rules_source *s, const struct ek_node *list)
{
    if (!list)
        return EK_OK;
    int rc = ek_node_expect(s->y, list, "tests", EK_NODE_SEQUENCE, s->e);
    if (!rc && list->count > EK_TESTS_MAX)
        rc = ek_node_fail(s->y, list, s->e, "there must be at most %d tests, not %zu", EK_TESTS_MAX,
                          list->count);
    if (rc)
        return rc;
    s->r->test = ek_calloc(list->count, sizeof *s->r->test);
    if (!s->r->test)
        return ek_rules_no_memory(s);
    for (size_t i = 0; !rc && i < list->count; i++) {
        s->r->test_count++;
        rc = read_test(s, &list->children[i], &s->r->test[i]);
        if (!rc)
            rc = check_twice(s, &list->children[i]);
        rc = ek_rules_go_on(s, rc);
    }
    return rc;
}
