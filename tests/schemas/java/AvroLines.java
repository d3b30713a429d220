import io.apicurio.registry.serde.avro.AvroKafkaDeserializer;
import io.apicurio.registry.serde.avro.AvroKafkaSerializer;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * The Java serializer of Avro messages and its deserializer, one request a line: `write TOPIC SCHEMA DATUM` returns the
 * message of an encoded datum, `read TOPIC MESSAGE` the schema and the datum of a message. Data are in base64.
 * Arguments: URL of the registry, schema files.
 */
final class AvroLines {
    private final AvroKafkaSerializer<GenericRecord> serializer = new AvroKafkaSerializer<>();
    private final AvroKafkaDeserializer<GenericRecord> deserializer = new AvroKafkaDeserializer<>();
    private final Schema[] schemas;

    private AvroLines(String url, Schema[] schemas) {
        Map<String, Object> settings = Map.of("apicurio.registry.url", url, "apicurio.registry.auto-register", true,
            "apicurio.registry.if-exists", "RETURN_OR_UPDATE",
            "apicurio.registry.id-handler", "io.apicurio.registry.serde.Legacy4ByteIdHandler",
            "apicurio.registry.use-id", "contentId");
        this.schemas = schemas;
        serializer.configure(settings, false);
        deserializer.configure(settings, false);
    }

    private byte[] write(String topic, Schema schema, byte[] datum) throws IOException {
        var reader = new GenericDatumReader<GenericRecord>(schema);
        return serializer.serialize(topic, reader.read(null, DecoderFactory.get().binaryDecoder(datum, null)));
    }

    private String read(String topic, byte[] message) throws IOException {
        GenericRecord read = deserializer.deserialize(topic, message);
        var out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(read.getSchema()).write(read, encoder);
        encoder.flush();
        return (read.getSchema().equals(schemas[0]) ? 1 : 2) + " " + Base64.getEncoder().encodeToString(out.toByteArray());
    }

    private String answer(String[] words) throws IOException {
        byte[] data = Base64.getDecoder().decode(words[words.length - 1]);
        if (words[0].equals("read")) {
            return read(words[1], data);
        }
        return Base64.getEncoder().encodeToString(write(words[1], schemas[Integer.parseInt(words[2]) - 1], data));
    }

    public static void main(String[] words) throws IOException {
        var schemas = new Schema[words.length - 1];
        for (int i = 0; i < schemas.length; i++) {
            schemas[i] = new Schema.Parser().parse(Files.readString(Path.of(words[i + 1])));
        }
        var lines = new AvroLines(words[0], schemas);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(lines.answer(line.split(" ")));
        }
    }
}
