package zcodec.imagej;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import ij.IJ;
import ij.ImagePlus;
import ij.measure.Calibration;
import ij.process.ImageProcessor;
import java.io.IOException;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import zcodec.Box;
import zcodec.CallOptions;
import zcodec.Chain;
import zcodec.View;

/** Writes an image as an OME-Zarr image of one level: a group, and in it the array "0". */
final class ZarrWriter {
  private static final String ARRAY = "0";

  private final ImagePlus image;
  private final ExportChain kind;
  private final double tolerance;
  private final String axes;
  private final int[] shape;
  private final int[] chunkShape;
  private final String dataType;

  ZarrWriter(ImagePlus image, ExportChain kind, double tolerance) {
    if (image.getBitDepth() == 24) {
      throw new IllegalArgumentException("RGB images are not supported; Image > Color > Make Composite makes channels");
    }
    if (kind == ExportChain.ZFP && !(tolerance > 0)) {
      throw new IllegalArgumentException("the tolerance must be greater than 0, and is " + tolerance);
    }
    this.image = image;
    this.kind = kind;
    this.tolerance = tolerance;
    StringBuilder names = new StringBuilder();
    names.append(image.getNFrames() > 1 ? "t" : "").append(image.getNChannels() > 1 ? "c" : "");
    axes = names.append(image.getNSlices() > 1 ? "z" : "").append("yx").toString();
    shape = axes.chars().map(this::size).toArray();
    chunkShape = kind.chunkShape(shape);
    boolean signed = image.getCalibration().isSigned16Bit();
    if (signed && kind != ExportChain.LOSSLESS) {
      throw new IllegalArgumentException("pixels with a sign can be stored with the lossless chain only");
    }
    dataType = signed ? "int16" : kind.dataType(image.getBitDepth());
  }

  private int size(int axis) {
    switch (axis) {
      case 't':
        return image.getNFrames();
      case 'c':
        return image.getNChannels();
      case 'z':
        return image.getNSlices();
      case 'y':
        return image.getHeight();
      default:
        return image.getWidth();
    }
  }

  /** Writes, and then reads all of it and compares. */
  void write(Path folder) throws IOException {
    ExportFolder target = new ExportFolder(folder);
    String objection = kind.objection(image);
    if (objection != null) {
      throw new IOException(objection);
    }
    boolean written = false;
    try {
      writeAndVerify(target);
      written = true;
    } finally {
      if (!written) {
        target.remove();
      }
    }
    logLostUnits();
  }

  private void writeAndVerify(ExportFolder target) throws IOException {
    ZarrStack source = image.getStack() instanceof ZarrStack ? (ZarrStack) image.getStack() : null;
    if (source != null) {
      source.takeDamaged();
    }
    String document = arrayDocument();
    try (Chain chain = Chain.ofZarrJson(document)) {
      if (Math.max(chain.decodedSize(), chain.encodedBound(chain.decodedSize())) > Integer.MAX_VALUE) {
        throw new IOException(ExportChain.tooLarge(chain.decodedSize()));
      }
      target.claim(ARRAY);
      writeChunks(chain, target);
    }
    if (source != null && source.takeDamaged()) {
      throw new IOException("parts of the image are damaged, as the log says, and would be stored as 0");
    }
    target.write(ARRAY + "/zarr.json", StandardCharsets.UTF_8.encode(document));
    target.write("zarr.json", StandardCharsets.UTF_8.encode(groupDocument(target.folder)));
    verify(target.folder);
  }

  private String arrayDocument() {
    JsonObject array = new JsonObject();
    array.addProperty("zarr_format", 3);
    array.addProperty("node_type", "array");
    array.add("shape", numbers(shape));
    array.addProperty("data_type", dataType);
    array.add("chunk_grid", JsonParser.parseString("{\"name\":\"regular\",\"configuration\":{}}"));
    array.getAsJsonObject("chunk_grid").getAsJsonObject("configuration").add("chunk_shape", numbers(chunkShape));
    array.add(
        "chunk_key_encoding", JsonParser.parseString("{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}}"));
    if (dataType.equals("bool")) {
      array.addProperty("fill_value", false);
    } else {
      array.addProperty("fill_value", 0);
    }
    array.add("codecs", JsonParser.parseString(kind.codecs(dataType, shape, tolerance)));
    JsonArray names = new JsonArray();
    axes.chars().forEach(axis -> names.add(String.valueOf((char) axis)));
    array.add("dimension_names", names);
    array.add("attributes", new JsonObject());
    return pretty(array);
  }

  private static String pretty(JsonObject object) {
    return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(object) + "\n";
  }

  private static JsonArray numbers(int[] values) {
    JsonArray array = new JsonArray();
    for (int value : values) {
      array.add(value);
    }
    return array;
  }

