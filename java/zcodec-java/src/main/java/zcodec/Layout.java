package zcodec;

/** How a writer lays out the new object. */
public enum Layout {
  /** The whole new object, inner chunks in C order: for object stores. */
  PACKED,
  /**
   * Only what must be written, in the order to write it, the index last; what was there stays where it is: for files. A
   * new shard: as {@link #PACKED}, in the order of its bytes.
   */
  APPEND
}
