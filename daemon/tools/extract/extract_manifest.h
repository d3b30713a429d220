/* The manifest of extracted features, as docs/format/manifest.md has it. */
#ifndef EK_DAEMON_EXTRACT_MANIFEST_H
#define EK_DAEMON_EXTRACT_MANIFEST_H

#include "base/file.h"
#include "text/features/feature_choice.h"

/* Into a file that the caller opened, and closes. Parameters that the choice has changed stand in
 * the notes, behind the formula with those it has else. EK_EIO, EK_ENOMEM. */
int ek_extract_manifest_write(const struct ek_feature_choice *c, struct ek_writer *w,
                              struct ek_error *e);

#endif
