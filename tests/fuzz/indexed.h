/* Bytes of a small index of synthetic texts, created once. Single-threaded. */
#ifndef EK_TESTS_FUZZ_INDEXED_H
#define EK_TESTS_FUZZ_INDEXED_H

#include "base/buf.h"

/* Enough that a common word has two blocks of postings. */
enum { EK_FUZZ_DOCUMENTS = 140 };

/* Return its bytes. */
const struct ek_buf *ek_fuzz_index(void);

#endif
