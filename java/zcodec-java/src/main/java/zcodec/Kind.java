package zcodec;

/** The kinds of chains and codecs: what enters on encode, and what leaves. */
public enum Kind {
  /** An array enters on encode, and an array leaves. */
  ARRAY_TO_ARRAY,
  /** An array enters on encode, and bytes leave. */
  ARRAY_TO_BYTES,
  /** Bytes enter on encode, and bytes leave. */
  BYTES_TO_BYTES;

  private static final Kind[] VALUES = values();

  int number() {
    return ordinal() + 1;
  }

  static Kind of(int number) {
    return VALUES[number - 1];
  }
}
