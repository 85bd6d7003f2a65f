package zcodec.zarrjava;

import dev.zarr.zarrjava.ZarrException;
import dev.zarr.zarrjava.core.ArrayMetadata;
import dev.zarr.zarrjava.core.DataType;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import ucar.ma2.Array;

/** Arrays and data types of zarr-java as those of zcodec. */
final class Elements {
  private Elements() {}

  /** The elements in C order and native byte order. */
  static ByteBuffer toBytes(Array array) throws ZarrException {
    Object values = array.copyTo1DJavaArray();
    int count = java.lang.reflect.Array.getLength(values);
    int size = sizeOf(values);
    ByteBuffer bytes = ByteBuffer.allocateDirect(Math.multiplyExact(count, size)).order(ByteOrder.nativeOrder());
    if (values instanceof byte[]) {
      bytes.put((byte[]) values);
    } else if (values instanceof short[]) {
      bytes.asShortBuffer().put((short[]) values);
    } else if (values instanceof int[]) {
      bytes.asIntBuffer().put((int[]) values);
    } else if (values instanceof long[]) {
      bytes.asLongBuffer().put((long[]) values);
    } else if (values instanceof float[]) {
      bytes.asFloatBuffer().put((float[]) values);
    } else if (values instanceof double[]) {
      bytes.asDoubleBuffer().put((double[]) values);
    } else {
      for (boolean value : (boolean[]) values) {
        bytes.put((byte) (value ? 1 : 0));
      }
    }
    ((java.nio.Buffer) bytes).clear();
    return bytes;
  }

  private static int sizeOf(Object values) throws ZarrException {
    Class<?> type = values.getClass().getComponentType();
    if (type == byte.class || type == boolean.class) {
      return 1;
    } else if (type == short.class) {
      return 2;
    } else if (type == int.class || type == float.class) {
      return 4;
    } else if (type == long.class || type == double.class) {
      return 8;
    }
    throw new ZarrException("zcodec: an array of " + type + " has no Zarr data type");
  }

  /** An array of this shape, whose elements are in C order and native byte order. */
  static Array toArray(ByteBuffer bytes, DataType type, int[] shape) {
    bytes.order(ByteOrder.nativeOrder());
    ucar.ma2.DataType ma2 = type.getMA2DataType();
    Class<?> primitive = ma2.getPrimitiveClassType();
    int count = bytes.remaining() / type.getByteCount();
    Object values = java.lang.reflect.Array.newInstance(primitive, count);
    if (values instanceof byte[]) {
      bytes.get((byte[]) values);
    } else if (values instanceof short[]) {
      bytes.asShortBuffer().get((short[]) values);
    } else if (values instanceof int[]) {
      bytes.asIntBuffer().get((int[]) values);
    } else if (values instanceof long[]) {
      bytes.asLongBuffer().get((long[]) values);
    } else if (values instanceof float[]) {
      bytes.asFloatBuffer().get((float[]) values);
    } else if (values instanceof double[]) {
      bytes.asDoubleBuffer().get((double[]) values);
    } else {
      boolean[] booleans = (boolean[]) values;
      for (int i = 0; i < count; i++) {
        booleans[i] = bytes.get() != 0;
      }
    }
    return Array.factory(ma2, shape, values);
  }

  /** What enters on encode, as JSON. */
  static String input(ArrayMetadata.CoreArrayMetadata metadata) throws ZarrException {
    String type = name(metadata.dataType);
    Object fill = metadata.parsedFillValue; // null if the array has none
    return "{\"data_type\":\"" + type + "\",\"shape\":" + Arrays.toString(metadata.chunkShape)
        + (fill == null ? "" : ",\"fill_value\":" + fillValue(type, fill)) + "}";
  }

  private static String name(DataType type) throws ZarrException {
    if (type instanceof dev.zarr.zarrjava.v3.DataType) {
      return ((dev.zarr.zarrjava.v3.DataType) type).getValue();
    }
    throw new ZarrException("zcodec: " + type + " is not a data type of Zarr v3");
  }

  /** zarr-java keeps unsigned fill values in Java's signed types. */
  private static String fillValue(String type, Object value) {
    if (value instanceof Float || value instanceof Double) {
      double number = ((Number) value).doubleValue();
      return Double.isNaN(number) || Double.isInfinite(number) ? "\"" + value + "\"" : String.valueOf(value);
    }
    if (type.startsWith("uint") && value instanceof Number && ((Number) value).longValue() < 0) {
      int bits = Integer.parseInt(type.substring(4));
      return BigInteger.ONE.shiftLeft(bits).add(BigInteger.valueOf(((Number) value).longValue())).toString();
    }
    return String.valueOf(value);
  }
}
