/*
 * Encodes, decodes or inspects one chunk of an array of Zarr v3 or v2.
 *
 *     zcodec_chunk encode  ZARR.JSON DECODED ENCODED
 *     zcodec_chunk decode  ZARR.JSON ENCODED DECODED
 *     zcodec_chunk inspect ZARR.JSON [ENCODED]
 *
 * ZARR.JSON may also be a .zarray. DECODED holds the chunk's elements in C order and native byte order, ENCODED is a
 * chunk as a store keeps it. `inspect` prints the input of the chain and the output of each codec, with sizes in bytes;
 * with a chunk, also what each codec makes of that chunk's values.
 */
#include "example.h"
#include "json.h"

static zcodec_chain *open_chain(const char *path, char **text, size_t *text_size) {
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  *text = read_file(path, text_size);
  check(zcodec_chain_from_zarr_json(*text, *text_size, &chain, &error), &error);
  return chain;
}

static void encode(const zcodec_chain *chain, const char *from, const char *to) {
  zcodec_error *error = NULL;
  zcodec_buffer *encoded = NULL;
  size_t decoded_size;
  char *decoded = read_file(from, &decoded_size);
  check(zcodec_encode_to_buffer(chain, decoded, decoded_size, &encoded, &error), &error);
  write_file(to, zcodec_buffer_data(encoded), zcodec_buffer_size(encoded));
  printf("%zu -> %zu bytes\n", decoded_size, zcodec_buffer_size(encoded));
  zcodec_buffer_free(encoded);
  free(decoded);
}

static zcodec_buffer *decode_file(const zcodec_chain *chain, const char *from) {
  zcodec_error *error = NULL;
  zcodec_buffer *decoded = NULL;
  size_t encoded_size;
  char *encoded = read_file(from, &encoded_size);
  check(zcodec_decode_to_buffer(chain, encoded, encoded_size, &decoded, &error), &error);
  printf("%zu -> %zu bytes\n", encoded_size, zcodec_buffer_size(decoded));
  free(encoded);
  return decoded;
}

static void decode(const zcodec_chain *chain, const char *from, const char *to) {
  zcodec_buffer *decoded = decode_file(chain, from);
  write_file(to, zcodec_buffer_data(decoded), zcodec_buffer_size(decoded));
  zcodec_buffer_free(decoded);
}

static void print_buffer(zcodec_buffer *text) {
  printf("%.*s", (int)zcodec_buffer_size(text), (const char *)zcodec_buffer_data(text));
  zcodec_buffer_free(text);
}

/* Prints the output of the chain. If `chunk` is not NULL, also encodes it. */
static void print_output(const zcodec_chain *chain, const zcodec_buffer *chunk) {
  zcodec_error *error = NULL;
  zcodec_buffer *output = NULL;
  size_t decoded_size, bound;
  check(zcodec_chain_decoded_size(chain, &decoded_size), NULL);
  check(zcodec_chain_encoded_bound(chain, decoded_size, &bound), NULL);
  check(zcodec_chain_output_json(chain, &output, &error), &error);
  printf(" -> ");
  print_buffer(output);
  if (zcodec_chain_kind(chain) == ZCODEC_KIND_ARRAY_TO_ARRAY) {
    printf(", %zu bytes", bound);
  }
  if (chunk != NULL) {
    check(zcodec_encode_to_buffer(chain, zcodec_buffer_data(chunk), zcodec_buffer_size(chunk), &output, &error),
          &error);
    printf(", this chunk: %zu bytes", zcodec_buffer_size(output));
    zcodec_buffer_free(output);
  }
  printf("\n");
}

/* What enters the chain, as JSON; the caller frees it. */
static char *input_json(const zcodec_chain *chain) {
  zcodec_error *error = NULL;
  zcodec_buffer *input = NULL;
  char *text;
  check(zcodec_chain_input_json(chain, &input, &error), &error);
  text = allocate(zcodec_buffer_size(input) + 1);
  memcpy(text, zcodec_buffer_data(input), zcodec_buffer_size(input));
  text[zcodec_buffer_size(input)] = '\0';
  zcodec_buffer_free(input);
  return text;
}

/* Prints the input, then the output of the first codec, of the first two, and so on. */
static void inspect(const zcodec_chain *chain, const zcodec_buffer *chunk) {
  zcodec_error *error = NULL;
  zcodec_buffer *codecs = NULL, *warnings = NULL;
  json_span list, codec = {NULL, NULL};
  char *input = input_json(chain);
  char *prefix;
  size_t decoded_size;

  check(zcodec_chain_codecs_json(chain, &codecs, &error), &error);
  list.begin = (const char *)zcodec_buffer_data(codecs);
  list.end = list.begin + zcodec_buffer_size(codecs);
  prefix = allocate(zcodec_buffer_size(codecs) + 1);
  check(zcodec_chain_decoded_size(chain, &decoded_size), NULL);
  printf("%s, %zu bytes\n", input, decoded_size);
  while (json_next(list, &codec)) {
    zcodec_chain *first_codecs = NULL;
    size_t prefix_size = (size_t)(codec.end - list.begin);
    memcpy(prefix, list.begin, prefix_size);
    prefix[prefix_size++] = ']';
    check(zcodec_chain_new(prefix, prefix_size, input, strlen(input), &first_codecs, &error), &error);
    printf("%.*s", JSON_PRINT(codec));
    print_output(first_codecs, chunk);
    zcodec_chain_free(first_codecs);
  }
  check(zcodec_chain_warnings_json(chain, &warnings, &error), &error);
  printf("warnings: ");
  print_buffer(warnings);
  printf("\n");
  zcodec_buffer_free(codecs);
  free(prefix);
  free(input);
}

int main(int argc, char **argv) {
  const char *usage =
      "usage: zcodec_chunk encode|decode ZARR.JSON FROM TO, or zcodec_chunk inspect ZARR.JSON [ENCODED]";
  zcodec_chain *chain;
  zcodec_buffer *chunk = NULL;
  char *text;
  size_t text_size;

  if (argc < 3) {
    fail("%s", usage);
  }
  chain = open_chain(argv[2], &text, &text_size);
  if (strcmp(argv[1], "encode") == 0 && argc == 5) {
    encode(chain, argv[3], argv[4]);
  } else if (strcmp(argv[1], "decode") == 0 && argc == 5) {
    decode(chain, argv[3], argv[4]);
  } else if (strcmp(argv[1], "inspect") == 0 && argc <= 4) {
    if (argc == 4) {
      chunk = decode_file(chain, argv[3]);
    }
    inspect(chain, chunk);
    zcodec_buffer_free(chunk);
  } else {
    fail("%s", usage);
  }
  free(text);
  zcodec_chain_free(chain);
  return EXIT_SUCCESS;
}
