package zcodec.imagej;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ij.ImagePlus;
import ij.process.FloatProcessor;
import ij.process.ShortProcessor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an export that fails removes, and what it leaves. */
class FailedExportTest {
  @TempDir Path folder;

  private static ImagePlus image(int pixel) {
    short[] pixels = new short[300 * 300];
    Arrays.fill(pixels, (short) pixel);
    return new ImagePlus("image", new ShortProcessor(300, 300, pixels, null));
  }

  private static void export(ImagePlus image, Path target) throws IOException {
    ZarrExport.save(image, target, ExportChain.TWELVE_BITS.label, 0);
  }

  /** Fails after the folder was made: zfp takes no NaN. */
  private static void fail(Path target) {
    ImagePlus image = new ImagePlus("not a number", new FloatProcessor(2, 1, new float[] {1, Float.NaN}));
    assertThrows(Exception.class, () -> ZarrExport.save(image, target, ExportChain.ZFP.label, 0.1));
  }

  private static void assertIsImage(Path written, int pixel) throws IOException {
    short[] pixels = (short[]) ZarrImport.open(written, 0).getStack().getPixels(1);
    assertArrayEquals((short[]) image(pixel).getProcessor().getPixels(), pixels);
  }

  @Test
  void aLinkToNothingStays() throws IOException {
    Path link = folder.resolve("link");
    try {
      Files.createSymbolicLink(link, folder.resolve("not mounted"));
    } catch (IOException | UnsupportedOperationException e) {
      Assumptions.assumeTrue(false, "no symbolic links: " + e);
    }
    IOException e = assertThrows(IOException.class, () -> export(image(1), link));
    assertEquals(link + " is there already, and is no folder", e.getMessage());
    assertTrue(Files.isSymbolicLink(link));
  }

  @Test
  void aLinkToAFolderStays() throws IOException {
    Path target = Files.createDirectory(folder.resolve("target"));
    Path link = folder.resolve("link");
    try {
      Files.createSymbolicLink(link, target);
    } catch (IOException | UnsupportedOperationException e) {
      Assumptions.assumeTrue(false, "no symbolic links: " + e);
    }
    fail(link);
    assertTrue(Files.isSymbolicLink(link));
    assertTrue(isEmpty(target));
    export(image(3), link);
    assertIsImage(target, 3);
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> content = Files.list(folder)) {
      return !content.findAny().isPresent();
    }
  }

  /** An image with one pixel value, and something that happens whenever its plane is read. */
  private static ImagePlus watched(int pixel, Runnable action) {
    MadeStack stack =
        new MadeStack(
            300,
            300,
            1,
            n -> {
              action.run();
              return image(pixel).getProcessor();
            });
    return new ImagePlus("watched", stack);
  }

  /** The other export ends after this one has looked at its target, and before it has written anything. */
  @Test
  void whatAnotherExportHasWrittenStays() throws IOException {
    Path target = folder.resolve("new");
    boolean[] isTurnOfOther = {false};
    ImagePlus loser =
        watched(
            1,
            () -> {
              if (isTurnOfOther[0]) {
                isTurnOfOther[0] = false;
                unchecked(() -> export(image(2), target));
              }
            });
    isTurnOfOther[0] = true;
    IOException e = assertThrows(IOException.class, () -> export(loser, target));
    assertEquals(target.resolve("0") + " is there already; another export seems to write here", e.getMessage());
    assertIsImage(target, 2);
  }

  /** Somebody puts a file into each folder while the export writes; then it fails. */
  @Test
  void whatSomebodyElseHasWrittenStays() throws IOException {
    Path target = folder.resolve("parent/new");
    ImagePlus disturbed =
        watched(
            5,
            () -> {
              for (Path there : new Path[] {target.getParent(), target, target.resolve("0")}) {
                if (Files.isDirectory(there)) {
                  unchecked(() -> Files.write(there.resolve("zarr.json"), new byte[] {7}));
                }
              }
            });
    String log = PluginTest.logOf(() -> assertThrows(IOException.class, () -> export(disturbed, target)));
    assertEquals("", log);
    for (Path there : new Path[] {target.getParent(), target, target.resolve("0")}) {
      assertArrayEquals(new byte[] {7}, Files.readAllBytes(there.resolve("zarr.json")));
    }
    assertFalse(Files.exists(target.resolve("0/c")));
  }

  private interface Action {
    void run() throws IOException;
  }

  private static void unchecked(Action action) {
    try {
      action.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void ofTwoExportsAtOnceOneIsWhole() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try {
      for (int round = 0; round < 50; round++) {
        Path target = folder.resolve("round" + round);
        List<Callable<Integer>> exports = new ArrayList<>();
        for (int pixel : new int[] {1, 2}) {
          exports.add(() -> exported(pixel, target));
        }
        int winners = 0;
        for (Future<Integer> result : pool.invokeAll(exports)) {
          if (result.get() != 0) {
            winners++;
            assertIsImage(target, result.get());
          }
        }
        assertEquals(1, winners, "round " + round);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** The pixel of an image that was exported; 0: it was not. */
  private static int exported(int pixel, Path target) {
    try {
      export(image(pixel), target);
      return pixel;
    } catch (IOException e) {
      return 0;
    }
  }

  @Test
  void foldersAboveTheTargetAreRemovedIfTheExportMadeThem() throws IOException {
    fail(folder.resolve("p1/p2/p3"));
    assertFalse(Files.exists(folder.resolve("p1")));
    Path old = Files.createDirectory(folder.resolve("old"));
    fail(old.resolve("p2/../p3"));
    assertTrue(isEmpty(old));
    fail(old);
    assertTrue(isEmpty(old));
  }

  @Test
  void whereNothingWasWrittenNothingIsSaidToRemain() throws IOException {
    Path file = Files.write(folder.resolve("file"), new byte[3]);
    String longName = new String(new char[300]).replace('\0', 'y');
    Path[] targets = {file, file.resolve("a/b"), folder.resolve(longName), folder.resolve("new").resolve(longName)};
    for (Path target : targets) {
      String log = PluginTest.logOf(() -> assertThrows(IOException.class, () -> export(image(1), target)));
      assertEquals("", log);
      assertEquals(3, Files.size(file));
      assertFalse(Files.exists(folder.resolve("new"), LinkOption.NOFOLLOW_LINKS));
    }
  }

  @Test
  void aPlaneThatIsTooLargeForATiffFileIsRefused() {
    for (int width : new int[] {23200, 40000}) {
      int[] shape = {width, width};
      Exception e =
          assertThrows(IllegalArgumentException.class, () -> ExportChain.TIFF.codecs("float32", shape, 0));
      long size = 4L * width * width;
      assertEquals("a chunk of " + size + " bytes is too large; choose another chain", e.getMessage());
    }
  }
}
