import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;
import org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler;

/**
 * Validates access tokens as a broker of Amazon MSK: a request for kafka-cluster:Connect whose signature
 * (Signature Version 4) fits the key of user alice. Tokens with dots are unsigned web tokens.
 */
public class AwsTokens implements AuthenticateCallbackHandler {
    private static final String KEY_ID = "AKIDALICE", SECRET = "aws+secret/Pw.2206";
    private static final Set<String> SIGNED = Set.of("Action", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date",
            "X-Amz-Expires", "X-Amz-Security-Token", "X-Amz-SignedHeaders");
    private final OAuthBearerUnsecuredValidatorCallbackHandler unsigned = new OAuthBearerUnsecuredValidatorCallbackHandler();

    /** Token of user alice. */
    private record Token(String value, long lifetimeMs) implements OAuthBearerToken {
        public Set<String> scope() {
            return Set.of();
        }

        public String principalName() {
            return "alice";
        }

        public Long startTimeMs() {
            return null;
        }
    }

    @Override
    public void configure(Map<String, ?> settings, String mechanism, List<AppConfigurationEntry> login) {
        unsigned.configure(settings, mechanism, login);
    }

    @Override
    public void close() {
        unsigned.close();
    }

    @Override
    public void handle(Callback[] callbacks) throws UnsupportedCallbackException {
        for (Callback callback : callbacks) {
            if (callback instanceof OAuthBearerValidatorCallback c && !c.tokenValue().contains(".")) {
                validate(c);
            } else {
                unsigned.handle(new Callback[] {callback});
            }
        }
    }

    private static void validate(OAuthBearerValidatorCallback c) {
        try {
            String url = new String(Base64.getUrlDecoder().decode(c.tokenValue()), StandardCharsets.UTF_8);
            c.token(new Token(c.tokenValue(), check(URI.create(url))));
        } catch (GeneralSecurityException | RuntimeException e) {
            c.error("invalid_token: " + e.getMessage(), null, null);
        }
    }

    /** Returns the time when the token expires. */
    private static long check(URI url) throws GeneralSecurityException {
        Map<String, String> given = new TreeMap<>();
        for (String part : url.getRawQuery().split("&")) {
            String[] pair = part.split("=", 2);
            given.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
        }
        String[] scope = given.get("X-Amz-Credential").split("/");
        String time = given.get("X-Amz-Date");
        require(scope.length == 5 && scope[0].equals(KEY_ID) && time.startsWith(scope[1]), "credential");
        require(scope[3].equals("kafka-cluster") && scope[4].equals("aws4_request"), "scope");
        require(url.getHost().equals("kafka." + scope[2] + ".amazonaws.com") && url.getPath().equals("/"), "address");
        require("kafka-cluster:Connect".equals(given.get("Action")), "action");
        require(sign(given, scope, url.getHost()).equals(given.get("X-Amz-Signature")), "signature");
        Instant end = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmssX").withZone(ZoneOffset.UTC)
                .parse(time, Instant::from).plusSeconds(Long.parseLong(given.get("X-Amz-Expires")));
        require(end.isAfter(Instant.now()), "time");
        return end.toEpochMilli();
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalArgumentException(what);
        }
    }

    private static String sign(Map<String, String> given, String[] scope, String host) throws GeneralSecurityException {
        StringBuilder query = new StringBuilder();
        given.forEach((name, value) -> {
            if (SIGNED.contains(name)) {
                query.append(query.isEmpty() ? "" : "&").append(name).append('=').append(escape(value));
            }
        });
        String request = "GET\n/\n" + query + "\nhost:" + host + "\n\nhost\n" + hash("");
        String text = "AWS4-HMAC-SHA256\n" + given.get("X-Amz-Date") + "\n"
                + String.join("/", List.of(scope).subList(1, 5)) + "\n" + hash(request);
        byte[] key = ("AWS4" + SECRET).getBytes(StandardCharsets.UTF_8);
        for (String part : List.of(scope[1], scope[2], scope[3], scope[4], text)) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            key = mac.doFinal(part.getBytes(StandardCharsets.UTF_8));
        }
        return HexFormat.of().formatHex(key);
    }

    private static String escape(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    private static String hash(String text) throws GeneralSecurityException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
