package zcodec;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Where the elements of a box lie in a buffer: element (0, .., 0) begins {@code offset} bytes after the buffer's
 * position; neighbours along dimension i are {@code strides[i]} bytes apart, of any sign. Nothing outside the buffer's
 * position and limit is touched, and the bytes between the elements stay as they are. A view that is written to must
 * not have two elements in the same bytes, as with a stride of 0: what they hold then is unspecified.
 *
 * <p>The memory of a heap buffer, from its position to its limit, is copied as a whole, to native memory and back. So
 * during a call, and until a {@link Plan} is complete, nothing else may write to it, not even between the elements: no
 * other thread, no other call and no other plan. The views of one plan, and those of the tasks of one call, may lie
 * side by side in one array, with interleaving elements: they share one copy. No byte of an element of one of them may
 * belong to an element of another.
 */
public final class View {
  static final int STRUCT_SIZE = 48;

  final ByteBuffer memory;
  final long offset;
  private final long[] strides;
  private final int ndim;

  private View(ByteBuffer memory, long offset, long[] strides, int ndim) {
    this.memory = Objects.requireNonNull(memory, "memory").duplicate();
    this.offset = offset;
    this.strides = strides;
    this.ndim = ndim;
  }

  /**
   * Elements back to back, in C order.
   *
   * @param memory from its position to its limit; both stay as they are
   * @param ndim the number of dimensions
   * @return the view
   */
  public static View of(ByteBuffer memory, int ndim) {
    Check.notNegative("ndim", ndim);
    return new View(memory, 0, null, ndim);
  }

  /**
   * Elements at any distances.
   *
   * @param memory from its position to its limit; both stay as they are
   * @param offset where element (0, .., 0) begins, in bytes from the position
   * @param strides a distance in bytes for each dimension
   * @return the view
   */
  public static View of(ByteBuffer memory, long offset, long... strides) {
    Check.notNegative("offset", offset);
    return new View(memory, offset, strides.clone(), strides.length);
  }

  /** Writes a {@code zcodec_view} of the memory, which lies in native memory at {@code staged}. */
  void write(Arena arena, long address, long staged) {
    arena.putLong(address, STRUCT_SIZE);
    arena.putLong(address + 8, staged);
    arena.putLong(address + 16, memory.remaining());
    arena.putLong(address + 24, offset);
    arena.putLong(address + 32, ndim);
    arena.putLong(address + 40, arena.longs(strides));
  }
}
