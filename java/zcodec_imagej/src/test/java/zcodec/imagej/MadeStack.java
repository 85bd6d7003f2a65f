package zcodec.imagej;

import ij.VirtualStack;
import ij.process.ImageProcessor;
import java.util.function.IntFunction;

/** A virtual stack of 16 bits whose planes are made when they are read. */
final class MadeStack extends VirtualStack {
  private static final long serialVersionUID = 1;

  /** How often each plane was read. */
  final int[] reads;

  private final transient IntFunction<ImageProcessor> plane;

  /** {@code plane} makes the plane of a number; the first one is 1. */
  MadeStack(int width, int height, int planes, IntFunction<ImageProcessor> plane) {
    super(width, height, null, "");
    reads = new int[planes];
    this.plane = plane;
    setBitDepth(16);
  }

  @Override
  public int getSize() {
    return reads.length;
  }

  @Override
  public int size() {
    return reads.length;
  }

  @Override
  public ImageProcessor getProcessor(int n) {
    reads[n - 1]++;
    return plane.apply(n);
  }

  @Override
  public Object getPixels(int n) {
    return getProcessor(n).getPixels();
  }

  @Override
  public String getSliceLabel(int n) {
    return null;
  }
}
