/* The rules file: what is watched, and what is done about a finding.
 *
 * Values are the built-in defaults where the file says nothing. Most specific wins: feature over
 * defaults (pins are held apart, they are applied by the plan). Actions that need the wide path may
 * stand in `defaults` for all features; whoever applies them leaves features alone that are not
 * routable. Where a feature is named, they are an error unless it is routable.
 * Owner: the caller, ek_rules_free. Read-only after loading. Errors have file, line, column.
 */
#ifndef EK_RULES_RULES_H
#define EK_RULES_RULES_H

#include "base/error_list.h"
#include "schema/manifest.h"
#include "schema/units.h"
#include "schema/enum_names.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EK_DIMENSIONS_MAX = 8,
    EK_UNITS_MAX = 16,
    EK_PINS_MAX = 1000,
    EK_TESTS_MAX = 1000,
    EK_MODE_IN_MAX = 64, /* of `defaults`, and of each feature */
    EK_AUTHOR_BYTES = 64,
    EK_REASON_BYTES = 500
};
enum ek_on_limit { EK_LIMIT_OBSERVE, EK_LIMIT_KEEP };
/* By what a list counts as seen before. */
enum ek_same { EK_SAME_QUERY_FEATURES = 1, EK_SAME_ITEM_IDS = 2 };

/* What takes a route back by itself, in every mode that acts. 0 and false: not asked. */
struct ek_guardrails {
    double rank_change_p95;              /* 0..1, of a list's ranks (docs/format/rules.md) */
    double error_rate, dead_letter_rate; /* 0..1, of the lists the route acts on */
    int64_t latency_p99_ms;              /* of the stage, for lists the route acts on */
    bool model_drift, worse_than_unmitigated;
};

struct ek_canary {
    double initial_percent, step_percent, max_percent; /* of the queries, 0 .. 100 */
    int64_t step_interval_ms;                          /* between steps, in stream time */
    int min_lists;                                     /* tried before the next step */
    struct ek_guardrails abort_if;
};

/* Another mode for the lists of a segment value. */
struct ek_mode_in {
    char *dimension, *value;
    enum ek_mode mode;
};

struct ek_feature_rule { /* one per feature of the manifest, defaults filled in */
    bool watch;
    enum ek_mode mode;
    bool mode_said; /* by the feature itself, not by `defaults` */
    /* The feature's own. Those of `defaults` are in `defaults` alone, and count for features that
     * do not say a mode. */
    int mode_in_count;
    struct ek_mode_in *mode_in;
    struct ek_canary canary;
    double report_threshold, action_threshold; /* factors > 1, action_threshold the larger */
    double action_min_fraction;                /* of the lists, 0..1 */
    enum ek_action actions[EK_CLASS_COUNT];
    int unit_count;
    char *unit[EK_UNITS_MAX]; /* ids a shift of this feature may be explained by */
};

struct ek_pin {
    int feature;             /* number in the manifest's `features` */
    char *dimension, *value; /* NULL: all traffic */
    enum ek_action action;
    int64_t until_ms;      /* first moment of the stream it no longer holds; 0: for good */
    char *author, *reason; /* NULL: not said */
    long line, column;
};

enum ek_inject {
    EK_INJECT_NONE,
    EK_INJECT_SCALE,
    EK_INJECT_POWER,
    EK_INJECT_OFFSET,
    EK_INJECT_MISSING,
    EK_INJECT_ZERO,
    EK_INJECT_NEGATIVE
};

/* One of `tests`, as it stands. */
struct ek_rules_test {
    char *name;
    long line, column;
    enum ek_inject inject;
    int feature;             /* number in the manifest's `features`; -1: none */
    double by;               /* factor, exponent or amount */
    double share, items;     /* 0..1, of the lists; of the items of each */
    char *dimension, *value; /* lists it is put into; NULL: any */
    bool nothing;            /* no finding is expected */
    enum ek_class class;     /* EK_CLASS_NONE: any */
    int action, mode;        /* of enum ek_action, enum ek_mode; -1: any */
    double factor, exponent; /* NaN: any */
    double within_percent;   /* of both; NaN: any */
    bool cell_said;          /* the finding's segment is that of the next line */
    char *found_dimension, *found_value;
    int queries; /* within how many it is confirmed; with `nothing`, how many are watched */
};

