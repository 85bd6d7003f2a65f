/* The plugins' own reading of foreign text and bytes, under the sanitizers: nothing is read outside of what is given.
 * Each input stands in memory of exactly its size. */
#include "../common/chain.h"
#include "../common/members.h"
#include "../gdal/options.h"
#include "../gdal/stream.h"
#include "../netcdf/parameters.h"
#include "check.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t random_state = 12345;

static uint8_t random_byte(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint8_t)(random_state >> 24);
}

static void *copy_of(const void *bytes, size_t size) {
  void *copy = malloc(size > 0 ? size : 1);
  CHECK(copy != NULL);
  memcpy(copy, bytes, size);
  return copy;
}

static int count_members(const char *json, size_t size) {
  char *copy = copy_of(json, size);
  span rest = {copy, size};
  member next;
  int count = 0, found;
  while ((found = member_next(&rest, &next)) > 0) count++;
  free(copy);
  return found == 0 ? count : -1;
}

static void members_of_json(void) {
  static const char json[] =
      " { \"id\" : \"a\\\"}b\", \"x\": [1, {\"y\": \"]\"}, null ] ,\n\"z\":{\"k\":-1.5e3}, \"t\":true } ";
  CHECK(count_members(json, strlen(json)) == 4);
  CHECK(count_members("{}", 2) == 0 && count_members(" { } ", 5) == 0);
  const char *last = strrchr(json, '}');
  for (size_t size = 0; json + size < last + 1; size++) CHECK(count_members(json, size) == -1);
  static const char *const wrong[] = {"",      "[]",         "null",      "{\"a\"}",  "{\"a\":}",
                                      "{a:1}", "{\"a\":1,}", "{\"a\":[}", "{\"a\" 1}"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) CHECK(count_members(wrong[i], strlen(wrong[i])) == -1);
  for (int round = 0; round < 20000; round++) {
    char bytes[24];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = "{}[]\",:\\ a1\0"[random_byte() % 12];
    count_members(bytes, random_byte() % sizeof bytes);
  }
}

