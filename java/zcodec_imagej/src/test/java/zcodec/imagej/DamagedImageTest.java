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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import zcodec.Chain;

/** Damaged chunks, and exports that fail. */
class DamagedImageTest {
  @TempDir Path folder;

  private static ImagePlus noise() {
    short[] pixels = new short[512 * 512];
    Random random = new Random(1);
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = (short) (1 + random.nextInt(1000));
    }
    return new ImagePlus("noise", new ShortProcessor(512, 512, pixels, null));
  }

  /** A shard of four inner chunks of 256 x 256, the first of which is damaged. */
  private Path damaged(ImagePlus noise) throws IOException {
    Path written = folder.resolve("noise");
    ZarrExport.save(noise, written, ExportChain.LOSSLESS.label, 0);
    Path shard = written.resolve("0/c/0/0");
    byte[] bytes = Files.readAllBytes(shard);
    Arrays.fill(bytes, 0, 16, (byte) -1);
    Files.write(shard, bytes);
    return written;
  }

  /** Reads the first plane, too. */
  private static ImagePlus open(Path image) {
    try {
      return ZarrImport.open(image, 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aDamagedInnerChunkLeavesTheOthersReadable() throws IOException {
    ImagePlus noise = noise();
    Path written = damaged(noise);
    ImagePlus[] opened = new ImagePlus[1];
    String log = PluginTest.logOf(() -> opened[0] = open(written));
    ImagePlus found = opened[0];
    assertTrue(log.startsWith("Zarr (zcodec): plane 1, c/0/0: "), log);
    assertEquals(1, log.split("\n").length, log);
    short[] pixels = (short[]) found.getStack().getPixels(1);
    for (int y = 0; y < 512; y++) {
      for (int x = 0; x < 512; x++) {
        int wanted = x < 256 && y < 256 ? 0 : noise.getProcessor().get(x, y);
        assertEquals(wanted, pixels[512 * y + x], "at " + x + ", " + y);
      }
    }
  }

  @Test
  void anArrayThatIsGoneIsNotTheFillValue() throws IOException {
    Path written = folder.resolve("gone");
    ZarrExport.save(noise(), written, ExportChain.LOSSLESS.label, 0);
    ImagePlus found = open(written);
    Files.move(written, folder.resolve("elsewhere"));
    String log = PluginTest.logOf(() -> found.getStack().getProcessor(1));
    assertTrue(log.startsWith("Zarr (zcodec): plane 1, c/0/0: "), log);
    assertTrue(((ZarrStack) found.getStack()).takeDamaged());
  }

  @Test
  void aLinkThatLeadsNowhereIsNotTheFillValue() throws IOException {
    for (String lost : new String[] {"0/c", "0/c/0/0"}) {
      Path written = folder.resolve("linked" + lost.length());
      ZarrExport.save(noise(), written, ExportChain.LOSSLESS.label, 0);
      Files.move(written.resolve(lost), folder.resolve("moved" + lost.length()));
      Files.createSymbolicLink(written.resolve(lost), folder.resolve("nowhere"));
      String log = PluginTest.logOf(() -> open(written));
      assertTrue(log.startsWith("Zarr (zcodec): plane 1, c/0/0: "), log);
    }
  }

  @Test
  void pixelsThatFloatsCannotHoldAreKnown() throws IOException {
    String[] types = {"int32", "uint32", "int64", "uint64", "float64"};
    long[] rounded = {-16777217, 0xFFFFFFFFL, Long.MAX_VALUE, -1, Double.doubleToLongBits(0.1)};
    long[] exact = {-16777216, 0xFFFFFF00L, Long.MIN_VALUE, 1L << 63, Double.doubleToLongBits(-0.5)};
    for (int i = 0; i < types.length; i++) {
      assertEquals(true, rounds(types[i], rounded[i]), types[i]);
      assertEquals(false, rounds(types[i], exact[i]), types[i]);
    }
  }

  private static boolean rounds(String type, long value) throws IOException {
    int size = type.endsWith("32") ? 4 : 8;
    ByteBuffer elements = ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    if (size == 4) {
      elements.putInt((int) value);
    } else {
      elements.putLong(value);
    }
    return Pixels.of(type).rounds(elements, 1);
  }

  @Test
  void aDamagedIndexIsReportedOnce() throws IOException {
    Path written = folder.resolve("noise");
    ZarrExport.save(noise(), written, ExportChain.LOSSLESS.label, 0);
    Path shard = written.resolve("0/c/0/0");
    byte[] bytes = Files.readAllBytes(shard);
    bytes[bytes.length - 1] ^= 1;
    Files.write(shard, bytes);
    ImagePlus[] opened = new ImagePlus[1];
    String log = PluginTest.logOf(() -> opened[0] = open(written));
    assertEquals(1, log.split("\n").length, log);
    assertTrue(log.contains("crc32c"), log);
    assertArrayEquals(new short[512 * 512], (short[]) opened[0].getStack().getPixels(1));
  }

  /** What is left out is an inner chunk of the array, not of what the transposition makes of it. */
  @Test
  void aDamagedInnerChunkAfterATransposition() throws IOException {
    String little = "{'name':'bytes','configuration':{'endian':'little'}}";
    String codecs =
        "[{'name':'transpose','configuration':{'order':[1,0]}},{'name':'sharding_indexed','configuration':"
            + "{'chunk_shape':[2,8],'codecs':['bytes','crc32c'],'index_codecs':[" + little + "]}}]";
    String document =
        "{'zarr_format':3,'node_type':'array','shape':[16,4],'data_type':'uint8','fill_value':0,"
            + "'chunk_grid':{'name':'regular','configuration':{'chunk_shape':[16,4]}},"
            + "'chunk_key_encoding':'default','codecs':" + codecs + "}";
    Path array = Files.createDirectories(folder.resolve("transposed"));
    document = document.replace('\'', '"');
    Files.write(array.resolve("zarr.json"), document.getBytes(StandardCharsets.UTF_8));
    byte[] elements = new byte[64];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = (byte) (i + 1);
    }
    byte[] encoded;
    try (Chain chain = Chain.ofZarrJson(document)) {
      encoded = chain.encode(elements);
    }
    encoded[0] ^= 1; // of the inner chunk with the first 8 rows and 2 columns
    Files.createDirectories(array.resolve("c/0"));
    Files.write(array.resolve("c/0/0"), encoded);
    byte[] found = (byte[]) open(array).getStack().getPixels(1);
    for (int i = 0; i < elements.length; i++) {
      boolean isDamaged = i / 4 < 8 && i % 4 < 2;
      assertEquals(isDamaged ? 0 : elements[i], found[i], "element " + i);
    }
  }

  @Test
  void aDamagedImageIsNotStoredAsIfItWasWhole() throws IOException {
    ImagePlus found = ZarrImport.open(damaged(noise()), 0);
    Path copy = folder.resolve("copy");
    IOException e =
        assertThrows(IOException.class, () -> ZarrExport.save(found, copy, ExportChain.LOSSLESS.label, 0));
    assertTrue(e.getMessage().contains("parts of the image are damaged"), e.getMessage());
    assertFalse(Files.exists(copy));
  }

  @Test
  void aFailedExportLeavesNothingInTheWay() throws IOException {
    ImagePlus image = new ImagePlus("not a number", new FloatProcessor(2, 1, new float[] {1, Float.NaN}));
    Path empty = Files.createDirectory(folder.resolve("empty"));
    for (Path target : new Path[] {folder.resolve("new"), empty}) {
      assertThrows(Exception.class, () -> ZarrExport.save(image, target, ExportChain.ZFP.label, 0.1));
      assertEquals(target == empty, Files.exists(target));
      ZarrExport.save(image, target, ExportChain.LOSSLESS.label, 0);
    }
    ImagePlus large = new ImagePlus("large", new FloatProcessor(2, 1, new float[] {1e30f, 1}));
    Path target = folder.resolve("large");
    IOException e = assertThrows(IOException.class, () -> ZarrExport.save(large, target, ExportChain.ZFP.label, 0.1));
    assertTrue(e.getMessage().startsWith("zfp does not keep the tolerance of 0.1: plane 1, pixel "), e.getMessage());
    assertFalse(Files.exists(target));
    try (Stream<Path> found = Files.list(folder)) {
      assertEquals(2, found.count());
    }
  }

  @Test
  void aFolderInTheWayOfAChunkIsNamed() throws IOException {
    Path written = folder.resolve("noise");
    ZarrExport.save(noise(), written, ExportChain.LOSSLESS.label, 0);
    Files.delete(written.resolve("0/c/0/0"));
    Files.createDirectory(written.resolve("0/c/0/0"));
    String log = PluginTest.logOf(() -> open(written));
    assertEquals("Zarr (zcodec): plane 1, c/0/0: it is a folder", log);
  }

  @Test
  void anInterruptIsNoDamage() throws IOException {
    ImagePlus noise = noise();
    Path written = folder.resolve("noise");
    ZarrExport.save(noise, written, ExportChain.LOSSLESS.label, 0);
    ImagePlus found = ZarrImport.open(written, 0);
    Thread.currentThread().interrupt();
    short[] pixels = (short[]) found.getStack().getPixels(1);
    assertTrue(Thread.interrupted(), "it is kept");
    assertArrayEquals((short[]) noise.getProcessor().getPixels(), pixels);
  }
}
