/* docs/text-features.md out of the catalogue of text features. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_LIST_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_LIST_H

#include "base/buf.h"

/* Appends the page. EK_ENOMEM. */
int ek_text_features_page(struct ek_buf *out);

#endif
