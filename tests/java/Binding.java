import evenkeel.Guard;
import evenkeel.Plan;
import evenkeel.RankedList;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** Exceptions of the binding: Binding MANIFEST PROFILE. Ends with status 1 and the difference if one is not as documented. */
final class Binding {
    private static void fails(Class<? extends Throwable> type, String words, Runnable call) {
        try {
            call.run();
        } catch (Throwable why) {
            if (type.isInstance(why) && String.valueOf(why.getMessage()).contains(words))
                return;
            throw new AssertionError("expected " + type.getSimpleName() + " with '" + words + "', got " + why, why);
        }
        throw new AssertionError("expected " + type.getSimpleName() + " with '" + words + "'");
    }

    private static RankedList list(int items, int features, int queries) {
        List<String> ids = java.util.stream.IntStream.range(0, items).mapToObj(i -> "id" + i).toList();
        return new RankedList("q", 0, Map.of("arm", "A"), new float[queries], ids, new float[items * features], features, null);
    }

    private static void failsElsewhere(Guard guard) throws InterruptedException {
        AtomicReference<Throwable> why = new AtomicReference<>();
        Thread other = new Thread(guard::planVersion);
        other.setUncaughtExceptionHandler((thread, thrown) -> why.set(thrown));
        other.start();
        other.join();
        if (!(why.get() instanceof WrongThreadException))
            throw new AssertionError("expected WrongThreadException, got " + why.get());
    }

    private static long residentBytes() throws IOException {
        return 4096 * Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]);
    }

    /** Read texts that are no plans, in total of more memory than the heap has. */
    private static void releasesInvalidPlans() throws IOException {
        String large = " ".repeat(16 << 20) + "[]";
        long before = residentBytes();
        for (int i = 0; i < 64; i++)
            fails(IllegalArgumentException.class, "plan", () -> new Plan(large));
        if (residentBytes() - before > 512 << 20)
            throw new AssertionError("invalid plans keep " + (residentBytes() - before) + " bytes");
    }

    public static void main(String[] words) throws InterruptedException, IOException {
        int features = Integer.parseInt(words[2]), queries = Integer.parseInt(words[3]);
        fails(UncheckedIOException.class, "missing.yaml", () -> new Guard("missing.yaml", words[1], null));
        fails(IllegalArgumentException.class, words[0], () -> new Guard(words[0], words[0], null));
        fails(IllegalArgumentException.class, "plan", () -> new Plan("[]"));
        releasesInvalidPlans();
        fails(IllegalArgumentException.class, "'features' has 3 values, expected 2 for each of 1 items",
              () -> new RankedList("q", 0, Map.of(), new float[0], List.of("a"), new float[3], 2, null));
        fails(IllegalArgumentException.class, "'scores' has 2 values, expected one per item, 1",
              () -> new RankedList("q", 0, Map.of(), new float[0], List.of("a"), new float[2], 2, new double[2]));
        Guard guard = new Guard(words[0], words[1], null);
        fails(IllegalArgumentException.class, "feature_count", () -> guard.observe(list(2, features + 1, queries), 0));
        fails(IllegalArgumentException.class, "query_count", () -> guard.observe(list(2, features, queries + 1), 0));
        if (!guard.observe(list(0, features, queries), 0).isEmpty() || guard.planVersion() != 0)
            throw new AssertionError("an empty list has findings");
        failsElsewhere(guard);
        Plan plan = new Plan(guard.plan());
        if (plan.apply(list(3, features, queries)) != 0)
            throw new AssertionError("an empty plan changes values");
        guard.close();
        plan.close();
        fails(IllegalStateException.class, "closed", guard::planVersion);
        System.out.println("as documented");
    }
}
