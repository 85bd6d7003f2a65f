package zcodec.imagej;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import ij.ImageListener;
import ij.ImagePlus;
import ij.ImageStack;
import ij.io.Opener;
import ij.measure.Calibration;
import ij.process.ByteProcessor;
import ij.process.ImageProcessor;
import ij.process.ShortProcessor;
import java.awt.EventQueue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Import and export without a screen. */
class PluginTest {
  private static final Path REPOSITORY = Paths.get(System.getProperty("zcodec.repository"));

  @TempDir Path folder;

  /** A volume of tests/data, 8 planes of 256 x 256. */
  private static ImagePlus volume(String name) throws IOException {
    byte[] file = Files.readAllBytes(REPOSITORY.resolve("tests/data").resolve(name));
    ByteBuffer npy = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    npy.position(10 + npy.getShort(8));
    ImageStack stack = new ImageStack(256, 256);
    for (int z = 0; z < 8; z++) {
      if (name.contains("uint8")) {
        byte[] pixels = new byte[256 * 256];
        npy.get(pixels);
        stack.addSlice(new ByteProcessor(256, 256, pixels));
      } else {
        short[] pixels = new short[256 * 256];
        npy.slice().order(ByteOrder.LITTLE_ENDIAN).asShortBuffer().get(pixels);
        npy.position(npy.position() + 2 * pixels.length);
        stack.addSlice(new ShortProcessor(256, 256, pixels, null));
      }
    }
    return new ImagePlus(name, stack);
  }

  static ImagePlus nuclei() throws IOException {
    ImagePlus nuclei = volume("nuclei_uint16_8x256x256.npy");
    Calibration calibration = nuclei.getCalibration();
    calibration.pixelWidth = 0.26;
    calibration.pixelHeight = 0.26;
    calibration.pixelDepth = 0.29;
    calibration.setUnit("micron");
    return nuclei;
  }

  private Path export(ImagePlus image, ExportChain chain, double tolerance) throws IOException {
    Path target = folder.resolve(chain.name());
    ZarrExport.save(image, target, chain.label, tolerance);
    return target;
  }

  private static void assertSamePixels(ImagePlus wanted, ImagePlus found, double tolerance) {
    assertEquals(wanted.getStackSize(), found.getStackSize());
    for (int n = 1; n <= wanted.getStackSize(); n++) {
      ImageProcessor want = wanted.getStack().getProcessor(n);
      ImageProcessor got = found.getStack().getProcessor(n);
      for (int i = 0; i < want.getPixelCount(); i++) {
        assertEquals(want.getf(i), got.getf(i), tolerance);
      }
    }
  }

  @Test
  void aVolumeComesBackWithItsCalibration() throws IOException {
    ImagePlus nuclei = nuclei();
    ImagePlus found = ZarrImport.open(export(nuclei, ExportChain.LOSSLESS, 0), 0);
    assertSamePixels(nuclei, found, 0);
    assertTrue(found.getStack().isVirtual());
    assertEquals(8, found.getNSlices());
    assertEquals(16, found.getBitDepth());
    assertEquals(0.26, found.getCalibration().pixelWidth);
    assertEquals(0.29, found.getCalibration().pixelDepth);
    assertEquals("\u00B5m", found.getCalibration().getUnit());
  }

  @Test
  void aMaskTakesABitPerPixel() throws IOException {
    ImagePlus labels = volume("nuclei_labels_uint8_8x256x256.npy");
    IOException e = assertThrows(IOException.class, () -> export(labels, ExportChain.MASK, 0));
    assertTrue(e.getMessage().contains("a mask has one value besides 0"), e.getMessage());
    assertFalse(Files.exists(folder.resolve(ExportChain.MASK.name())));
    for (int n = 1; n <= 8; n++) {
      ImageProcessor plane = labels.getStack().getProcessor(n);
      plane.threshold(0);
    }
    Path written = export(labels, ExportChain.MASK, 0);
    ImagePlus found = ZarrImport.open(written, 0);
    for (int i = 0; i < 256 * 256; i++) {
      int wanted = labels.getStack().getProcessor(4).get(i) == 0 ? 0 : 255;
      assertEquals(wanted, found.getStack().getProcessor(4).get(i));
      if (i % 4096 != 0) {
        i += 37; // a processor per pixel takes long
      }
    }
    assertTrue(sizeOf(written.resolve("0/c")) < 8 * 256 * 256 / 8);
  }

