/* Generator of synthetic hotel searches with bookings.
 *
 * Searches have 400 destinations and 10 to 30 hotels; label 2 is booked, 1 clicked, 0 seen. 13 item
 * features, 8 query features (ek_hotel_manifest). List i depends only on the seed and i, so ranges
 * can be generated separately. `seed` controls the traffic. Destinations (price level, price
 * spread, size, market) have a fixed seed, so training and test streams with different seeds share
 * them. Markets are groups of destinations with similar prices, so the normal level of a market
 * differs from that of all traffic.
 *
 * All features are finite. Item features 0 .. 9 (the routable ones) are positive, the others 0 or
 * 1. Units are those of the manifest. Times are in milliseconds: 864 ms per list from a fixed start
 * (100,000 lists a day). One generator per thread.
 */
#ifndef EK_OFFLINE_WORLD_HOTEL_H
#define EK_OFFLINE_WORLD_HOTEL_H

#include "lists/list.h"
#include "schema/manifest.h"

struct ek_hotel;

enum {
    EK_HOTEL_DESTINATIONS = 400,
    EK_HOTEL_MARKETS = 24,
    EK_HOTEL_ITEMS_MIN = 10,
    EK_HOTEL_ITEMS_MAX = 30,
    EK_HOTEL_ITEM_FEATURES = 13,
    EK_HOTEL_QUERY_FEATURES = 8
};

/* Create a generator of the lists of `seed`; free it with ek_hotel_free. Return 0 or EK_ENOMEM. */
int ek_hotel_new(struct ek_hotel **out, uint64_t seed, struct ek_error *e);
void ek_hotel_free(struct ek_hotel *h);
/* Return the manifest of these lists as YAML, a static string. */
const char *ek_hotel_manifest(void);
/* Return the request time of list i. */
int64_t ek_hotel_time_ms(uint64_t i);
/* Generate list i into `q`: id `q-I`, item ids `h-N`, segments arm (A or B with equal probability)
 * and market (m00..m23, by destination), labels, score NaN. Strings live until the next call.
 * Return 0, or EK_ENOMEM with `q` undefined but releasable. */
int ek_hotel_list(struct ek_hotel *h, uint64_t i, struct ek_list *q, struct ek_error *e);

#endif
