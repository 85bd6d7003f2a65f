#!/bin/bash -eu
# Builds the fuzz targets for OSS-Fuzz: run in its image base-builder-rust, with the project in $SRC/zcodec. Not run there
# yet. Locally, scripts/fuzz.sh does the same.
cd "$SRC/zcodec"
python3 fuzz/seed.py
cargo fuzz build -O --debug-assertions
for path in fuzz/fuzz_targets/*.rs; do
  target=$(basename "$path" .rs)
  cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
  cp fuzz/json.dict "$OUT/$target.dict"
  printf '[libfuzzer]\nmax_len = 4096\ntimeout = 25\n' >"$OUT/$target.options"
  if [ -d "fuzz/corpus/$target" ]; then
    (cd "fuzz/corpus/$target" && find . -type f -print0 | sort -z | xargs -0 zip -q "$OUT/${target}_seed_corpus.zip")
  fi
done
