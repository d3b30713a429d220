/* SGML's names for characters: &amp; &lt; &gt; &quot; &apos; &nbsp; &#38; &#x26;. */
#ifndef EK_TEXT_INDEX_ENTITIES_H
#define EK_TEXT_INDEX_ENTITIES_H

#include <stddef.h>

/* Puts the characters in place of their names, in UTF-8, and returns the length that is left: never
 * more. Names that it does not know, and numbers that are no characters, stay as they are. */
size_t ek_entities(char *text, size_t length);

#endif
