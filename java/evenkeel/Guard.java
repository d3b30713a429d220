package evenkeel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Detector and plan of a stream of lists, as {@code evenkeel run} with {@code output.writes: features}.
 *
 * Use a guard in the thread that made it: another one gets a WrongThreadException. Methods throw IllegalArgumentException for an
 * invalid argument or file, UncheckedIOException for a file that cannot be read, and IllegalStateException for assets that do not
 * match; the guard is then unchanged.
 */
public final class Guard implements AutoCloseable {
    private final Arena assetsArena = Arena.ofConfined(), guardArena = Arena.ofConfined();
    private final MemorySegment guard;

    /** Create a guard from the paths of manifest, profile and rules; `rules` null: default rules, which observe. */
    public Guard(String manifest, String profile, String rules) {
        try {
            MemorySegment m = assetsArena.allocateFrom(manifest), p = assetsArena.allocateFrom(profile);
            MemorySegment r = Native.textIn(assetsArena, rules), model = MemorySegment.NULL;
            MemorySegment assets = Native.create(
                assetsArena, Native.ASSETS_FREE,
                (out, error) -> (int) Native.call(Native.ASSETS_LOAD, out, m, p, r, model, error));
            Native.call(Native.ASSETS_WRITE_FEATURES, assets);
            guard = Native.create(guardArena, Native.GUARD_FREE,
                                  (out, error) -> (int) Native.call(Native.GUARD_NEW, out, assets, error));
        } catch (RuntimeException | Error why) {
            close();
            throw why;
        }
    }

    /** Compare a list with training, and return the new events of findings; `nowMs` is the time of a list without one. */
    public List<Finding> observe(RankedList list, long nowMs) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment struct = Native.listIn(call, list, call.allocateFrom(Native.FLOAT, list.features()));
            Native.check(error -> (int) Native.call(Native.GUARD_OBSERVE_VALUES, guard, struct, nowMs, error));
            return findings(call);
        }
    }

    /** Return the version of the current plan; 0 before the first plan. */
    public long planVersion() {
        return (long) Native.call(Native.GUARD_PLAN_VERSION, guard);
    }

    /** Return the current plan as JSON, for {@link Plan}. */
    public String plan() {
        String json = Native.text(Native.pointer(Native.GUARD_PLAN, guard, MemorySegment.NULL, MemorySegment.NULL));
        if (json == null)
            throw new OutOfMemoryError("libevenkeel");
        return json;
    }

    @Override
    public void close() {
        guardArena.close(); // before the assets, which the guard uses
        assetsArena.close();
    }

    private List<Finding> findings(Arena call) {
        List<Finding> out = new ArrayList<>();
        MemorySegment event;
        while ((event = Native.pointer(Native.GUARD_POP_EVENT, guard)).address() != 0)
            if ((int) Native.call(Native.EVENT_IS_FINDING, event) != 0)
                out.add(finding(call, event));
        return out;
    }

    private static Finding finding(Arena call, MemorySegment event) {
        MemorySegment low = call.allocate(Native.DOUBLE), high = call.allocate(Native.DOUBLE), list = call.allocate(Native.LONG);
        double factor = (double) Native.call(Native.EVENT_FACTOR, event, low, high);
        long sinceMs = (long) Native.call(Native.EVENT_SINCE, event, list);
        return new Finding(Native.text(Native.pointer(Native.EVENT_STATE, event)),
                           (int) Native.call(Native.EVENT_FINDING_NUMBER, event),
                           Native.text(Native.pointer(Native.EVENT_FEATURE, event)),
                           Native.text(Native.pointer(Native.EVENT_SEGMENT, event)),
                           Native.text(Native.pointer(Native.EVENT_SEGMENT_VALUE, event)),
                           Native.text(Native.pointer(Native.EVENT_CLASS, event)), factor, low.get(Native.DOUBLE, 0),
                           high.get(Native.DOUBLE, 0), (double) Native.call(Native.EVENT_FRACTION, event), sinceMs,
                           list.get(Native.LONG, 0), Native.text(Native.pointer(Native.EVENT_UNIT, event)),
                           Native.text(Native.pointer(Native.EVENT_ACTION, event)),
                           Native.text(Native.pointer(Native.EVENT_MODE, event)));
    }
}