static void numbers_of_gdal(void) {
  static const struct {
    const char *option, *json;
  } cases[] = {{"rate=0.5", "{\"rate\": 0.5}"},         {"rate=-12e+3", "{\"rate\": -12e+3}"},
               {"rate=1.25E-2", "{\"rate\": 1.25E-2}"}, {"rate=0,5", "{\"rate\": \"0,5\"}"},
               {"rate=01", "{\"rate\": \"01\"}"},       {"rate=.5", "{\"rate\": \".5\"}"},
               {"rate=5.", "{\"rate\": \"5.\"}"},       {"rate=1e", "{\"rate\": \"1e\"}"},
               {"rate=-", "{\"rate\": \"-\"}"},         {"rate=1 ", "{\"rate\": \"1 \"}"},
               {"rate=inf", "{\"rate\": \"inf\"}"},     {"rate=0x1", "{\"rate\": \"0x1\"}"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const options[] = {cases[i].option, NULL};
    text json = {0};
    options_to_json(codec_find("zfpy"), options, &json);
    CHECK(strcmp(json.bytes, cases[i].json) == 0);
    text_free(&json);
  }
}

static void booleans_of_gdal(void) {
  static const struct {
    const char *option, *json;
  } cases[] = {{"checksum=1", "{\"checksum\": true}"},      {"CHECKSUM=Yes", "{\"checksum\": true}"},
               {"checksum=TRUE", "{\"checksum\": true}"},   {"checksum=on", "{\"checksum\": true}"},
               {"checksum=0", "{\"checksum\": false}"},     {"checksum=no", "{\"checksum\": false}"},
               {"checksum=False", "{\"checksum\": false}"}, {"checksum=OFF", "{\"checksum\": false}"},
               {"checksum=2", "{\"checksum\": \"2\"}"},     {"checksum=", "{\"checksum\": null}"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const options[] = {cases[i].option, NULL};
    text json = {0};
    options_to_json(codec_find("zstd"), options, &json);
    CHECK(strcmp(json.bytes, cases[i].json) == 0);
    text_free(&json);
  }
}

static void options_of_gdal(void) {
  static const char *const options[] = {"id=zfpy",
                                        "MODE=3",
                                        "PRECISION=20",
                                        "rate=",
                                        "tolerance=0x1p3",
                                        "other=\"\\\n",
                                        "=",
                                        "x",
                                        "compression_kwargs={\"precision\": 20}",
                                        NULL};
  text json = {0};
  options_to_json(codec_find("zfpy"), options, &json);
  CHECK(strcmp(json.bytes,
               "{\"mode\": 3, \"precision\": 20, \"rate\": null, \"tolerance\": \"0x1p3\", \"other\": "
               "\"\\u0022\\u005c\\u000a\", \"\": \"\", \"compression_kwargs\": {\"precision\": 20}}") == 0);
  text_free(&json);
  options_to_json(codec_find("zfpy"), NULL, &json);
  CHECK(strcmp(json.bytes, "{}") == 0);
  text_free(&json);
}

/* Describes a stream, and decodes what it claims to be. */
static void decode(const codec_info *codec, const uint8_t *bytes, size_t size) {
  uint8_t *stream = copy_of(bytes, size);
  static uint8_t decoded[4096];
  text configuration = {0};
  array_info array;
  const char *why = NULL;
  if (stream_describe(codec, stream, size, sizeof decoded, &array, &configuration, &why)) {
    chain_use use;
    zcodec_error *error;
    size_t decoded_size;
    span json = {configuration.bytes, configuration.size};
    if (chain_acquire(codec, json, &array, &use, &error) == ZCODEC_STATUS_OK) {
      zcodec_decode(use.chain, stream, size, decoded, sizeof decoded, &decoded_size, &error);
      chain_release(&use);
    }
    zcodec_error_free(error);
  } else {
    CHECK(why != NULL);
  }
  text_free(&configuration);
  free(stream);
}

/* A described stream is decoded as with the configuration that wrote it; parts of it, and damaged ones, as anything. */
static void streams(const char *id, const char *configuration, const array_info *array) {
  const codec_info *codec = codec_find(id);
  float decoded[64], expected[64];
  uint8_t encoded[4096];
  size_t size;
  chain_use use;
  zcodec_error *error;
  for (size_t i = 0; i < 64; i++) decoded[i] = (float)i * 0.5f;
  CHECK(chain_acquire(codec, (span){configuration, strlen(configuration)}, array, &use, &error) == ZCODEC_STATUS_OK);
  CHECK(zcodec_encode(use.chain, decoded, sizeof decoded, encoded, sizeof encoded, &size, &error) == ZCODEC_STATUS_OK);
  size_t count;
  CHECK(zcodec_decode(use.chain, encoded, size, expected, sizeof expected, &count, &error) == ZCODEC_STATUS_OK);
  chain_release(&use);
  text described = {0};
  array_info found;
  const char *why;
  CHECK(stream_describe(codec, encoded, size, 0, &found, &described, &why));
  CHECK(strcmp(found.data_type, "float32") == 0);
  span json = {described.bytes, described.size};
  CHECK(chain_acquire(codec, json, &found, &use, &error) == ZCODEC_STATUS_OK);
  CHECK(zcodec_decode(use.chain, encoded, size, decoded, sizeof decoded, &count, &error) == ZCODEC_STATUS_OK);
  CHECK(count == sizeof decoded && memcmp(decoded, expected, sizeof decoded) == 0);
  chain_release(&use);
  text_free(&described);
  for (size_t cut = 0; cut <= size; cut++) decode(codec, encoded, cut);
  for (size_t bit = 0; bit < 8 * (size < 40 ? size : 40); bit++) {
    encoded[bit / 8] ^= (uint8_t)(1u << bit % 8);
    decode(codec, encoded, size);
    encoded[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
}

/* Every cut of parameters, with every number of the first few exchanged. */
static void parameters_of_hdf5(void) {
  for (size_t c = 0; c < CODEC_COUNT; c++) {
    parameters made = {0};
    array_info array = {"float32", 3, {4, 5, 1ull << 33}}, read;
    text why = {0};
    static const char json[] = "{\"id\": \"x\", \"initval\": 3}";
    int is_text = CODECS[c].convention == CONVENTION_TEXT;
    span configuration = {is_text ? json : "{}", is_text ? strlen(json) : 2};
    CHECK(parameters_from_json(&CODECS[c], configuration, &made, &why) && why.bytes == NULL);
    CHECK(made.count == parameters_visible_count(&CODECS[c], made.values, made.count));
    parameters_complete(&CODECS[c], &made); /* the array comes after all numbers */
    parameters_add_array(&made, &array);
    CHECK(parameters_array(&CODECS[c], made.values, made.count, &read) == 1);
    CHECK(read.ndim == 3 && read.shape[2] == 1ull << 33 && strcmp(read.data_type, "float32") == 0);
    for (size_t count = 0; count <= made.count; count++) {
      for (int round = 0; round < 40; round++) {
        unsigned *values = copy_of(made.values, count * sizeof *values);
        if (count > 0 && round > 0) values[round % count] = round % 3 ? random_byte() : (unsigned)random_byte() << 24;
        text text = {0};
        const char *wrong = parameters_to_json(&CODECS[c], values, count, round % 2, &text);
        parameters_array(&CODECS[c], values, count, &read);
        int is_whole = count == 0 || (round == 0 && count >= parameters_visible_count(&CODECS[c], values, made.count));
        CHECK(wrong == NULL ? count_members(text.bytes, text.size) >= 1 : is_text && !is_whole);
        text_free(&text);
        free(values);
      }
    }
    parameters_free(&made);
  }
}

/* As netCDF-C 4.9.0 to 4.9.3 wrote them. */
static void integers_in_texts(void) {
  parameters made = {0};
  text why = {0};
  const char json[] = "{\"id\": \"bz2\", \"level\": \"4\"}";
  CHECK(parameters_from_json(codec_find("bz2"), (span){json, strlen(json)}, &made, &why) && why.bytes == NULL);
  CHECK(made.count == 1 && made.values[0] == 4);
  parameters_free(&made);
}

/* As GDAL and the plugins of netCDF-C write them. */
static void numbers_in_other_words(void) {
  static const struct {
    const char *id, *json;
    size_t count, place;
    unsigned value;
  } cases[] = {
      {"blosc", "{\"shuffle\": \"BIT\"}", 7, 5, 2},
      {"blosc", "{\"shuffle\": \"none\"}", 7, 5, 0},
      {"zstd", "{\"checksum\": \"YES\"}", 2, 1, 1},
      {"zstd", "{\"checksum\": \"1\"}", 2, 1, 1},
      {"zstd", "{\"checksum\": \"true\"}", 2, 1, 1},
      {"zstd", "{\"level\": 4, \"checksum\": \"NO\"}", 1, 0, 4},
      {"zstd", "{\"level\": 4, \"checksum\": \"OFF\"}", 1, 0, 4},
      {"zstd", "{\"level\": 4294967291}", 1, 0, -5u},
      {"zstd", "{\"level\": -5, \"checksum\": false}", 1, 0, -5u},
      {"zstd", "{\"level\": 3, \"checksum\": true}", 2, 0, 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    parameters made = {0};
    text why = {0};
    span json = {cases[i].json, strlen(cases[i].json)};
    CHECK(parameters_from_json(codec_find(cases[i].id), json, &made, &why) && why.bytes == NULL);
    CHECK(made.count == cases[i].count && made.values[cases[i].place] == cases[i].value);
    parameters_free(&made);
  }
}

static void a_checksum_that_is_left_out_is_off(void) {
  static const unsigned level = 5;
  text json = {0};
  CHECK(parameters_to_json(codec_find("zstd"), &level, 1, 1, &json) == NULL);
  CHECK(strcmp(json.bytes, "{\"id\": \"zstd\", \"level\": 5, \"checksum\": false}") == 0);
  text_free(&json);
}

static void wrong_members(void) {
  static const struct {
    const char *id, *json, *why;
  } wrong[] = {
      {"bz2", "{\"level\": \"high\"}", "\"level\" is not an integer of 32 bits: \"high\""},
      {"bz2", "{\"level\": \" 4\"}", "\"level\" is not an integer of 32 bits: \" 4\""},
      {"bz2", "{\"level\": \"\"}", "\"level\" is not an integer of 32 bits: \"\""},
      {"bz2", "{\"level\": 4294967296}", "\"level\" is not an integer of 32 bits: 4294967296"},
      {"zlib", "{\"level\": 000000000000000000000000000000001}",
       "\"level\" is not an integer of 32 bits: 000000000000000000000000000000001"},
      {"zstd", "{\"level\": 1, \"checksum\": 1}", "\"checksum\" is not true or false: 1"},
      {"blosc", "{\"cname\": \"lz5\"}",
       "\"cname\" is not one of \"blosclz\", \"lz4\", \"lz4hc\", \"snappy\", \"zlib\", \"zstd\": \"lz5\""},
      {"bz2", "{\"level\": 1, \"foo\": 3}", "the codec has no member \"foo\""},
      {"bz2", "[1]", "the codec is not a JSON object"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    parameters made = {0};
    text why = {0};
    size_t size = strlen(wrong[i].json);
    char *json = copy_of(wrong[i].json, size);
    CHECK(!parameters_from_json(codec_find(wrong[i].id), (span){json, size}, &made, &why));
    CHECK(strcmp(why.bytes, wrong[i].why) == 0);
    free(json);
    parameters_free(&made);
    text_free(&why);
  }
}

/* The library's codecs of numcodecs are in the table, except those from arrays to arrays. */
static void the_table_is_complete(void) {
  static const char others[] = " astype bitround delta fixedscaleoffset packbits quantize ";
  static const char prefix[] = "\"numcodecs.";
  size_t count = 0;
  for (const char *at = zcodec_supported_json(); (at = strstr(at, prefix)) != NULL; at += strlen(prefix)) {
    char id[32] = {0}, word[34];
    size_t size = strcspn(at + strlen(prefix), "\"");
    CHECK(size < sizeof id);
    memcpy(id, at + strlen(prefix), size);
    snprintf(word, sizeof word, " %s ", id);
    CHECK((codec_find(id) != NULL) == (strstr(others, word) == NULL));
    count += codec_find(id) != NULL;
  }
  CHECK(count == CODEC_COUNT);
}

int main(void) {
  array_info array = {"float32", 2, {8, 8}};
  the_table_is_complete();
  members_of_json();
  booleans_of_gdal();
  options_of_gdal();
  parameters_of_hdf5();
  integers_in_texts();
  numbers_in_other_words();
  a_checksum_that_is_left_out_is_off();
  wrong_members();
  /* A decimal point, commas, and U+066B, which takes two bytes. Some machines have only the first of these locales. */
  static const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
  for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
    if (setlocale(LC_NUMERIC, locales[i]) == NULL) continue;
    numbers_of_gdal();
    streams("zfpy", "{\"mode\": 2, \"rate\": 8.25}", &array);
  }
  /* "i" and "I" are two letters in Turkish. */
  if (setlocale(LC_CTYPE, "tr_TR.UTF-8") != NULL) {
    booleans_of_gdal();
    options_of_gdal();
    integers_in_texts();
    numbers_in_other_words();
  }
  streams("zfpy", "{\"mode\": 4, \"tolerance\": 0}", &array);
  streams("zfpy", "{\"mode\": 4, \"tolerance\": 0.001}", &array);
  streams("zfpy", "{\"mode\": 4, \"tolerance\": 1e300}", &array);
  streams("pcodec", "{}", &array);
  return 0;
}
