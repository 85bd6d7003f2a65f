package zcodec.zarrjava;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import dev.zarr.zarrjava.ZarrException;
import dev.zarr.zarrjava.core.ArrayMetadata;
import dev.zarr.zarrjava.v3.Array;
import dev.zarr.zarrjava.v3.DataType;
import dev.zarr.zarrjava.v3.codec.Codec;
import dev.zarr.zarrjava.v3.codec.CodecRegistry;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import zcodec.Chain;
import zcodec.Zcodec;

/** The codecs inside zarr-java. */
class ZarrJavaTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;

  @BeforeAll
  static void register() {
    ZcodecCodecs.register();
  }

  private static JsonNode json(String text) throws Exception {
    return JSON.readTree(text.replace('\'', '"'));
  }

  private static Codec codec(String name, String configuration) throws Exception {
    return ZcodecCodecs.create(name, configuration == null ? null : json(configuration));
  }

  /** Writes an array with zarr-java, reads it back, and compares its chunks with those of zcodec alone. */
  private void roundTrip(DataType type, Object values, Object read, Codec... codecs) throws Exception {
    Path place = Files.createTempDirectory(folder, "array");
    int[] shape = {4, 6};
    Array array =
        Array.create(
            place,
            builder ->
                builder
                    .withShape(4, 6)
                    .withChunkShape(2, 6)
                    .withDataType(type)
                    .withFillValue(fill(type))
                    .withCodecs(codecs),
            true);
    array.write(ucar.ma2.Array.factory(type.getMA2DataType(), shape, values));
    Array again = Array.open(place);
    assertArray(read, again.read().copyTo1DJavaArray());
    assertArray(
        Arrays.asList(java.lang.reflect.Array.get(read, 7), java.lang.reflect.Array.get(read, 13)),
        Arrays.asList(boxed(again.read(new long[] {1, 1}, new int[] {2, 1}).copyTo1DJavaArray())));
    byte[] stored = Files.readAllBytes(place.resolve("c/1/0"));
    String document = new String(Files.readAllBytes(place.resolve("zarr.json")), StandardCharsets.UTF_8);
    try (Chain chain = Chain.ofZarrJson(document)) {
      ByteBuffer chunk = Elements.toBytes(ucar.ma2.Array.factory(type.getMA2DataType(), shape, values));
      chunk.position(chunk.limit() / 2);
      byte[] half = new byte[chunk.remaining()];
      chunk.get(half);
      assertArrayEquals(chain.encode(half), stored);
    }
  }

  private static Object fill(DataType type) {
    return type == DataType.BOOL ? (Object) false : (Object) 0;
  }

  private static Object[] boxed(Object values) {
    return IntStream.range(0, java.lang.reflect.Array.getLength(values))
        .mapToObj(i -> java.lang.reflect.Array.get(values, i))
        .toArray();
  }

  private static void assertArray(Object wanted, Object found) {
    if (wanted instanceof List) {
      assertEquals(wanted, found);
    } else {
      assertEquals(Arrays.asList(boxed(wanted)), Arrays.asList(boxed(found)));
    }
  }

  private static short[] shorts() {
    short[] values = new short[24];
    for (int i = 0; i < values.length; i++) {
      values[i] = (short) (i * 7 - 30);
    }
    return values;
  }

  private static float[] floats() {
    float[] values = new float[24];
    for (int i = 0; i < values.length; i++) {
      values[i] = i * 0.25f - 2;
    }
    return values;
  }

  @Test
  void packedMask() throws Exception {
    boolean[] mask = new boolean[24];
    for (int i = 0; i < mask.length; i++) {
      mask[i] = i % 3 == 0 || i == 13;
    }
    roundTrip(DataType.BOOL, mask, mask, codec("packbits", "{'padding_encoding':'first_byte'}"));
  }

  @Test
  void twelveBitsBehindATiffHeader() throws Exception {
    Codec twelve = codec("packbits", "{'first_bit':0,'last_bit':11}");
    Codec pad = codec("pad", "{'location':'start','nbytes':4,'padding':'SUkqAA=='}");
    roundTrip(DataType.INT16, shorts(), shorts(), twelve, pad);
  }

  @Test
  void scaledCastAndCompressed() throws Exception {
    roundTrip(
        DataType.FLOAT32,
        floats(),
        floats(),
        codec("scale_offset", "{'offset':-2,'scale':4}"),
        codec("cast_value", "{'data_type':'int8','rounding':'nearest-even'}"),
        codec("packbits", null),
        codec("offset", "{'offset':2,'prefix':'AAA='}"),
        codec("numcodecs.zlib", "{'level':1}"));
  }

  @Test
  void reshapedForZfp() throws Exception {
    roundTrip(
        DataType.FLOAT32,
        floats(),
        floats(),
        codec("bitround", "{'keepbits':20}"),
        codec("reshape", "{'shape':[3,4,1]}"),
        codec("squeeze", null),
        codec("zfp", "{'mode':'reversible'}"));
  }

  @Test
  void signedIntegersAndFloat64() throws Exception {
    byte[] bytes = new byte[24];
    int[] ints = new int[24];
    for (int i = 0; i < 24; i++) {
      bytes[i] = (byte) (i - 9);
      ints[i] = Integer.MIN_VALUE + i * 77777;
    }
    roundTrip(DataType.INT8, bytes, bytes, codec("packbits", null));
    roundTrip(DataType.INT32, ints, ints, codec("packbits", null));
    long[] longs = new long[24];
    Arrays.setAll(longs, i -> Long.MIN_VALUE + i * 0x123456789AL);
    roundTrip(DataType.INT64, longs, longs, codec("numcodecs.delta", "{'dtype':'<i8'}"), codec("packbits", null));
    double[] doubles = new double[24];
    Arrays.setAll(doubles, i -> Math.sqrt(i));
    Codec shuffle = codec("numcodecs.shuffle", "{'elementsize':8}");
    roundTrip(DataType.FLOAT64, doubles, doubles, codec("packbits", null), shuffle);
  }

  @Test
  void unsignedDataTypes() throws Exception {
    byte[] bytes = new byte[24];
    int[] ints = new int[24];
    for (int i = 0; i < 24; i++) {
      bytes[i] = (byte) (i * 11);
      ints[i] = Integer.MAX_VALUE + i * 77777;
    }
    long[] longs = new long[24];
    Arrays.setAll(longs, i -> Long.MAX_VALUE + i * 0x123456789AL);
    roundTrip(DataType.UINT8, bytes, bytes, codec("packbits", null));
    Codec lz4 = codec("numcodecs.lz4", "{'acceleration':1}");
    roundTrip(DataType.UINT16, shorts(), shorts(), codec("packbits", null), lz4);
    Codec pcodec = codec("numcodecs.pcodec", "{'level':8}");
    roundTrip(DataType.UINT32, ints, ints, codec("bitround", "{'keepbits':32}"), pcodec);
    roundTrip(DataType.UINT64, longs, longs, codec("reshape", "{'shape':[-1]}"), codec("packbits", null));
    short[] small = new short[24];
    for (int i = 0; i < 24; i++) {
      small[i] = (short) (i * 170);
    }
    roundTrip(DataType.UINT16, small, small, codec("packbits", "{'first_bit':0,'last_bit':11}"));
    Codec cast = codec("cast_value", "{'data_type':'int32'}");
    roundTrip(DataType.UINT16, small, small, cast, codec("zfp", "{'mode':'reversible'}"));
  }

  @Test
  void unsignedFillValues() throws Exception {
    Codec packbits = codec("packbits", "{'first_bit':0,'last_bit':11}");
    Array array =
        Array.create(
            folder,
            builder ->
                builder
                    .withShape(4, 6)
                    .withChunkShape(2, 6)
                    .withDataType(DataType.UINT16)
                    .withFillValue(65535)
                    .withCodecs(new Codec[] {packbits}),
            true);
    int[] half = {2, 6};
    array.write(new long[] {2, 0}, ucar.ma2.Array.factory(DataType.UINT16.getMA2DataType(), half, new short[12]));
    short[] read = (short[]) Array.open(folder).read().copyTo1DJavaArray();
    assertEquals(-1, read[0]);
    assertEquals(0, read[23]);
  }

  /** Inside zarr-java's own shards, in both directions, with parts of inner chunks. */
  @Test
  void shards() throws Exception {
    int[] shape = {8, 12};
    short[] values = new short[96];
    for (int i = 0; i < values.length; i++) {
      values[i] = (short) (i * 31 % 4096);
    }
    String bytes = "{'name':'bytes','configuration':{'endian':'little'}}";
    for (String inner :
        new String[] {
          "[{'name':'packbits'},{'name':'numcodecs.zlib','configuration':{'level':3}}]",
          "[{'name':'packbits','configuration':{'first_bit':0,'last_bit':11}},{'name':'crc32c'}]",
          "[{'name':'reshape','configuration':{'shape':[3,4]}},{'name':'packbits'},"
              + "{'name':'offset','configuration':{'offset':4,'prefix':'AAAAAA=='}}]",
          "[{'name':'cast_value','configuration':{'data_type':'int32'}},"
              + "{'name':'zfp','configuration':{'mode':'reversible'}}]",
        }) {
      String document =
          ("{'zarr_format':3,'node_type':'array','shape':[8,12],'data_type':'uint16','fill_value':7,"
                  + "'chunk_grid':{'name':'regular','configuration':{'chunk_shape':[4,12]}},"
                  + "'chunk_key_encoding':{'name':'default','configuration':{'separator':'/'}},'attributes':{},"
                  + "'codecs':[{'name':'sharding_indexed','configuration':{'chunk_shape':[2,6],'codecs':" + inner
                  + ",'index_codecs':[" + bytes + ",{'name':'crc32c'}],'index_location':'end'}}]}")
              .replace('\'', '"');
      Path place = Files.createTempDirectory(folder, "shards");
      Files.write(place.resolve("zarr.json"), document.getBytes(StandardCharsets.UTF_8));
      Array.open(place).write(ucar.ma2.Array.factory(DataType.UINT16.getMA2DataType(), shape, values));
      try (Chain chain = Chain.ofZarrJson(document)) {
        for (int shard = 0; shard < 2; shard++) {
          Path file = place.resolve("c/" + shard + "/0");
          short[] found = new short[48];
          byte[] decoded = chain.decode(Files.readAllBytes(file));
          ByteBuffer.wrap(decoded).order(java.nio.ByteOrder.nativeOrder()).asShortBuffer().get(found);
          assertArrayEquals(Arrays.copyOfRange(values, 48 * shard, 48 * shard + 48), found, inner);
          Files.write(file, chain.encode(decoded));
        }
      }
      assertArray(values, Array.open(place).read().copyTo1DJavaArray());
      ucar.ma2.Array part = Array.open(place).read(new long[] {1, 4}, new int[] {5, 5});
      for (int i = 0; i < 25; i++) {
        assertEquals(values[(1 + i / 5) * 12 + 4 + i % 5], part.getShort(i), inner);
      }
    }
  }

  @Test
  void fillValuesMayBeMissingAndInfinite() throws Exception {
    float[] values = {1.5f, -2, 0, 1024};
    String bytes = ",{'name':'bytes','configuration':{'endian':'little'}}";
    for (String fill : new String[] {"null", "'+Infinity'", "'-Infinity'", "'NaN'", "0.5"}) {
      for (String codecs :
          new String[] {
            "{'name':'bitround','configuration':{'keepbits':20}}" + bytes,
            "{'name':'reshape','configuration':{'shape':[2,2]}}" + bytes,
            "{'name':'packbits'}",
          }) {
        String document =
            ("{'zarr_format':3,'node_type':'array','shape':[4],'data_type':'float32','fill_value':"
                    + fill + ",'attributes':{},"
                    + "'chunk_grid':{'name':'regular','configuration':{'chunk_shape':[4]}},"
                    + "'chunk_key_encoding':{'name':'default','configuration':{'separator':'/'}},"
                    + "'codecs':[" + codecs + "]}")
                .replace('\'', '"');
        Path place = Files.createTempDirectory(folder, "fill");
        Files.write(place.resolve("zarr.json"), document.getBytes(StandardCharsets.UTF_8));
        Array.open(place).write(ucar.ma2.Array.factory(DataType.FLOAT32.getMA2DataType(), new int[] {4}, values));
        assertArrayEquals(values, (float[]) Array.open(place).read().copyTo1DJavaArray(), fill + codecs);
      }
    }
  }

  @Test
  void everyCodecThatZarrJavaLacksIsRegistered() throws Exception {
    Set<String> its =
        new HashSet<>(Arrays.asList("transpose", "bytes", "blosc", "gzip", "zstd", "crc32c", "sharding_indexed"));
    int count = 0;
    for (JsonNode codec : JSON.readTree(Zcodec.supportedJson()).get("codecs")) {
      if (!its.contains(codec.get("name").asText())) {
        assertNotNull(ZcodecCodecs.create(codec.get("name").asText(), null));
        for (JsonNode alias : codec.get("aliases")) {
          assertNotNull(ZcodecCodecs.create(alias.asText(), null));
        }
        count++;
      }
    }
    assertTrue(count > 20, count + " codecs");
  }

  @Test
  void everyCodecHasTheNameThatItIsRegisteredBy() throws Exception {
    Map<String, Class<?>> registered = new HashMap<>();
    for (NamedType type : CodecRegistry.getNamedTypes()) {
      registered.put(type.getName(), type.getType());
    }
    for (String name : ZcodecCodecs.names()) {
      Codec codec = ZcodecCodecs.create(name, null);
      assertEquals(name, codec.getClass().getField("name").get(codec));
      assertEquals(codec.getClass(), registered.get(name));
    }
    assertThrows(IllegalArgumentException.class, () -> ZcodecCodecs.create("none", null));
  }

  @Test
  void chunksThatNoArrayHoldsAreRefused() throws Exception {
    Codec packbits = codec("packbits", null);
    int[] shape = {1 << 16, 1 << 15}; // 2^31 bytes
    ArrayMetadata.CoreArrayMetadata huge = core(DataType.INT8, shape);
    ZarrException e = assertThrows(ZarrException.class, () -> packbits.setCoreArrayMetadata(huge));
    assertTrue(e.getMessage().contains("2147483648"), e.getMessage());
  }

  @Test
  void errorsArriveAsThoseOfZarrJava() throws Exception {
    Codec cast = codec("cast_value", "{'data_type':'float16'}");
    ZarrException e = assertThrows(ZarrException.class, () -> cast.setCoreArrayMetadata(core(DataType.INT16, 4)));
    assertTrue(e.getMessage().contains("float16"), e.getMessage());
    Codec wrong = codec("packbits", "{'first_bit':99}");
    assertThrows(ZarrException.class, () -> wrong.setCoreArrayMetadata(core(DataType.INT16, 4)));
    Codec packbits = codec("packbits", null);
    packbits.setCoreArrayMetadata(core(DataType.INT16, 4));
    assertThrows(ZarrException.class, () -> ((ZcodecArrayBytesCodec) packbits).decode(ByteBuffer.allocate(3)));
    assertEquals(8, packbits.computeEncodedSize(8, core(DataType.INT16, 4)));
    Codec zfp = codec("zfp", "{'mode':'reversible'}");
    zfp.setCoreArrayMetadata(core(DataType.INT32, 4));
    ZarrException none = assertThrows(ZarrException.class, () -> zfp.computeEncodedSize(16, core(DataType.INT32, 4)));
    assertEquals("codec \"zfp\" does not make chunks of a fixed size", none.getMessage());
  }

  private static ArrayMetadata.CoreArrayMetadata core(DataType type, int... shape) {
    return new ArrayMetadata.CoreArrayMetadata(Arrays.stream(shape).asLongStream().toArray(), shape, type, 0);
  }

  @Test
  void theVectorsHold() throws Exception {
    Path cases = Paths.get(System.getProperty("zcodec.repository"), "tests/conformance/cases");
    int count = 0;
    List<String> files =
        Arrays.asList("packbits", "zfp", "scale_offset", "cast_value", "reshape", "bitround", "pad", "offset");
    for (String file : files) {
      for (String line : Files.readAllLines(cases.resolve(file + ".jsonl"))) {
        JsonNode test = JSON.readTree(line);
        if (isWithinReach(test)) {
          vector(file + ": " + test.get("name").asText(), test);
          count++;
        }
      }
    }
    assertTrue(count > 200, "only " + count + " cases");
  }

  private static boolean isWithinReach(JsonNode test) {
    return !test.has("error") && !test.has("any_nan") && !test.has("padding") && test.path("codecs").size() == 1
        && test.path("codecs").get(0).isObject() && test.path("decoded").isTextual() && test.path("encoded").isTextual()
        && !test.has("optional")
        && (test.path("input").isNull() || type(test.path("input")) != null)
        && !test.path("checks").toString().contains("round_trip");
  }

  /** The type of zarr-java; null: none. */
  private static DataType type(JsonNode array) {
    for (DataType type : DataType.values()) {
      if (type.getValue().equals(array.path("data_type").asText())) {
        return type;
      }
    }
    return null;
  }

  private static void vector(String name, JsonNode test) throws Exception {
    JsonNode metadata = test.get("codecs").get(0);
    Codec codec = ZcodecCodecs.create(metadata.get("name").asText(), metadata.get("configuration"));
    byte[] decoded = Base64.getDecoder().decode(test.get("decoded").asText());
    byte[] encoded = Base64.getDecoder().decode(test.get("encoded").asText());
    byte[] redecoded = test.has("redecoded") ? Base64.getDecoder().decode(test.get("redecoded").asText()) : decoded;
    boolean encodes = test.get("checks").toString().contains("\"encode\"");
    boolean decodes = test.get("checks").toString().contains("\"decode\"");
    if (codec instanceof ZcodecBytesBytesCodec) {
      ZcodecBytesBytesCodec bytes = (ZcodecBytesBytesCodec) codec;
      assertTrue(!encodes || bytes.encode(ByteBuffer.wrap(decoded)).equals(ByteBuffer.wrap(encoded)), name);
      assertTrue(!decodes || bytes.decode(ByteBuffer.wrap(encoded)).equals(ByteBuffer.wrap(redecoded)), name);
      return;
    }
    DataType type = type(test.get("input"));
    int[] shape = JSON.convertValue(test.get("input").get("shape"), int[].class);
    Object fill;
    try {
      fill = ArrayMetadata.parseFillValue(JSON.convertValue(test.get("input").get("fill_value"), Object.class), type);
      codec.setCoreArrayMetadata(
          new ArrayMetadata.CoreArrayMetadata(Arrays.stream(shape).asLongStream().toArray(), shape, type, fill));
    } catch (ZarrException e) {
      String message = e.getMessage();
      assertTrue(message.contains("no data type") || message.contains("fill"), name + ": " + message);
      return;
    }
    if (codec instanceof ZcodecArrayBytesCodec) {
      ZcodecArrayBytesCodec bytes = (ZcodecArrayBytesCodec) codec;
      ucar.ma2.Array array = Elements.toArray(ByteBuffer.wrap(decoded), type, shape);
      assertTrue(!encodes || bytes.encode(array).equals(ByteBuffer.wrap(encoded)), name);
      ByteBuffer stored = ByteBuffer.wrap(encoded);
      assertTrue(!decodes || Elements.toBytes(bytes.decode(stored)).equals(ByteBuffer.wrap(redecoded)), name);
    } else {
      ZcodecArrayArrayCodec arrays = (ZcodecArrayArrayCodec) codec;
      ArrayMetadata.CoreArrayMetadata output = codec.resolveArrayMetadata();
      ucar.ma2.Array array = Elements.toArray(ByteBuffer.wrap(decoded), type, shape);
      assertTrue(!encodes || Elements.toBytes(arrays.encode(array)).equals(ByteBuffer.wrap(encoded)), name);
      ucar.ma2.Array stored = Elements.toArray(ByteBuffer.wrap(encoded), output.dataType, output.chunkShape);
      assertTrue(!decodes || Elements.toBytes(arrays.decode(stored)).equals(ByteBuffer.wrap(redecoded)), name);
    }
  }
}
