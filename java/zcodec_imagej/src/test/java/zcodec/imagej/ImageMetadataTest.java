package zcodec.imagej;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ij.ImagePlus;
import ij.ImageStack;
import ij.measure.Calibration;
import ij.process.ByteProcessor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the metadata of arrays and images mean, and what is said of those that cannot be used. */
class ImageMetadataTest {
  private static final String KEYS = "'chunk_key_encoding':{'name':'default'}";

  @TempDir Path folder;

  private static ImagePlus frames() {
    ImageStack stack = new ImageStack(3, 2);
    stack.addSlice(new ByteProcessor(3, 2, new byte[] {1, 2, 3, 4, 5, 6}));
    stack.addSlice(new ByteProcessor(3, 2, new byte[] {7, 8, 9, 10, 11, 12}));
    ImagePlus frames = new ImagePlus("frames", stack);
    frames.setDimensions(1, 1, 2);
    return frames;
  }

  private ImagePlus written(ImagePlus image, String name) throws IOException {
    Path target = folder.resolve(name);
    ZarrExport.save(image, target, ExportChain.LOSSLESS.label, 0);
    return ZarrImport.open(target, 0);
  }

  private String document(String name) throws IOException {
    return new String(Files.readAllBytes(folder.resolve(name).resolve("zarr.json")), StandardCharsets.UTF_8);
  }

  @Test
  void unitsComeBack() throws IOException {
    String[][] units = { // of space, as OME-Zarr has it, and again; of time, the same
      {"micron", "micrometer", "\u00B5m", "sec", "second", "sec"},
      {"nm", "nanometer", "nm", "ms", "millisecond", "ms"},
      {"cm", "centimeter", "cm", "min", "minute", "min"},
      {"inch", "inch", "in", "hr", "hour", "h"},
      {"\u00C5", "angstrom", "\u00C5", "\u00B5s", "microsecond", "\u00B5s"},
      {"micrometres", "micrometer", "\u00B5m", "Seconds", "second", "sec"},
      {"parsec", "parsec", "parsec", "day", "day", "d"},
      {"Microns", "micrometer", "\u00B5m", "Sec", "second", "sec"},
      {"MICRONS", "micrometer", "\u00B5m", "Mins", "minute", "min"},
      {"feet", "foot", "ft", "HOURS", "hour", "h"},
      {"Foot", "foot", "ft", "usec", "microsecond", "\u00B5s"},
      {"Inches", "inch", "in", "Hrs", "hour", "h"},
      {"miles", "mile", "mile", "Days", "day", "d"},
      {"\u00C5ngstr\u00F6m", "angstrom", "\u00C5", "nsec", "nanosecond", "ns"},
      {"Megameters", "megameter", "megameter", "milliseconds", "millisecond", "ms"},
    };
    for (int i = 0; i < units.length; i++) {
      String[] unit = units[i];
      ImagePlus frames = frames();
      Calibration calibration = frames.getCalibration();
      calibration.pixelWidth = 0.5;
      calibration.setUnit(unit[0]);
      calibration.frameInterval = 5;
      calibration.setTimeUnit(unit[3]);
      Calibration found = written(frames, "units" + i).getCalibration();
      String document = document("units" + i);
      assertTrue(document.contains("\"unit\": \"" + unit[1] + "\""), document);
      assertTrue(document.contains("\"unit\": \"" + unit[4] + "\""), document);
      assertEquals(unit[2], found.getXUnit());
      assertEquals(unit[5], found.getTimeUnit());
      assertEquals(0.5, found.pixelWidth);
      assertEquals(5, found.frameInterval);
    }
  }

  @Test
  void whatHasNoUnitGetsNone() throws IOException {
    Calibration found = written(frames(), "none").getCalibration();
    assertTrue(!document("none").contains("unit"), document("none"));
    assertEquals(0, found.frameInterval);
    assertEquals("pixel", found.getXUnit());
    ImagePlus frames = frames();
    frames.getCalibration().frameInterval = 5;
    frames.getCalibration().setTimeUnit("beats");
    found = written(frames, "beats").getCalibration();
    assertEquals(5, found.frameInterval);
    assertEquals("frame", found.getTimeUnit());
    assertTrue(!document("beats").contains("unit"), document("beats"));
  }

