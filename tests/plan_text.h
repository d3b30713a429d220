/* Plan in JSON for tests of its application: prices in cents in arm B, judged by list. */
#ifndef EK_TESTS_PLAN_TEXT_H
#define EK_TESTS_PLAN_TEXT_H

#include "evenkeel.h"

/* Members of an entry after the segment; a list of the level ln 100 is usual. */
#define EK_PLAN_PRICE(mode, percent, more)                                                         \
    "\"feature\":\"price\",\"index\":1,\"mitigation\":\"repair\",\"mode\":\"" mode                 \
    "\",\"percent\":" percent                                                                      \
    ",\"source\":\"finding\",\"repair\":{\"by\":\"list\",\"number\":100,"                          \
    "\"exact\":true},\"query_features\":[{\"name\":\"nights\",\"index\":0},"                       \
    "{\"name\":\"log_list_size\",\"index\":null}],"                                                \
    "\"values\":{\"positive\":true,\"zeros\":false,\"known\":[]},\"level\":{\"log_mean\":4.605,"   \
    "\"stratify_by\":\"market\",\"strata\":{\"\":4.6,\"DE\":4.6,\"US\":9.2},\"season\":[0,0,0,0,"  \
    "0,0],"                                                                                        \
    "\"segments\":[{\"dimension\":\"app\",\"values\":{\"1\":0.1,\"2\":-0.1}}],"                    \
    "\"slopes\":[{\"query_feature\":\"nights\",\"slope\":1,\"mean\":0,\"low\":-3,\"high\":3}],"    \
    "\"items\":null}" more

#define EK_PLAN_ARM_B       "\"segment\":{\"arm\":\"B\"},\"precedence\":1,"
#define EK_PLAN_OF(entries) "{\"version\":7,\"entries\":[" entries "]}"

#endif
