/* Internals of the feature statistics. */
#ifndef EK_DAEMON_VIEWS_FEATURE_STATS_INTERNAL_H
#define EK_DAEMON_VIEWS_FEATURE_STATS_INTERNAL_H

#include "daemon/views/feature_stats.h"

#include <pthread.h>

struct ek_feature_stats {
    const struct ek_manifest *manifest;
    const struct ek_rules *rules;
    struct ek_live_sketches *traffic;
    const struct ek_values *training; /* [features] */
    int features;
    pthread_mutex_t lock;               /* protects the members below */
    struct ek_feature_stats_cell *cell; /* [capacity] */
    int capacity, cells;
    int next_cell, next_feature; /* only of the updating thread */
};

#endif