  @Test
  void unitsThatAreNotStoredAreLogged() throws IOException {
    String[][] units = { // of x, of y, of time, and those that are named
      {"Mm", "Mm", "S", "\"S\", \"Mm\""},
      {"CM", "mm", "ms", "\"CM\""},
      {"pixels", "", "frames", null},
      {"mm", "mm", "sec", null},
    };
    for (int i = 0; i < units.length; i++) {
      ImagePlus frames = frames();
      frames.getCalibration().setXUnit(units[i][0]);
      frames.getCalibration().setYUnit(units[i][1]);
      frames.getCalibration().setTimeUnit(units[i][2]);
      frames.getCalibration().frameInterval = 5;
      Path target = folder.resolve("logged" + i);
      String log = PluginTest.logOf(() -> assertDoesNotThrow(() -> written(frames, target.toString())));
      String named = "OME-Zarr does not have these units: " + units[i][3] + "; the sizes are stored without them";
      assertEquals(units[i][3] == null ? "" : "Zarr (zcodec): " + named, log);
    }
  }

  @Test
  void anImageIsNamedAfterItsFolder() throws IOException {
    for (String target : new String[] {"plain", "dot/.", "new/../up"}) {
      assertFalse(written(frames(), target).getTitle().contains("."));
      String document = document(target);
      assertTrue(document.contains("\"name\": \"" + target.replaceAll("/\\.$|.*\\.\\./", "") + "\""), document);
    }
  }

