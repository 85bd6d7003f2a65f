package zcodec.imagej;

import java.nio.ByteBuffer;
import java.util.Arrays;
import zcodec.Box;
import zcodec.View;

/** Some elements of an array or a chunk, and where they go in native memory. */
final class Part {
  private final long[] start;
  final long[] shape;
  private final ByteBuffer target;
  private final long offset;
  private final long[] strides;

  /**
   * A part.
   *
   * @param start where it begins
   * @param shape its size along each dimension
   * @param target native memory
   * @param offset where the first element goes, in bytes
   * @param strides the distances of neighbours there, in bytes
   */
  Part(long[] start, long[] shape, ByteBuffer target, long offset, long[] strides) {
    this.start = start;
    this.shape = shape;
    this.target = target;
    this.offset = offset;
    this.strides = strides;
  }

  Box box() {
    return Box.of(start, shape);
  }

  View view() {
    return View.of(target, offset, strides);
  }

  /** What lies in a cell of a grid. */
  Part within(long[] cell, long[] cellShape) {
    long[] from = new long[cell.length];
    long[] size = new long[cell.length];
    long at = offset;
    for (int i = 0; i < cell.length; i++) {
      from[i] = Math.max(start[i], cell[i] * cellShape[i]);
      size[i] = Math.min(start[i] + shape[i], (cell[i] + 1) * cellShape[i]) - from[i];
      at += (from[i] - start[i]) * strides[i];
    }
    return new Part(from, size, target, at, strides);
  }

  /** The same elements, counted from the beginning of a cell. */
  Part relativeTo(long[] cell, long[] cellShape) {
    long[] from = new long[cell.length];
    Arrays.setAll(from, i -> start[i] - cell[i] * cellShape[i]);
    return new Part(from, shape, target, offset, strides);
  }

  /** Something done with a cell of a grid, the {@code number}th of {@code count} from 0. */
  interface ForCell {
    void run(long[] cell, int number, int count);
  }

  /** For each cell of a grid that the part touches. */
  void forEachCell(long[] cellShape, ForCell action) {
    int ndim = start.length;
    long[] first = new long[ndim];
    long[] counts = new long[ndim];
    int all = 1;
    for (int i = 0; i < ndim; i++) {
      first[i] = start[i] / cellShape[i];
      counts[i] = (start[i] + shape[i] - 1) / cellShape[i] - first[i] + 1;
      all = Math.multiplyExact(all, Math.toIntExact(counts[i]));
    }
    for (int n = 0; n < all; n++) {
      long[] cell = new long[ndim];
      int rest = n;
      for (int i = ndim - 1; i >= 0; i--) {
        cell[i] = first[i] + rest % counts[i];
        rest /= (int) counts[i];
      }
      action.run(cell, n, all);
    }
  }

  /** Sets the elements to 0. */
  void clear(int elementSize) {
    clear(0, offset, elementSize);
  }

  private void clear(int dimension, long at, int elementSize) {
    if (dimension == shape.length) {
      for (int i = 0; i < elementSize; i++) {
        target.put(Math.toIntExact(at) + i, (byte) 0);
      }
      return;
    }
    for (long i = 0; i < shape[dimension]; i++) {
      clear(dimension + 1, at + i * strides[dimension], elementSize);
    }
  }
}
