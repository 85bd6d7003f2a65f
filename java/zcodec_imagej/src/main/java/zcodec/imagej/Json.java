package zcodec.imagej;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Reading JSON, with messages for people: those of Gson name classes of Java. */
final class Json {
  private Json() {}

  /** A file with a JSON object. */
  static JsonObject read(Path file) throws IOException {
    String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    JsonElement document;
    try {
      document = JsonParser.parseString(text);
    } catch (JsonParseException e) {
      Throwable why = e.getCause() == null ? e : e.getCause(); // its own message begins with the name of a class
      throw new IOException(file + " is not a JSON object: " + why.getMessage().split("\n")[0], e);
    }
    if (!document.isJsonObject()) {
      throw new IOException(file + " is not a JSON object");
    }
    return document.getAsJsonObject();
  }

  /** A member that must be there. */
  static JsonElement member(JsonObject object, String name) {
    if (!object.has(name)) {
      throw new IllegalArgumentException("the metadata has no \"" + name + "\"");
    }
    return object.get(name);
  }

  private static JsonElement optional(JsonObject owner, String name) {
    JsonElement value = owner == null ? null : owner.get(name);
    return value == null || value.isJsonNull() ? null : value;
  }

  /** A member that is an object, or null if there is none. */
  static JsonObject object(JsonObject owner, String name) {
    JsonElement value = optional(owner, name);
    return value == null ? null : asObject(value, quoted(name));
  }

  /** A member that is a list, or null if there is none. */
  static JsonArray array(JsonObject owner, String name) {
    JsonElement value = optional(owner, name);
    return value == null ? null : asArray(value, quoted(name));
  }

  /** A member that is a list. */
  static JsonArray list(JsonObject owner, String name) {
    return asArray(member(owner, name), quoted(name));
  }

  /** A member that is a text, or another text if there is none. */
  static String text(JsonObject owner, String name, String otherwise) {
    JsonElement value = optional(owner, name);
    return value == null ? otherwise : asText(value, quoted(name));
  }

  /** A member that is a text. */
  static String text(JsonObject owner, String name) {
    return asText(member(owner, name), quoted(name));
  }

  /** A member that is an integer. */
  static long integer(JsonObject owner, String name) {
    return asInteger(member(owner, name), quoted(name));
  }

  /** A member that is a list of integers. */
  static long[] integers(JsonObject owner, String name) {
    JsonArray list = list(owner, name);
    long[] integers = new long[list.size()];
    Arrays.setAll(integers, i -> asInteger(list.get(i), place(name, i)));
    return integers;
  }

  /** A member that is a list of numbers. */
  static double[] numbers(JsonObject owner, String name) {
    JsonArray list = list(owner, name);
    double[] numbers = new double[list.size()];
    Arrays.setAll(numbers, i -> asNumber(list.get(i), place(name, i)));
    return numbers;
  }

  /** An entry of a member that is a list, as an object. */
  static JsonObject objectAt(JsonArray list, String name, int i) {
    return asObject(list.get(i), place(name, i));
  }

  /** An entry of a member that is a list, as a text. */
  static String textAt(JsonArray list, String name, int i) {
    return asText(list.get(i), place(name, i));
  }

  private static String quoted(String name) {
    return "\"" + name + "\"";
  }

  private static String place(String name, int i) {
    return quoted(name) + "[" + i + "]";
  }

  private static JsonObject asObject(JsonElement value, String place) {
    if (!value.isJsonObject()) {
      throw wrong(place, value, "an object");
    }
    return value.getAsJsonObject();
  }

  private static JsonArray asArray(JsonElement value, String place) {
    if (!value.isJsonArray()) {
      throw wrong(place, value, "a list");
    }
    return value.getAsJsonArray();
  }

  private static String asText(JsonElement value, String place) {
    if (!value.isJsonPrimitive()) {
      throw wrong(place, value, "a text");
    }
    return value.getAsString();
  }

  private static long asInteger(JsonElement value, String place) {
    try {
      return new BigDecimal(asText(value, place)).longValueExact();
    } catch (IllegalArgumentException | ArithmeticException e) { // no text, no number, a fraction, or too large
      throw wrong(place, value, "an integer of 64 bits");
    }
  }

  private static double asNumber(JsonElement value, String place) {
    try {
      return Double.parseDouble(asText(value, place));
    } catch (IllegalArgumentException e) { // it is no text, or no number
      throw wrong(place, value, "a number");
    }
  }

  private static IllegalArgumentException wrong(String place, JsonElement value, String expected) {
    return new IllegalArgumentException(place + " is " + value + ", expected " + expected);
  }

  /** What went wrong, for people: the message of an error about a file is often its path alone. */
  static String why(Throwable e) {
    boolean isPath = e instanceof FileSystemException && ((FileSystemException) e).getReason() == null;
    return e.getMessage() == null || isPath ? e.toString() : e.getMessage();
  }
}
