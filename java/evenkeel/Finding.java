package evenkeel;

/**
 * One event of a finding, as the {@code ek_event_} functions of the C library return it.
 *
 * @param state suspected, confirmed, updated, dismissed or recovered
 * @param number equal in all events of a finding
 * @param segment dimension of the segment, with its {@code segmentValue}; null: all traffic
 * @param faultClass class such as scale; null while suspected
 * @param factor factor with its 95% interval; NaN for a class without one
 * @param fraction fraction of lists in the segment that are affected, 0 to 1; NaN while suspected
 * @param sinceList number of the first affected list, from 0
 * @param unit most likely unit such as cents; null: none
 * @param action action of the rules such as repair
 * @param mode mode of the rules such as observe
 */
public record Finding(String state, int number, String feature, String segment, String segmentValue, String faultClass,
                      double factor, double factorLow, double factorHigh, double fraction, long sinceMs, long sinceList,
                      String unit, String action, String mode) {
}