  private static long sizeOf(Path place) throws IOException {
    try (Stream<Path> files = Files.walk(place)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  @Test
  void twelveBitsRefuseLargerPixels() throws IOException {
    ImagePlus nuclei = nuclei();
    IOException e = assertThrows(IOException.class, () -> export(nuclei, ExportChain.TWELVE_BITS, 0));
    assertTrue(e.getMessage().contains("12 bits"), e.getMessage());
    for (int z = 1; z <= 8; z++) {
      nuclei.getStack().getProcessor(z).multiply(1 / 16.0);
    }
    assertSamePixels(nuclei, ZarrImport.open(export(nuclei, ExportChain.TWELVE_BITS, 0), 0), 0);
  }

  @Test
  void zfpKeepsItsTolerance() throws IOException {
    ImagePlus nuclei = nuclei();
    Path written = export(nuclei, ExportChain.ZFP, 20);
    ImagePlus found = ZarrImport.open(written, 0);
    assertEquals(32, found.getBitDepth());
    assertSamePixels(nuclei, found, 20);
    assertTrue(sizeOf(written.resolve("0/c")) < 8 * 256 * 256 * 2);
    assertThrows(IllegalArgumentException.class, () -> export(nuclei, ExportChain.ZFP, 0));
  }

  @Test
  void aChunkIsATiffFile() throws IOException {
    ImagePlus nuclei = nuclei();
    Path written = export(nuclei, ExportChain.TIFF, 0);
    Path tiff = folder.resolve("plane.tif");
    Files.copy(written.resolve("0/c/5/0/0"), tiff);
    ImagePlus plane = new Opener().openImage(tiff.toString());
    assertArrayEquals((short[]) nuclei.getStack().getPixels(6), (short[]) plane.getProcessor().getPixels());
    ImagePlus labels = volume("nuclei_labels_uint8_8x256x256.npy");
    Path other = folder.resolve("labels");
    ZarrExport.save(labels, other, ExportChain.TIFF.label, 0);
    Files.copy(other.resolve("0/c/0/0/0"), folder.resolve("labels.tif"));
    ImagePlus found = new Opener().openImage(folder.resolve("labels.tif").toString());
    assertArrayEquals((byte[]) labels.getStack().getPixels(1), (byte[]) found.getProcessor().getPixels());
  }

  @Test
  void aFolderWithFilesIsNotOverwritten() throws IOException {
    Files.write(folder.resolve("precious.txt"), new byte[1]);
    assertThrows(IOException.class, () -> ZarrExport.save(nuclei(), folder, ExportChain.LOSSLESS.label, 0));
    assertTrue(Files.exists(folder.resolve("precious.txt")));
  }

  @Test
  void aPlaneReadsNoOtherPlanes() throws IOException {
    ImagePlus nuclei = nuclei();
    Path shard = export(nuclei, ExportChain.LOSSLESS, 0).resolve("0/c/0/0/0");
    byte[] bytes = Files.readAllBytes(shard);
    long[] third = entry(bytes, 2);
    byte[] garbage = new byte[bytes.length - 8 * 16 - 4]; // all but the index
    new Random(1).nextBytes(garbage);
    System.arraycopy(bytes, (int) third[0], garbage, (int) third[0], (int) third[1]);
    System.arraycopy(garbage, 0, bytes, 0, garbage.length);
    Files.write(shard, bytes);
    ImagePlus found = ZarrImport.open(folder.resolve("LOSSLESS"), 0);
    assertArrayEquals((short[]) nuclei.getStack().getPixels(3), (short[]) found.getStack().getPixels(3));
    String log = logOf(() -> found.getStack().getProcessor(2));
    assertTrue(log.contains("plane 2, c/0/0/0: "), log);
    assertEquals("", logOf(() -> found.getStack().getProcessor(2)), "said twice");
    assertEquals("", logOf(() -> found.getStack().getProcessor(3)));
  }

  /** All planes are in one shard, whose index the threads share, and the image is closed again and again. */
  @Test
  void manyThreadsReadAnImageThatIsClosedMeanwhile() throws Exception {
    ImagePlus nuclei = nuclei();
    ImagePlus image = ZarrImport.open(export(nuclei, ExportChain.LOSSLESS, 0), 0);
    ImageStack planes = image.getStack();
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<Future<?>> results = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        int first = thread;
        results.add(
            pool.submit(
                () -> {
                  for (int i = 0; i < 100; i++) {
                    int n = (first + i) % 8 + 1;
                    assertArrayEquals((short[]) nuclei.getStack().getPixels(n), (short[]) planes.getPixels(n));
                  }
                }));
      }
      while (!results.stream().allMatch(Future::isDone)) {
        ((ZarrStack) planes).array.close();
        Thread.sleep(1);
      }
      for (Future<?> result : results) {
        result.get();
      }
    } finally {
      pool.shutdownNow();
      ((ZarrStack) planes).array.close();
    }
  }

