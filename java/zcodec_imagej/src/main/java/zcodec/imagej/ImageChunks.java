package zcodec.imagej;

import ij.IJ;
import ij.ImagePlus;
import ij.process.ImageProcessor;
import java.io.IOException;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The pixels of an image as chunks of an array.
 *
 * <p>The planes of a virtual image are read when they are asked for, and a plane may lie in hundreds of chunks. So the
 * chunks of one layer, which have their planes in common, are collected together: each plane is read once. If a layer
 * takes more than the bound, its chunks are collected in several groups, and each plane is read once for each group; if
 * the layer is a single plane, once for all of them. The memory that this takes is that of one plane, and of the
 * collected chunks: at most the bound, or one chunk if that is larger. The planes of other images are in memory
 * already, and their chunks are collected one by one.
 */
final class ImageChunks {
  private final ImagePlus image;
  private final String axes;
  private final int[] shape;
  private final int[] chunkShape;
  private final String dataType;

  /** The plane that was read last, and its number. */
  private ImageProcessor plane;

  private int planeNumber;

  /**
   * An image as an array.
   *
   * @param axes a letter for each dimension; the last two are y and x
   * @param shape the size of each dimension
   * @param chunkShape that of a chunk; 1 but for x, y and the dimension before them
   * @param dataType that of the array
   */
  ImageChunks(ImagePlus image, String axes, int[] shape, int[] chunkShape, String dataType) {
    this.image = image;
    this.axes = axes;
    this.shape = shape;
    this.chunkShape = chunkShape;
    this.dataType = dataType;
  }

  /** How much a virtual image may take for chunks that are collected together. */
  static long bound() {
    return Math.min(1L << 30, Runtime.getRuntime().maxMemory() / 4);
  }

  /** What is done with a collected chunk. */
  interface Consumer {
    void accept(int[] cell, long[] box, ByteBuffer elements) throws IOException;
  }

  /**
   * Collects each chunk: the pixels of the part of it that is within the image, back to back.
   *
   * @param bound the size of the chunks that may be collected together
   */
  void forEach(int chunkSize, long bound, Consumer consumer) throws IOException {
    List<int[]> cells = cells();
    int layer = count(shape.length - 2) * count(shape.length - 1);
    int most = image.getStack().isVirtual() ? (int) Math.max(1, Math.min(layer, bound / chunkSize)) : 1;
    ByteBuffer[] buffers = buffers(most, chunkSize);
    int next;
    for (int first = 0; first < cells.size(); first = next) {
      next = Math.min(first + buffers.length, (first / layer + 1) * layer);
      List<int[]> group = cells.subList(first, next);
      collect(group, buffers);
      for (int i = 0; i < group.size(); i++) {
        consumer.accept(group.get(i), box(group.get(i)), buffers[i]);
        IJ.showProgress(first + i + 1, cells.size());
      }
    }
  }

  /** As many buffers as there is direct memory for, of which programs may have less than the bound. */
  private static ByteBuffer[] buffers(int most, int size) {
    ByteBuffer[] buffers = new ByteBuffer[most];
    for (int i = 0; i < most; i++) {
      try {
        buffers[i] = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
      } catch (OutOfMemoryError e) {
        if (i == 0) {
          throw e;
        }
        return Arrays.copyOf(buffers, i);
      }
    }
    return buffers;
  }

  /** How many chunks there are along a dimension. */
  private int count(int dimension) {
    return (shape[dimension] - 1) / chunkShape[dimension] + 1;
  }

  private List<int[]> cells() {
    List<int[]> cells = new ArrayList<>();
    cells.add(new int[0]);
    for (int i = 0; i < shape.length; i++) {
      List<int[]> longer = new ArrayList<>();
      for (int[] cell : cells) {
        for (int k = 0; k < count(i); k++) {
          int[] next = Arrays.copyOf(cell, i + 1);
          next[i] = k;
          longer.add(next);
        }
      }
      cells = longer;
    }
    return cells;
  }

  /** The shape of the part of a chunk that is within the image. */
  private long[] box(int[] cell) {
    long[] box = new long[shape.length];
    Arrays.setAll(box, i -> Math.min(chunkShape[i], shape[i] - (long) cell[i] * chunkShape[i]));
    return box;
  }

  /** Copies the pixels of chunks of one layer. */
  private void collect(List<int[]> cells, ByteBuffer[] buffers) {
    int ndim = shape.length;
    int[] cell = cells.get(0);
    long[] box = box(cell);
    int planes = 1;
    for (int i = 0; i < ndim - 2; i++) {
      planes *= (int) box[i];
    }
    for (int i = 0; i < cells.size(); i++) {
      ((Buffer) buffers[i]).clear();
    }
    for (int n = 0; n < planes; n++) {
      int rest = n;
      int[] at = new int[ndim];
      for (int i = ndim - 3; i >= 0; i--) {
        at[i] = cell[i] * chunkShape[i] + rest % (int) box[i];
        rest /= (int) box[i];
      }
      ImageProcessor pixels = plane(at);
      for (int i = 0; i < cells.size(); i++) {
        put(pixels, cells.get(i), buffers[i]);
      }
    }
    for (int i = 0; i < cells.size(); i++) {
      ((Buffer) buffers[i]).clear();
    }
  }

  private ImageProcessor plane(int[] at) {
    int c = axes.indexOf('c');
    int z = axes.indexOf('z');
    int t = axes.indexOf('t');
    int n = image.getStackIndex(c < 0 ? 1 : at[c] + 1, z < 0 ? 1 : at[z] + 1, t < 0 ? 1 : at[t] + 1);
    if (n != planeNumber) {
      plane = plane(image, n);
      planeNumber = n;
    }
    return plane;
  }

  /** A plane. The one on the screen may have been edited, which a virtual stack does not know. */
  static ImageProcessor plane(ImagePlus image, int n) {
    ImageProcessor stored = image.getStack().getProcessor(n); // also notes what is damaged
    return n == image.getCurrentSlice() ? image.getProcessor() : stored;
  }

  /** Appends the pixels of a plane that are in a chunk. */
  private void put(ImageProcessor pixels, int[] cell, ByteBuffer elements) {
    int y = shape.length - 2;
    int x = shape.length - 1;
    long[] box = box(cell);
    for (int row = 0; row < box[y]; row++) {
      put(pixels, cell[x] * chunkShape[x], cell[y] * chunkShape[y] + row, (int) box[x], elements);
    }
  }

  private void put(ImageProcessor pixels, int x, int y, int width, ByteBuffer elements) {
    for (int i = 0; i < width; i++) {
      switch (dataType) {
        case "bool":
          elements.put((byte) (pixels.get(x + i, y) == 0 ? 0 : 1));
          break;
        case "uint8":
          elements.put((byte) pixels.get(x + i, y));
          break;
        case "uint16":
          elements.putShort((short) pixels.get(x + i, y));
          break;
        case "int16":
          elements.putShort((short) (pixels.get(x + i, y) - 32768));
          break;
        default:
          elements.putFloat(pixels.getf(x + i, y));
      }
    }
  }
}
