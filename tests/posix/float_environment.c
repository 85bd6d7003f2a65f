/* The floating-point environment of the host changes no result and no status, is the host's again when a call returns
 * and while a callback runs, and its traps do not fire inside. */
#define _GNU_SOURCE /* feenableexcept, fegetexcept */
#include "check.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { COUNT = 1024, SIZE = 8 * COUNT, LARGE = 1 << 20 };

/* Traps are an extension of glibc. Elsewhere the environments without them are tested. */
#if defined(__GLIBC__)
static int traps_now(void) { return fegetexcept(); }
static void trap(int exceptions) { feenableexcept(exceptions); }
#else
static int traps_now(void) { return 0; }
static void trap(int exceptions) { (void)exceptions; }
#endif

/* The state of the environment, including the flags. */
typedef struct environment {
  int rounding, flags, traps;
  unsigned control;
} environment;

static environment environment_now(void) {
  environment now = {0, 0, 0, 0};
  now.rounding = fegetround();
  now.flags = fetestexcept(FE_ALL_EXCEPT);
  now.traps = traps_now();
#if defined(__x86_64__)
  now.control = _mm_getcsr();
#elif defined(__aarch64__)
  {
    unsigned long long fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    now.control = (unsigned)fpcr;
  }
#endif
  return now;
}

static int same_environment(environment a, environment b) {
  return a.rounding == b.rounding && a.flags == b.flags && a.traps == b.traps && a.control == b.control;
}

/* FTZ and DAZ, or the processor's equivalent; 0 if it has none. */
static int flush_subnormals(void) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
  return 1;
#elif defined(__aarch64__)
  unsigned long long fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  __asm__ volatile("msr fpcr, %0" : : "r"(fpcr | 1ULL << 24));
  return 1;
#else
  return 0;
#endif
}

enum { DEFAULT, UPWARD, DOWNWARD, TOWARD_ZERO, FLUSH, TRAPS, FLAGS, ALL, ENVIRONMENTS };
static const char *const names[] = {"the default", "FE_UPWARD",    "FE_DOWNWARD", "FE_TOWARDZERO",
                                    "FTZ and DAZ", "all traps on", "flags set",   "all of it"};

static void enter(int which) {
  fesetenv(FE_DFL_ENV);
  switch (which) {
    case UPWARD:
      fesetround(FE_UPWARD);
      break;
    case DOWNWARD:
      fesetround(FE_DOWNWARD);
      break;
    case TOWARD_ZERO:
      fesetround(FE_TOWARDZERO);
      break;
    case FLUSH:
      flush_subnormals();
      break;
    case TRAPS:
      trap(FE_ALL_EXCEPT);
      break;
    case FLAGS:
      feraiseexcept(FE_DIVBYZERO | FE_OVERFLOW);
      break;
    case ALL:
      feraiseexcept(FE_INVALID);
      fesetround(FE_UPWARD);
      flush_subnormals();
      trap(FE_DIVBYZERO | FE_OVERFLOW | FE_INEXACT | FE_UNDERFLOW);
      break;
    default:
      break;
  }
}

/* The results of a chain in one environment: statuses, sizes, bytes, text. */
typedef struct outcome {
  int status[6];
  size_t encoded_size, decoded_size;
  uint8_t encoded[4 * SIZE], decoded[SIZE];
  char text[3000];
} outcome;

static void append(outcome *self, zcodec_buffer *json) {
  if (json != NULL) {
    size_t length = strlen(self->text), size = zcodec_buffer_size(json);
    CHECK(length + size < sizeof self->text);
    memcpy(self->text + length, zcodec_buffer_data(json), size);
    zcodec_buffer_free(json);
  }
}