  /** The export reads what it has written; here, somebody changes that in between. */
  @Test
  void verificationFindsAWrongPixel() throws IOException {
    ImagePlus nuclei = nuclei();
    Path written = export(nuclei, ExportChain.TIFF, 0);
    ZarrWriter writer = new ZarrWriter(nuclei, ExportChain.TIFF, 0);
    writer.verify(written);
    Path chunk = written.resolve("0/c/5/0/0");
    byte[] bytes = Files.readAllBytes(chunk);
    bytes[bytes.length - 1] ^= 1;
    Files.write(chunk, bytes);
    IOException e = assertThrows(IOException.class, () -> writer.verify(written));
    assertTrue(e.getMessage().contains("what was written is wrong: plane 6, pixel 65535"), e.getMessage());
    Files.delete(chunk);
    assertThrows(IOException.class, () -> writer.verify(written));
  }

  /** Offset and size of an inner chunk, from the index at the end of a shard. */
  private static long[] entry(byte[] shard, int n) {
    ByteBuffer index = ByteBuffer.wrap(shard).order(ByteOrder.LITTLE_ENDIAN);
    int at = shard.length - 4 - 16 * (8 - n);
    return new long[] {index.getLong(at), index.getLong(at + 8)};
  }

  /** What ImageJ logs; without windows that is the standard output. */
  static synchronized String logOf(Runnable action) throws IOException {
    PrintStream before = System.out;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setOut(new PrintStream(log, true, "UTF-8"));
    try {
      action.run();
    } finally {
      System.setOut(before);
    }
    return log.toString("UTF-8").trim();
  }

  @Test
  void aDamagedChunkLeavesTheOthersReadable() throws IOException {
    ImagePlus nuclei = nuclei();
    Path written = export(nuclei, ExportChain.TIFF, 0);
    Path chunk = written.resolve("0/c/1/0/0");
    Files.write(chunk, Arrays.copyOf(Files.readAllBytes(chunk), 1000));
    ImagePlus found = ZarrImport.open(written, 0);
    String log = logOf(() -> found.getStack().getProcessor(2));
    assertTrue(log.contains("c/1/0/0") && log.contains("1000"), log);
    assertArrayEquals((short[]) nuclei.getStack().getPixels(3), (short[]) found.getStack().getPixels(3));
    Files.delete(chunk); // that is no damage, but the fill value
    assertArrayEquals(new short[256 * 256], (short[]) found.getStack().getPixels(2));
  }

