/* Access tokens of Amazon MSK: a request for `kafka-cluster:Connect`, signed by Signature Version 4
 * of AWS, in base64url. Threads: any.
 */
#ifndef EK_DAEMON_KAFKA_AWS_TOKEN_H
#define EK_DAEMON_KAFKA_AWS_TOKEN_H

#include "base/buf.h"

#include <stdint.h>

enum { EK_AWS_TOKEN_S = 900 }; /* validity from the time of its signature */

struct ek_aws_credentials {
    char *key_id, *secret;
    char *session_token; /* of temporary credentials; NULL: none */
    int64_t expires_ms;  /* since 1970; INT64_MAX: never */
};

/* Append a token for a cluster in `region`, signed at `now_ms` since 1970, to `out`. Return 0,
 * EK_ENOMEM or EK_ELIMIT. */
int ek_aws_token_sign(const struct ek_aws_credentials *c, const char *region, int64_t now_ms,
                      struct ek_buf *out);

#endif
