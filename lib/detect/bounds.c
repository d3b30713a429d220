#include "detect/bounds.h"

static const struct {
    const char *name, *text;
} BOUNDS[EK_BOUNDS_ALL] = {
    [EK_BOUND_CELLS] =
        {"segments",
         "more segment values than limits.segments: the busiest keep statistics of their own, the "
         "others of a field share one"},
    [EK_BOUND_CHANGES] =
        {"changes", "too many open findings: further changes are not reported until one ends"},
    [EK_BOUND_FINDINGS] = {"findings",
                           "findings were not fetched in time: the oldest of them are lost"},
    [EK_BOUND_PLAN] = {"plan", "the plan is full, or a segment of 'mode_in' has no cell: further "
                               "findings are reported without an action"},
    [EK_BOUND_ROUTED] = {"max_routed_features",
                         "more incidents would be routed than the rules allow"},
    [EK_BOUND_SHARE] = {"max_routed_share",
                        "more of the traffic would be routed than the rules allow"},
    [EK_BOUND_EVENTS] = {"events", "events were not fetched in time: the oldest of them are lost"},
    [EK_BOUND_SKETCHES] = {"sketches", "too many different values for the memory of the live "
                                       "sketches: those of the largest segment restart"},
    [EK_BOUND_STRATA] = {"strata",
                         "most lists have no value of the stratify_by field that training "
                         "contained: their levels are not compared; correct the field or make "
                         "the profile again"},
    [EK_BOUND_ITEMS] = {"items",
                        "most lists have item ids that training did not contain: features with "
                        "levels by item are not compared; correct the id or make the profile "
                        "again"},
    [EK_BOUND_REPEATS] = {"repeats",
                          "90% of the lists repeat one of the last 1,000 by dedup_key: they are no "
                          "evidence, and changes are found late; add fields to dedup_key, or set "
                          "it to []"},
    [EK_BOUND_QUERIES] = {"query_features",
                          "most lists have a query feature outside the range of training: levels "
                          "that follow it are not compared; correct its unit or its field, or make "
                          "the profile again"},
};

const char *ek_bound_name(enum ek_bound b)
{
    return BOUNDS[b].name;
}

const char *ek_bound_text(enum ek_bound b)
{
    return BOUNDS[b].text;
}