/* Live sketches (docs/format/rules.md). */
struct ek_window_rule {
    int64_t length_ms; /* of a window, in stream time */
    int retention;     /* closed ones */
    int max_segments;  /* cells that have sketches; 0: none has */
};

struct ek_rules {
    struct ek_units units;           /* what the file adds to the conversions that are built in */
    struct ek_feature_rule defaults; /* what `defaults` says; no units */
    struct ek_feature_rule *feature; /* [manifest->feature_count] */
    int feature_count;
    uint64_t false_alarms; /* queries per false alarm, all features and cells together */
    unsigned dedup_key;    /* of enum ek_same: such a list is no new evidence; 0: all are new */
    char *stratify_by;     /* segment dimension or query feature of the strata; NULL */
    int confirmation_lists;
    int64_t min_duration_ms,
        max_duration_ms; /* max_duration_ms is the larger: of a hold that has grown */
    bool recover_auto;
    int max_routed_features;
    double max_routed_share;
    enum ek_on_limit on_limit;
    int segment_count;
    char *segment[EK_DIMENSIONS_MAX]; /* dimensions by which a fault may be confined */
    struct ek_window_rule windows;
    int pin_count;
    struct ek_pin *pin;
    long source_line, source_column; /* where 'route_per_source' stands first; 0: nowhere */
    int test_count;
    struct ek_rules_test *test;
};

/* Where a file names a catalogue of units, that is read too; its path is relative to the folder of
 * the rules, which `name` tells. What is wrong with it is told at the place that names it. */
/* The built-in rules for a manifest. Without one (NULL, here and below) only the form of a file is
 * checked: names of features are taken as they come, there are no feature rules, pins have feature
 * -1. */
int ek_rules_default(struct ek_rules **out, const struct ek_manifest *m, struct ek_error *e);
int ek_rules_load(struct ek_rules **out, const struct ek_manifest *m, const char *path,
                  struct ek_error *e);
int ek_rules_parse(struct ek_rules **out, const struct ek_manifest *m, const char *name,
                   const char *text, size_t length, struct ek_error *e);
/* The same, going on after a fault where it can: all of them are in `faults` then (initialised, may
 * be NULL), by place, and the first is the error. A file that is no YAML has one. */
int ek_rules_parse_all(struct ek_rules **out, const struct ek_manifest *m, const char *name,
                       const char *text, size_t length, struct ek_error_list *faults,
                       struct ek_error *e);
/* The same of a text that was read already. What its reading put into `faults` counts. */
struct ek_yaml;
int ek_rules_from_tree(struct ek_rules **out, const struct ek_manifest *m, const struct ek_yaml *y,
                       struct ek_error_list *faults, struct ek_error *e);
void ek_rules_free(struct ek_rules *r);
/* Whether these are the `segments` of the rules, in this order. */
bool ek_rules_has_segments(const struct ek_rules *r, const char *const *names, int count);

/* The mode of a finding in a segment value (dimension NULL: all traffic), by the most specific
 * word: `mode_in` of the feature, its `mode`, `mode_in` of `defaults`, `mode` there. */
enum ek_mode ek_rules_mode(const struct ek_rules *r, int feature, const char *dimension,
                           const char *value);
/* A manifest of all features that a rules file names, for who has none: those that a unit or
 * `stratify_by` names are query features, all others routable item features. Errors as
 * ek_rules_parse. */
int ek_rules_manifest(struct ek_manifest **out, const char *name, const char *text, size_t length,
                      struct ek_error *e);

#endif
