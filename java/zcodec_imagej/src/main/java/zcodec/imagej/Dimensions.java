package zcodec.imagej;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Which dimension of an array is which of an image: x, y, c, z or t; -1: the array has none. */
final class Dimensions {
  /** In the order in which ImageJ counts planes. */
  private static final String PLANES = "czt";

  final int x;
  final int y;
  private final int[] planes = {-1, -1, -1};

  /**
   * By the names of the axes; null: unknown. Unless x and y are among them, the last two dimensions are y and x. The
   * others that have no name of c, z and t are, from the last dimension on, z, then t, then c; of four dimensions z,
   * then c, then t. A name that another dimension has already counts as none.
   */
  Dimensions(String[] names) throws IOException {
    int ndim = names.length;
    if (ndim < 2 || ndim > 5) {
      throw new IOException("an image has 2 to 5 dimensions, and this array has " + ndim);
    }
    List<String> known = new ArrayList<>();
    for (String name : names) {
      known.add(name == null ? "" : name.toLowerCase(java.util.Locale.ROOT));
    }
    boolean named = known.contains("x") && known.contains("y");
    x = named ? known.indexOf("x") : ndim - 1;
    y = named ? known.indexOf("y") : ndim - 2;
    for (int i = 0; i < ndim; i++) {
      int plane = i == x || i == y ? -1 : planeOf(known.get(i));
      if (plane >= 0 && planes[plane] < 0) {
        planes[plane] = i;
      }
    }
    for (int i = ndim - 1; i >= 0; i--) {
      if (i != x && i != y && !isTaken(i)) {
        planes[planes[1] < 0 ? 1 : planes[0] < 0 && ndim == 4 ? 0 : planes[2] < 0 ? 2 : 0] = i;
      }
    }
  }

  private static int planeOf(String name) {
    if (name.isEmpty()) {
      return -1;
    }
    return name.startsWith("chan") ? 0 : name.equals("time") ? 2 : name.length() == 1 ? PLANES.indexOf(name) : -1;
  }

  private boolean isTaken(int dimension) {
    return Arrays.stream(planes).anyMatch(taken -> taken == dimension);
  }

  int c() {
    return planes[0];
  }

  int z() {
    return planes[1];
  }

  int t() {
    return planes[2];
  }

  /** The size of an image along one of the array's dimensions. */
  static int size(long[] shape, int dimension) {
    long size = dimension < 0 ? 1 : shape[dimension];
    if (size > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "the size of dimension " + dimension + ", " + size + ", is larger than ImageJ allows");
    }
    return (int) size;
  }

  /** Where plane n (from 0, channels first, then z, then t) begins in the array. */
  long[] start(long[] shape, int n) {
    long[] start = new long[shape.length];
    int rest = n;
    for (int dimension : planes) {
      if (dimension >= 0) {
        int size = size(shape, dimension);
        start[dimension] = rest % size;
        rest /= size;
      }
    }
    return start;
  }
}
