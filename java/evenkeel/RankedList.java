package evenkeel;

import java.util.List;
import java.util.Map;

/**
 * One complete list, as {@code struct ek_array_list} of the C library.
 *
 * @param id list id, which decides on canaries; null: in none
 * @param timeMs time in milliseconds since 1970; 0: unknown
 * @param segments dimension and value, at most 16
 * @param queryFeatures query features in the order of messages
 * @param itemIds one id per item
 * @param features item features, one row per item; NaN is a missing value. {@link Plan#apply} changes them in place
 * @param featureCount length of a row
 * @param scores upstream score of each item; null: unknown
 */
public record RankedList(String id, long timeMs, Map<String, String> segments, float[] queryFeatures, List<String> itemIds,
                         float[] features, int featureCount, double[] scores) {
    public RankedList {
        if (features.length != (long) itemIds.size() * featureCount)
            throw new IllegalArgumentException("'features' has " + features.length + " values, expected " + featureCount +
                                               " for each of " + itemIds.size() + " items");
        if (scores != null && scores.length != itemIds.size())
            throw new IllegalArgumentException("'scores' has " + scores.length + " values, expected one per item, " +
                                               itemIds.size());
    }
}
