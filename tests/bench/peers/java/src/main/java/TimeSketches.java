import com.datadoghq.sketch.ddsketch.DDSketch;
import com.datadoghq.sketch.ddsketch.mapping.BitwiseLinearlyInterpolatedMapping;
import com.datadoghq.sketch.ddsketch.store.UnboundedSizeDenseStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.apache.datasketches.kll.KllFloatsSketch;

/**
 * TimeSketches FILE SEGMENTS SECONDS sketches-java|datasketches-kll: as peers/rust/src/main.rs, with the
 * same output.
 */
public class TimeSketches {
    static final int LIST = 20;

    /** One sketch: adds a value, returns its count and its median. */
    interface Sketch {
        void add(float x);

        double count();

        double median();
    }

    /** The fastest mapping and store that the library has. */
    static final class Dd implements Sketch {
        final DDSketch sketch = new DDSketch(new BitwiseLinearlyInterpolatedMapping(0.01), UnboundedSizeDenseStore::new);

        public void add(float x) {
            sketch.accept(x);
        }

        public double count() {
            return sketch.getCount();
        }

        public double median() {
            return sketch.getValueAtQuantile(0.5);
        }
    }

    static final class Kll implements Sketch {
        final KllFloatsSketch sketch = KllFloatsSketch.newHeapInstance();

        public void add(float x) {
            sketch.update(x);
        }

        public double count() {
            return sketch.getN();
        }

        public double median() {
            return sketch.getQuantile(0.5);
        }
    }

    static void pass(float[] x, int features, Sketch[] sketches) {
        int segments = sketches.length / features;
        for (int at = 0, row = 0; at < x.length; row++) {
            int first = row / LIST % segments * features;
            for (int f = 0; f < features; f++) {
                sketches[first + f].add(x[at++]);
            }
        }
    }

    static void time(float[] x, int features, int segments, double seconds, Supplier<Sketch> made) {
        Sketch[] sketches = new Sketch[segments * features];
        for (int i = 0; i < sketches.length; i++) {
            sketches[i] = made.get();
        }
        double best = Double.MAX_VALUE;
        long start = System.nanoTime(), passes = 0;
        while (passes < 2 || System.nanoTime() - start < seconds * 1e9) {
            long began = System.nanoTime();
            pass(x, features, sketches);
            best = Math.min(best, System.nanoTime() - began);
            passes++;
        }
        double held = 0;
        for (Sketch s : sketches) {
            held += s.count();
        }
        System.out.printf("%s %d %.0f %s%n", best / x.length, passes, held, sketches[0].median());
    }

    public static void main(String[] words) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Path.of(words[0]))).order(ByteOrder.LITTLE_ENDIAN);
        int rows = bytes.getInt(4), features = bytes.getInt(8);
        float[] x = new float[rows * features];
        bytes.position(12).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(x);
        Supplier<Sketch> made = words[3].equals("sketches-java") ? Dd::new : Kll::new;
        time(x, features, Integer.parseInt(words[1]), Double.parseDouble(words[2]), made);
    }
}
