#include "tests/alloc/sweep.h"

#include "tests/alloc/sites.h"
#include "tests/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIVE_MAX = 1 << 16 };

static struct {
    long calls, fail_at; /* fail_at 0: never */
    bool sticky, failed;
    void *live[LIVE_MAX];
    size_t live_count;
} state;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *p);

static bool fails(void)
{
    state.calls++;
    bool now = state.fail_at &&
               (state.sticky ? state.calls >= state.fail_at : state.calls == state.fail_at);
    if (now)
        ek_site_failed();
    state.failed |= now;
    return now;
}

static void *note(void *p)
{
    if (p && state.live_count < LIVE_MAX)
        state.live[state.live_count++] = p;
    return p;
}

static void forget(const void *p)
{
    for (size_t i = state.live_count; i-- > 0;) {
        if (state.live[i] == p) {
            state.live[i] = state.live[--state.live_count];
            return;
        }
    }
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : note(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : note(__real_calloc(count, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    if (fails())
        return NULL;
    forget(p);
    return note(__real_realloc(p, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : note(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *p)
{
    forget(p);
    __real_free(p);
}

enum outcome { GOT_BY, FAILED_WELL, FAULTY };

static const char *fault_of(int rc, const struct ek_error *e)
{
    if (state.live_count)
        return "memory is left";
    if (!state.failed)
        return rc ? "it fails with all the memory it wants" : NULL;
    if (rc != EK_ENOMEM)
        return "another code than EK_ENOMEM is returned";
    return e->code == EK_ENOMEM && e->message[0] ? NULL : "the error does not say so";
}

static enum outcome run_once(ek_scenario *scenario, long fail_at, bool sticky, char *fault)
{
    struct ek_error e = {.code = EK_OK};
    char text[EK_SWEEP_TEXT / 2];
    state.calls = 0;
    state.live_count = 0;
    state.failed = false;
    state.sticky = sticky;
    state.fail_at = fail_at;
    int rc = scenario(&e);
    state.fail_at = 0;
    const char *what = fault_of(rc, &e);
    if (!what)
        return state.failed ? FAILED_WELL : GOT_BY;
    snprintf(fault, EK_SWEEP_TEXT, "allocation %ld%s: %s (code %d, %zu blocks, '%s')", fail_at,
             sticky ? " and later" : "", what, rc, state.live_count,
             ek_error_text(&e, text, sizeof text));
    return FAULTY;
}

static bool sweep(ek_scenario *scenario, bool sticky, char *fault)
{
    enum outcome outcome;
    for (long n = 1; (outcome = run_once(scenario, n, sticky, fault)) == FAILED_WELL;)
        n++;
    return outcome == GOT_BY;
}

const char *ek_sweep_fault(ek_scenario *scenario, char fault[EK_SWEEP_TEXT])
{
    if (run_once(scenario, 0, false, fault) != GOT_BY)
        return fault;
    if (state.calls == 0)
        return "the scenario allocates nothing";
    return sweep(scenario, false, fault) && sweep(scenario, true, fault) ? NULL : fault;
}

void ek_sweep(ek_scenario *scenario)
{
    char text[EK_SWEEP_TEXT];
    const char *fault = ek_sweep_fault(scenario, text);
    ck_assert_msg(!fault, "%s", fault);
}

long ek_sweep_calls(void)
{
    return state.calls;
}

void ek_sweep_fail(long n)
{
    state.calls = 0;
    state.sticky = false;
    state.fail_at = n;
}
