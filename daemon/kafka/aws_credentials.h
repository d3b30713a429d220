/* Credentials of AWS: from the environment, a credentials file, or a container.
 *
 * The variables and their order are those of the SDKs of AWS: AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials)
 * with AWS_PROFILE (default); AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI with
 * AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE or AWS_CONTAINER_AUTHORIZATION_TOKEN, as of ECS and of Pod
 * Identity of EKS. Errors contain no part of a secret. Threads: any.
 */
#ifndef EK_DAEMON_KAFKA_AWS_CREDENTIALS_H
#define EK_DAEMON_KAFKA_AWS_CREDENTIALS_H

#include "base/error.h"
#include "daemon/kafka/aws_token.h"

/* Read the credentials, which expire, again. An endpoint answers within ten seconds. Return 0,
 * EK_ECONFIG if there are none or they are invalid, EK_EIO if the endpoint does not answer, or
 * EK_ENOMEM; *out is then empty. */
int ek_aws_credentials_read(struct ek_aws_credentials *out, struct ek_error *e);
/* Free the strings. */
void ek_aws_credentials_release(struct ek_aws_credentials *c);

/* Return the region of AWS_REGION or AWS_DEFAULT_REGION, or NULL. */
const char *ek_aws_region(void);

#endif
