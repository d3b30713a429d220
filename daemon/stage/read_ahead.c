#include "daemon/stage/read_ahead.h"

#include "serve/context.h"

size_t ek_ahead_of(struct ek_ticket *const *tickets, size_t count)
{
    size_t most = count < EK_AHEAD_MOST ? count : EK_AHEAD_MOST, some = 1;
    if (tickets[0]->length > EK_AHEAD_MESSAGE)
        return 1;
    while (some < most && tickets[some]->length <= EK_AHEAD_MESSAGE)
        some++;
    return some;
}

size_t ek_ahead_read(struct ek_shared_list *lists, struct ek_ticket *const *tickets, size_t count,
                     void (*read)(void *context, const struct ek_ticket *t,
                                  struct ek_shared_list *l),
                     void *context)
{
    size_t some = 0;
    bool large = false;
    for (; some < count && !large; some++) {
        read(context, tickets[some], &lists[some]);
        /* of the first it says only that a list was large once */
        large = some > 0 && ek_context_bytes(lists[some].context) > EK_AHEAD_LIST;
    }
    return some;
}

void ek_ahead_done(struct ek_shared_list *lists, size_t count)
{
    for (size_t i = 1; i < count; i++)
        ek_context_shrink(lists[i].context, EK_AHEAD_LIST);
}
