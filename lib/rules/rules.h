/* Rules file: features to watch, and actions on findings.
 *
 * Absent keys have default values. A feature's rule overrides `defaults`; pins are separate and
 * applied by the plan. `defaults` may contain actions that need the wide path; they do not apply to
 * features that are not routable. In the rule of such a feature they are an error. Read-only after
 * loading. Errors include file, line and column.
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
    EK_MODE_IN_MAX = 64, /* in `defaults`, and per feature */
    EK_AUTHOR_BYTES = 64,
    EK_REASON_BYTES = 500
};
enum ek_on_limit { EK_LIMIT_OBSERVE, EK_LIMIT_KEEP };
/* Bits: parts of a list that identify a repeated list. */
enum ek_same { EK_SAME_QUERY_FEATURES = 1, EK_SAME_ITEM_IDS = 2 };

/* Conditions that roll back a route, in canary and enforce. 0 and false: disabled. */
struct ek_guardrails {
    double rank_change_p95;              /* 0..1, of a list's ranks (docs/format/rules.md) */
    double error_rate, dead_letter_rate; /* 0..1, of the routed lists */
    int64_t latency_p99_ms;              /* of the stage, for routed lists */
    bool model_drift, worse_than_unmitigated;
};

struct ek_canary {
    double initial_percent, step_percent, max_percent; /* of the lists, 0..100 */
    int64_t step_interval_ms;                          /* step interval, in event time */
    int min_lists;                                     /* compared lists required per step */
    struct ek_guardrails abort_if;
};

/* Mode override for one segment. */
struct ek_mode_in {
    char *dimension, *value;
    enum ek_mode mode;
};

struct ek_feature_rule { /* one per feature of the manifest, defaults included */
    bool watch;
    enum ek_mode mode;
    bool has_mode; /* set by the feature, not by `defaults` */
    /* The feature's overrides. Those of `defaults` apply to features that do not set a mode. */
    int mode_in_count;
    struct ek_mode_in *mode_in;
    struct ek_canary canary;
    double report_threshold, action_threshold; /* factors > 1, the second at least the first */
    double action_min_fraction;                /* fraction of the lists, 0..1 */
    enum ek_action actions[EK_CLASS_COUNT];
    int unit_count;
    char *unit[EK_UNITS_MAX]; /* ids of units that may explain a shift */
};

