package zcodec.imagej;

import ij.IJ;
import ij.VirtualStack;
import ij.process.ImageProcessor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** The planes of an array, each read when ImageJ shows it. */
final class ZarrStack extends VirtualStack {
  /** A plane of fewer chunks is there before a progress bar is. */
  private static final int CHUNKS_WORTH_A_PROGRESS_BAR = 4;

  final ZarrArray array;
  private final Dimensions dimensions;
  private final Pixels pixels;
  private final int width;
  private final int height;
  private final int count;
  private final Set<String> reported = new HashSet<>();
  private volatile boolean damaged;

  ZarrStack(ZarrArray array, Dimensions dimensions) throws IOException {
    super(Dimensions.size(array.shape, dimensions.x), Dimensions.size(array.shape, dimensions.y), null, "");
    this.array = array;
    this.dimensions = dimensions;
    pixels = Pixels.of(array.dataType);
    width = Dimensions.size(array.shape, dimensions.x);
    height = Dimensions.size(array.shape, dimensions.y);
    if ((long) width * height > Integer.MAX_VALUE / array.elementSize) { // a plane is an array of Java
      throw new IOException("a plane of " + width + " x " + height + " pixels is larger than ImageJ allows");
    }
    long all = 1;
    for (int i = 0; i < array.shape.length; i++) {
      all *= i == dimensions.x || i == dimensions.y ? 1 : Dimensions.size(array.shape, i);
      if (all > Integer.MAX_VALUE) {
        throw new IOException("the array has more planes than ImageJ allows");
      }
    }
    count = (int) all;
    if (count == 0 || width == 0 || height == 0) {
      throw new IOException("the array is empty: its shape is " + Arrays.toString(array.shape));
    }
    setBitDepth(pixels.bitDepth);
  }

  boolean isSigned16() {
    return pixels == Pixels.SIGNED_SHORTS;
  }

  @Override
  public ImageProcessor getProcessor(int n) {
    if (n < 1 || n > count) {
      throw new IllegalArgumentException("there is no plane " + n + " of " + count);
    }
    ByteBuffer elements = elements(n);
    if (pixels.rounds(elements, width * height)) {
      report("some values of " + array.dataType + " are shown rounded, because ImageJ's pixels are 32-bit floats");
    }
    return pixels.processor(width, height, elements);
  }

  /** Whether something was damaged since the last time that this was asked. */
  boolean takeDamaged() {
    boolean was = damaged;
    damaged = false;
    return was;
  }

  /** The elements of a plane; those of damaged chunks are 0, and a message says so. */
  private ByteBuffer elements(int n) {
    ByteBuffer elements = ByteBuffer.allocateDirect(width * height * array.elementSize).order(ByteOrder.nativeOrder());
    long[] size = new long[array.shape.length];
    long[] strides = new long[array.shape.length];
    Arrays.fill(size, 1);
    size[dimensions.x] = width;
    size[dimensions.y] = height;
    strides[dimensions.x] = array.elementSize;
    strides[dimensions.y] = (long) array.elementSize * width;
    array.read(dimensions.start(array.shape, n - 1), size, elements, strides, new Reporter(n));
    return elements;
  }

  private void report(String message) {
    synchronized (reported) {
      if (reported.add(message)) { // ImageJ asks for a plane again and again
        IJ.log("Zarr (zcodec): " + message);
      }
    }
  }

  /** Messages and the progress bar for one plane. */
  private final class Reporter implements ZarrArray.Observer {
    private final int plane;

    Reporter(int plane) {
      this.plane = plane;
    }

    @Override
    public void damaged(Path chunk, Exception why) {
      damaged = true;
      report("plane " + plane + ", " + array.folder.relativize(chunk) + ": " + Json.why(why));
    }

    @Override
    public void progress(int done, int chunks) {
      if (chunks >= CHUNKS_WORTH_A_PROGRESS_BAR) {
        IJ.showProgress(done, chunks);
      }
    }
  }

  @Override
  public Object getPixels(int n) {
    return getProcessor(n).getPixels();
  }

  @Override
  public int getSize() {
    return count;
  }

  @Override
  public int size() {
    return count;
  }

  @Override
  public int getWidth() {
    return width;
  }

  @Override
  public int getHeight() {
    return height;
  }

  @Override
  public String getSliceLabel(int n) {
    return null;
  }
}
