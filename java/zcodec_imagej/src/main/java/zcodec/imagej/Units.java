package zcodec.imagej;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Units of OME-Zarr, which are words, and what ImageJ calls them.
 *
 * <p>OME-Zarr specification 0.5, "axes metadata".
 */
final class Units {
  static final Units SPACE =
      new Units(
          "angstrom attometer centimeter decimeter exameter femtometer foot gigameter hectometer inch kilometer"
              + " megameter meter micrometer mile millimeter nanometer parsec petameter picometer terameter yard"
              + " yoctometer yottameter zeptometer zettameter",
          "angstrom \u00C5, angstrom \u212B, centimeter cm, decimeter dm, foot ft, inch in, inch inches, kilometer km,"
              + " meter m, micrometer \u00B5m, micrometer \u03BCm, micrometer um, micrometer micron,"
              + " micrometer microns, millimeter mm, nanometer nm, picometer pm, yard yd");
  static final Units TIME =
      new Units(
          "attosecond centisecond day decisecond exasecond femtosecond gigasecond hectosecond hour kilosecond"
              + " megasecond microsecond millisecond minute nanosecond petasecond picosecond second terasecond"
              + " yoctosecond yottasecond zeptosecond zettasecond",
          "day d, hour h, hour hr, hour hrs, microsecond \u00B5s, microsecond \u03BCs, microsecond us, millisecond ms,"
              + " millisecond msec, minute min, minute mins, nanosecond ns, second sec, second s, second secs");

  /** The words of OME-Zarr. */
  private final Set<String> words;

  private final Map<String, String> wordOf = new HashMap<>();
  private final Map<String, String> shortOf = new HashMap<>();

  /** By the words, and by pairs of a word and a short form; the first short form of a word is ImageJ's. */
  private Units(String words, String pairs) {
    this.words = new HashSet<>(Arrays.asList(words.split(" ")));
    for (String pair : pairs.split(", ")) {
      String[] both = pair.split(" ");
      wordOf.put(both[1], both[0]);
      shortOf.putIfAbsent(both[0], both[1]);
    }
  }

  /** The unit of OME-Zarr; null if ImageJ's is none of them, such as "pixel". */
  String toOme(String unit) {
    String given = unit == null ? "" : unit.trim();
    String word = wordOf.get(given);
    if (word != null) {
      return word;
    }
    String singular = given.toLowerCase(Locale.ROOT).replaceFirst("metre(s?)$", "meter$1").replaceFirst("s$", "");
    return words.contains(singular) ? singular : null;
  }

  /** What ImageJ calls a unit of OME-Zarr; one that OME-Zarr does not know stays as it is. */
  String toImageJ(String unit) {
    return shortOf.getOrDefault(unit, unit);
  }
}
