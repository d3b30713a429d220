/* How long work of `evenkeel select` is shown and spread over threads: the callbacks that the
 * library takes.
 *
 * Owner: the caller. Threads: the callbacks may come from those of the pool.
 */
#ifndef EK_DAEMON_SELECT_PROGRESS_H
#define EK_DAEMON_SELECT_PROGRESS_H

#include "daemon/base/cli.h"
#include "daemon/training/pool.h"

#include <pthread.h>

struct ek_select_progress {
    struct ek_progress progress;
    struct ek_pool *pool;
    pthread_mutex_t lock;
    int done;
};

void ek_select_progress_start(struct ek_select_progress *p, struct ek_pool *pool);
/* The callbacks `run` and `done`; their context is the struct. */
void ek_select_run(void *context, void (*task)(void *arg, int i), void *arg, int count);
void ek_select_one_done(void *context, int count);

#endif
