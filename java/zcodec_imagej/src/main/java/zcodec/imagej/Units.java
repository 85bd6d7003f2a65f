package zcodec.imagej;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Units of OME-Zarr, which are words, and what ImageJ calls them.
 *
 * <p>OME-Zarr specification 0.5, "axes metadata".
 */
final class Units {
  static final Units SPACE =
      new Units(
          "pixel",
          "angstrom attometer centimeter decimeter exameter femtometer foot gigameter hectometer inch kilometer"
              + " megameter meter micrometer mile millimeter nanometer parsec petameter picometer terameter yard"
              + " yoctometer yottameter zeptometer zettameter",
          "angstrom \u00C5, angstrom \u212B, centimeter cm, decimeter dm, foot ft, inch in, kilometer km, meter m,"
              + " micrometer \u00B5m, micrometer \u03BCm, micrometer um, millimeter mm, nanometer nm, picometer pm,"
              + " yard yd",
          "angstrom \u00E5ngstr\u00F6m, foot feet, foot ft, inch inches, inch in, micrometer micron, yard yd");
  static final Units TIME =
      new Units(
          "frame",
          "attosecond centisecond day decisecond exasecond femtosecond gigasecond hectosecond hour kilosecond"
              + " megasecond microsecond millisecond minute nanosecond petasecond picosecond second terasecond"
              + " yoctosecond yottasecond zeptosecond zettasecond",
          "day d, hour h, microsecond \u00B5s, microsecond \u03BCs, microsecond us, millisecond ms, millisecond msec,"
              + " minute min, nanosecond ns, second sec, second s",
          "hour hr, microsecond usec, minute min, nanosecond nsec, second sec");

  /** What ImageJ calls a size that has no unit. */
  private final String none;

  /** The words of OME-Zarr by symbols, whose case counts (mm is no Mm), and by names in lower case. */
  private final Map<String, String> symbols = new HashMap<>();

  private final Map<String, String> names = new HashMap<>();
  private final Map<String, String> shortOf = new HashMap<>();

  /**
   * By the words, and by pairs of a word and a symbol or another name.
   *
   * @param none what ImageJ calls a size that has no unit
   * @param symbolPairs the first symbol of a word is the one that ImageJ uses
   * @param namePairs in lower case, and in the singular unless the plural is irregular
   */
  private Units(String none, String words, String symbolPairs, String namePairs) {
    this.none = none;
    for (String word : words.split(" ")) {
      names.put(word, word);
    }
    for (String pair : namePairs.split(", ")) {
      String[] both = pair.split(" ");
      names.put(both[1], both[0]);
    }
    for (String pair : symbolPairs.split(", ")) {
      String[] both = pair.split(" ");
      symbols.put(both[1], both[0]);
      shortOf.putIfAbsent(both[0], both[1]);
    }
  }

  /** The unit of OME-Zarr; null if ImageJ's is none of them. */
  String toOme(String unit) {
    String given = unit == null ? "" : unit.trim();
    String name = given.toLowerCase(Locale.ROOT).replaceFirst("metre(s?)$", "meter$1");
    String otherwise = names.getOrDefault(name, names.get(name.replaceFirst("s$", "")));
    return symbols.getOrDefault(given, otherwise);
  }

  /** Whether this is a unit of ImageJ that OME-Zarr does not have. */
  boolean isLost(String unit) {
    String given = unit == null ? "" : unit.trim().toLowerCase(Locale.ROOT);
    return !given.isEmpty() && !given.equals(none) && !given.equals(none + "s") && toOme(unit) == null;
  }

  /** What ImageJ calls a unit of OME-Zarr; one that OME-Zarr does not know stays as it is. */
  String toImageJ(String unit) {
    return shortOf.getOrDefault(unit, unit);
  }
}
