package zcodec;

/** A call of the native library failed. The message is for people, the other properties for programs. */
public final class ZcodecException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The code of an error of the executor. */
  private static final String EXECUTOR = "executor";

  /** What went wrong. */
  private final Status status;
  /** Why, in a word. */
  private final String code;
  /** A JSON Pointer. */
  private final String path;
  /** -1: none. */
  private final long codecIndex;
  /** -1: none. */
  private final long elementIndex;
  /** In bytes. */
  private final long neededSize;

  private ZcodecException(
      Status status,
      String message,
      String code,
      String path,
      long codecIndex,
      long elementIndex,
      long neededSize,
      Throwable cause) {
    super(message, cause);
    this.status = status;
    this.code = code;
    this.path = path;
    this.codecIndex = codecIndex;
    this.elementIndex = elementIndex;
    this.neededSize = neededSize;
  }

  /** Takes over the error at this address, which may be 0, and frees it. */
  static ZcodecException take(int number, long error, long neededSize, Throwable cause) {
    Status status = Status.of(number);
    if (error == 0) {
      return new ZcodecException(
          status, Zcodec.text(C.zcodec_status_name(number)), "", "", -1, -1, neededSize, cause);
    }
    try {
      String code = Zcodec.text(C.zcodec_error_code(error));
      return new ZcodecException(
          status,
          Zcodec.text(C.zcodec_error_message(error)),
          code,
          Zcodec.text(C.zcodec_error_path(error)),
          C.zcodec_error_codec_index(error),
          C.zcodec_error_element_index(error),
          neededSize,
          code.equals(EXECUTOR) ? ExecutorRun.lastFailure() : cause);
    } finally {
      C.zcodec_error_free(error);
    }
  }

  /**
   * What went wrong.
   *
   * @return the status
   */
  public Status status() {
    return status;
  }

  /**
   * Why, more exactly than the status says: a word that never changes, such as {@code unknown_codec}.
   *
   * @return the word; empty if there is none
   */
  public String code() {
    return code;
  }

  /**
   * Where the codec at fault stands in the list of codecs.
   *
   * @return a JSON Pointer such as {@code /0/configuration/codecs/1}; empty if the error is about no codec
   */
  public String path() {
    return path;
  }

  /**
   * The index of the codec at fault in the chain.
   *
   * @return the index; -1 if the error is about no codec
   */
  public long codecIndex() {
    return codecIndex;
  }

  /**
   * The first element at fault, counted in C order in the array that the named codec received.
   *
   * @return the index; -1 if the error is about no element
   */
  public long elementIndex() {
    return elementIndex;
  }

  /**
   * For {@link Status#BUFFER_TOO_SMALL}: a size that is enough, or twice the capacity if a codec of the host does not
   * say how much it needs.
   *
   * @return the size in bytes; 0 for any other status
   */
  public long neededSize() {
    return neededSize;
  }
}
