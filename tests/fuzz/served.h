/* Idle stage with its pages and API for HTTP targets, created once on librdkafka's mock cluster. */
#ifndef EK_TESTS_FUZZ_SERVED_H
#define EK_TESTS_FUZZ_SERVED_H

#include "daemon/http/control_api.h"

/* The only token; its name is "ana". */
#define EK_FUZZ_TOKEN "0123456789abcdef"

const struct ek_api *ek_fuzz_served(void);

#endif