static void ask(const char *codecs, const char *input, const void *decoded, uint32_t threads, outcome *self) {
  zcodec_chain *chain = NULL;
  zcodec_buffer *json = NULL;
  zcodec_call_options options = {0};
  size_t size = 0;
  options.struct_size = sizeof options;
  options.max_threads = threads;
  memset(self, 0, sizeof *self);
  self->status[0] = (int)zcodec_chain_new(codecs, strlen(codecs), input, strlen(input), &chain, NULL);
  if (chain == NULL) {
    return;
  }
  self->status[1] = (int)zcodec_chain_output_json(chain, &json, NULL);
  append(self, json);
  self->status[2] = (int)zcodec_chain_codecs_json(chain, &json, NULL);
  append(self, json);
  self->status[3] = (int)zcodec_chain_decoded_size(chain, &size);
  self->status[4] = (int)zcodec_encode_with(chain, &options, decoded, size, self->encoded, sizeof self->encoded,
                                            &self->encoded_size, NULL);
  self->status[5] = (int)zcodec_decode_with(chain, &options, self->encoded, self->encoded_size, self->decoded,
                                            sizeof self->decoded, &self->decoded_size, NULL);
  zcodec_chain_free(chain);
}

/* The results are the same in every environment, encoding has this status, and the environment is unchanged
 * afterwards. */
static void has_status_everywhere(zcodec_status status, const char *codecs, const char *input, const void *decoded) {
  static outcome expected, found;
  int which;
  for (which = 0; which < ENVIRONMENTS; which++) {
    environment before, after;
    int same, text_same;
    enter(which);
    before = environment_now();
    ask(codecs, input, decoded, 1, which == DEFAULT ? &expected : &found);
    after = environment_now();
    fesetenv(FE_DFL_ENV);
    same = which == DEFAULT || memcmp(&expected, &found, sizeof found) == 0;
    text_same = which == DEFAULT || strcmp(expected.text, found.text) == 0;
    if (!CHECK(same) || !CHECK(text_same) || !CHECK(same_environment(before, after))) {
      fprintf(stderr, "  %s of %s, with %s\n", codecs, input, names[which]);
    }
  }
  if (!CHECK(expected.status[0] == ZCODEC_STATUS_OK)) {
    zcodec_chain_free(check_chain(codecs, input)); /* says why, and ends */
  }
  if (!CHECK(expected.status[4] == (int)status) ||
      !CHECK(status != ZCODEC_STATUS_OK || expected.status[5] == ZCODEC_STATUS_OK)) {
    fprintf(stderr, "  %s of %s: %d, then %d\n", codecs, input, expected.status[4], expected.status[5]);
  }
}

static void in_every_environment(const char *codecs, const char *input, const void *decoded) {
  has_status_everywhere(ZCODEC_STATUS_OK, codecs, input, decoded);
}

#define CAST(to, more) "[{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"" to "\"" more "}}]"
#define CLAMP ",\"out_of_range\":\"clamp\""
#define ARRAY(data_type, fill) "{\"data_type\":\"" data_type "\",\"shape\":[8,128],\"fill_value\":" fill "}"
#define SCALE "[{\"name\":\"scale_offset\",\"configuration\":{\"offset\":0.1,\"scale\":3.3}}]"
#define SCALE_ONLY "[{\"name\":\"scale_offset\",\"configuration\":{\"scale\":3.3}}]"
#define ZFP(mode) "[{\"name\":\"zfp\",\"configuration\":{\"mode\":" mode "}}]"

