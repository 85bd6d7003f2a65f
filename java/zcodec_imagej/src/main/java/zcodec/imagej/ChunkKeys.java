package zcodec.imagej;

import com.google.gson.JsonObject;

/** Where chunks are stored, relative to their array: Zarr v3 core specification, "Chunk key encoding". */
final class ChunkKeys {
  private final String prefix;
  private final String separator;

  private ChunkKeys(String prefix, String separator) {
    if (!separator.equals("/") && !separator.equals(".")) {
      throw new IllegalArgumentException(
          "the separator of chunk keys is \"" + separator + "\", expected \"/\" or \".\"");
    }
    this.prefix = prefix;
    this.separator = separator;
  }

  /** Those of an array with this metadata, of version 3 or 2. */
  static ChunkKeys of(JsonObject metadata) {
    if (Json.integer(metadata, "zarr_format") == 2) {
      return new ChunkKeys("", Json.text(metadata, "dimension_separator", "."));
    }
    boolean isName = !Json.member(metadata, "chunk_key_encoding").isJsonObject();
    JsonObject encoding = isName ? null : Json.object(metadata, "chunk_key_encoding");
    JsonObject configuration = isName ? null : Json.object(encoding, "configuration");
    String name = isName ? Json.text(metadata, "chunk_key_encoding") : Json.text(encoding, "name");
    switch (name) {
      case "default":
        return new ChunkKeys("c", Json.text(configuration, "separator", "/"));
      case "v2":
        return new ChunkKeys("", Json.text(configuration, "separator", "."));
      default:
        throw new IllegalArgumentException("the chunk key encoding \"" + name + "\" is not supported");
    }
  }

  /** The key of a chunk. */
  String of(long[] cell) {
    StringBuilder key = new StringBuilder(prefix);
    for (int i = 0; i < cell.length; i++) {
      key.append(i > 0 || !prefix.isEmpty() ? separator : "").append(cell[i]);
    }
    return key.length() == 0 ? "0" : key.toString();
  }
}
