#include "daemon/base/secret.h"

#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

static const char *const NAMES[] = {
    "sasl.password",
    "sasl.jaas.config",
    "sasl.kerberos.kinit.cmd", /* may contain a password */
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.password",
};
static const char *const WORDS[] = {"password", "passphrase", "secret", "jaas", "key.pem", "token"};

bool ek_secret_name(const char *property)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(NAMES[i], property))
            return true;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strstr(property, WORDS[i]))
            return true;
    return false;
}

void ek_secret_protect(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}