static void results(void) {
  static double doubles[COUNT];
  static float floats[COUNT], specials[COUNT];
  static int64_t integers[COUNT];
  static float subnormals[COUNT];
  static uint16_t halves[COUNT];
  int i;
  for (i = 0; i < COUNT; i++) {
    const uint32_t pattern = (uint32_t)i * 2654435761U;
    doubles[i] = ldexp(i - 500.4, i % 3 == 0 ? 1 : -i % 150);
    floats[i] = (float)(i * 0.1 - 51.2);
    memcpy(&specials[i], &pattern, 4); /* signaling NaN and subnormals among them */
    integers[i] = (int64_t)0x000123456789ABCD * (i - 512);
    subnormals[i] = (float)i * 1e-41F;
    halves[i] = (uint16_t)(i * 29); /* subnormal, and up to 16,152 */
  }
  in_every_environment(CAST("float32", CLAMP), ARRAY("float64", "0.5"), doubles);
  in_every_environment(CAST("float16", CLAMP), ARRAY("float64", "-6.103515625e-05"), doubles);
  in_every_environment(CAST("int8", CLAMP), ARRAY("float32", "4"), floats);
  in_every_environment(CAST("int8", CLAMP ",\"rounding\":\"towards-positive\""), ARRAY("float32", "4"), floats);
  has_status_everywhere(ZCODEC_STATUS_OUT_OF_RANGE, CAST("uint8", ""), ARRAY("float32", "0"), floats);
  in_every_environment(CAST("float64", ""), ARRAY("float32", "1e-45"), specials);
  in_every_environment(CAST("float16", CLAMP), ARRAY("float32", "5.9604644775390625e-08"), specials);
  in_every_environment(CAST("float8_e4m3", CLAMP), ARRAY("float32", "0.125"), specials);
  in_every_environment(CAST("float32", ""), ARRAY("float16", "6e-8"), halves);
  in_every_environment(CAST("float32", ""), ARRAY("int64", "-1"), integers);
  in_every_environment(CAST("float64", ""), ARRAY("int64", "9007199254740992"), integers);
  in_every_environment(SCALE, ARRAY("float32", "0.1"), floats);
  in_every_environment(SCALE_ONLY, ARRAY("float32", "1e-40"), subnormals);
  in_every_environment(SCALE, ARRAY("float64", "0.1"), doubles);
  in_every_environment(SCALE, ARRAY("float16", "0.1"), halves);
  in_every_environment(SCALE_ONLY, ARRAY("float16", "6e-8"), halves);
  in_every_environment(ZFP("\"reversible\""), ARRAY("float64", "0.1"), doubles);
  in_every_environment(ZFP("\"fixed_accuracy\",\"tolerance\":0.01"), ARRAY("float32", "0.1"), floats);
  in_every_environment(ZFP("\"fixed_rate\",\"rate\":7.3"), ARRAY("float64", "0.1"), doubles);
  in_every_environment("[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"zstd\",\"gzip\"]",
                       ARRAY("float64", "0.30000000000000004"), doubles);
}

static void statuses(void) {
  static const char NARROW[] = CAST("float32", ""), BYTE[] = CAST("uint8", "");
  static const char *const fills[] = {"3.4028235677973366e38", "255.4", "255.5", "-0.5", "1e-400"};
  int i, which;
  for (i = 0; i < (int)(sizeof fills / sizeof *fills); i++) {
    char input[100];
    int expected[2] = {0, 0};
    sprintf(input, "{\"data_type\":\"float64\",\"shape\":[1],\"fill_value\":%s}", fills[i]);
    for (which = 0; which < ENVIRONMENTS; which++) {
      int found[2];
      zcodec_chain *chain = NULL;
      enter(which);
      found[0] = (int)zcodec_chain_new(NARROW, strlen(NARROW), input, strlen(input), &chain, NULL);
      zcodec_chain_free(chain);
      found[1] = (int)zcodec_chain_new(BYTE, strlen(BYTE), input, strlen(input), &chain, NULL);
      zcodec_chain_free(chain);
      fesetenv(FE_DFL_ENV);
      if (which == DEFAULT) {
        memcpy(expected, found, sizeof found);
      }
      if (!CHECK(memcmp(expected, found, sizeof found) == 0)) {
        fprintf(stderr, "  fill value %s, with %s: %d %d\n", fills[i], names[which], found[0], found[1]);
      }
    }
  }
}

/* Large enough for threads of the library's own. */
static void on_threads(void) {
  static float decoded[LARGE], expected[LARGE], found[LARGE];
  zcodec_chain *chain = check_chain(SCALE, "{\"data_type\":\"float32\",\"shape\":[1048576],\"fill_value\":0}");
  zcodec_call_options options = {0};
  size_t size = 0;
  int i, which;
  options.struct_size = sizeof options;
  options.max_threads = 2;
  for (i = 0; i < LARGE; i++) {
    decoded[i] = (float)i * 1e-3F;
  }
  CHECK_OK(zcodec_encode(chain, decoded, sizeof decoded, expected, sizeof expected, &size, &error));
  for (which = 0; which < ENVIRONMENTS; which++) {
    zcodec_status status;
    enter(which);
    status = zcodec_encode_with(chain, &options, decoded, sizeof decoded, found, sizeof found, &size, NULL);
    fesetenv(FE_DFL_ENV);
    CHECK_STATUS(ZCODEC_STATUS_OK, status);
    if (!CHECK(memcmp(expected, found, sizeof found) == 0)) {
      fprintf(stderr, "  two threads, with %s\n", names[which]);
    }
  }
  zcodec_chain_free(chain);
}

