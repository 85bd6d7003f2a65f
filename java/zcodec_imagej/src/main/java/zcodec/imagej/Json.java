package zcodec.imagej;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reading JSON, with messages for people: those of Gson name classes of Java. */
final class Json {
  private Json() {}

  /** A file with a JSON object. */
  static JsonObject read(Path file) throws IOException {
    try {
      return JsonParser.parseString(new String(Files.readAllBytes(file), StandardCharsets.UTF_8)).getAsJsonObject();
    } catch (RuntimeException e) { // of Gson
      throw new IOException(file + " is not a JSON object: " + e.getMessage(), e);
    }
  }

  /** A member that must be there. */
  static JsonElement member(JsonObject object, String name) {
    if (!object.has(name)) {
      throw new IllegalArgumentException("the metadata has no \"" + name + "\"");
    }
    return object.get(name);
  }

  private static JsonElement optional(JsonObject owner, String name) {
    JsonElement value = owner.get(name);
    return value == null || value.isJsonNull() ? null : value;
  }

  /** A member that is an object, or null if there is none. */
  static JsonObject object(JsonObject owner, String name) {
    JsonElement value = optional(owner, name);
    if (value == null) {
      return null;
    }
    if (!value.isJsonObject()) {
      throw new IllegalArgumentException("\"" + name + "\" is " + value + ", expected an object");
    }
    return value.getAsJsonObject();
  }

  /** A member that is a list, or null if there is none. */
  static JsonArray array(JsonObject owner, String name) {
    JsonElement value = optional(owner, name);
    if (value == null) {
      return null;
    }
    if (!value.isJsonArray()) {
      throw new IllegalArgumentException("\"" + name + "\" is " + value + ", expected a list");
    }
    return value.getAsJsonArray();
  }

  /** A member that is a text, or another text if there is none. */
  static String text(JsonObject owner, String name, String otherwise) {
    JsonElement value = owner == null ? null : optional(owner, name);
    if (value == null) {
      return otherwise;
    }
    if (!value.isJsonPrimitive()) {
      throw new IllegalArgumentException("\"" + name + "\" is " + value + ", expected a text");
    }
    return value.getAsString();
  }

  /** What went wrong, for people: the message of an error about a file is often its path alone. */
  static String why(Throwable e) {
    boolean isPath = e instanceof FileSystemException && ((FileSystemException) e).getReason() == null;
    return e.getMessage() == null || isPath ? e.toString() : e.getMessage();
  }
}
