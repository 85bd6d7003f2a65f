package zcodec;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Base64;

/** The sides of a conformance case: bytes from base64 or a generator, and comparison where any NaN will do. */
final class Vectors {
  private Vectors() {}

  /** Little-endian bytes; null for null. */
  static byte[] bytes(JsonElement side) {
    if (side == null || side.isJsonNull()) {
      return null;
    }
    return side.isJsonObject() ? generated(side.getAsJsonObject()) : Base64.getDecoder().decode(side.getAsString());
  }

  private static byte[] generated(JsonObject spec) {
    int size = spec.get("size").getAsInt();
    String type = spec.has("data_type") && !spec.get("data_type").isJsonNull() ? spec.get("data_type").getAsString() : null;
    byte[] raw = splitmix64(spec.get("seed").getAsBigInteger(), size);
    switch (spec.get("generator").getAsString()) {
      case "splitmix64":
        return type == null ? raw : narrowed(raw, type);
      case "smooth":
        return smooth(spec.get("seed").getAsBigInteger(), size, type);
      default:
        throw new IllegalArgumentException(spec.toString());
    }
  }

  private static byte[] splitmix64(BigInteger seed, int size) {
    ByteBuffer out = ByteBuffer.allocate((size + 7) / 8 * 8).order(ByteOrder.LITTLE_ENDIAN);
    long state = seed.longValue();
    while (out.hasRemaining()) {
      state += 0x9E3779B97F4A7C15L;
      long z = state;
      z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
      z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
      out.putLong(z ^ z >>> 31);
    }
    return Arrays.copyOf(out.array(), size);
  }

  /** A byte per element: the low bits, sign-extended for signed types. */
  private static byte[] narrowed(byte[] raw, String type) {
    int bits = bitsOf(type);
    if (bits < 8) {
      for (int i = 0; i < raw.length; i++) {
        int low = raw[i] & (1 << bits) - 1;
        boolean negative = type.startsWith("int") && low >> bits - 1 != 0;
        raw[i] = (byte) (negative ? low - (1 << bits) : low);
      }
    }
    return raw;
  }

  private static int bitsOf(String type) {
    String component = type.startsWith("complex_") ? type.substring(8) : type;
    switch (component) {
      case "bool":
        return 1;
      case "complex64":
        return 32;
      case "complex128":
        return 64;
      default:
        String digits = component.startsWith("bfloat") ? "16" : component.replaceAll("^[a-z]+(\\d+).*", "$1");
        return Integer.parseInt(digits);
    }
  }

  private static byte[] smooth(BigInteger seed, int size, String type) {
    int bits = bitsOf(type);
    int each = Math.max(1, bits / 8);
    byte[] noise = splitmix64(seed, size / each);
    ByteBuffer out = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < size / each; i++) {
      int value = ((i % 97) * (i % 89) + i / 64 * 3 + (noise[i] & 3)) % 4000;
      if (type.startsWith("float") || type.startsWith("bfloat")) {
        putFloat(out, type, value);
      } else {
        long masked = bits > 32 ? value : value & (1L << bits - 1) - 1;
        for (int b = 0; b < each; b++) {
          out.put((byte) (masked >> 8 * b));
        }
      }
    }
    return out.array();
  }

  private static void putFloat(ByteBuffer out, String type, int value) {
    switch (type) {
      case "float64":
        out.putDouble(value / 8.0);
        break;
      case "float32":
        out.putFloat((value & (2 << 23) - 1) / 8f);
        break;
      case "bfloat16":
        out.putShort((short) (Float.floatToRawIntBits((value & 0xFF) / 8f) >>> 16));
        break;
      case "float16":
        out.putShort(halfOf((value & 0x7FF) / 8f));
        break;
      default:
        throw new IllegalArgumentException(type);
    }
  }

  /** Exact, for numbers that float16 holds as normal ones, or 0. */
  private static short halfOf(float value) {
    int bits = Float.floatToRawIntBits(value);
    return (short) (value == 0 ? 0 : (bits >>> 23) - 127 + 15 << 10 | bits >>> 13 & 0x3FF);
  }

  /** Whether both are equal, any NaN being as good as another if {@code anyNan} names a type. */
  static boolean same(byte[] wanted, byte[] found, JsonElement anyNan) {
    if (Arrays.equals(wanted, found)) {
      return true;
    }
    if (anyNan == null || anyNan.isJsonNull() || wanted.length != found.length) {
      return false;
    }
    JsonObject spec = anyNan.getAsJsonObject();
    String type = spec.get("data_type").getAsString().replace("complex_", "");
    type = type.equals("complex64") ? "float32" : type.equals("complex128") ? "float64" : type;
    int size = Math.max(1, bitsOf(type) / 8);
    boolean little = spec.get("endian").getAsString().equals("little");
    for (int i = 0; i < wanted.length; i += size) {
      long a = number(wanted, i, size, little);
      long b = number(found, i, size, little);
      if (a != b && !(isNan(type, a) && isNan(type, b))) {
        return false;
      }
    }
    return true;
  }

  private static long number(byte[] bytes, int at, int size, boolean little) {
    long number = 0;
    for (int i = 0; i < size; i++) {
      number = number << 8 | bytes[at + (little ? size - 1 - i : i)] & 0xFF;
    }
    return number;
  }

  private static boolean isNan(String type, long bits) {
    if (type.endsWith("fnuz")) {
      return bits == 0x80;
    }
    switch (type) {
      case "float8_e8m0fnu":
        return bits == 0xFF;
      case "float8_e4m3fn":
        return (bits & 0x7F) == 0x7F;
      case "float8_e3m4":
        return isIeeeNan(bits, 3, 4);
      case "float8_e4m3":
        return isIeeeNan(bits, 4, 3);
      case "float8_e5m2":
        return isIeeeNan(bits, 5, 2);
      case "bfloat16":
        return isIeeeNan(bits, 8, 7);
      case "float16":
        return isIeeeNan(bits, 5, 10);
      case "float32":
        return isIeeeNan(bits, 8, 23);
      case "float64":
        return isIeeeNan(bits, 11, 52);
      default:
        return false;
    }
  }

  private static boolean isIeeeNan(long bits, int exponentBits, int mantissaBits) {
    long exponent = bits >> mantissaBits & (1L << exponentBits) - 1;
    return exponent == (1L << exponentBits) - 1 && (bits & (1L << mantissaBits) - 1) != 0;
  }
}