/* What the callbacks see and do. */
static environment seen;
static int change_rounding_to = -1, raise_flags;
static zcodec_chain *inner_chain;

static void look(void) {
  seen = environment_now();
  if (inner_chain != NULL) {
    float decoded = 0.1F, encoded;
    size_t size;
    CHECK_STATUS(ZCODEC_STATUS_OK,
                 zcodec_encode(inner_chain, &decoded, sizeof decoded, &encoded, sizeof encoded, &size, NULL));
    CHECK(same_environment(seen, environment_now()));
  }
  feraiseexcept(raise_flags);
  if (change_rounding_to >= 0) {
    fesetround(change_rounding_to);
  }
}

static int32_t generate(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, uint8_t *padding,
                        size_t padding_size) {
  (void)user_data, (void)call_data, (void)chunk, (void)chunk_size, (void)padding, (void)padding_size;
  look();
  return 0;
}

static int32_t check(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, const uint8_t *padding,
                     size_t padding_size) {
  (void)user_data, (void)call_data, (void)chunk, (void)chunk_size, (void)padding, (void)padding_size;
  look();
  return 0;
}

static void release(void *user_data) {
  (void)user_data;
  look();
}

static void callbacks(void) {
  static const char CODECS[] =
      "[{\"name\":\"scale_offset\",\"configuration\":{\"offset\":0.1}},"
      "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
      "{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":4}}]";
  static const char INPUT[] = "{\"data_type\":\"float32\",\"shape\":[1],\"fill_value\":0}";
  int which, nested;
  for (which = 0; which < ENVIRONMENTS; which++) {
    for (nested = 0; nested < 2; nested++) {
      float decoded = 1;
      uint8_t encoded[8];
      size_t size;
      environment before;
      zcodec_status status[2];
      int same = 1;
      zcodec_chain *chain = check_chain(CODECS, INPUT);
      CHECK_OK(zcodec_chain_set_padding(chain, 2, generate, check, NULL, release, &error));
      inner_chain = nested ? check_chain(SCALE, INPUT) : NULL;
      memset(&seen, 0xFF, sizeof seen);
      enter(which);
      before = environment_now();
      status[0] = zcodec_encode(chain, &decoded, 4, encoded, 8, &size, NULL);
      same &= same_environment(before, seen);
      memset(&seen, 0xFF, sizeof seen);
      status[1] = zcodec_decode(chain, encoded, 8, &decoded, 4, &size, NULL);
      same &= same_environment(before, seen);
      memset(&seen, 0xFF, sizeof seen);
      zcodec_chain_free(chain);
      same &= same_environment(before, seen) && same_environment(before, environment_now());
      fesetenv(FE_DFL_ENV);
      CHECK(status[0] == ZCODEC_STATUS_OK && status[1] == ZCODEC_STATUS_OK);
      if (!CHECK(same)) {
        fprintf(stderr, "  callbacks with %s\n", names[which]);
      }
      zcodec_chain_free(inner_chain);
    }
  }
  inner_chain = NULL;
}

/* Changes that a callback makes to the environment persist. */
static void callbacks_may_change_it(void) {
  static const char CODECS[] =
      "[{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":4}},"
      "{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":4}}]";
  zcodec_chain *chain = check_chain(CODECS, NULL);
  uint8_t encoded[8];
  size_t size;
  CHECK_OK(zcodec_chain_set_padding(chain, 0, generate, NULL, NULL, NULL, &error));
  fesetenv(FE_DFL_ENV);
  raise_flags = FE_INEXACT;
  change_rounding_to = FE_DOWNWARD;
  zcodec_encode(chain, NULL, 0, encoded, 8, &size, NULL);
  CHECK(fegetround() == FE_DOWNWARD);
  CHECK(fetestexcept(FE_ALL_EXCEPT) == FE_INEXACT);
  fesetenv(FE_DFL_ENV);
  raise_flags = 0;
  change_rounding_to = -1;
  zcodec_chain_free(chain);
}

