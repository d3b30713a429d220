#include "rules/rules_keys.h"

#include "num/windows.h"
#include "rules/rules_read.h"

#define MODES   "observe shadow canary enforce"
#define CLASSES "scale power offset items missing zero sign stuck clip shape new_category"
#define ACTIONS "none alert route route_normalized repair blank route_per_source"
/* Only a scale has a factor for rescale; only class items has a source. */
#define OF_ANY   "none alert route route_normalized blank"
#define OF_SCALE "none alert route route_normalized repair blank"
#define OF_ITEMS OF_ANY " route_per_source"

#define TEN_YEARS_MS (EK_RULES_DAYS_MAX * 86400000.0)

#define IN_RULES(member) EK_KEY_AT(EK_IN_RULES, struct ek_rules, member)
#define IN_RULE(member)  EK_KEY_AT(EK_IN_RULE, struct ek_feature_rule, member)
#define IN_PIN(member)   EK_KEY_AT(EK_IN_PIN, struct ek_pin, member)
#define IN_TEST(member)  EK_KEY_AT(EK_IN_TEST, struct ek_rules_test, member)

static const struct ek_key_row KEYS[] = {
    {"version", EK_KEY_INT, .low = 1, .high = 1, .built_in = "1", .help = "of this form"},

    {"segments", EK_KEY_TEXTS, .read = ek_rules_read_segments, .low = 0, .high = EK_DIMENSIONS_MAX,
     .help = "fields of the messages by which a fault may be confined; names of at most 200 bytes"},

    {"defaults", EK_KEY_MAP, .read = ek_rules_read_defaults, .help = "what holds for all features"},
    {"defaults.mode", EK_KEY_CHOICE, IN_RULE(mode), .read = ek_rules_read_mode, .choices = MODES,
     .built_in = "observe", .also = "features.*",
     .help = "what becomes of an action: `observe` tells what would be done, `shadow` tries it "
             "beside the traffic, `canary` does it for a share of the queries, `enforce` for all"},
    {"defaults.mode_in", EK_KEY_MAP, .read = ek_rules_read_mode_in, .also = "features.*",
     .help =
         "another mode for the lists of a segment value, like `{arm: {B: enforce}}`; at most 64 "
         "values. It goes before the `mode` beside it; of several that fit a list the most "
         "careful one counts"},
    {"defaults.mode_in.*.*", EK_KEY_CHOICE, .choices = MODES,
     .help = "the mode of a value of a dimension of `segments`"},
    {"defaults.report_threshold", EK_KEY_NUMBER, IN_RULE(report_threshold), .low = 1.001,
     .high = 1e6, .built_in = "1.1", .also = "features.*", .help = "a factor: never speak of less"},
    {"defaults.action_threshold", EK_KEY_NUMBER, IN_RULE(action_threshold), .low = 1.001,
     .high = 1e6, .built_in = "1.25", .also = "features.*",
     .help =
         "a factor, not below `report_threshold`: act on less only where a listed unit fits. Where "
         "only `report_threshold` is given and larger, it counts for both"},
    {"defaults.action_min_fraction", EK_KEY_NUMBER, IN_RULE(action_min_fraction), .low = 0,
     .high = 1, .built_in = "0.05", .also = "features.*",
     .help = "a share: act on a `scale` only where at least so many of the lists have moved. A "
             "route changes all lists of its cell, also those that are well: below a twentieth "
             "that costs more than it saves, and people are told instead. A route of any class "
             "has to earn its lists by it"},
    {"defaults.actions", EK_KEY_MAP, .also = "features.*",
     .help = "action by class. Classes that are not named keep their action"},
    {"defaults.actions.scale", EK_KEY_CHOICE, IN_RULE(actions[EK_SCALE]),
     .read = ek_rules_read_reaction, .choices = OF_SCALE, .built_in = "route",
     .help = "the values times a factor"},
    {"defaults.actions.power", EK_KEY_CHOICE, IN_RULE(actions[EK_POWER]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "route_normalized",
     .help = "the values to a power"},
    {"defaults.actions.offset", EK_KEY_CHOICE, IN_RULE(actions[EK_OFFSET]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "route_normalized",
     .help = "an amount added"},
    {"defaults.actions.items", EK_KEY_CHOICE, IN_RULE(actions[EK_ITEMS]),
     .read = ek_rules_read_reaction, .choices = OF_ITEMS, .built_in = "alert",
     .help = "a factor on some of the items of a list"},
    {"defaults.actions.missing", EK_KEY_CHOICE, IN_RULE(actions[EK_MISSING]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "values are missing"},
    {"defaults.actions.zero", EK_KEY_CHOICE, IN_RULE(actions[EK_ZERO]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "values are zero"},
    {"defaults.actions.sign", EK_KEY_CHOICE, IN_RULE(actions[EK_SIGN]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "blank",
     .help = "the sign has turned"},
    {"defaults.actions.stuck", EK_KEY_CHOICE, IN_RULE(actions[EK_STUCK]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "one value for all"},
    {"defaults.actions.clip", EK_KEY_CHOICE, IN_RULE(actions[EK_CLIP]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "values are cut off"},
    {"defaults.actions.shape", EK_KEY_CHOICE, IN_RULE(actions[EK_SHAPE]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "another shape that no transformation explains"},
    {"defaults.actions.new_category", EK_KEY_CHOICE, IN_RULE(actions[EK_NEW_CATEGORY]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "a code that training did not have"},
    {"defaults.canary", EK_KEY_MAP, .read = ek_rules_read_canary, .also = "features.*",
     .help = "how a `canary` grows"},
    {"defaults.canary.initial_percent", EK_KEY_NUMBER, IN_RULE(canary.initial_percent), .low = .01,
     .high = 100, .built_in = "5", .help = "of the queries, to begin with"},
    {"defaults.canary.step_percent", EK_KEY_NUMBER, IN_RULE(canary.step_percent), .low = 0,
     .high = 100, .built_in = "5",
     .help = "how many percent more at each step; at least 0.01 while `percent` is below `max`"},
    {"defaults.canary.step_interval", EK_KEY_DURATION, IN_RULE(canary.step_interval_ms),
     .low = 1000, .high = TEN_YEARS_MS, .built_in = "10m",
     .help = "between two steps, by the time of the stream"},
    {"defaults.canary.max_percent", EK_KEY_NUMBER, IN_RULE(canary.max_percent), .low = .01,
     .high = 100, .built_in = "100",
     .help = "percent of the queries at which it stays; not below `percent`"},
    {"defaults.canary.min_lists", EK_KEY_INT, IN_RULE(canary.min_lists), .low = 1, .high = 1000000,
     .built_in = "200", .help = "lists that were tried both ways before a step is taken"},
    {"defaults.canary.abort_if", EK_KEY_MAP,
     .help = "what takes a route back by itself, in `enforce` as well"},
    {"defaults.canary.abort_if.rank_change_p95", EK_KEY_NUMBER,
     IN_RULE(canary.abort_if.rank_change_p95), .low = 0, .high = 1, .built_in = "0",
     .help = "95% of the lists change their ranks by no more: the sum of all places over the most "
             "it can be. 0: not asked"},
    {"defaults.canary.abort_if.error_rate", EK_KEY_NUMBER, IN_RULE(canary.abort_if.error_rate),
     .low = 0, .high = 1, .built_in = "0.01",
     .help = "share of the lists it acts on that model or plan cannot score; lists that lack "
             "what scoring needs do not count. 0: not asked"},
    {"defaults.canary.abort_if.dead_letter_rate", EK_KEY_NUMBER,
     IN_RULE(canary.abort_if.dead_letter_rate), .low = 0, .high = 1, .built_in = "0",
     .help =
         "share of the lists it acts on that become dead letters, beyond that of the others. 0: "
         "not asked"},
    {"defaults.canary.abort_if.latency_p99", EK_KEY_DURATION,
     IN_RULE(canary.abort_if.latency_p99_ms), .low = 0, .high = TEN_YEARS_MS, .built_in = "0ms",
     .help = "of the stage, for 99% of the lists it acts on. 0ms: not asked"},
    {"defaults.canary.abort_if.worse_than_unmitigated", EK_KEY_BOOL,
     IN_RULE(canary.abort_if.worse_than_unmitigated), .built_in = "true",
     .help = "the route does the order of the lists more harm than the fault itself"},
    {"defaults.canary.abort_if.model_drift", EK_KEY_BOOL, IN_RULE(canary.abort_if.model_drift),
     .built_in = "false", .help = "the model no longer ranks as the upstream does"},
    {"defaults.false_alarms", EK_KEY_RATE, IN_RULES(false_alarms),
     .built_in = "1 per 10000000 lists", .help = "for all features and cells together"},
    {"defaults.dedup_key", EK_KEY_TEXTS, IN_RULES(dedup_key), .read = ek_rules_read_same_query,
     .choices = "query_features items.id", .built_in = "[query_features, items.id]",
     .help = "by what a list counts as seen before; `[]`: each is new"},
    {"defaults.stratify_by", EK_KEY_TEXT, IN_RULES(stratify_by), .read = ek_rules_read_baseline,
     .built_in = "none",
     .help = "the stratum of the profile: a segment or a query feature; `none`: whatever the "
             "profile has. Another than the profile's is an error. Slow drift is followed in any "
             "case; there is no word for that"},
    {"defaults.confirmation_lists", EK_KEY_INT, IN_RULES(confirmation_lists), .low = 1,
     .high = 1000000, .built_in = "64",
     .help = "queries of the cell, after the alarm, before anything is enforced"},
    {"defaults.min_duration", EK_KEY_DURATION, IN_RULES(min_duration_ms), .low = 0,
     .high = TEN_YEARS_MS, .built_in = "10m",
     .help = "once in force, a route stays at least so long, even when its fault has recovered "
             "sooner"},
    {"defaults.max_duration", EK_KEY_DURATION, IN_RULES(max_duration_ms), .low = 0,
     .high = TEN_YEARS_MS, .built_in = "6h",
     .help = "a hold grows each time the fault comes back, up to this; not below `min_duration`. "
             "Where only "
             "`min_duration` is given and longer, it counts for both"},
    {"defaults.recover", EK_KEY_CHOICE, IN_RULES(recover_auto), .choices = "manual auto",
     .built_in = "auto",
     .help = "`auto`: a fault that is gone from the stream ends by itself, and its route with it "
             "after `min_duration`; `manual`: a fault that is gone is told as such, and what acts "
             "on it "
             "stays until somebody says `evenkeel resume --feature NAME`"},

    {"limits", EK_KEY_MAP, .help = "how much may be routed at a time"},
    {"limits.max_routed_features", EK_KEY_INT, IN_RULES(max_routed_features), .low = 0,
     .high = EK_FEATURES_MAX, .built_in = "10", .help = "features that are routed at a time"},
    {"limits.max_routed_share", EK_KEY_NUMBER, IN_RULES(max_routed_share), .low = 0, .high = 1,
     .built_in = "1", .help = "share of the queries that are routed"},
    {"limits.on_limit", EK_KEY_CHOICE, IN_RULES(on_limit), .choices = "observe keep",
     .built_in = "observe",
     .help = "beyond them: with `observe` nothing that findings ask for acts, since then the "
             "profile is suspect, until no more is wanted than allowed for a `min_duration`; with "
             "`keep` "
             "what acts already stays and nothing is added. A finding carries "
             "`\"limited\":true`, and with `observe` its mode is `observe`"},

    {"windows", EK_KEY_MAP,
     .help = "the live sketches of the traffic, which findings do not depend on"},
    {"windows.length", EK_KEY_DURATION, IN_RULES(windows.length_ms), .low = 1000,
     .high = TEN_YEARS_MS, .built_in = "5m", .help = "of a window, by the time of the stream"},
    {"windows.retention", EK_KEY_INT, IN_RULES(windows.retention), .low = 1,
     .high = EK_WINDOWS_KEPT_MAX, .built_in = "12",
     .help = "closed windows that are kept beside the open one. With the built-in values: the last "
             "hour"},
    {"windows.max_segments", EK_KEY_INT, IN_RULES(windows.max_segments), .low = 0, .high = 10000,
     .built_in = "100",
     .help =
         "cells that have sketches: all traffic and the first segment values to appear. 0: none "
         "has"},

    {"units", EK_KEY_LIST, .read = ek_rules_read_units,
     .help = "own conversions of units, and files that have them ([units](format/units.md)); paths "
             "count from the folder of the rules"},

    {"features", EK_KEY_MAP, .read = ek_rules_read_features,
     .help = "by name, what is said of one alone"},
    {"features.*.watch", EK_KEY_BOOL, IN_RULE(watch), .built_in = "true",
     .help = "`false`: no findings on it"},
    {"features.*.units", EK_KEY_TEXTS, .read = ek_rules_read_feature_units, .low = 0,
     .high = EK_UNITS_MAX, .help = "ids of units that a shift of it may be explained by"},

    {"pins", EK_KEY_LIST, .read = ek_rules_read_pins,
     .help = "what people have settled, whatever is found; at most 1000, one for a feature and "
             "segment"},
    {"pins.*.feature", EK_KEY_TEXT, IN_PIN(feature), .read = ek_rules_read_pin_feature,
     .flags = EK_KEY_REQUIRED, .help = "whose"},
    {"pins.*.action", EK_KEY_CHOICE, IN_PIN(action), .read = ek_rules_read_pin_action,
     .choices = OF_ITEMS, .flags = EK_KEY_REQUIRED,
     .help = "a pin has no factor to repair by; `none`: never touch"},
    {"pins.*.segment", EK_KEY_SEGMENT, .read = ek_rules_read_pin_segment,
     .help = "where; without it all traffic"},
    {"pins.*.until", EK_KEY_DATE, IN_PIN(until_ms),
     .help =
         "`2027-01-31`: to the end of that day, `2027-01-31T12:00:00Z`: to that second; both in "
         "UTC, by the time of the stream"},
    {"pins.*.actor", EK_KEY_TEXT, IN_PIN(author), .low = 1, .high = EK_AUTHOR_BYTES,
     .help = "who said so"},
    {"pins.*.reason", EK_KEY_TEXT, IN_PIN(reason), .low = 0, .high = EK_REASON_BYTES,
     .help = "for people"},

    {"tests", EK_KEY_LIST, .read = ek_rules_read_tests,
     .help = "what these rules shall do about a fault; at most 1000"},
    {"tests.*.name", EK_KEY_TEXT, IN_TEST(name), .low = 1, .high = 100, .flags = EK_KEY_REQUIRED,
     .help = "of the test, once in a file"},
    {"tests.*.inject", EK_KEY_MAP, .read = ek_rules_read_inject, .choices = "none",
     .flags = EK_KEY_REQUIRED,
     .help = "the fault that is put in: a `feature` and one of `scale`, `power`, `offset`, "
             "`missing`, `zero`, `negative`; or `none`"},
    {"tests.*.inject.feature", EK_KEY_TEXT, IN_TEST(feature), .read = ek_rules_read_target,
     .flags = EK_KEY_REQUIRED, .help = "an item feature"},
    {"tests.*.inject.scale", EK_KEY_NUMBER, IN_TEST(by), .read = ek_rules_read_fault, .low = 1e-30,
     .high = 1e30, .help = "values times this, not 1"},
    {"tests.*.inject.power", EK_KEY_NUMBER, IN_TEST(by), .read = ek_rules_read_fault, .low = -100,
     .high = 100, .help = "values to this power, not 1"},
    {"tests.*.inject.offset", EK_KEY_NUMBER, IN_TEST(by), .read = ek_rules_read_fault,
     .help = "this added, not 0"},
    {"tests.*.inject.missing", EK_KEY_BOOL, .read = ek_rules_read_fault,
     .help = "values are missing"},
    {"tests.*.inject.zero", EK_KEY_BOOL, .read = ek_rules_read_fault, .help = "values are zero"},
    {"tests.*.inject.negative", EK_KEY_BOOL, .read = ek_rules_read_fault,
     .help = "the sign turned"},
    {"tests.*.inject.fraction", EK_KEY_NUMBER, IN_TEST(share), .low = .001, .high = 1,
     .built_in = "1", .help = "share of the lists that are hit"},
    {"tests.*.inject.items", EK_KEY_NUMBER, IN_TEST(items), .low = .001, .high = 1, .built_in = "1",
     .help = "share of the items of each that are hit"},
    {"tests.*.inject.segment", EK_KEY_SEGMENT, .read = ek_rules_read_faulty_segment,
     .help = "lists that are hit; without it any"},
    {"tests.*.expect", EK_KEY_MAP, .read = ek_rules_read_expect, .choices = "none",
     .flags = EK_KEY_REQUIRED,
     .help = "the finding that must be confirmed; or `none`: nothing may be"},
    {"tests.*.expect.class", EK_KEY_CHOICE, IN_TEST(class), .read = ek_rules_read_class,
     .choices = CLASSES, .help = "its class"},
    {"tests.*.expect.factor", EK_KEY_NUMBER, IN_TEST(factor), .low = 1e-30, .high = 1e30,
     .help = "its factor"},
    {"tests.*.expect.exponent", EK_KEY_NUMBER, IN_TEST(exponent), .low = -100, .high = 100,
     .help = "its exponent"},
    {"tests.*.expect.within_percent", EK_KEY_NUMBER, IN_TEST(within_percent), .low = 0, .high = 100,
     .help = "how far both may be off"},
    {"tests.*.expect.action", EK_KEY_CHOICE, IN_TEST(action), .choices = ACTIONS,
     .help = "what is done about it"},
    {"tests.*.expect.mode", EK_KEY_CHOICE, IN_TEST(mode), .choices = MODES,
     .help = "in which mode"},
    {"tests.*.expect.segment", EK_KEY_SEGMENT, .read = ek_rules_read_found_segment,
     .choices = "none", .help = "where it is found; `none`: on all traffic"},
    {"tests.*.expect.after_lists", EK_KEY_INT, IN_TEST(queries), .low = 1, .high = 1000000,
     .built_in = "500", .help = "within so many faulty lists"},
    {"tests.*.lists", EK_KEY_INT, IN_TEST(queries), .read = ek_rules_read_queries, .low = 1,
     .high = 1000000, .built_in = "2000",
     .help = "with `expect: none`: how many lists are watched"},
};

static const struct ek_key_owner OWNERS[] = {
    {"pins.*", "pin"}, {"tests.*", "test"}, {"tests.*.inject", "injection"}};

const struct ek_key_table *ek_rules_keys(void)
{
    static const struct ek_key_table table = {.keys = KEYS,
                                              .count = sizeof KEYS / sizeof *KEYS,
                                              .owners = OWNERS,
                                              .owner_count = sizeof OWNERS / sizeof *OWNERS};
    return &table;
}