  /** A data set of N5 becomes an array of Zarr by a zarr.json beside its blocks, those at the border truncated. */
  @Test
  void blocksOfN5Open() throws IOException {
    Path dataset = REPOSITORY.resolve("tests/data/nuclei.n5/volume_gzip");
    Path array = folder.resolve("volume_gzip");
    try (Stream<Path> files = Files.walk(dataset)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, array.resolve(dataset.relativize(file).toString()));
      }
    }
    String document =
        "{'zarr_format':3,'node_type':'array','shape':[250,250,8],'data_type':'uint16','fill_value':0,"
            + "'chunk_grid':{'name':'regular','configuration':{'chunk_shape':[64,64,4]}},"
            + "'chunk_key_encoding':{'name':'v2','configuration':{'separator':'/'}},'dimension_names':['x','y','z'],"
            + "'codecs':[{'name':'n5_default','configuration':{'codecs':["
            + "{'name':'transpose','configuration':{'order':[2,1,0]}},"
            + "{'name':'bytes','configuration':{'endian':'big'}},"
            + "{'name':'gzip','configuration':{'level':5}}]}}]}";
    Files.write(array.resolve("zarr.json"), document.replace('\'', '"').getBytes("UTF-8"));
    ImagePlus found = ZarrImport.open(array, 0);
    assertArrayEquals(new int[] {250, 250, 1, 8, 1}, found.getDimensions());
    ImageStack wanted = nuclei().getStack();
    for (int z = 1; z <= 8; z++) {
      ImageProcessor want = wanted.getProcessor(z);
      want.setRoi(0, 0, 250, 250);
      assertArrayEquals((short[]) want.crop().getPixels(), (short[]) found.getStack().getPixels(z), "plane " + z);
    }
  }

  @Test
  void aThousandImagesOpenedAndClosedLeaveNothing() throws Exception {
    Path written = export(nuclei(), ExportChain.LOSSLESS, 0);
    openAndClose(written);
    int listeners = ImagePlus.getListeners().size();
    long[] before = {openFiles(), heap(), direct()};
    for (int i = 0; i < 9; i++) {
      openAndClose(written);
    }
    assertEquals(listeners, ImagePlus.getListeners().size());
    for (int i = 0; i < 100 && openFiles() > before[0]; i++) { // Java's own threads may have one open for a moment
      Thread.sleep(50);
    }
    long open = openFiles() - before[0];
    assertTrue(open <= 0, "900 images left " + open + " files open");
    long heap = heap() - before[1];
    assertTrue(heap < 16 << 20, "900 images left " + heap + " bytes of heap"); // if each left a plane: 118 MB
    for (int i = 0; i < 100 && direct() - before[2] >= 1 << 20; i++) { // a thread of Java frees what was collected
      System.gc();
      Thread.sleep(50);
    }
    long direct = direct() - before[2];
    assertTrue(direct < 1 << 20, "900 images left " + direct + " bytes of direct buffers");
  }

  private static void openAndClose(Path image) throws Exception {
    List<ZarrArray> arrays = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      ImagePlus opened = ZarrImport.open(image, 0);
      assertEquals(256 * 256, ((short[]) opened.getStack().getPixels(5)).length);
      arrays.add(arrayOf(opened));
      closeAsAWindow(opened);
    }
    for (ZarrArray array : arrays) {
      assertTrue(array.isClosed());
    }
    System.gc();
  }

  private static ZarrArray arrayOf(ImagePlus opened) {
    return ((ZarrStack) opened.getStack()).array;
  }

  /** What the window of an image does in the end, and what the listeners do then. */
  private static void closeAsAWindow(ImagePlus image) throws Exception {
    EventQueue.invokeAndWait(image::flush);
    EventQueue.invokeAndWait(() -> {}); // they are told
    EventQueue.invokeAndWait(() -> {}); // and have gone
  }

  @Test
  void anArrayIsClosedWithTheLastImageThatShowsIt() throws Exception {
    ImagePlus image = ZarrImport.open(export(nuclei(), ExportChain.LOSSLESS, 0), 0);
    ZarrArray array = arrayOf(image);
    ImagePlus other = new ImagePlus("other", image.getStack());
    for (Object listener : ImagePlus.getListeners()) {
      ((ImageListener) listener).imageOpened(other); // as if it was shown
      ((ImageListener) listener).imageOpened(new ImagePlus("unrelated", new ByteProcessor(3, 3)));
    }
    closeAsAWindow(image);
    assertFalse(array.isClosed());
    closeAsAWindow(other);
    assertTrue(array.isClosed());
  }

  @Test
  void anExportClosesWhatItHasReadAgain() throws IOException {
    ImagePlus nuclei = nuclei();
    int listeners = ImagePlus.getListeners().size();
    Path written = export(nuclei, ExportChain.TIFF, 0);
    assertEquals(listeners, ImagePlus.getListeners().size());
    ZarrWriter writer = new ZarrWriter(nuclei, ExportChain.TIFF, 0);
    ImagePlus right = ZarrImport.openUnwatched(written, 0);
    ZarrArray array = arrayOf(right);
    assertFalse(array.isClosed());
    writer.verify(right);
    assertTrue(array.isClosed());
    Files.delete(written.resolve("0/c/5/0/0"));
    ImagePlus wrong = ZarrImport.openUnwatched(written, 0);
    ZarrArray another = arrayOf(wrong);
    assertThrows(IOException.class, () -> writer.verify(wrong));
    assertTrue(another.isClosed());
  }

  private static long openFiles() throws IOException {
    try (Stream<Path> files = Files.list(Paths.get("/proc/self/fd"))) {
      return files.count();
    }
  }

  /** What is alive, because the garbage has just been collected. */
  private static long heap() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Memory of buffers outside of Java's heap. */
  private static long direct() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  @Test
  void whatCannotBeOpenedSaysWhy() throws IOException {
    IOException e = assertThrows(IOException.class, () -> ZarrImport.open(folder, 0));
    assertTrue(e.getMessage().contains("neither"), e.getMessage());
    Path written = export(nuclei(), ExportChain.TIFF, 0);
    assertThrows(IOException.class, () -> ZarrImport.open(written, 1));
    Path document = written.resolve("0/zarr.json");
    String text = new String(Files.readAllBytes(document), "UTF-8");
    Files.write(document, text.replace("\"pad\"", "\"padd\"").getBytes("UTF-8"));
    IOException unknown = assertThrows(IOException.class, () -> ZarrImport.open(written, 0));
    assertTrue(unknown.getMessage().contains("padd"), unknown.getMessage());
    String grid = "\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_shapes\":[";
    JsonObject array = JsonParser.parseString(text).getAsJsonObject();
    int dimensions = array.getAsJsonArray("shape").size();
    String sizes = String.join(",", java.util.Collections.nCopies(dimensions, "[1]"));
    array.add("chunk_grid", JsonParser.parseString("{" + grid + sizes + "]}}"));
    Files.write(document, array.toString().getBytes("UTF-8"));
    IOException unequal = assertThrows(IOException.class, () -> ZarrImport.open(written, 0));
    assertTrue(unequal.getMessage().contains("rectilinear"), unequal.getMessage());
    Files.write(document, "{".getBytes("UTF-8"));
    assertThrows(IOException.class, () -> ZarrImport.open(written, 0));
  }

  /** Each text in the metadata of an array or a group is replaced by one that is wrong in its own way. */
  @Test
  void aLevelIsAWholeNumber() {
    assertEquals(2, ZarrImport.level(2));
    assertEquals(-1, ZarrImport.level(-1));
    for (double number : new double[] {1.7, 1e10, Double.NaN, Double.NEGATIVE_INFINITY}) {
      IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> ZarrImport.level(number));
      assertTrue(e.getMessage().contains("is " + number + ", expected a whole number"), e.getMessage());
    }
  }

  /** Such as that of a group where a {@code .zarray} was left behind. */
  @Test
  void metadataOfVersion3CountFirst() throws IOException {
    Path image = export(nuclei(), ExportChain.LOSSLESS, 0);
    Files.write(image.resolve(".zarray"), "{}".getBytes(StandardCharsets.UTF_8));
    assertEquals(8, ZarrImport.open(image, 0).getNSlices());
  }

  @Test
  void malformedMetadataIsAnErrorOfItsFile() throws IOException {
    Path written = export(nuclei(), ExportChain.TIFF, 0);
    String[][] ofTheArray = {
      {"\"node_type\": \"array\"", "\"node_type\": [1, 2]"},
      {"\"node_type\": \"array\"", "\"node_type\": {}"},
      {"\"shape\": [\n    8,", "\"shape\": [\n    [8],"},
      {"\"shape\": [\n    8,", "\"shape\": [\n    \"eight\","},
      {"\"shape\": [\n    8,", "\"shape\": [\n    -8,"},
      {"\"shape\": [\n    8,", "\"shape\": [\n    0,"},
      {"\"shape\": [\n    8,", "\"shape\": [\n    99999999999,"},
      {"\"shape\": [\n    8,", "\"shape\": [\n"},
      {"\"shape\"", "\"form\""},
      {"\"separator\": \"/\"", "\"separator\": {}"},
      {"\"name\": \"default\"", "\"title\": \"default\""},
      {"\"chunk_key_encoding\": {", "\"chunk_key_encoding\": \"suffix\", \"other\": {"},
      {"\"configuration\": {\n      \"separator\"", "\"configuration\": 7, \"other\": {\n      \"separator\""},
      {"\"dimension_names\": [\n    \"z\",\n    \"y\",", "\"dimension_names\": ["},
      {"\"dimension_names\": [\n    \"z\",", "\"dimension_names\": [\n    {},"},
    };
    malformed(written, "0/zarr.json", ofTheArray);
    String[][] ofTheGroup = {
      {"\"attributes\": {", "\"attributes\": 7, \"other\": {"},
      {"\"ome\": {", "\"ome\": [], \"other\": {"},
      {"\"multiscales\": [", "\"multiscales\": 7, \"other\": ["},
      {"\"datasets\": [", "\"datasets\": {}, \"other\": ["},
      {"\"path\": \"0\"", "\"path\": []"},
      {"\"path\": \"0\"", "\"path\": \"\\u0000\""},
      {"\"type\": \"scale\"", "\"type\": null"},
      {"\"scale\": [", "\"scale\": [ \"wide\","},
      {"\"axes\": [", "\"axes\": [ 7, null,"},
    };
    malformed(written, "zarr.json", ofTheGroup);
  }

  private static void malformed(Path image, String name, String[][] changes) throws IOException {
    Path file = image.resolve(name);
    String good = new String(Files.readAllBytes(file), "UTF-8");
    for (String[] change : changes) {
      assertTrue(good.contains(change[0]), good);
      Files.write(file, good.replace(change[0], change[1]).getBytes("UTF-8"));
      IOException e = assertThrows(IOException.class, () -> ZarrImport.open(image, 0), change[1]);
      assertTrue(e.getMessage().contains(image.toString()), e.getMessage());
    }
    Files.write(file, good.getBytes("UTF-8"));
    ZarrImport.open(image, 0);
  }

  @Test
  void dimensionsWithoutNamesHaveAnOrder() throws IOException {
    assertEquals("zyx", order(null, null, null));
    assertEquals("czyx", order(null, null, null, null));
    assertEquals("ctzyx", order(null, null, null, null, null));
    assertEquals("tczyx", order("t", null, null, null, null));
    assertEquals("zcyx", order("z", null, null, null));
    assertEquals("xytcz", order("x", "y", "time", "channel", "depth"));
    assertEquals("tczyx", order(null, "c", "c", "y", "x"));
    assertThrows(IOException.class, () -> order("x"));
  }

  /** A letter for each dimension. */
  private static String order(String... names) throws IOException {
    Dimensions dimensions = new Dimensions(names);
    char[] order = new char[names.length];
    order[dimensions.x] = 'x';
    order[dimensions.y] = 'y';
    for (int[] plane : new int[][] {{'c', dimensions.c()}, {'z', dimensions.z()}, {'t', dimensions.t()}}) {
      if (plane[1] >= 0) {
        order[plane[1]] = (char) plane[0];
      }
    }
    return new String(order);
  }

  private static void python(String... arguments) throws Exception {
    Path python = Paths.get(System.getProperty("zcodec.python"));
    Assumptions.assumeTrue(Files.exists(python), "no Python with zarr; `make java` has one");
    String script = REPOSITORY.resolve("java/zcodec_imagej/src/test/python/arrays.py").toString();
    List<String> command = new ArrayList<>(Arrays.asList(python.toString(), script));
    command.addAll(Arrays.asList(arguments));
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertTrue(process.waitFor(120, TimeUnit.SECONDS), "Python takes too long");
    assertEquals(0, process.exitValue(), String.join(" ", command));
  }

  @Test
  void zarrPythonAndThePluginReadEachOther() throws Exception {
    python("write", folder.toString());
    ImagePlus image = ZarrImport.open(folder.resolve("image.ome.zarr"), 0);
    assertArrayEquals(new int[] {70, 50, 3, 4, 2}, image.getDimensions());
    for (int t = 0; t < 2; t++) {
      for (int c = 0; c < 3; c++) {
        for (int z = 0; z < 4; z++) {
          ImageProcessor plane = image.getStack().getProcessor(image.getStackIndex(c + 1, z + 1, t + 1));
          assertEquals(1000 * t + 500 * c + 100 * z, plane.get(0, 0));
          assertEquals(1000 * t + 500 * c + 100 * z + 49 + 69, plane.get(69, 49));
        }
      }
    }
    assertEquals(2.5, image.getCalibration().frameInterval);
    assertEquals(0.125, image.getCalibration().pixelWidth);
    ZarrExport.save(image, folder.resolve("lossless.zarr"), ExportChain.LOSSLESS.label, 0);
    for (ExportChain chain : new ExportChain[] {ExportChain.ZFP, ExportChain.TWELVE_BITS, ExportChain.TIFF}) {
      export(image, chain, 0.5); // which verifies
    }
    python("check", folder.toString());
    ImagePlus old = ZarrImport.open(folder.resolve("old.zarr"), 0);
    assertEquals(4, old.getNSlices());
    assertEquals(300 + 49 + 3, old.getStack().getProcessor(4).get(3, 49));
    everyDataType();
  }

  private void everyDataType() throws IOException {
    for (String type : "bool int8 uint8 int16 int32 uint32 int64 uint64 float16 float32 float64".split(" ")) {
      ImagePlus typed = ZarrImport.open(folder.resolve(type + ".zarr"), 0);
      float first = (float) typed.getCalibration().getCValue(typed.getProcessor().get(0, 0));
      float last = typed.getProcessor().getf(6, 4);
      boolean isFloat = typed.getBitDepth() == 32;
      float[] wanted = {-3, 7};
      if (type.equals("bool")) {
        wanted = new float[] {255, 255};
      } else if (type.startsWith("uint")) {
        wanted[0] = type.equals("uint8") ? 253 : (float) (Math.pow(2, Integer.parseInt(type.substring(4))) - 3);
      }
      last = typed.getCalibration().isSigned16Bit() ? last - 32768 : last;
      assertEquals(wanted[0], isFloat ? typed.getProcessor().getf(0, 0) : first, type);
      assertEquals(wanted[1], last, type);
    }
  }
}