  private String groupDocument(Path folder) {
    JsonArray named = new JsonArray();
    JsonArray scale = new JsonArray();
    for (char axis : axes.toCharArray()) {
      JsonObject one = new JsonObject();
      one.addProperty("name", String.valueOf(axis));
      one.addProperty("type", axis == 't' ? "time" : axis == 'c' ? "channel" : "space");
      String unit = units(axis).toOme(unit(axis));
      if (unit != null) {
        one.addProperty("unit", unit);
      }
      named.add(one);
      scale.add(scale(axis));
    }
    JsonObject root =
        JsonParser.parseString(
                "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"ome\":{\"version\":\"0.5\","
                    + "\"multiscales\":[{\"datasets\":[{\"path\":\"" + ARRAY
                    + "\",\"coordinateTransformations\":[{\"type\":\"scale\"}]}]}]}}}")
            .getAsJsonObject();
    JsonObject ome = root.getAsJsonObject("attributes").getAsJsonObject("ome");
    JsonObject multiscale = ome.getAsJsonArray("multiscales").get(0).getAsJsonObject();
    multiscale.addProperty("name", OmeImage.nameOf(folder));
    multiscale.add("axes", named);
    JsonObject dataset = multiscale.getAsJsonArray("datasets").get(0).getAsJsonObject();
    dataset.getAsJsonArray("coordinateTransformations").get(0).getAsJsonObject().add("scale", scale);
    return pretty(root);
  }

  private double scale(char axis) {
    Calibration calibration = image.getCalibration();
    double scale =
        axis == 'x'
            ? calibration.pixelWidth
            : axis == 'y'
                ? calibration.pixelHeight
                : axis == 'z' ? calibration.pixelDepth : axis == 't' ? calibration.frameInterval : 1;
    return scale > 0 && scale < Double.POSITIVE_INFINITY ? scale : 1;
  }

  /** ImageJ's unit of an axis; null: it has none. */
  private String unit(char axis) {
    Calibration calibration = image.getCalibration();
    switch (axis) {
      case 'x':
        return calibration.getXUnit();
      case 'y':
        return calibration.getYUnit();
      case 'z':
        return calibration.getZUnit();
      case 't':
        return calibration.frameInterval > 0 ? calibration.getTimeUnit() : null;
      default:
        return null;
    }
  }

  private static Units units(char axis) {
    return axis == 't' ? Units.TIME : Units.SPACE;
  }

  private void logLostUnits() {
    Set<String> lost = new LinkedHashSet<>();
    for (char axis : axes.toCharArray()) {
      if (units(axis).isLost(unit(axis))) {
        lost.add("\"" + unit(axis) + "\"");
      }
    }
    if (!lost.isEmpty()) {
      String units = String.join(", ", lost);
      IJ.log("Zarr (zcodec): OME-Zarr does not have these units: " + units + "; the sizes are stored without them");
    }
  }

  private void writeChunks(Chain chain, ExportFolder target) throws IOException {
    ByteBuffer encoded = ByteBuffer.allocateDirect(Math.toIntExact(chain.encodedBound(chain.decodedSize())));
    CallOptions options = CallOptions.DEFAULT.maxThreads(Runtime.getRuntime().availableProcessors());
    new ImageChunks(image, axes, shape, chunkShape, dataType)
        .forEach(
            Math.toIntExact(chain.decodedSize()),
            ImageChunks.bound(),
            (cell, box, elements) -> {
              View view = View.of(elements, box.length);
              // Whoever looks for TIFF files expects one for a black plane, too.
              if (kind == ExportChain.TIFF || !chain.isFillView(box, view)) {
                ((Buffer) encoded).clear();
                chain.encodeView(Box.of(null, box), view, encoded, options);
                ((Buffer) encoded).flip();
                target.write(key(cell), encoded);
              }
            });
  }

  /** The name of the file of a chunk. */
  private static String key(int[] cell) {
    StringBuilder key = new StringBuilder(ARRAY + "/c");
    for (int index : cell) {
      key.append('/').append(index);
    }
    return key.toString();
  }

  /** Reads the image and compares it with what should be there. */
  void verify(Path folder) throws IOException {
    verify(ZarrImport.openUnwatched(folder, 0));
  }

  /** Compares an image that was read with what should be there, and closes its array. */
  void verify(ImagePlus written) throws IOException {
    ZarrArray array = ((ZarrStack) written.getStack()).array;
    try {
      for (int n = 1; n <= image.getStackSize(); n++) {
        compare(n, ImageChunks.plane(image, n), written.getStack().getProcessor(n));
        IJ.showProgress(n, image.getStackSize());
      }
    } finally {
      array.close(); // written.close() would not: without a window it tells no listener
    }
  }

  private void compare(int n, ImageProcessor wanted, ImageProcessor found) throws IOException {
    double allowed = kind == ExportChain.ZFP ? tolerance : 0;
    for (int i = 0; i < wanted.getPixelCount(); i++) {
      float want = kind == ExportChain.MASK ? wanted.get(i) == 0 ? 0 : 255 : wanted.getf(i);
      float got = found.getf(i);
      if (!(Math.abs(want - got) <= allowed) && Float.compare(want, got) != 0) {
        String zfp = "zfp does not keep the tolerance of " + tolerance;
        String why = kind == ExportChain.ZFP ? zfp : "what was written is wrong";
        throw new IOException(why + ": plane " + n + ", pixel " + i + " is " + got + " and should be " + want);
      }
    }
  }
}
