package zcodec;

/** Why a call failed, for programs. */
public enum Status {
  /** Success. */
  OK(0),
  /** A pointer was missing; a bug in this binding. */
  NULL_ARGUMENT(1),
  /** A size, index or option of the call is wrong. */
  INVALID_ARGUMENT(2),
  /** The JSON is malformed, or a codec's configuration is. */
  INVALID_METADATA(3),
  /** Valid, but this codec, data type or combination is not supported. */
  UNSUPPORTED(4),
  /** The output buffer is too small; {@link ZcodecException#neededSize()} is a larger capacity to try. */
  BUFFER_TOO_SMALL(5),
  /** The size is not known in advance. */
  UNKNOWN_SIZE(6),
  /** The encoded bytes cannot be the output of this chain, or a padding check rejected them. */
  CORRUPT_DATA(7),
  /** An element cannot be represented in the target type. */
  OUT_OF_RANGE(8),
  /** A padding callback or the executor failed, or a codec of the program broke its rules. */
  CALLBACK_FAILED(9),
  /** Native memory could not be allocated. */
  OUT_OF_MEMORY(10),
  /** A bug in the library. */
  INTERNAL(11),
  /** A status of a library that is newer than this jar. */
  UNKNOWN(-1);

  private static final Status[] BY_NUMBER = values();
  private final int number;

  Status(int number) {
    this.number = number;
  }

  /**
   * The number of this status in the C interface.
   *
   * @return the number; -1 for {@link #UNKNOWN}
   */
  public int number() {
    return number;
  }

  static Status of(int number) {
    return number >= 0 && number < BY_NUMBER.length - 1 ? BY_NUMBER[number] : UNKNOWN;
  }
}
