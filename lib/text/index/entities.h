/* SGML character references: &amp; &lt; &gt; &quot; &apos; &nbsp; &#38; &#x26;. */
#ifndef EK_TEXT_INDEX_ENTITIES_H
#define EK_TEXT_INDEX_ENTITIES_H

#include <stddef.h>

/* Decode references in place to UTF-8. Return the new length, never larger. Unknown names and
 * invalid code points stay unchanged. */
size_t ek_entities(char *text, size_t length);

#endif
