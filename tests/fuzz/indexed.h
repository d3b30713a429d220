/* The bytes of a small index of made-up texts, which targets read, change and ask. It is made once.
 * Threads: one.
 */
#ifndef EK_TESTS_FUZZ_INDEXED_H
#define EK_TESTS_FUZZ_INDEXED_H

#include "base/buf.h"

/* So many that a common word has two blocks of postings. */
enum { EK_FUZZ_DOCUMENTS = 140 };

/* Its bytes. */
const struct ek_buf *ek_fuzz_index(void);

#endif
