//! zfp compared with the crate `zfp-rs` called directly and, with the feature `zfp-sys`, the C library.
//!
//!     cargo bench --features zfp-sys --bench zfp -- smooth-float32
//!     cargo bench --features zfp-sys,peers --bench zfp        # also with the crate zarrs, on one thread

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use zcodec::chain::{CallOptions, Chain};
use zcodec::codec::{Level, set_limit};
use zcodec_benches::{TWO_THREADS_SIZE, group, two_threads};
use zfp_rs::{
    ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpConfig, ZfpDimensionality, ZfpField, ZfpFieldMut, ZfpScalar,
    ZfpStreamAlignment,
};

/// One of zfp's types.
trait Sample: ZfpScalar {
    const DATA_TYPE: &'static str;
    fn of(value: f64) -> Self;
    fn bytes(values: &[Self]) -> Vec<u8>;
}

impl Sample for f32 {
    const DATA_TYPE: &'static str = "float32";
    fn of(value: f64) -> Self {
        value as f32
    }
    fn bytes(values: &[Self]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }
}

impl Sample for f64 {
    const DATA_TYPE: &'static str = "float64";
    fn of(value: f64) -> Self {
        value
    }
    fn bytes(values: &[Self]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }
}

/// A smooth field of three dimensions with a little noise.
fn smooth<T: Sample>(side: usize) -> Vec<T> {
    let mut state = 1_u64;
    (0..side * side * side)
        .map(|i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = (state >> 40) as f64 / f64::from(1 << 24);
            let [x, y, z] = [i % side, i / side % side, i / side / side].map(|position| position as f64);
            T::of(280.0 + 20.0 * (x * 0.05).sin() * (y * 0.07).cos() + z * 0.1 + 0.01 * noise)
        })
        .collect()
}

