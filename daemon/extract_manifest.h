/* The manifest of extracted features, as docs/format/manifest.md has it. */
#ifndef EK_DAEMON_EXTRACT_MANIFEST_H
#define EK_DAEMON_EXTRACT_MANIFEST_H

#include "text/feature_choice.h"

/* EK_EIO, EK_ENOMEM. On failure nothing of that name changed. */
int ek_extract_manifest_write(const struct ek_feature_choice *c, const char *path,
                              struct ek_error *e);

#endif
