/* A few threads that run the numbered parts of one job together with the caller.
 *
 * Owner: ek_pool_free joins the threads. One job at a time; parts may run in any order. Without
 * threads (or when none could be started) the caller does all the work.
 */
#ifndef EK_DAEMON_POOL_H
#define EK_DAEMON_POOL_H

struct ek_pool;

enum { EK_POOL_THREADS_MAX = 64 };

/* `threads` counts the caller: 1 starts none. NULL without memory. */
struct ek_pool *ek_pool_new(int threads);
void ek_pool_free(struct ek_pool *p);
/* task(arg, i) for i = 0 .. count-1; returns when all are done. `p` may be NULL. */
void ek_pool_run(struct ek_pool *p, void (*task)(void *arg, int i), void *arg, int count);

#endif