/* Jobs one after the other on the thread of the call, as a host may run them. */
static int32_t run_here(void *user_data, zcodec_job_fn job, void *job_data, uint32_t count) {
  const environment before = environment_now();
  uint32_t i;
  (void)user_data;
  look();
  for (i = 0; i < count; i++) {
    job(job_data, i, 0);
    CHECK(same_environment(before, environment_now()));
  }
  return 0;
}

enum { SIDE = 512, PART = 300 };

/* Writes part of a shard, reads it back, by views and by tasks on threads of the host: the same bytes everywhere. */
static void in_views(void) {
  static const char CODECS[] =
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[128,128],\"codecs\":["
      "{\"name\":\"scale_offset\",\"configuration\":{\"offset\":0.1,\"scale\":3.3}},"
      "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},\"zstd\"],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"crc32c\"]}}]";
  static float decoded[SIDE * SIDE], parts[2][PART * PART], expected[2][PART * PART];
  static uint8_t encoded[2][SIDE * SIDE * 5], first[SIDE * SIDE * 5];
  static const uint64_t start[] = {100, 50}, shape[] = {PART, PART};
  static const int64_t strides[] = {4 * SIDE, 4};
  const zcodec_box box = {sizeof box, 2, start, shape};
  const zcodec_executor executor = {sizeof executor, NULL, 2, 0, run_here};
  zcodec_chain *chain = check_chain(CODECS, "{\"data_type\":\"float32\",\"shape\":[512,512],\"fill_value\":1e-40}");
  zcodec_call_options options = {0};
  size_t first_size = 0;
  int i, which;
  options.struct_size = sizeof options;
  options.executor = &executor;
  for (i = 0; i < SIDE * SIDE; i++) {
    decoded[i] = (float)i * 1e-3F + (i % 7 == 0 ? 1e-39F : 0.0F);
  }
  for (which = 0; which < ENVIRONMENTS; which++) {
    zcodec_view whole = {sizeof whole, NULL, sizeof decoded, 0, 2, strides};
    zcodec_task tasks[2];
    environment before, after;
    zcodec_status status[3];
    size_t size = 0;
    whole.memory = decoded;
    memset(tasks, 0, sizeof tasks);
    enter(which);
    before = environment_now();
    status[0] = zcodec_encode_view(chain, &options, NULL, &whole, encoded[0], sizeof encoded[0], &size, NULL);
    for (i = 0; i < 2; i++) {
      tasks[i].struct_size = sizeof tasks[i];
      tasks[i].chain = chain;
      tasks[i].view = &whole;
      tasks[i].encoded_to = encoded[i];
      tasks[i].encoded_capacity = sizeof encoded[i];
    }
    status[1] = zcodec_encode_tasks(tasks, 2, &options);
    for (i = 0; i < 2; i++) {
      zcodec_view part = {sizeof part, NULL, sizeof parts[0], 0, 2, NULL};
      part.memory = parts[i];
      tasks[i].encoded = encoded[i];
      tasks[i].box = &box;
      tasks[i].view = &part;
      status[2] = zcodec_decode_tasks(&tasks[i], 1, &options);
      tasks[i].box = NULL;
      tasks[i].view = &whole;
    }
    after = environment_now();
    fesetenv(FE_DFL_ENV);
    CHECK(status[0] == ZCODEC_STATUS_OK && status[1] == ZCODEC_STATUS_OK && status[2] == ZCODEC_STATUS_OK);
    CHECK(same_environment(before, after));
    CHECK(same_environment(before, seen));
    CHECK(tasks[0].encoded_size == size && tasks[1].encoded_size == size);
    if (which == DEFAULT) {
      memcpy(first, encoded[0], size);
      memcpy(expected, parts, sizeof parts);
      first_size = size;
    }
    if (!CHECK(size == first_size && memcmp(first, encoded[1], size) == 0) ||
        !CHECK(memcmp(expected, parts, sizeof parts) == 0)) {
      fprintf(stderr, "  views and tasks, with %s\n", names[which]);
    }
  }
  zcodec_chain_free(chain);
}

int main(void) {
  results();
  statuses();
  on_threads();
  callbacks();
  callbacks_may_change_it();
  in_views();
  return check_result("float_environment");
}
