package zcodec.imagej;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * What OME-Zarr says of an image: the arrays of its levels, the names and units of their axes, and the distances of
 * pixels. Of a folder that is an array itself, only that array.
 */
final class OmeImage {
  /** One array of the image. */
  static final class Level {
    final Path folder;
    /** The distance of neighbours along each axis; null: not known. */
    final double[] scale;

    Level(Path folder, double[] scale) {
      this.folder = folder;
      this.scale = scale;
    }
  }

  /** NGFF 0.1 and 0.2: "All image arrays are 5-dimensional with dimension order (t, c, z, y, x)". */
  private static final String[] AXES_OF_OLD_VERSIONS = {"t", "c", "z", "y", "x"};

  final String name;
  final List<Level> levels = new ArrayList<>();
  /** A name and a unit for each axis; empty: not known. */
  private final List<String> axes = new ArrayList<>();
  final List<String> units = new ArrayList<>();
  private boolean isArray;

  private OmeImage(String name) {
    this.name = name;
  }

  /** The name of the image in a folder. */
  static String nameOf(Path folder) {
    return String.valueOf(folder.toAbsolutePath().normalize().getFileName());
  }

  static OmeImage open(Path folder) throws IOException {
    OmeImage image = new OmeImage(nameOf(folder));
    image.isArray = ZarrArray.isArray(folder);
    if (image.isArray) {
      image.levels.add(new Level(folder, null));
      return image;
    }
    try {
      JsonArray multiscales = multiscales(folder);
      if (multiscales == null || multiscales.size() == 0) {
        throw new IOException(folder + " is neither a Zarr array nor an OME-Zarr image");
      }
      image.read(folder, Json.objectAt(multiscales, "multiscales", 0));
    } catch (RuntimeException e) {
      throw new IOException(folder + ": its OME metadata cannot be read: " + Json.why(e), e);
    }
    return image;
  }

  /** Version 0.5 keeps them in zarr.json below "ome", 0.4 in .zattrs. */
  private static JsonArray multiscales(Path folder) throws IOException {
    Path file = folder.resolve("zarr.json");
    if (Files.exists(file)) {
      JsonObject attributes = Json.object(Json.read(file), "attributes");
      JsonObject ome = attributes == null ? null : Json.object(attributes, "ome");
      JsonObject owner = ome == null ? attributes : ome;
      return owner == null ? null : Json.array(owner, "multiscales");
    }
    Path old = folder.resolve(".zattrs");
    return Files.exists(old) ? Json.array(Json.read(old), "multiscales") : null;
  }

  private void read(Path folder, JsonObject image) {
    JsonArray named = Json.array(image, "axes");
    for (int i = 0; named != null && i < named.size(); i++) {
      if (named.get(i).isJsonObject()) {
        JsonObject axis = Json.objectAt(named, "axes", i);
        axes.add(axis(Json.text(axis, "name"), Json.text(axis, "type", "")));
        units.add(Json.text(axis, "unit", ""));
      } else {
        axes.add(Json.textAt(named, "axes", i));
        units.add("");
      }
    }
    double[] common = scale(image);
    JsonArray datasets = Json.list(image, "datasets");
    for (int n = 0; n < datasets.size(); n++) {
      JsonObject dataset = Json.objectAt(datasets, "datasets", n);
      double[] scale = scale(dataset);
      for (int i = 0; scale != null && common != null && i < scale.length && i < common.length; i++) {
        scale[i] *= common[i];
      }
      levels.add(new Level(folder.resolve(Json.text(dataset, "path")), scale));
    }
    if (levels.isEmpty()) {
      throw new IllegalStateException("it names no arrays");
    }
  }

  /** The name of an axis, whose type counts where it has one: axes may have any names. */
  private static String axis(String name, String type) {
    switch (type) {
      case "channel":
        return "c";
      case "time":
        return "t";
      case "space":
        return name.equals("c") || name.equals("t") ? "" : name;
      default:
        return name;
    }
  }

  /** The names of the axes of one of its arrays; null: unknown. */
  String[] axesOf(ZarrArray array) {
    if (axes.size() == array.shape.length) {
      return axes.toArray(new String[0]);
    }
    boolean isUnnamed = axes.isEmpty() && Arrays.stream(array.dimensionNames).allMatch(Objects::isNull);
    boolean isOld = !isArray && isUnnamed && array.shape.length == AXES_OF_OLD_VERSIONS.length;
    return isOld ? AXES_OF_OLD_VERSIONS.clone() : array.dimensionNames;
  }

  private static double[] scale(JsonObject owner) {
    JsonArray transformations = Json.array(owner, "coordinateTransformations");
    for (int i = 0; transformations != null && i < transformations.size(); i++) {
      JsonObject one = Json.objectAt(transformations, "coordinateTransformations", i);
      if (Json.text(one, "type").equals("scale") && one.has("scale")) {
        return Json.numbers(one, "scale");
      }
    }
    return null;
  }
}
