/* Writer of docs/text-features.md. Host tool, for build time only. */
#ifndef EK_DEPLOY_TEXT_FEATURES_PAGE_H
#define EK_DEPLOY_TEXT_FEATURES_PAGE_H

#include "base/buf.h"

#include <stdio.h>

/* Append the page. Return 0 or EK_ENOMEM. */
int ek_feature_docs_write(struct ek_buf *out);
/* Write the page. Output errors stay in the stream. */
void ek_page_text_features(FILE *out);

#endif