/// The values of an `.npy` file of float32 in three dimensions, slowest dimension first.
fn real(name: &str) -> Option<(Vec<f32>, [usize; 3])> {
    let file = std::fs::read(format!("{}/../tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).ok()?;
    let header_size = usize::from(u16::from_le_bytes([file[8], file[9]]));
    let shape = name.strip_suffix(".npy")?.rsplit('_').next()?;
    let shape: Vec<usize> = shape.split('x').filter_map(|size| size.parse().ok()).collect();
    let values = file[10 + header_size..].as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Some((values, shape.try_into().ok()?))
}

fn modes<T: Sample>() -> [(&'static str, &'static str, ZfpConfig); 4] {
    let rate = ZfpConfig::fixed_rate(8.0, T::SCALAR_TYPE, ZfpDimensionality::D3, ZfpStreamAlignment::Unaligned);
    [
        ("reversible", r#"{"mode":"reversible"}"#, ZfpConfig::reversible()),
        ("rate-8", r#"{"mode":"fixed_rate","rate":8}"#, rate.expect("a rate of 8 is possible")),
        ("precision-16", r#"{"mode":"fixed_precision","precision":16}"#, ZfpConfig::fixed_precision(16)),
        ("accuracy-0.001", r#"{"mode":"fixed_accuracy","tolerance":0.001}"#, ZfpConfig::fixed_accuracy(0.001)),
    ]
}

/// The input of all contestants.
struct Case<'a, T> {
    name: String,
    /// For the name of the benchmark.
    size: String,
    values: &'a [T],
    /// Slowest dimension first.
    shape: [usize; 3],
    json: &'static str,
    config: ZfpConfig,
}

impl<T: Sample> Case<'_, T> {
    fn run(&self, criterion: &mut Criterion) {
        let chain = self.chain(self.shape);
        let decoded = T::bytes(self.values);
        let encoded = chain.encode_to_vec(&decoded, &CallOptions::default()).expect("the field encodes");
        self.encode(criterion, &chain, &decoded, &encoded);
        self.decode(criterion, &decoded, &encoded);
    }

    fn chain(&self, [z, y, x]: [usize; 3]) -> Chain {
        let input = format!(r#"{{"data_type":"{}","shape":[{z},{y},{x}],"fill_value":0}}"#, T::DATA_TYPE);
        let codecs = format!(r#"[{{"name":"zfp","configuration":{}}}]"#, self.json);
        Chain::new(codecs.as_bytes(), Some(input.as_bytes())).expect("the chain is valid")
    }

    /// The chain of half a field, if it is so large that two threads are measured.
    fn half_chain(&self, decoded: &[u8]) -> Option<Chain> {
        let [z, y, x] = self.shape;
        (decoded.len() >= TWO_THREADS_SIZE).then(|| self.chain([z / 2, y, x]))
    }

    /// Two threads with a chunk each and nothing in common: the most that two threads can gain on this machine.
    fn encode_two_chunks(&self, group: &mut BenchmarkGroup<'_, WallTime>, decoded: &[u8]) {
        let Some(chain) = self.half_chain(decoded) else { return };
        let half = decoded.len() / 2;
        let bound = chain.encoded_bound(half as u64).expect("the size is possible") as usize;
        let mut target = vec![0; 2 * bound];
        group.bench_function(BenchmarkId::from_parameter("two-chunks"), |bencher| {
            bencher.iter(|| {
                std::thread::scope(|scope| {
                    for (decoded, target) in decoded.chunks(half).zip(target.chunks_mut(bound)) {
                        let chain = &chain;
                        scope.spawn(|| chain.encode_into(decoded, target, &CallOptions::default()).map(black_box));
                    }
                });
            });
        });
    }

    /// As [`encode_two_chunks`](Self::encode_two_chunks).
    fn decode_two_chunks(&self, group: &mut BenchmarkGroup<'_, WallTime>, decoded: &[u8]) {
        let Some(chain) = self.half_chain(decoded) else { return };
        let half = decoded.len() / 2;
        let encode = |decoded| chain.encode_to_vec(decoded, &CallOptions::default()).expect("the field encodes");
        let encoded: Vec<Vec<u8>> = decoded.chunks(half).map(encode).collect();
        let mut target = vec![0; decoded.len()];
        group.bench_function(BenchmarkId::from_parameter("two-chunks"), |bencher| {
            bencher.iter(|| {
                std::thread::scope(|scope| {
                    for (encoded, target) in encoded.iter().zip(target.chunks_mut(half)) {
                        let chain = &chain;
                        scope.spawn(|| chain.decode_into(encoded, target, &CallOptions::default()).map(black_box));
                    }
                });
            });
        });
    }

    fn encode(&self, criterion: &mut Criterion, chain: &Chain, decoded: &[u8], encoded: &[u8]) {
        let [z, y, x] = self.shape;
        let mut group = group(criterion, &format!("zfp/{}/encode/{}", self.name, self.size), decoded.len());
        let mut words =
            vec![0_u64; chain.encoded_bound(decoded.len() as u64).expect("the size is possible") as usize / 8 + 1];
        let mut target = vec![0_u8; 8 * words.len()];
        for (contestant, options, limit) in zcodec_contestants() {
            set_limit(limit);
            let chain = self.chain(self.shape);
            group.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
                bencher.iter(|| chain.encode_into(black_box(decoded), black_box(&mut target), &options));
            });
            set_limit(None);
        }
        self.encode_two_chunks(&mut group, decoded);
        let mut size = 0;
        group.bench_function(BenchmarkId::from_parameter("zfp-rs"), |bencher| {
            bencher.iter(|| {
                let field = ZfpField::new(black_box(self.values), [x, y, z]).expect("the field is valid");
                size = ZfpBitStreamRefMut::from_words(&mut words).compress(&self.config, &field).expect("it fits");
            });
        });
        if size > 0 {
            let written: Vec<u8> = words[..size / 8].iter().flat_map(|word| word.to_le_bytes()).collect();
            assert!(written == encoded, "{}: zfp-rs writes another stream", self.name);
        }
        self.encode_others(&mut group, &mut words, encoded);
        #[cfg(all(feature = "peers", feature = "zfp-sys"))]
        if let Some(peer) = self.peer() {
            group.bench_function(BenchmarkId::from_parameter("zarrs"), |bencher| {
                bencher.iter(|| peer.encode(black_box(decoded)));
            });
        }
        group.finish();
    }

    fn decode(&self, criterion: &mut Criterion, decoded: &[u8], encoded: &[u8]) {
        let [z, y, x] = self.shape;
        let mut group = group(criterion, &format!("zfp/{}/decode/{}", self.name, self.size), decoded.len());
        let mut target = vec![0_u8; decoded.len()];
        for (contestant, options, limit) in zcodec_contestants() {
            set_limit(limit);
            let chain = self.chain(self.shape);
            group.bench_function(BenchmarkId::from_parameter(contestant), |bencher| {
                bencher.iter(|| chain.decode_into(black_box(encoded), black_box(&mut target), &options));
            });
            set_limit(None);
        }
        self.decode_two_chunks(&mut group, decoded);
        let words: Vec<u64> = encoded.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let mut values = vec![T::default(); self.values.len()];
        group.bench_function(BenchmarkId::from_parameter("zfp-rs"), |bencher| {
            bencher.iter(|| {
                let mut field = ZfpFieldMut::new(&mut values, [x, y, z]).expect("the field is valid");
                ZfpBitStreamRef::from_words(black_box(&words)).decompress(&self.config, &mut field).expect("it decodes")
            });
        });
        self.decode_others(&mut group, &words);
        #[cfg(all(feature = "peers", feature = "zfp-sys"))]
        if let Some(peer) = self.peer() {
            group.bench_function(BenchmarkId::from_parameter("zarrs"), |bencher| {
                bencher.iter(|| peer.decode(black_box(encoded)));
            });
        }
        group.finish();
    }

    #[cfg(all(feature = "peers", feature = "zfp-sys"))]
    fn peer(&self) -> Option<zcodec_benches::peers::Zarrs> {
        let codecs = format!(r#"[{{"name":"zfp","configuration":{}}}]"#, self.json);
        zcodec_benches::peers::Zarrs::new(&codecs, T::DATA_TYPE, size_of::<T>(), &self.shape)
    }

    #[cfg(feature = "zfp-sys")]
    fn encode_others(&self, group: &mut BenchmarkGroup<'_, WallTime>, words: &mut [u64], encoded: &[u8]) {
        let mut values = self.values.to_vec();
        let mut field = c_library::Field::new(&self.config, &mut values, self.shape, words);
        assert_eq!(field.compress(), encoded.len(), "{}: the C library writes another stream", self.name);
        group.bench_function(BenchmarkId::from_parameter("zfp-sys"), |bencher| bencher.iter(|| field.compress()));
    }

    #[cfg(not(feature = "zfp-sys"))]
    fn encode_others(&self, _: &mut BenchmarkGroup<'_, WallTime>, _: &mut [u64], _: &[u8]) {}

    #[cfg(feature = "zfp-sys")]
    fn decode_others(&self, group: &mut BenchmarkGroup<'_, WallTime>, words: &[u64]) {
        let mut values = vec![T::default(); self.values.len()];
        let mut words = words.to_vec();
        let mut field = c_library::Field::new(&self.config, &mut values, self.shape, &mut words);
        group.bench_function(BenchmarkId::from_parameter("zfp-sys"), |bencher| bencher.iter(|| field.decompress()));
    }

    #[cfg(not(feature = "zfp-sys"))]
    fn decode_others(&self, _: &mut BenchmarkGroup<'_, WallTime>, _: &[u64]) {}
}

/// How the chain is called.
fn zcodec_contestants() -> Vec<(&'static str, CallOptions, Option<Level>)> {
    let mut contestants = vec![("zcodec", CallOptions::default(), None), ("zcodec-2-threads", two_threads(), None)];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        contestants.push(("avx2", CallOptions::default(), Some(Level::Avx2)));
    }
    contestants
}

fn run_modes<T: Sample>(criterion: &mut Criterion, name: &str, values: &[T], shape: [usize; 3]) {
    for (mode, json, config) in modes::<T>() {
        let size = shape.map(|size| size.to_string()).join("x");
        Case { name: format!("{name}-{mode}"), size, values, shape, json, config }.run(criterion);
    }
}

fn zfp(criterion: &mut Criterion) {
    run_modes(criterion, "smooth-float32", &smooth::<f32>(128), [128; 3]);
    run_modes(criterion, "smooth-float64", &smooth::<f64>(128), [128; 3]);
    run_modes(criterion, "smooth-float32", &smooth::<f32>(256), [256; 3]);
    for (name, file) in [
        ("air-temperature", "air_temperature_float32_48x37x49.npy"),
        ("potential-temperature", "air_potential_temperature_float32_15x100x100.npy"),
    ] {
        let (values, shape) = real(file).expect("the file is one of tests/data");
        run_modes(criterion, name, &values, shape);
    }
}

#[cfg(feature = "zfp-sys")]
mod c_library {
    //! The C library on one field and one stream.

    use zfp_rs::{ZfpConfig, ZfpScalar, ZfpScalarType};

    pub(super) struct Field {
        bits: *mut zfp_sys::bitstream,
        stream: *mut zfp_sys::zfp_stream,
        field: *mut zfp_sys::zfp_field,
    }

    impl Field {
        /// `values` and `words` must outlive the result; the shape is slowest dimension first.
        pub(super) fn new<T: ZfpScalar>(
            config: &ZfpConfig,
            values: &mut [T],
            [z, y, x]: [usize; 3],
            words: &mut [u64],
        ) -> Self {
            assert_eq!(values.len(), x * y * z);
            let scalar_type = match T::SCALAR_TYPE {
                ZfpScalarType::I32 => zfp_sys::zfp_type_zfp_type_int32,
                ZfpScalarType::I64 => zfp_sys::zfp_type_zfp_type_int64,
                ZfpScalarType::F32 => zfp_sys::zfp_type_zfp_type_float,
                ZfpScalarType::F64 => zfp_sys::zfp_type_zfp_type_double,
            };
            // SAFETY: the pointers are those of live buffers of these sizes.
            unsafe {
                let bits = zfp_sys::stream_open(words.as_mut_ptr().cast(), size_of_val(words));
                let stream = zfp_sys::zfp_stream_open(bits);
                let (minbits, maxbits) = (config.min_bits(), config.max_bits());
                zfp_sys::zfp_stream_set_params(stream, minbits, maxbits, config.max_prec(), config.min_exp());
                let field = zfp_sys::zfp_field_3d(values.as_mut_ptr().cast(), scalar_type, x, y, z);
                Self { bits, stream, field }
            }
        }

        pub(super) fn compress(&mut self) -> usize {
            // SAFETY: the buffers that these were made of are alive, and hold the field and its largest stream.
            unsafe {
                zfp_sys::zfp_stream_rewind(self.stream);
                zfp_sys::zfp_compress(self.stream, self.field)
            }
        }

        pub(super) fn decompress(&mut self) -> usize {
            // SAFETY: as in `compress`; the stream is one that was made of a field of these sizes.
            unsafe {
                zfp_sys::zfp_stream_rewind(self.stream);
                zfp_sys::zfp_decompress(self.stream, self.field)
            }
        }
    }

    impl Drop for Field {
        fn drop(&mut self) {
            // SAFETY: each was made by `new` and is freed once.
            unsafe {
                zfp_sys::zfp_field_free(self.field);
                zfp_sys::zfp_stream_close(self.stream);
                zfp_sys::stream_close(self.bits);
            }
        }
    }
}

criterion_group!(benches, zfp);
criterion_main!(benches);
