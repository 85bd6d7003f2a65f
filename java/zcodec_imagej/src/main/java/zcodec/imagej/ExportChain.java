package zcodec.imagej;

import ij.ImagePlus;
import ij.process.ImageProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;

/** What an image can be stored as. */
enum ExportChain {
  LOSSLESS("Lossless (shards of blosc zstd)"),
  MASK("Packed mask (1 bit per pixel)"),
  TWELVE_BITS("12 bits per pixel"),
  ZFP("zfp with a tolerance"),
  TIFF("TIFF files as chunks");

  private static final int INNER = 256;
  private static final int SHARD = 1024;
  private static final int SHARD_PLANES = 16;
  private static final int MOST_OF_TWELVE_BITS = 4095;
  private static final int TIFF_ENTRIES = 9;
  private static final int TIFF_HEADER = 8 + 2 + 12 * TIFF_ENTRIES + 4;

  final String label;

  ExportChain(String label) {
    this.label = label;
  }

  static String[] labels() {
    String[] labels = new String[values().length];
    java.util.Arrays.setAll(labels, i -> values()[i].label);
    return labels;
  }

  static ExportChain of(String label) {
    for (ExportChain chain : values()) {
      if (chain.label.equals(label)) {
        return chain;
      }
    }
    throw new IllegalArgumentException("there is no chain \"" + label + "\"");
  }

  /** The Zarr data type for an image of this depth; an exception if the chain is none for it. */
  String dataType(int bitDepth) {
    switch (this) {
      case MASK:
        if (bitDepth != 8) {
          throw new IllegalArgumentException("a mask is an 8-bit image, and this one has " + bitDepth + " bits");
        }
        return "bool";
      case TWELVE_BITS:
        if (bitDepth != 16) {
          throw new IllegalArgumentException("12 bits are for 16-bit images, and this one has " + bitDepth + " bits");
        }
        return "uint16";
      case ZFP:
        return "float32";
      default:
        return bitDepth == 8 ? "uint8" : bitDepth == 16 ? "uint16" : "float32";
    }
  }

  /** The shape of chunks (or shards); the last two dimensions are y and x, and the one before them is z if there is one. */
  int[] chunkShape(int[] shape) {
    int[] chunk = new int[shape.length];
    java.util.Arrays.fill(chunk, 1);
    int y = shape.length - 2;
    for (int i = y; i < shape.length; i++) {
      int tiles = (Math.min(shape[i], SHARD) + INNER - 1) / INNER;
      chunk[i] = this == TIFF ? shape[i] : this == LOSSLESS ? tiles * inner(shape[i]) : inner(shape[i]);
    }
    if (y > 0 && this == LOSSLESS) {
      chunk[y - 1] = Math.min(shape[y - 1], SHARD_PLANES);
    } else if (y > 0 && this == ZFP) {
      chunk[y - 1] = Math.min(shape[y - 1], 4); // the height of a block
    }
    return chunk;
  }

  private static int inner(int size) {
    return Math.min(size, INNER);
  }

  /** The codecs, as JSON. */
  String codecs(String dataType, int[] shape, double tolerance) {
    String bytes = "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}";
    String zstd = "{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":false}}";
    int ndim = shape.length;
    switch (this) {
      case LOSSLESS:
        int[] inner = new int[ndim];
        java.util.Arrays.fill(inner, 1);
        inner[ndim - 2] = inner(shape[ndim - 2]);
        inner[ndim - 1] = inner(shape[ndim - 1]);
        int size = dataType.equals("uint8") ? 1 : dataType.endsWith("int16") ? 2 : 4;
        String blosc =
            "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"zstd\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":" + size
                + ",\"blocksize\":0}}";
        return "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" + java.util.Arrays.toString(inner)
            + ",\"codecs\":[" + bytes + "," + blosc + "],\"index_codecs\":[" + bytes + ",{\"name\":\"crc32c\"}]}}]";
      case MASK:
        return "[{\"name\":\"packbits\"}," + zstd + "]";
      case TWELVE_BITS:
        return "[{\"name\":\"packbits\",\"configuration\":{\"first_bit\":0,\"last_bit\":11}}," + zstd + "]";
      case ZFP:
        return "[" + flattened(ndim) + "{\"name\":\"zfp\",\"configuration\":{\"mode\":\"fixed_accuracy\",\"tolerance\":" + tolerance
            + "}}]";
      default:
        String header = Base64.getEncoder().encodeToString(tiffHeader(dataType, shape[ndim - 1], shape[ndim - 2]));
        return "[" + bytes + ",{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":" + TIFF_HEADER
            + ",\"padding\":\"" + header + "\"}}]";
    }
  }

  /** zfp takes up to four dimensions; the channel of a chunk, always 1, goes with the time. */
  private static String flattened(int ndim) {
    return ndim < 5 ? "" : "{\"name\":\"reshape\",\"configuration\":{\"shape\":[[0,1],[2],[3],[4]]}},";
  }

  /** What comes before the pixels of an uncompressed TIFF file of one plane. */
  private static byte[] tiffHeader(String dataType, int width, int height) {
    int bits = dataType.equals("uint8") ? 8 : dataType.equals("uint16") ? 16 : 32;
    long size = (long) width * height * (bits / 8);
    if (size > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(tooLarge(size));
    }
    ByteBuffer header = ByteBuffer.allocate(TIFF_HEADER).order(ByteOrder.LITTLE_ENDIAN);
    header.put((byte) 'I').put((byte) 'I').putShort((short) 42).putInt(8).putShort((short) TIFF_ENTRIES);
    entry(header, 256, width);
    entry(header, 257, height);
    entry(header, 258, bits);
    entry(header, 259, 1); // not compressed
    entry(header, 262, 1); // 0 is black
    entry(header, 273, TIFF_HEADER); // where the pixels are
    entry(header, 278, height); // all in one strip
    entry(header, 279, (int) size);
    entry(header, 339, bits == 32 ? 3 : 1); // float, or unsigned
    return header.putInt(0).array();
  }

  /** An entry with one number: as SHORT if it always fits, else as LONG. */
  private static void entry(ByteBuffer header, int tag, int value) {
    boolean isLong = tag == 256 || tag == 257 || tag == 273 || tag == 278 || tag == 279;
    header.putShort((short) tag).putShort((short) (isLong ? 4 : 3)).putInt(1).putInt(value);
  }

  /** What is said of a chunk that Java cannot hold. */
  static String tooLarge(long size) {
    return "a chunk of " + size + " bytes is too large; choose another chain";
  }

  /** Why a pixel cannot be stored; null if all can. */
  String objection(ImagePlus image) {
    if (this != TWELVE_BITS && this != MASK) {
      return null;
    }
    int foreground = 0;
    for (int n = 1; n <= image.getStackSize(); n++) {
      ImageProcessor plane = ImageChunks.plane(image, n);
      for (int i = 0; i < plane.getPixelCount(); i++) {
        int pixel = plane.get(i);
        if (this == TWELVE_BITS && pixel > MOST_OF_TWELVE_BITS) {
          return "plane " + n + " has a pixel of " + pixel + ", and 12 bits hold up to " + MOST_OF_TWELVE_BITS;
        }
        if (this == MASK && pixel != 0 && pixel != foreground) {
          if (foreground != 0) {
            return "the image has pixels of " + foreground + " and " + pixel + " (plane " + n
                + "), and a mask has one value besides 0; Image > Adjust > Threshold makes a mask";
          }
          foreground = pixel;
        }
      }
    }
    return null;
  }
}
