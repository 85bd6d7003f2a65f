package zcodec.imagej;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
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

  static OmeImage open(Path folder) throws IOException {
    OmeImage image = new OmeImage(String.valueOf(folder.toAbsolutePath().normalize().getFileName()));
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
      image.read(folder, multiscales.get(0).getAsJsonObject());
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
    for (JsonElement axis : named == null ? new JsonArray() : named) {
      if (axis.isJsonObject()) {
        JsonObject object = axis.getAsJsonObject();
        axes.add(axis(Json.member(object, "name").getAsString(), Json.text(object, "type", "")));
        units.add(Json.text(object, "unit", ""));
      } else {
        axes.add(axis.getAsString());
        units.add("");
      }
    }
    double[] common = scale(Json.array(image, "coordinateTransformations"));
    for (JsonElement element : Json.member(image, "datasets").getAsJsonArray()) {
      JsonObject dataset = element.getAsJsonObject();
      double[] scale = scale(Json.array(dataset, "coordinateTransformations"));
      for (int i = 0; scale != null && common != null && i < scale.length && i < common.length; i++) {
        scale[i] *= common[i];
      }
      levels.add(new Level(folder.resolve(Json.member(dataset, "path").getAsString()), scale));
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

  private static double[] scale(JsonArray transformations) {
    for (int i = 0; transformations != null && i < transformations.size(); i++) {
      JsonObject one = transformations.get(i).getAsJsonObject();
      if (Json.member(one, "type").getAsString().equals("scale") && one.has("scale")) {
        JsonArray numbers = one.getAsJsonArray("scale");
        double[] scale = new double[numbers.size()];
        for (int k = 0; k < scale.length; k++) {
          scale[k] = numbers.get(k).getAsDouble();
        }
        return scale;
      }
    }
    return null;
  }
}
