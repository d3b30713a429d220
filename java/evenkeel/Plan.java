package evenkeel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Repairs of feature values, as {@code ek_plan_apply}.
 *
 * Use a plan in the thread that made it: another one gets a WrongThreadException.
 */
public final class Plan implements AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment applier;

    /** Read a plan: the body of /api/v1/plan, or the result of {@link Guard#plan}. IllegalArgumentException: not a plan. */
    public Plan(String json) {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        try (Arena call = Arena.ofConfined()) {
            MemorySegment text = call.allocateFrom(Native.BYTE, bytes);
            applier = Native.create(
                arena, Native.APPLIER_FREE,
                (out, error) -> (int) Native.call(Native.APPLIER_NEW, out, text, (long) bytes.length, error));
        } catch (RuntimeException | Error why) {
            arena.close();
            throw why;
        }
    }

    /** Repair the features of a list in place, and return how many values changed. */
    public long apply(RankedList list) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment features = call.allocateFrom(Native.FLOAT, list.features());
            MemorySegment changed = call.allocate(Native.LONG);
            MemorySegment struct = Native.listIn(call, list, features);
            Native.check(error -> (int) Native.call(Native.PLAN_APPLY, applier, struct, changed, error));
            MemorySegment.copy(features, Native.FLOAT, 0, list.features(), 0, list.features().length);
            return changed.get(Native.LONG, 0);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
