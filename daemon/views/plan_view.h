/* Plan view: the current plan as JSON with its entity tag, for the HTTP API and the plan topic.
 * Threads: any, but for _new and _free. The internal lock is a leaf. */
#ifndef EK_DAEMON_VIEWS_PLAN_VIEW_H
#define EK_DAEMON_VIEWS_PLAN_VIEW_H

#include "guard/plan_json.h"

#include <stdbool.h>

enum { EK_PLAN_TAG_BYTES = 48 };

struct ek_plan_view;

/* Create a view of a plan without entries. Return NULL if out of memory. */
struct ek_plan_view *ek_plan_view_new(void);
void ek_plan_view_free(struct ek_plan_view *v);
/* Set the plan to that of a guard, which the caller has locked. Return 0, or EK_ENOMEM or EK_ELIMIT
 * with the plan unchanged. */
int ek_plan_view_set(struct ek_plan_view *v, const struct ek_guard *g);
/* Write the entity tag, such as "\"7-0123456789abcdef\"": the version, and a hash of the entries,
 * as a process without state numbers its plans again. */
void ek_plan_view_tag(struct ek_plan_view *v, char tag[EK_PLAN_TAG_BYTES]);
/* Write the tag, and append the plan as a JSON object. Return 0, EK_ENOMEM or EK_ELIMIT. */
int ek_plan_view_json(struct ek_plan_view *v, char tag[EK_PLAN_TAG_BYTES], struct ek_buf *out);
/* Copy the plan, unless its hash and version are those of *out. Set *changed to whether it was
 * copied. Return 0, or EK_ENOMEM with an undefined copy. */
int ek_plan_view_copy(struct ek_plan_view *v, struct ek_plan_document *out, bool *changed);

#endif
