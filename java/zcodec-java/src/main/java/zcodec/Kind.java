package zcodec;

/** The kinds of chains and codecs: what enters on encode, and what leaves. */
public enum Kind {
  /** An array enters on encode, and an array leaves. */
  ARRAY_TO_ARRAY(1),
  /** An array enters on encode, and bytes leave. */
  ARRAY_TO_BYTES(2),
  /** Bytes enter on encode, and bytes leave. */
  BYTES_TO_BYTES(3),
  /** A kind of a library that is newer than this jar. */
  UNKNOWN(-1);

  private static final Kind[] VALUES = values();
  private final int number;

  Kind(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  static Kind of(int number) {
    return number >= 1 && number < VALUES.length ? VALUES[number - 1] : UNKNOWN;
  }
}
