package zcodec;

/** Bytes of a stored object. Immutable. */
public final class Range {
  /** An offset or a size that is not known. */
  public static final long UNKNOWN = C.SIZE_UNKNOWN;

  static final int STRUCT_SIZE = 16;

  private final long offset;
  private final long size;

  Range(long offset, long size) {
    this.offset = offset;
    this.size = size;
  }

  /**
   * Where the bytes begin.
   *
   * @return the offset; {@link #UNKNOWN}: the range is the last {@link #size} bytes of the object
   */
  public long offset() {
    return offset;
  }

  /**
   * The number of bytes.
   *
   * @return the size; {@link #UNKNOWN}: up to the end of the object
   */
  public long size() {
    return size;
  }

  @Override
  public String toString() {
    return "Range(offset " + (offset == UNKNOWN ? "unknown" : offset) + ", size " + (size == UNKNOWN ? "unknown" : size) + ")";
  }
}
