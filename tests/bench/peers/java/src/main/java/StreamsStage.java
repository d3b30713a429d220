import com.datadoghq.sketch.ddsketch.DDSketch;
import com.datadoghq.sketch.ddsketch.mapping.BitwiseLinearlyInterpolatedMapping;
import com.datadoghq.sketch.ddsketch.store.UnboundedSizeDenseStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * StreamsStage BROKERS SOURCE TARGET GROUP FOLDER: a typical Kafka Streams implementation: decode lists, keep a
 * DDSketch per feature and arm, and forward the message unchanged. It has one thread per processor.
 */
public class StreamsStage {
    static final int FEATURES = 136;

    /** State of one task: an array of sketches per arm. */
    static final class Watch extends ContextualFixedKeyProcessor<byte[], byte[], byte[]> {
        final Map<String, DDSketch[]> arms = new HashMap<>();
        final float[] row = new float[FEATURES];
        float[] values = new float[0];
        int rows;

        @Override
        public void process(FixedKeyRecord<byte[], byte[]> record) {
            try {
                read(record.value());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            context().forward(record);
        }

        void read(byte[] bytes) throws IOException {
            String arm = "";
            rows = 0;
            try (MessageUnpacker in = MessagePack.newDefaultUnpacker(bytes)) {
                for (int fields = in.unpackMapHeader(); fields > 0; fields--) {
                    switch (in.unpackString()) {
                        case "segments" -> arm = readArm(in);
                        case "items" -> readItems(in);
                        default -> in.skipValue();
                    }
                }
            }
            count(arms.computeIfAbsent(arm, name -> fresh()));
        }

        static String readArm(MessageUnpacker in) throws IOException {
            String arm = "";
            for (int segments = in.unpackMapHeader(); segments > 0; segments--) {
                if (in.unpackString().equals("arm")) {
                    arm = in.unpackString();
                } else {
                    in.skipValue();
                }
            }
            return arm;
        }

        void readItems(MessageUnpacker in) throws IOException {
            int items = in.unpackArrayHeader();
            if (values.length < items * FEATURES) {
                values = new float[items * FEATURES];
            }
            for (; rows < items; rows++) {
                for (int fields = in.unpackMapHeader(); fields > 0; fields--) {
                    if (in.unpackString().equals("features")) {
                        readFeatures(in);
                    } else {
                        in.skipValue();
                    }
                }
            }
        }

        void readFeatures(MessageUnpacker in) throws IOException {
            if (in.getNextFormat().getValueType() == ValueType.BINARY) {
                ByteBuffer raw = in.readPayloadAsReference(in.unpackBinaryHeader()).sliceAsByteBuffer();
                raw.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(row);
            } else {
                int count = in.unpackArrayHeader();
                for (int f = 0; f < count; f++) {
                    row[f] = in.unpackFloat();
                }
            }
            System.arraycopy(row, 0, values, rows * FEATURES, FEATURES);
        }

        static DDSketch[] fresh() {
            DDSketch[] made = new DDSketch[FEATURES];
            for (int f = 0; f < FEATURES; f++) {
                made[f] = new DDSketch(new BitwiseLinearlyInterpolatedMapping(0.01), UnboundedSizeDenseStore::new);
            }
            return made;
        }

        void count(DDSketch[] sketches) {
            for (int f = 0; f < FEATURES; f++) {
                for (int i = 0; i < rows; i++) {
                    sketches[f].accept(values[i * FEATURES + f]);
                }
            }
        }
    }

    public static void main(String[] words) {
        Properties p = new Properties();
        p.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, words[0]);
        p.put(StreamsConfig.APPLICATION_ID_CONFIG, words[3]);
        p.put(StreamsConfig.STATE_DIR_CONFIG, words[4]);
        p.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, Runtime.getRuntime().availableProcessors());
        p.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        StreamsBuilder b = new StreamsBuilder();
        b.stream(words[1], Consumed.with(Serdes.ByteArray(), Serdes.ByteArray())).processValues(Watch::new)
            .to(words[2], Produced.with(Serdes.ByteArray(), Serdes.ByteArray()));
        KafkaStreams streams = new KafkaStreams(b.build(), p);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
    }
}
