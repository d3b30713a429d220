/* A stage that does not run, with its pages and calls: what HTTP targets ask. It is made once, on
 * librdkafka's mock cluster, and lasts as long as the process.
 */
#ifndef EK_TESTS_FUZZ_SERVED_H
#define EK_TESTS_FUZZ_SERVED_H

#include "daemon/http/control_api.h"

/* The only token, whose name is "ana". */
#define EK_FUZZ_TOKEN "0123456789abcdef"

const struct ek_api *ek_fuzz_served(void);

#endif
