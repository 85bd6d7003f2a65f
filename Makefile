# The commands for people and CI. They need a Rust toolchain, gcc and g++, make, and Python 3.11, and install the rest
# (cmake, pkg-config, independent readers) from PyPI into .venv and .venv-python.

export PATH := $(CURDIR)/.venv/bin:$(PATH)
MAKEFLAGS += --no-print-directory
VENV := .venv/requirements.txt
CONFIGURE := cmake -S . -DPython3_EXECUTABLE="$(CURDIR)/.venv/bin/python" -DZCODEC_READER_TESTS=ON \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
JOBS := $(shell nproc 2>/dev/null || echo 2)
C_FILES := include/zcodec.hpp $(wildcard benches/*.c plugins/*/*.[ch] examples-c/*.[ch] examples-cpp/*.?pp tests/c/*.[ch] tests/posix/*.c tests/static/*.c tests/cpp/*.cpp tests/cpp/*.h tests/docs/*.[ch] tests/docs/*.cpp $(addprefix tests/outside/main,.c .cpp))

.PHONY: demo build test header header-update fmt fmt-check clean

# Encodes and decodes real data with every example, and prints sizes, ratios and throughput.
demo: configure
	cmake --build build -j $(JOBS) --target demo

# Everything that must pass.
test: build
	cargo test --locked
	python3 tests/conformance/run.py build/lib/libzcodec.so --no-skips
	ctest --test-dir build --output-on-failure --no-tests=error
	$(MAKE) test-python

build: configure
	cmake --build build -j $(JOBS)

.PHONY: configure
configure: $(VENV)
	$(CONFIGURE) -B build -DZCODEC_CARGO_TARGET_DIR="$(CURDIR)/target"

$(VENV): tests/requirements.txt tests/setup-python.sh
	tests/setup-python.sh

# The Python package: types and short tests; with -long also zarr-python's own tests, and arrays of other libraries.
.PHONY: test-python test-python-long
PYTHON_VENV := .venv-python
test-python:
	scripts/python-venv.sh $(PYTHON_VENV) zarr,cli,test
	cd python && ../$(PYTHON_VENV)/bin/python -m mypy
	cd python && ../$(PYTHON_VENV)/bin/python -m pytest -q -rs
test-python-long: test-python
	python/tests/long/run.sh $(PYTHON_VENV)

# Fails if include/zcodec.h differs from what the source generates; header-update writes it.
header:
	cargo test --locked --test header
header-update:
	ZCODEC_UPDATE_HEADER=1 cargo test --locked --test header

fmt: $(VENV)
	cargo fmt
	clang-format -i $(C_FILES)
fmt-check: $(VENV)
	cargo fmt --check
	clang-format --dry-run --Werror $(C_FILES)

clean:
	rm -rf build target

# The same under AddressSanitizer, LeakSanitizer, UBSan, valgrind memcheck and ThreadSanitizer.
.PHONY: sanitize cross fuzz dist supply-chain
sanitize:
	scripts/sanitize.sh
# On Windows (wine), aarch64, big-endian s390x (qemu), i686, and x86-64 with AVX-512 (Bochs); Debian 12, as root.
cross:
	scripts/cross.sh
# The archives of a release, in dist/; on Debian 12, as root.
dist:
	scripts/dist.sh
# The Java packages in java/, with the library inside; needs a JDK and Maven.
.PHONY: java
java: build
	scripts/java.sh
# Licences, sources and versions of everything in Cargo.lock; `scripts/supply-chain.sh advisories` checks advisories, too.
supply-chain:
	scripts/supply-chain.sh
# The table of goals, compared with other libraries, and a picture of it.
.PHONY: bench
bench:
	benches/run.sh
# Every fuzz target for SECONDS each.
SECONDS := 60
fuzz:
	scripts/fuzz.sh $(SECONDS)
# The plugins for GDAL, HDF5 and netCDF-C, in build/plugins, tested in their hosts, and the examples, of which array_store
# is a host itself.
.PHONY: plugins
plugins: $(VENV)
	plugins/tests/setup.sh
	$(CONFIGURE) -B build/plugins -DZCODEC_CARGO_TARGET_DIR="$(CURDIR)/target" -DZCODEC_PLUGINS=ON -DZCODEC_PLUGIN_TESTS=ON \
	  -DZCODEC_BUILD_TESTS=OFF -DZCODEC_BUILD_EXAMPLES=ON
	cmake --build build/plugins -j $(JOBS)
	ctest --test-dir build/plugins --output-on-failure --no-tests=error