  /** A pixel is 100 c + 10 t + z; the sizes are (t, c, z, y, x). */
  private void timeLapse(Path array) throws IOException {
    int[] shape = {2, 3, 4, 2, 3};
    Files.createDirectories(array);
    String document =
        "{'zarr_format':2,'shape':[2,3,4,2,3],'chunks':[1,1,1,2,3],'dtype':'|u1','fill_value':0,'order':'C',"
            + "'filters':null,'compressor':null}";
    Files.write(array.resolve(".zarray"), document.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    for (int t = 0; t < shape[0]; t++) {
      for (int c = 0; c < shape[1]; c++) {
        for (int z = 0; z < shape[2]; z++) {
          byte[] plane = new byte[6];
          Arrays.fill(plane, (byte) (100 * c + 10 * t + z));
          Files.write(array.resolve(t + "." + c + "." + z + ".0.0"), plane);
        }
      }
    }
  }

  /** NGFF 0.1 and 0.2: "All image arrays are 5-dimensional with dimension order (t, c, z, y, x)". */
  @Test
  void imagesOfVersionsWithoutAxesHaveTheOrderOfTheirSpecification() throws IOException {
    String scale = ",'coordinateTransformations':[{'type':'scale','scale':[5,1,4,3,2]}]";
    String[][] images = { // version, what else is said of the array
      {"0.1", ""}, {"0.2", ""}, {"0.2", scale},
    };
    for (int i = 0; i < images.length; i++) {
      Path image = folder.resolve("image" + i);
      timeLapse(image.resolve("0"));
      String document =
          "{'multiscales':[{'version':'" + images[i][0] + "','datasets':[{'path':'0'" + images[i][1] + "}]}]}";
      Files.write(image.resolve(".zgroup"), "{\"zarr_format\":2}".getBytes(StandardCharsets.UTF_8));
      Files.write(image.resolve(".zattrs"), document.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
      ImagePlus found = ZarrImport.open(image, 0);
      assertArrayEquals(new int[] {3, 2, 3, 4, 2}, found.getDimensions());
      assertEquals(213, found.getStack().getProcessor(found.getStackIndex(3, 4, 2)).get(0));
      Calibration calibration = found.getCalibration();
      double[] scales = {calibration.frameInterval, calibration.pixelDepth, calibration.pixelWidth};
      assertArrayEquals(images[i][1].isEmpty() ? new double[] {0, 1, 1} : new double[] {5, 4, 2}, scales);
    }
  }

  /** Each text in the metadata is replaced by one that is wrong, and the message names the member. */
  @Test
  void whatIsWrongWithAMemberIsSaid() throws IOException {
    ofArray("'zarr_format':3,", "", "the metadata has no \"zarr_format\"");
    ofArray("'zarr_format':3", "'zarr_format':null", "\"zarr_format\" is null, expected an integer");
    ofArray("'zarr_format':3", "'zarr_format':'three'", "\"zarr_format\" is \"three\", expected an integer");
    ofArray("'shape':[2,3]", "'shape':7", "\"shape\" is 7, expected a list");
    ofArray("'shape':[2,3]", "'shape':null", "\"shape\" is null, expected a list");
    ofArray("'shape':[2,3]", "'shape':[2,'three']", "\"shape\"[1] is \"three\", expected an integer");
    ofArray("'shape':[2,3]", "'shape':[[2],3]", "\"shape\"[0] is [2], expected an integer");
    ofArray("'shape':[2,3]", "'shape':[2,null]", "\"shape\"[1] is null, expected an integer");
    ofArray("{'name':'default'}", "null", "\"chunk_key_encoding\" is null, expected a text");
    ofArray("{'name':'default'}", "{}", "the metadata has no \"name\"");
    ofArray("{'name':'default'}", "{'name':null}", "\"name\" is null, expected a text");
    ofArray("['y','x']", "['y']", "\"dimension_names\" is [\"y\"], expected a list of 2");
    ofArray("['y','x']", "7", "\"dimension_names\" is 7, expected a list");
    ofArray("['y','x']", "[{},'x']", "\"dimension_names\"[0] is {}, expected a text");
    ofArray("{'zarr_format'", "['zarr_format'", "is not a JSON object: ");
    ofGroup("'attributes':{", "'attributes':7,'other':{", "\"attributes\" is 7, expected an object");
    ofGroup("[{'axes'", "[7,{'axes'", "\"multiscales\"[0] is 7, expected an object");
    ofGroup("{'name':'y'}", "null", "\"axes\"[0] is null, expected a text");
    ofGroup("{'name':'y'}", "{'name':null}", "\"name\" is null, expected a text");
    ofGroup("{'name':'y'}", "{}", "the metadata has no \"name\"");
    ofGroup("'datasets':[", "'datasets':null,'other':[", "\"datasets\" is null, expected a list");
    ofGroup("'datasets':[", "'datasets':7,'other':[", "\"datasets\" is 7, expected a list");
    ofGroup("[{'path'", "[7,{'path'", "\"datasets\"[0] is 7, expected an object");
    ofGroup("'path':'0'", "'path':null", "\"path\" is null, expected a text");
    ofGroup("'path':'0'", "'path':[]", "\"path\" is [], expected a text");
    ofGroup("{'type'", "7,{'type'", "\"coordinateTransformations\"[0] is 7, expected an object");
    ofGroup("'type':'scale'", "'type':null", "\"type\" is null, expected a text");
    ofGroup("'scale':[4,5]", "'scale':5", "\"scale\" is 5, expected a list");
    ofGroup("'scale':[4,5]", "'scale':null", "\"scale\" is null, expected a list");
    ofGroup("'scale':[4,5]", "'scale':[4,'wide']", "\"scale\"[1] is \"wide\", expected a number");
    ofGroup("'scale':[4,5]", "'scale':[4,null]", "\"scale\"[1] is null, expected a number");
  }

  private static final String ARRAY =
      "{'zarr_format':3,'node_type':'array','shape':[2,3],'data_type':'uint8','fill_value':9,"
          + "'chunk_grid':{'name':'regular','configuration':{'chunk_shape':[2,3]}},"
          + "'chunk_key_encoding':{'name':'default'},'codecs':['bytes'],'dimension_names':['y','x']}";
  private static final String GROUP =
      "{'zarr_format':3,'node_type':'group','attributes':{'ome':{'version':'0.5','multiscales':[{'axes':["
          + "{'name':'y'},{'name':'x'}],'datasets':[{'path':'0','coordinateTransformations':["
          + "{'type':'scale','scale':[4,5]}]}]}]}}}";

  private void ofArray(String right, String wrong, String message) throws IOException {
    whatIsSaid(ARRAY, right, wrong, "", message);
  }

  private void ofGroup(String right, String wrong, String message) throws IOException {
    Files.createDirectories(folder.resolve("said/0"));
    Files.write(folder.resolve("said/0/zarr.json"), ARRAY.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    whatIsSaid(GROUP, right, wrong, ": its OME metadata cannot be read", message);
  }

  private void whatIsSaid(String document, String right, String wrong, String about, String message)
      throws IOException {
    assertTrue(document.contains(right), right);
    Path image = Files.createDirectories(folder.resolve("said"));
    Path file = image.resolve("zarr.json");
    Files.write(file, document.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    assertEquals(9, ZarrImport.open(image, 0).getProcessor().get(0));
    Files.write(file, document.replace(right, wrong).replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    IOException e = assertThrows(IOException.class, () -> ZarrImport.open(image, 0), wrong);
    String place = about.isEmpty() ? file.toString() : image + about;
    assertTrue(e.getMessage().startsWith(place), e.getMessage());
    assertTrue(e.getMessage().contains(message), wrong + " gives: " + e.getMessage());
    assertFalse(e.getMessage().contains("gson"), e.getMessage());
  }

  private Path array(String name, String shape, String type, String keys, String codecs) throws IOException {
    Path array = Files.createDirectories(folder.resolve(name));
    String document =
        "{'zarr_format':3,'node_type':'array','shape':" + shape + ",'data_type':" + type + ",'fill_value':9,"
            + "'chunk_grid':{'name':'regular','configuration':{'chunk_shape':" + shape + "}}," + keys
            + ",'codecs':" + codecs + "}";
    Files.write(array.resolve("zarr.json"), document.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    return array;
  }

  private Path bytes(String name, String keys, String chunk) throws IOException {
    Path array = array(name, "[2,3]", "'uint8'", keys, "['bytes']");
    Files.createDirectories(array.resolve(chunk).getParent());
    Files.write(array.resolve(chunk), new byte[] {1, 2, 3, 4, 5, 6});
    return array;
  }

  @Test
  void chunksAreFoundByTheEncodingOfTheirKeys() throws IOException {
    String[][] encodings = {
      {"'default'", "c/0/0"},
      {"{'name':'default'}", "c/0/0"},
      {"{'name':'default','configuration':{'separator':'.'}}", "c.0.0"},
      {"'v2'", "0.0"},
      {"{'name':'v2','configuration':{'separator':'/'}}", "0/0"},
    };
    for (int i = 0; i < encodings.length; i++) {
      Path array = bytes("keys" + i, "'chunk_key_encoding':" + encodings[i][0], encodings[i][1]);
      assertArrayEquals(new byte[] {1, 2, 3, 4, 5, 6}, (byte[]) ZarrImport.open(array, 0).getStack().getPixels(1));
    }
    String[][] refused = {
      {"{'name':'suffix','configuration':{'suffix':'.tiff'}}", "the chunk key encoding \"suffix\" is not supported"},
      {"{'name':'default','configuration':{'separator':'-'}}", "the separator of chunk keys is \"-\""},
    };
    for (int i = 0; i < refused.length; i++) {
      Path array = bytes("refused" + i, "'chunk_key_encoding':" + refused[i][0], "c/0/0");
      IOException e = assertThrows(IOException.class, () -> ZarrImport.open(array, 0));
      assertTrue(e.getMessage().contains(refused[i][1]), e.getMessage());
    }
  }

  @Test
  void typesOfAxesCountMoreThanTheirNames() throws IOException {
    ImagePlus frames = frames();
    written(frames, "typed");
    Path file = folder.resolve("typed/zarr.json");
    String document = document("typed");
    Files.write(file, document.replace("\"name\": \"t\"", "\"name\": \"frame\"").getBytes(StandardCharsets.UTF_8));
    assertEquals(2, ZarrImport.open(folder.resolve("typed"), 0).getNFrames());
    String channels = document.replace("\"name\": \"t\"", "\"name\": \"lambda\"").replace("\"time\"", "\"channel\"");
    Files.write(file, channels.getBytes(StandardCharsets.UTF_8));
    assertEquals(2, ZarrImport.open(folder.resolve("typed"), 0).getNChannels());
  }

  @Test
  void sizesOfPixelsArePositive() throws IOException {
    written(frames(), "sizes");
    String wrong = document("sizes").replaceFirst("\"scale\": \\[\\s*1.0,\\s*1.0,", "\"scale\": [1.0, -1.0,");
    assertTrue(wrong.contains("-1.0"), wrong);
    Files.write(folder.resolve("sizes/zarr.json"), wrong.getBytes(StandardCharsets.UTF_8));
    assertEquals(1, ZarrImport.open(folder.resolve("sizes"), 0).getCalibration().pixelHeight);
  }

  @Test
  void aShardMayBeLargerThanWhatJavaHolds() throws IOException {
    String little = "{'name':'bytes','configuration':{'endian':'little'}}";
    String codecs =
        "[{'name':'sharding_indexed','configuration':{'chunk_shape':[64,64,64],'codecs':[" + little + "],"
            + "'index_codecs':[" + little + ",'crc32c']}}]";
    Path shard = array("shard", "[1024,1024,2048]", "'uint16'", KEYS, codecs);
    assertEquals(9, ZarrImport.open(shard, 0).getStack().getProcessor(1024).get(2047, 1023));
    String zstd = "{'name':'zstd','configuration':{'level':1,'checksum':false}}";
    Path chunk = array("chunk", "[1024,1024,2048]", "'uint16'", KEYS, "[" + little + "," + zstd + "]");
    IOException e = assertThrows(IOException.class, () -> ZarrImport.open(chunk, 0));
    assertTrue(e.getMessage().contains("a part of 4294967296 bytes must be decoded at once"), e.getMessage());
  }

  @Test
  void whatImageJCannotShowIsNamed() throws IOException {
    String[][] arrays = { // shape, data type, what is said
      {"[70000,70000]", "'uint8'", "a plane of 70000 x 70000 pixels is larger than ImageJ allows"},
      {"[3000000000,1,1]", "'uint8'", "the size of dimension 0, 3000000000, is larger than ImageJ allows"},
      {"[100000,100000,1,1]", "'uint8'", "the array has more planes than ImageJ allows"},
      {"[2,2]", "'complex64'", "ImageJ has no pixels for the data type complex64"},
      {
        "[2,2]",
        "{'name':'numpy.datetime64','configuration':{'unit':'s','scale_factor':1}}",
        "ImageJ has no pixels for the data type {\"name\":\"numpy.datetime64\""
      },
    };
    for (int i = 0; i < arrays.length; i++) {
      String codecs = "[{'name':'bytes','configuration':{'endian':'little'}}]";
      Path array = array("large" + i, arrays[i][0], arrays[i][1], KEYS, codecs);
      if (i == 3) {
        replace(array, "\"fill_value\":9", "\"fill_value\":[9,0]");
      }
      IOException e = assertThrows(IOException.class, () -> ZarrImport.open(array, 0));
      assertTrue(e.getMessage().contains(arrays[i][2]), e.getMessage());
    }
  }

  @Test
  void whatIsNoImageSaysWhy() throws IOException {
    written(frames(), "image");
    Path image = folder.resolve("image");
    String good = document("image");
    String[][] changes = {
      {"\"attributes\": {", "\"attributes\": null, \"other\": {", "is neither a Zarr array nor an OME-Zarr image"},
      {"\"datasets\"", "\"levels\"", "the metadata has no \"datasets\""},
      {"\"ome\": {", "\"ome\": 7, \"other\": {", "\"ome\" is 7, expected an object"},
      {"\"path\": \"0\"", "\"path\": \"7\"", "7 holds no Zarr array"},
    };
    for (String[] change : changes) {
      assertTrue(good.contains(change[0]), good);
      Files.write(image.resolve("zarr.json"), good.replace(change[0], change[1]).getBytes(StandardCharsets.UTF_8));
      IOException e = assertThrows(IOException.class, () -> ZarrImport.open(image, 0));
      assertTrue(e.getMessage().contains(change[2]), e.getMessage());
    }
  }

  private static void replace(Path array, String wanted, String by) throws IOException {
    Path file = array.resolve("zarr.json");
    String document = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    assertTrue(document.contains(wanted), document);
    Files.write(file, document.replace(wanted, by).getBytes(StandardCharsets.UTF_8));
  }
}
