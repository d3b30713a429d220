import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import evenkeel.Finding;
import evenkeel.Guard;
import evenkeel.Plan;
import evenkeel.RankedList;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka consumer with a guard: reads lists in JSON, repairs them, writes them to another topic, and prints findings.
 * Features are arrays of numbers, in which null is a missing value.
 *
 * A ranker would score {@code list.features()} in place of the write. Offsets are committed after the output is acknowledged. A
 * list that cannot be read or repaired is forwarded unchanged. The guard has no state of earlier runs.
 */
public final class KafkaGuard implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Guard guard;
    private final String output;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private volatile KafkaException failure; // of a write
    private Plan plan;
    private long planVersion;

    private KafkaGuard(String brokers, String input, String output, String group, Guard guard) {
        this.guard = guard;
        this.output = output;
        consumer = new KafkaConsumer<>(
            Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers, ConsumerConfig.GROUP_ID_CONFIG, group,
                   ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false, ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
        producer = new KafkaProducer<>(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers), new ByteArraySerializer(),
                                       new ByteArraySerializer());
        consumer.subscribe(List.of(input));
    }

    private static RankedList list(JsonNode message) {
        JsonNode items = array(message, "items");
        int count = items.path(0).path("features").size();
        float[] features = new float[items.size() * count];
        double[] scores = new double[items.size()];
        List<String> ids = new ArrayList<>();
        for (JsonNode item : items) {
            int i = ids.size();
            float[] row = numbers(item, "features");
            if (row.length != count)
                throw new IllegalArgumentException("item " + i + " has another number of features");
            System.arraycopy(row, 0, features, i * count, count);
            scores[i] = item.path("score").doubleValue();
            ids.add(item.path("id").asText(null));
        }
        float[] queries = message.hasNonNull("query_features") ? numbers(message, "query_features") : new float[0];
        return new RankedList(message.path("query").asText(null), message.path("time_ms").longValue(), segments(message),
                              queries, ids, features, count, scores);
    }

    /** Return the segments of a message that have a value. */
    private static Map<String, String> segments(JsonNode message) {
        Map<String, String> out = new HashMap<>();
        for (Map.Entry<String, JsonNode> field : message.path("segments").properties())
            if (!field.getValue().isNull())
                out.put(field.getKey(), field.getValue().asText());
        return out;
    }

    private static JsonNode array(JsonNode owner, String field) {
        JsonNode out = owner.path(field);
        if (!out.isArray())
            throw new IllegalArgumentException("'" + field + "' is not an array");
        return out;
    }

    /** Return an array of numbers; null is NaN, a missing value. */
    private static float[] numbers(JsonNode owner, String field) {
        JsonNode from = array(owner, field);
        float[] out = new float[from.size()];
        for (int i = 0; i < out.length; i++) {
            JsonNode value = from.get(i);
            if (!value.isNumber() && !value.isNull())
                throw new IllegalArgumentException("'" + field + "' has a value that is not a number");
            out[i] = value.isNull() ? Float.NaN : value.floatValue();
        }
        return out;
    }

    /** Write the features of a list into its message. */
    private static void write(RankedList list, float[] before, JsonNode message) {
        for (int k = 0; k < before.length; k++)
            if (Float.floatToRawIntBits(before[k]) != Float.floatToRawIntBits(list.features()[k])) {
                ArrayNode row = (ArrayNode) message.path("items").path(k / list.featureCount()).path("features");
                if (Float.isNaN(list.features()[k]))
                    row.setNull(k % list.featureCount());
                else
                    row.set(k % list.featureCount(), list.features()[k]);
            }
    }

    /** Return the message of a list with repaired features. */
    private byte[] repaired(ConsumerRecord<byte[], byte[]> record) throws IOException {
        JsonNode message = JSON.readTree(record.value());
        RankedList list = list(message);
        guard.observe(list, record.timestamp()).forEach(KafkaGuard::print);
        if (plan == null || planVersion != guard.planVersion())
            renewPlan();
        float[] before = list.features().clone();
        if (plan.apply(list) == 0)
            return record.value();
        write(list, before, message);
        return JSON.writeValueAsBytes(message);
    }

    private void renewPlan() {
        if (plan != null)
            plan.close();
        plan = new Plan(guard.plan());
        planVersion = guard.planVersion();
    }

    private byte[] handled(ConsumerRecord<byte[], byte[]> record) {
        try {
            return repaired(record);
        } catch (IOException | IllegalArgumentException why) {
            System.err.println("partition " + record.partition() + ", offset " + record.offset() + ": forwarded unchanged: " +
                               why.getMessage());
            return record.value();
        }
    }

    /** Print a finding as one line of JSON, with the keys of docs/format/events.md. */
    private static void print(Finding f) {
        ObjectNode out = JSON.createObjectNode();
        out.put("state", f.state()).put("finding_id", f.feature() + "-" + f.number()).put("feature", f.feature());
        out.set("segment", f.segment() == null ? null : JSON.createObjectNode().put(f.segment(), f.segmentValue()));
        out.put("class", f.faultClass()).put("factor", f.factor()).put("factor_low", f.factorLow());
        out.put("factor_high", f.factorHigh()).put("fraction", f.fraction()).put("since_list", f.sinceList());
        out.put("since_ms", f.sinceMs()).put("unit", f.unit()).put("mitigation", f.action()).put("mode", f.mode());
        System.out.println(out);
    }

    private void run() {
        try {
            while (true) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1)))
                    send(record);
                producer.flush();
                if (failure != null)
                    throw failure;
                consumer.commitSync();
            }
        } catch (WakeupException stopped) {
            System.err.println("stopped");
        }
    }

    private void send(ConsumerRecord<byte[], byte[]> record) {
        producer.send(new ProducerRecord<>(output, null, record.timestamp(), record.key(), handled(record), record.headers()),
                      (metadata, why) -> {
                          if (why != null)
                              failure = new KafkaException("output: " + why.getMessage(), why);
                      });
    }

    @Override
    public void close() {
        if (plan != null)
            plan.close();
        producer.close();
        consumer.close();
    }

    public static void main(String[] words) throws InterruptedException {
        if (words.length != 7) {
            System.err.println("usage: KafkaGuard BROKERS INPUT OUTPUT GROUP MANIFEST PROFILE RULES");
            System.exit(2);
        }
        Thread main = Thread.currentThread();
        try (Guard guard = new Guard(words[4], words[5], words[6]);
             KafkaGuard job = new KafkaGuard(words[0], words[1], words[2], words[3], guard)) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                job.consumer.wakeup();
                try {
                    main.join();
                } catch (InterruptedException why) {
                    Thread.currentThread().interrupt();
                }
            }));
            job.run();
        }
    }
}
