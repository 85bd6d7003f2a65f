package zcodec.zarrjava;

import dev.zarr.zarrjava.ZarrException;
import java.util.LinkedHashMap;
import java.util.Map;
import zcodec.Chain;
import zcodec.ChainOptions;
import zcodec.ZcodecException;

/**
 * Chains by their metadata. zarr-java never says that a codec is no longer needed, so codecs do not own chains: the
 * least recently used ones are closed, and made again if they are needed again.
 */
final class Chains {
  private static final int KEPT = 256;

  /** A chunk may claim any size, and is decoded to an array of Java, which holds no more. */
  private static final ChainOptions OPTIONS = ChainOptions.DEFAULT.maxDecodedSize(Integer.MAX_VALUE - 8L);

  private static final Map<Key, Chain> CHAINS =
      new LinkedHashMap<Key, Chain>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Chain> eldest) {
          if (size() > KEPT) {
            eldest.getValue().close(); // a call that is under way ends well
            return true;
          }
          return false;
        }
      };

  private Chains() {}

  /** The metadata of a chain. */
  static final class Key {
    private final String codecs;
    private final String input;

    Key(String codecs, String input) {
      this.codecs = codecs;
      this.input = input;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key
          && codecs.equals(((Key) other).codecs)
          && (input == null ? ((Key) other).input == null : input.equals(((Key) other).input));
    }

    @Override
    public int hashCode() {
      return 31 * codecs.hashCode() + (input == null ? 0 : input.hashCode());
    }
  }

  /** What is done with a chain. */
  interface Use<T> {
    T with(Chain chain) throws ZarrException;
  }

  static <T> T use(Key key, Use<T> use) throws ZarrException {
    for (; ; ) {
      Chain chain = null;
      try {
        chain = get(key);
        return use.with(chain);
      } catch (ZcodecException e) {
        throw (ZarrException) new ZarrException(e.getMessage()).initCause(e);
      } catch (IllegalStateException e) {
        if (chain == null || !chain.isClosed()) {
          throw e;
        } // else it was closed between `get` and its use: again
      }
    }
  }

  private static synchronized Chain get(Key key) {
    Chain chain = CHAINS.get(key);
    if (chain == null) {
      chain = Chain.of(key.codecs, key.input, OPTIONS);
      CHAINS.put(key, chain);
    }
    return chain;
  }
}
