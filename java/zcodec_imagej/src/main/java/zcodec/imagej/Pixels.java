package zcodec.imagej;

import ij.process.ByteProcessor;
import ij.process.FloatProcessor;
import ij.process.ImageProcessor;
import ij.process.ShortProcessor;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Elements of a Zarr data type as pixels of ImageJ, which knows 8 and 16 bits without a sign, and float. */
enum Pixels {
  BOOL(8),
  BYTES(8),
  SIGNED_BYTES(32),
  SHORTS(16),
  SIGNED_SHORTS(16),
  INTS(32),
  UNSIGNED_INTS(32),
  LONGS(32),
  UNSIGNED_LONGS(32),
  HALVES(32),
  BRAIN_HALVES(32),
  FLOATS(32),
  DOUBLES(32);

  final int bitDepth;

  Pixels(int bitDepth) {
    this.bitDepth = bitDepth;
  }

  static Pixels of(String dataType) throws IOException {
    switch (dataType) {
      case "bool":
        return BOOL;
      case "uint2":
      case "uint4":
      case "uint8":
        return BYTES;
      case "int2":
      case "int4":
      case "int8":
        return SIGNED_BYTES;
      case "uint16":
        return SHORTS;
      case "int16":
        return SIGNED_SHORTS;
      case "int32":
        return INTS;
      case "uint32":
        return UNSIGNED_INTS;
      case "int64":
        return LONGS;
      case "uint64":
        return UNSIGNED_LONGS;
      case "float16":
        return HALVES;
      case "bfloat16":
        return BRAIN_HALVES;
      case "float32":
        return FLOATS;
      case "float64":
        return DOUBLES;
      default:
        throw new IOException("ImageJ has no pixels for the data type " + dataType);
    }
  }

  /** A plane of elements in native byte order. */
  ImageProcessor processor(int width, int height, ByteBuffer elements) {
    int count = width * height;
    switch (this) {
      case BOOL:
        byte[] mask = new byte[count];
        for (int i = 0; i < count; i++) {
          mask[i] = (byte) (elements.get(i) == 0 ? 0 : 255);
        }
        return new ByteProcessor(width, height, mask);
      case BYTES:
        byte[] bytes = new byte[count];
        elements.get(bytes);
        return new ByteProcessor(width, height, bytes);
      case SHORTS:
      case SIGNED_SHORTS:
        short[] shorts = new short[count];
        elements.asShortBuffer().get(shorts);
        for (int i = 0; this == SIGNED_SHORTS && i < count; i++) {
          shorts[i] ^= Short.MIN_VALUE; // ImageJ adds 32768, and takes it away by the calibration
        }
        return new ShortProcessor(width, height, shorts, null);
      default:
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
          floats[i] = number(elements, i);
        }
        return new FloatProcessor(width, height, floats);
    }
  }

  /** Whether a pixel cannot be the value of its element. */
  boolean rounds(ByteBuffer elements, int count) {
    for (int i = 0; i < count && mayRound(); i++) {
      if (isRounded(elements, i)) {
        return true;
      }
    }
    return false;
  }

  private boolean mayRound() {
    return this == INTS || this == UNSIGNED_INTS || this == LONGS || this == UNSIGNED_LONGS || this == DOUBLES;
  }

  private boolean isRounded(ByteBuffer elements, int i) {
    switch (this) {
      case INTS:
        return hasMoreBits(Math.abs((long) elements.getInt(4 * i)));
      case UNSIGNED_INTS:
        return hasMoreBits(elements.getInt(4 * i) & 0xFFFFFFFFL);
      case LONGS:
        return hasMoreBits(Math.abs(elements.getLong(8 * i)));
      case UNSIGNED_LONGS:
        return hasMoreBits(elements.getLong(8 * i));
      case DOUBLES:
        double value = elements.getDouble(8 * i);
        return (float) value != value && !Double.isNaN(value);
      default:
        return false;
    }
  }

  /** Whether an unsigned number has more significant bits than a float. */
  private static boolean hasMoreBits(long number) {
    return Long.SIZE - Long.numberOfLeadingZeros(number) - Long.numberOfTrailingZeros(number) > 24;
  }

  private float number(ByteBuffer elements, int i) {
    switch (this) {
      case SIGNED_BYTES:
        return elements.get(i);
      case INTS:
        return elements.getInt(4 * i);
      case UNSIGNED_INTS:
        return elements.getInt(4 * i) & 0xFFFFFFFFL;
      case LONGS:
        return elements.getLong(8 * i);
      case UNSIGNED_LONGS:
        long bits = elements.getLong(8 * i);
        return bits >= 0 ? bits : (bits >>> 1 | bits & 1) * 2f;
      case HALVES:
        return half(elements.getShort(2 * i));
      case BRAIN_HALVES:
        return Float.intBitsToFloat(elements.getShort(2 * i) << 16);
      case FLOATS:
        return elements.getFloat(4 * i);
      default:
        return (float) elements.getDouble(8 * i);
    }
  }

  private static float half(short bits) {
    int exponent = bits >> 10 & 0x1F;
    int mantissa = bits & 0x3FF;
    float size;
    if (exponent == 0x1F) {
      size = mantissa == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
    } else if (exponent == 0) {
      size = mantissa * 0x1p-24f;
    } else {
      size = Math.scalb(1024 + mantissa, exponent - 25);
    }
    return bits < 0 ? -size : size;
  }
}
