#!/usr/bin/env bash
# Times of zcodec in Java, compared with zarr-java's own codecs. After `make java`.
set -euo pipefail
cd "$(dirname "$0")"
mvn --batch-mode --quiet test-compile dependency:build-classpath -pl zcodec-java,zcodec-zarr-java \
  -Dmdep.outputFile=target/classpath "$@"
cd zcodec-zarr-java
java -cp "target/classes:target/test-classes:$(cat target/classpath)" zcodec.zarrjava.Speed "$PWD/../.."
