package zcodec.imagej;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ij.ImagePlus;
import ij.process.ShortProcessor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Exports of images whose planes are read when they are asked for. */
class VirtualExportTest {
  @TempDir Path folder;

  private static MadeStack stack(int width, int height, int planes) {
    return new MadeStack(
        width,
        height,
        planes,
        n -> {
          short[] pixels = new short[width * height];
          for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (short) pixel(n, i % width, i / width);
          }
          return new ShortProcessor(width, height, pixels, null);
        });
  }

  private static int pixel(int n, int x, int y) {
    return (1 + 7 * n + 3 * x + 5 * y) % 4096;
  }

  private static ImagePlus image(MadeStack stack, int channels, int slices, int frames) {
    ImagePlus image = new ImagePlus("counted", stack);
    image.setDimensions(channels, slices, frames);
    Arrays.fill(stack.reads, 0);
    return image;
  }

  @Test
  void aPlaneIsReadOnceForAllChunksInIt() throws IOException {
    for (ExportChain chain : ExportChain.values()) {
      if (chain == ExportChain.MASK) {
        continue; // of 8 bits
      }
      MadeStack stack = stack(1100, 600, 2 * 5 * 2);
      Path target = folder.resolve(chain.name());
      ZarrExport.save(image(stack, 2, 5, 2), target, chain.label, 0.25);
      int reads = chain == ExportChain.TWELVE_BITS ? 3 : 2; // to look for larger pixels, to write, and to compare
      for (int n = 0; n < stack.reads.length; n++) {
        assertEquals(reads, stack.reads[n], chain + ", plane " + (n + 1));
      }
    }
  }

  /** ImageJ's own formats also store what is on the screen. */
  @Test
  void whatIsOnTheScreenIsExported() throws IOException {
    ImagePlus image = image(stack(300, 200, 3), 1, 3, 1);
    image.setSlice(2);
    image.getProcessor().set(5, 7, 4095);
    ZarrExport.save(image, folder.resolve("edited"), ExportChain.LOSSLESS.label, 0);
    ImagePlus found = ZarrImport.open(folder.resolve("edited"), 0);
    for (int n = 1; n <= 3; n++) {
      int wanted = n == 2 ? 4095 : pixel(n, 5, 7);
      assertEquals(wanted, found.getStack().getProcessor(n).get(5, 7), "plane " + n);
    }
  }

  /** Chunks of 4 x 256 x 256, 15 in a layer, collected in groups of as many as the bound allows. */
  @Test
  void aPlaneIsReadOnceForEachGroupOfChunks() throws IOException {
    int size = 4 * 256 * 256 * 2;
    assertArrayEquals(new int[] {1, 1, 1, 1, 1}, readsOf(5, size, Long.MAX_VALUE));
    assertArrayEquals(new int[] {1, 1, 1, 1, 1}, readsOf(5, size, 15 * size));
    assertArrayEquals(new int[] {2, 2, 2, 2, 1}, readsOf(5, size, 15 * size - 1)); // the layer of one plane: once
    assertArrayEquals(new int[] {8, 8, 8, 8, 1}, readsOf(5, size, 2 * size));
    assertArrayEquals(new int[] {15, 15, 15, 15, 1}, readsOf(5, size, 0));
    assertArrayEquals(new int[] {1}, readsOf(1, size, 0));
  }

  /** How often each plane is read; also compares all pixels. */
  private static int[] readsOf(int planes, int chunkSize, long bound) throws IOException {
    int[] shape = {planes, 600, 1100};
    MadeStack stack = stack(shape[2], shape[1], planes);
    ImageChunks chunks = new ImageChunks(image(stack, 1, planes, 1), "zyx", shape, new int[] {4, 256, 256}, "uint16");
    int[] right = {0};
    chunks.forEach(
        chunkSize,
        bound,
        (cell, box, elements) -> {
          for (int z = 0; z < box[0]; z++) {
            for (int y = 0; y < box[1]; y++) {
              for (int x = 0; x < box[2]; x++) {
                if (elements.getShort() == pixel(4 * cell[0] + z + 1, 256 * cell[2] + x, 256 * cell[1] + y)) {
                  right[0]++;
                }
              }
            }
          }
        });
    assertEquals(planes * 600 * 1100, right[0]);
    return stack.reads;
  }
}
