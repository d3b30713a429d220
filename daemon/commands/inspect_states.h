/* States of guards among the records of a capture: what their last complete base says. */
#ifndef EK_DAEMON_INSPECT_STATES_H
#define EK_DAEMON_INSPECT_STATES_H

#include "lists/capture.h"
#include "evenkeel.h"

#include <stdio.h>

/* Starts as {0}; by the prefix of their keys. Owner: the caller. */
struct ek_inspect_states {
    int count, capacity;
    struct {
        char *prefix; /* what comes before the last ':' of a key */
        struct ek_state *state;
    } * of; /* [count] */
};

void ek_inspect_states_release(struct ek_inspect_states *s);
/* Takes a record that is one of a state; others are left alone. EK_ENOMEM. */
int ek_inspect_states_add(struct ek_inspect_states *s, const struct ek_record *r,
                          struct ek_error *e);
void ek_inspect_states_table(const struct ek_inspect_states *s, FILE *to);
/* `,"states":[...]`, nothing without any. EK_ENOMEM. */
int ek_inspect_states_json(const struct ek_inspect_states *s, FILE *to);

#endif