struct ek_pin {
    int feature;             /* index in the manifest's `features` */
    char *dimension, *value; /* NULL: all traffic */
    enum ek_action action;
    int64_t until_ms;      /* end in event time, exclusive; 0: never */
    char *author, *reason; /* NULL: not set */
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

/* One entry of `tests`. */
struct ek_rules_test {
    char *name;
    long line, column;
    enum ek_inject inject;
    int feature;             /* index in the manifest's `features`; -1: none */
    double by;               /* factor, exponent or amount */
    double share, items;     /* 0..1: fraction of the lists; of the items of each */
    char *dimension, *value; /* segment of the fault; NULL: any */
    bool nothing;            /* expect no finding */
    enum ek_class class;     /* EK_CLASS_NONE: any */
    int action, mode;        /* enum ek_action, enum ek_mode; -1: any */
    double factor, exponent; /* NaN: any */
    double within_percent;   /* tolerance of both; NaN: any */
    bool has_segment;        /* the finding's segment is checked */
    char *found_dimension, *found_value;
    int queries; /* maximum number of lists until confirmation, or lists to watch with `nothing` */
};

/* Live sketches (docs/format/rules.md). */
struct ek_window_rule {
    int64_t length_ms; /* window length, in event time */
    int retention;     /* retained closed windows */
    int max_segments;  /* maximum number of segments with sketches; 0: no sketches */
};

struct ek_rules {
    struct ek_units units;           /* units added by the file */
    struct ek_feature_rule defaults; /* values of `defaults`, without units */
    struct ek_feature_rule *feature; /* [manifest->feature_count] */
    int feature_count;
    uint64_t false_alarms; /* queries per false alarm, over all features and segments */
    unsigned dedup_key;    /* bits of enum ek_same; a repeated list is no new evidence; 0: all lists
                            * are new */
    char *stratify_by;     /* segment dimension or query feature to stratify by; NULL: none */
    int confirmation_lists;
    int64_t min_duration_ms,
        max_duration_ms; /* max_duration_ms >= min_duration_ms limits the growth of the hold */
    bool recover_auto;
    int max_routed_features;
    double max_routed_share;
    enum ek_on_limit on_limit;
    int segment_count;
    char *segment[EK_DIMENSIONS_MAX]; /* dimensions to which a fault may be confined */
    struct ek_window_rule windows;
    int pin_count;
    struct ek_pin *pin;
    long source_line, source_column; /* first position of 'route_per_source'; 0: none */
    long route_line, route_column;   /* first position of an action that routes; 0: none */
    enum ek_action route;            /* this action */
    int test_count;
    struct ek_rules_test *test;
};

/* Unit catalogs named in a file are read too, relative to the folder of `name`. Their errors have
 * the position of the reference. */
/* Create the default rules for a manifest, which is not kept; the caller frees *out. Without a
 * manifest (NULL, here and below) only the form of a file is checked: feature names are not
 * checked, feature rules are dropped, and pins have feature -1. Return 0, EK_ECONFIG or
 * EK_ENOMEM. */
int ek_rules_default(struct ek_rules **out, const struct ek_manifest *m, struct ek_error *e);
/* Read a rules file, for a manifest, or NULL to check only its form. Return 0, EK_EIO, EK_ECONFIG
 * with a position, or EK_ENOMEM. The caller frees *out. */
int ek_rules_load(struct ek_rules **out, const struct ek_manifest *m, const char *path,
                  struct ek_error *e);
/* Parse rules in memory, for a manifest or NULL; `name` is the file name in errors. Return 0,
 * EK_ECONFIG with the position of the first error, or EK_ENOMEM. The caller frees *out. */
int ek_rules_parse(struct ek_rules **out, const struct ek_manifest *m, const char *name,
                   const char *text, size_t length, struct ek_error *e);
/* Parse rules as ek_rules_parse, but continue after errors: `faults` (initialized, may be NULL)
 * lists all by position, and *e is the first. Invalid YAML has one error. Return 0, EK_ECONFIG if
 * there is any error, or EK_ENOMEM; on error *out is unchanged. */
int ek_rules_parse_all(struct ek_rules **out, const struct ek_manifest *m, const char *name,
                       const char *text, size_t length, struct ek_error_list *faults,
                       struct ek_error *e);
struct ek_yaml;
/* Read rules from a parsed YAML document, which is not kept, and continue after errors as
 * ek_rules_parse_all. Errors that are in `faults` before the call fail it, too. Return 0,
 * EK_ECONFIG or EK_ENOMEM; the caller frees *out. */
int ek_rules_from_tree(struct ek_rules **out, const struct ek_manifest *m, const struct ek_yaml *y,
                       struct ek_error_list *faults, struct ek_error *e);
void ek_rules_free(struct ek_rules *r);
/* Return true if the rules have exactly these `segments`, in this order. */
bool ek_rules_has_segments(const struct ek_rules *r, const char *const *names, int count);

/* Return the mode of a finding in a segment (dimension NULL: all traffic). Precedence: `mode_in` of
 * the feature, its `mode`, `mode_in` of `defaults`, `mode` of `defaults`. */
enum ek_mode ek_rules_mode(const struct ek_rules *r, int feature, const char *dimension,
                           const char *value);
/* Create a manifest of all features named in a rules file; the caller frees *out. Features in units
 * or `stratify_by` are query features, others are routable item features. Return 0, EK_ECONFIG or
 * EK_ENOMEM. */
int ek_rules_manifest(struct ek_manifest **out, const char *name, const char *text, size_t length,
                      struct ek_error *e);

#endif
