package zcodec;

/** Checks of arguments: the library takes negative numbers for huge ones, and its messages would name those. */
final class Check {
  private Check() {}

  static void notNegative(String name, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " is " + value + ", expected 0 or more");
    }
  }

  /** A size, or {@link Range#UNKNOWN}. */
  static void sizeOrUnknown(String name, long value) {
    if (value != Range.UNKNOWN) {
      notNegative(name, value);
    }
  }

  /** The numbers, copied; null stays null. */
  static long[] notNegative(String name, long[] values) {
    for (int i = 0; values != null && i < values.length; i++) {
      notNegative(name + "[" + i + "]", values[i]);
    }
    return values == null ? null : values.clone();
  }
}
