/* Synthetic hotel searches with bookings: queries at 400 destinations, 10 to 30 hotels each, label
 * 2 booked, 1 clicked, 0 seen. 13 item features, 8 query features (ek_hotel_manifest).
 *
 * Everything follows from the seed; list i is the same whatever was generated before it, so parts
 * can be made apart. Time: ek_hotel_time_ms(i) is 864 ms per query from a fixed start.
 */
#ifndef EK_OFFLINE_HOTEL_H
#define EK_OFFLINE_HOTEL_H

#include "data/manifest.h"
#include "data/query.h"

struct ek_hotel;

int ek_hotel_new(struct ek_hotel **out, uint64_t seed, struct ek_error *e);
void ek_hotel_free(struct ek_hotel *h);
/* YAML text of the manifest of these lists. */
const char *ek_hotel_manifest(void);
/* List number i into `q`: id `q-I`, item ids `h-N`, segments arm (A, B; fair coin), market
 * (m00..m23, from the destination), label set, score NaN. Texts live until the next call. */
int ek_hotel_list(struct ek_hotel *h, uint64_t i, struct ek_query *q, struct ek_error *e);

#endif
