package zcodec;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The conformance cases, through the Java interface. Left to the C runner are the cases of the C interface itself,
 * metadata that is not Unicode text, and the fill values of {@code output_json}, which may be written in several ways.
 */
class ConformanceTest {
  private static final Path FOLDER = Paths.get(System.getProperty("zcodec.repository"), "tests/conformance");
  private static final List<String> CHECKS = Arrays.asList("encode", "decode", "round_trip", "output_json");

  /** A case that does not hold. */
  private static final class Mismatch extends Exception {
    private static final long serialVersionUID = 1;

    Mismatch(String message) {
      super(message);
    }
  }

  @TestFactory
  Stream<DynamicTest> everyCaseHolds() throws IOException {
    List<Path> files;
    try (Stream<Path> found = Files.list(FOLDER.resolve("cases"))) {
      files = found.sorted().collect(Collectors.toList());
    }
    assertTrue(files.size() > 20, "only " + files.size() + " files of cases");
    return files.stream()
        .filter(file -> !Arrays.asList("api.jsonl", "engine.jsonl").contains(file.getFileName().toString()))
        .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> runFile(file)));
  }

  private static void runFile(Path file) throws Exception {
    List<String> failures = new ArrayList<>();
    int passed = 0;
    for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
      JsonObject test = JsonParser.parseString(line).getAsJsonObject();
      if (test.has("api") || test.has("codecs_b64")) {
        continue;
      }
      try {
        run(test);
        passed++;
      } catch (Mismatch e) {
        failures.add(test.get("name").getAsString() + ": " + e.getMessage());
      }
    }
    assertTrue(failures.isEmpty() && passed > 0, passed + " passed; " + failures.size() + " failed:\n" + String.join("\n", failures));
  }

  private static void run(JsonObject test) throws Exception {
    Chain chain;
    try {
      chain = newChain(test);
    } catch (ZcodecException e) {
      if (!(test.has("optional") && e.status() == Status.UNSUPPORTED)) {
        expect(test, "new", e);
      }
      return;
    }
    try (Chain open = chain) {
      CallOptions options = options(open, test);
      if (test.has("error")) {
        runToAnError(test, open, options);
      } else {
        runToSuccess(test, open, options);
      }
    }
  }

  private static Chain newChain(JsonObject test) {
    String document = text(test, "zarr_json");
    if (document != null) {
      return Chain.ofZarrJson(document);
    }
    String codecs = text(test, "codecs");
    if (codecs == null) {
      JsonArray repeat = test.getAsJsonArray("codecs_repeat");
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < repeat.get(1).getAsInt(); i++) {
        text.append(repeat.get(0).getAsString());
      }
      codecs = text.toString();
    }
    return Chain.of(codecs, text(test, "input"));
  }

  private static String text(JsonObject test, String member) {
    if (test.has(member + "_text") && !test.get(member + "_text").isJsonNull()) {
      return test.get(member + "_text").getAsString();
    }
    JsonElement json = test.get(member);
    return json == null || json.isJsonNull() ? null : json.toString();
  }

  private static CallOptions options(Chain chain, JsonObject test) {
    if (test.has("padding")) {
      for (JsonElement spec : test.getAsJsonArray("padding")) {
        setPadding(chain, spec.getAsJsonObject());
      }
    }
    return CallOptions.DEFAULT.callData(Vectors.bytes(test.get("call_data")));
  }

  private static void setPadding(Chain chain, JsonObject spec) {
    byte[] user = spec.has("user_data") ? Vectors.bytes(spec.get("user_data")) : new byte[0];
    Padding.Generator generator =
        !has(spec, "generate")
            ? null
            : (call, chunk, padding) -> padding.put(padding(spec.get("generate"), user, call, chunk, padding.remaining()));
    Padding.Check check =
        !has(spec, "check")
            ? null
            : (call, chunk, padding) -> {
              byte[] found = new byte[padding.remaining()];
              padding.get(found);
              if (spec.get("check").getAsString().equals("check_magic")) {
                return Arrays.equals(Arrays.copyOf(found, user.length), user);
              }
              return Arrays.equals(found, padding(spec.get("check"), user, call, chunk, found.length));
            };
    chain.setPadding(spec.get("codec_index").getAsInt(), Padding.of(generator, check));
  }

  private static boolean has(JsonObject object, String member) {
    return object.has(member) && !object.get(member).isJsonNull();
  }

  private static byte[] padding(JsonElement kind, byte[] user, Object call, ByteBuffer chunk, int size) {
    ByteBuffer made = ByteBuffer.allocate(size + 4096);
    switch (kind.getAsString()) {
      case "length_be32":
        made.putInt(chunk.remaining());
        break;
      case "sum_le32":
        int sum = 0;
        while (chunk.hasRemaining()) {
          sum += chunk.get() & 0xFF;
        }
        made.order(ByteOrder.LITTLE_ENDIAN).putInt(sum);
        break;
      case "n5_header":
        ByteBuffer sizes = ByteBuffer.wrap(user).order(ByteOrder.LITTLE_ENDIAN);
        made.putShort((short) 0).putShort((short) (user.length / 4));
        while (sizes.hasRemaining()) {
          made.putInt(sizes.getInt());
        }
        break;
      case "user_data":
        made.put(user);
        break;
      case "call_data":
        made.put((byte[]) call);
        break;
      default:
        throw new IllegalStateException(kind.getAsString());
    }
    return Arrays.copyOf(made.array(), size);
  }

  private static void runToAnError(JsonObject test, Chain chain, CallOptions options) throws Mismatch {
    JsonObject error = test.getAsJsonObject("error");
    boolean maySucceed = error.has("may_succeed") && error.get("may_succeed").getAsBoolean();
    boolean encodes = contains(error.get("stage"), new JsonPrimitive("encode"));
    if (!encodes && !contains(error.get("stage"), new JsonPrimitive("decode"))) {
      need(maySucceed, "the chain was made, expected " + error);
      return;
    }
    byte[] given = Vectors.bytes(test.get(encodes ? "decoded" : "encoded"));
    byte[] found;
    try {
      found = code(test, chain, encodes, given, options);
    } catch (ZcodecException e) {
      expect(test, encodes ? "encode" : "decode", e);
      return;
    }
    need(maySucceed, "success, expected " + error);
    if (has(test, "redecoded")) {
      same("redecoded", Vectors.bytes(test.get("redecoded")), found, null);
    }
  }

  private static byte[] code(JsonObject test, Chain chain, boolean encodes, byte[] given, CallOptions options) {
    if (!test.has("probe_capacity")) {
      return encodes ? chain.encode(given, options) : chain.decode(given, options);
    }
    ByteBuffer target = ByteBuffer.allocate(test.get("probe_capacity").getAsInt());
    ByteBuffer source = ByteBuffer.wrap(given);
    int size = encodes ? chain.encode(source, target, options) : chain.decode(source, target, options);
    return Arrays.copyOf(target.array(), size);
  }

  private static boolean contains(JsonElement oneOrMore, JsonElement wanted) {
    return oneOrMore.isJsonArray() ? oneOrMore.getAsJsonArray().contains(wanted) : oneOrMore.equals(wanted);
  }

  private static void expect(JsonObject test, String stage, ZcodecException found) throws Mismatch {
    JsonObject wanted = test.getAsJsonObject("error");
    need(wanted != null, stage + ": " + found.status() + ": " + found.getMessage());
    boolean holds =
        contains(wanted.get("stage"), new JsonPrimitive(stage))
            && contains(wanted.get("status"), new JsonPrimitive(found.status().name()))
            && isAllowed(wanted, "codec_index", found.codecIndex())
            && isAllowed(wanted, "element_index", found.elementIndex())
            && (found.status() == Status.CALLBACK_FAILED // instead of the number that a C function returns
                ? found.getCause() != null
                : !has(wanted, "message_has") || found.getMessage().contains(wanted.get("message_has").getAsString()));
    need(holds, stage + ": " + found.status() + ": " + found.getMessage() + "; expected " + wanted);
  }

  private static boolean isAllowed(JsonObject wanted, String member, long found) {
    if (!has(wanted, member)) {
      return true;
    }
    JsonElement allowed = wanted.get(member);
    if (!allowed.isJsonArray()) {
      return allowed.getAsLong() == found;
    }
    for (JsonElement one : allowed.getAsJsonArray()) {
      if (one.getAsLong() == found) {
        return true;
      }
    }
    return false;
  }

  private static void runToSuccess(JsonObject test, Chain chain, CallOptions options) throws Exception {
    JsonArray checks = test.getAsJsonArray("checks");
    need(checks.size() > 0, "no checks");
    for (JsonElement check : checks) {
      need(CHECKS.contains(check.getAsString()), "an unknown check, " + check);
    }
    byte[] decoded = Vectors.bytes(test.get("decoded"));
    JsonObject anyNan = has(test, "any_nan") ? test.getAsJsonObject("any_nan") : new JsonObject();
    byte[] encoded = null;
    if (checks.contains(new JsonPrimitive("encode")) || checks.contains(new JsonPrimitive("round_trip"))) {
      encoded = chain.encode(decoded, options);
      direct(chain, decoded, encoded, options);
    }
    if (checks.contains(new JsonPrimitive("encode"))) {
      sameOrHash("encoded", test, encoded, anyNan.get("encoded"));
    }
    byte[] stored = has(test, "encoded") ? Vectors.bytes(test.get("encoded")) : encoded;
    if (checks.contains(new JsonPrimitive("decode"))) {
      decodes(test, chain, stored, decoded, anyNan, options);
    }
    if (checks.contains(new JsonPrimitive("round_trip"))) {
      decodes(test, chain, encoded, decoded, anyNan, options);
    }
    if (checks.contains(new JsonPrimitive("output_json"))) {
      describes(test.getAsJsonObject("output_json"), JsonParser.parseString(chain.outputJson()).getAsJsonObject());
    }
  }

  private static void describes(JsonObject wanted, JsonObject found) throws Mismatch {
    boolean holds =
        wanted.has("size")
            ? found.has("size") && (wanted.get("size").isJsonNull() || wanted.get("size").equals(found.get("size")))
            : Objects.equals(wanted.get("shape"), found.get("shape"))
                && Objects.equals(dataType(wanted), dataType(found));
    need(holds, "output_json is " + found + ", expected " + wanted);
  }

  /** The same for a name and an object that has nothing but a name. */
  private static JsonElement dataType(JsonObject array) {
    JsonElement type = array.get("data_type");
    boolean isName = type != null && type.isJsonObject() && type.getAsJsonObject().size() == 1;
    return isName ? type.getAsJsonObject().get("name") : type;
  }

  /** The same with direct buffers, in place. */
  private static void direct(Chain chain, byte[] decoded, byte[] encoded, CallOptions options) throws Mismatch {
    ByteBuffer from = ByteBuffer.allocateDirect(decoded.length + 3);
    from.position(3);
    from.put(decoded).position(3);
    ByteBuffer to = ByteBuffer.allocateDirect((int) chain.encodedBound(decoded.length) + 5);
    to.position(5);
    int size = chain.encode(from, to, options);
    need(size == encoded.length && to.position() == 5 + size && !from.hasRemaining(), "direct buffers: " + size + " bytes");
    byte[] found = new byte[size];
    to.position(5);
    to.get(found);
    need(Arrays.equals(found, encoded), "direct buffers give other bytes");
  }

  private static void decodes(
      JsonObject test, Chain chain, byte[] encoded, byte[] decoded, JsonObject anyNan, CallOptions options)
      throws Exception {
    byte[] found = chain.decode(encoded, options);
    if (test.has("redecoded_sha256")) {
      need(sha256(found).equals(test.get("redecoded_sha256").getAsString()), "decoded has another hash");
      return;
    }
    same("decoded", has(test, "redecoded") ? Vectors.bytes(test.get("redecoded")) : decoded, found, anyNan.get("decoded"));
  }

  private static void sameOrHash(String side, JsonObject test, byte[] found, JsonElement anyNan) throws Exception {
    if (test.has(side + "_sha256")) {
      need(sha256(found).equals(test.get(side + "_sha256").getAsString()), side + " has another hash");
    } else {
      same(side, Vectors.bytes(test.get(side)), found, anyNan);
    }
  }

  private static String sha256(byte[] bytes) throws Exception {
    StringBuilder text = new StringBuilder();
    for (byte b : MessageDigest.getInstance("SHA-256").digest(bytes)) {
      text.append(String.format("%02x", b));
    }
    return text.toString();
  }

  private static void same(String what, byte[] wanted, byte[] found, JsonElement anyNan) throws Mismatch {
    need(
        Vectors.same(wanted, found, anyNan),
        what + " is " + Base16.of(found) + ", expected " + (wanted == null ? "none" : Base16.of(wanted)));
  }

  private static void need(boolean holds, String message) throws Mismatch {
    if (!holds) {
      throw new Mismatch(message);
    }
  }

  /** The first bytes, for messages. */
  private static final class Base16 {
    static String of(byte[] bytes) {
      StringBuilder text = new StringBuilder(bytes.length + " bytes ");
      for (int i = 0; i < Math.min(32, bytes.length); i++) {
        text.append(String.format("%02x", bytes[i]));
      }
      return text.toString();
    }
  }
}
