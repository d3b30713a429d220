/* Sources for items that have none: lists mixed by chance, as of two suppliers or two arms.
 *
 * Sources are numbers from 0, each equally likely. Which one an item gets follows by a hash from
 * the seed, the number of its list and its place in it, apart from what faults with a share hit.
 */
#ifndef EK_OFFLINE_SOURCES_H
#define EK_OFFLINE_SOURCES_H

#include "lists/query.h"

/* source [items] is filled; 0 < sources <= EK_SOURCES_MAX. */
void ek_sources_draw(uint8_t *source, int items, int sources, uint64_t number, uint64_t seed);

#endif
