package zcodec;

import java.util.Arrays;

/** A part of a chunk: where it begins, and its size along each dimension. Immutable. */
public final class Box {
  static final int STRUCT_SIZE = 32;

  private final long[] start;
  private final long[] shape;

  private Box(long[] start, long[] shape) {
    this.start = start;
    this.shape = shape;
  }

  /**
   * A box.
   *
   * @param start an index for each dimension; null: zeros
   * @param shape a size for each dimension; null: from {@code start} to the end of the chunk
   * @return the box
   */
  public static Box of(long[] start, long[] shape) {
    if (start == null && shape == null) {
      throw new IllegalArgumentException("a box needs start or shape");
    }
    if (start != null && shape != null && start.length != shape.length) {
      throw new IllegalArgumentException("start has " + start.length + " numbers, but shape has " + shape.length);
    }
    return new Box(Check.notNegative("start", start), Check.notNegative("shape", shape));
  }

  private int ndim() {
    return start != null ? start.length : shape.length;
  }

  void write(Arena arena, long address) {
    arena.putLong(address, STRUCT_SIZE);
    arena.putLong(address + 8, ndim());
    arena.putLong(address + 16, arena.longs(start));
    arena.putLong(address + 24, arena.longs(shape));
  }

  @Override
  public String toString() {
    return "Box(start " + Arrays.toString(start) + ", shape " + Arrays.toString(shape) + ")";
  }
}
