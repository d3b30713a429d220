#include "daemon/tools/select/select_progress.h"

void ek_select_progress_start(struct ek_select_progress *p, struct ek_pool *pool)
{
    *p = (struct ek_select_progress){.pool = pool, .lock = PTHREAD_MUTEX_INITIALIZER};
}

void ek_select_run(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ek_pool_run(((struct ek_select_progress *)context)->pool, task, arg, count);
}

void ek_select_one_done(void *context, int count)
{
    struct ek_select_progress *p = context;
    pthread_mutex_lock(&p->lock);
    ek_progress_update(&p->progress, (uint64_t)++p->done, (uint64_t)count, "features");
    pthread_mutex_unlock(&p->lock);
}
