//! LLNL's C library on whole fields, through `zfp-sys`, for tests that compare.
//!
//! `docs/differences.md` lists where our streams differ; each difference has its test here. The C library reads past
//! the end of a stream that is too short: it is given zeros there.

#![expect(unsafe_code, reason = "calls a C library")]

use zfp_rs::{ZfpConfig, ZfpScalar, ZfpScalarType};

/// Words that every block may take more than the bound says.
const SLACK_WORDS: usize = 300;

fn with_stream<T: ZfpScalar>(
    config: &ZfpConfig,
    values: *mut T,
    dims: [usize; 4],
    words: &mut [u64],
    run: impl FnOnce(*mut zfp_sys::zfp_stream, *mut zfp_sys::zfp_field) -> usize,
) -> usize {
    let scalar_type = match T::SCALAR_TYPE {
        ZfpScalarType::I32 => zfp_sys::zfp_type_zfp_type_int32,
        ZfpScalarType::I64 => zfp_sys::zfp_type_zfp_type_int64,
        ZfpScalarType::F32 => zfp_sys::zfp_type_zfp_type_float,
        ZfpScalarType::F64 => zfp_sys::zfp_type_zfp_type_double,
    };
    let [nx, ny, nz, nw] = dims;
    // SAFETY: `values` holds a field of these sizes, which the callers assert; `words` has room for every block at its
    // largest; what is opened is closed.
    unsafe {
        let bits = zfp_sys::stream_open(words.as_mut_ptr().cast(), size_of_val(words));
        let stream = zfp_sys::zfp_stream_open(bits);
        let (minbits, maxbits) = (config.min_bits(), config.max_bits());
        assert_ne!(zfp_sys::zfp_stream_set_params(stream, minbits, maxbits, config.max_prec(), config.min_exp()), 0);
        let field = match dims {
            [_, 0, _, _] => zfp_sys::zfp_field_1d(values.cast(), scalar_type, nx),
            [_, _, 0, _] => zfp_sys::zfp_field_2d(values.cast(), scalar_type, nx, ny),
            [_, _, _, 0] => zfp_sys::zfp_field_3d(values.cast(), scalar_type, nx, ny, nz),
            _ => zfp_sys::zfp_field_4d(values.cast(), scalar_type, nx, ny, nz, nw),
        };
        assert!(!bits.is_null() && !stream.is_null() && !field.is_null());
        let result = run(stream, field);
        zfp_sys::zfp_field_free(field);
        zfp_sys::zfp_stream_close(stream);
        zfp_sys::stream_close(bits);
        result
    }
}

/// Words that hold every block, however large, and this many zeros after a stream.
fn room(config: &ZfpConfig, dims: [usize; 4]) -> usize {
    let block_count: usize = dims.iter().map(|size| size.div_ceil(4).max(1)).product();
    block_count * (SLACK_WORDS + config.min_bits() as usize / 64) + 1
}

fn check_count<T>(values: &[T], dims: [usize; 4]) {
    assert_eq!(values.len(), dims.iter().map(|size| (*size).max(1)).product::<usize>());
}

/// `zfp_compress` of a field of sizes from x on; unused ones are 0.
pub(super) fn compress<T: ZfpScalar>(config: &ZfpConfig, values: &[T], dims: [usize; 4]) -> Vec<u8> {
    check_count(values, dims);
    let mut values = values.to_vec();
    let mut words = vec![0; room(config, dims)];
    let size = with_stream(config, values.as_mut_ptr(), dims, &mut words, |stream, field| {
        // SAFETY: both are open.
        unsafe { zfp_sys::zfp_compress(stream, field) }
    });
    words[..size / 8].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// `zfp_decompress`, with zeros after the stream.
pub(super) fn decompress<T: ZfpScalar>(config: &ZfpConfig, encoded: &[u8], dims: [usize; 4]) -> Vec<T> {
    let count = dims.iter().map(|size| (*size).max(1)).product();
    let mut values = vec![T::default(); count];
    check_count(&values, dims);
    let mut words: Vec<u64> = encoded.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    words.resize(words.len() + room(config, dims), 0);
    with_stream(config, values.as_mut_ptr(), dims, &mut words, |stream, field| {
        // SAFETY: both are open.
        unsafe { zfp_sys::zfp_decompress(stream, field) }
    });
    values
}

mod tests {
    use super::super::backend::Backend;
    use super::super::tests::{Sample, bind, bind_to, config, data_type_name, dims_of, for_each_case};
    use super::{compress, decompress};
    use serde_json::{Value, json};
    use zfp_rs::{ZfpConfig, ZfpDimensionality};

    fn dimensionality(shape: &[u64]) -> ZfpDimensionality {
        [ZfpDimensionality::D1, ZfpDimensionality::D2, ZfpDimensionality::D3, ZfpDimensionality::D4]
            [shape.len().max(1) - 1]
    }

    /// Where the C library forgets `minbits`.
    fn is_padded_by_us(mode: &Value, name: &str) -> bool {
        mode["minexp"].as_i64().is_some_and(|minexp| minexp < -1074)
            && mode["minbits"].as_u64().is_some_and(|minbits| minbits > 1)
            && name.starts_with("float")
    }

    fn same_as_c<T: Sample>(mode: &Value, shape: &[u64], values: &[T]) {
        let name = data_type_name::<T>();
        let (config, dims) = (config::<T>(mode, dimensionality(shape)), dims_of(shape));
        let mut bound = bind(mode, name, shape).unwrap();
        let theirs = compress(&config, values, dims);
        let ours = bound.encode(bytemuck::cast_slice(values)).unwrap();
        if !is_padded_by_us(mode, name) {
            assert_eq!(ours, theirs, "{name} {shape:?} {mode}");
        }
        let expected = decompress::<T>(&config, &ours, dims);
        assert_eq!(bound.decode(&ours).unwrap(), bytemuck::cast_slice::<T, u8>(&expected), "{name} {shape:?} {mode}");
    }

    /// The C library as the coder of our blocks, compared with itself on the whole field.
    fn same_backend<T: Sample>(mode: &Value, shape: &[u64], values: &[T]) {
        let name = data_type_name::<T>();
        let (config, dims) = (config::<T>(mode, dimensionality(shape)), dims_of(shape));
        let mut bound = bind_to(Backend::CLibrary, mode, name, shape).unwrap();
        let encoded = bound.encode(bytemuck::cast_slice(values)).unwrap();
        let expected = if is_padded_by_us(mode, name) {
            bind(mode, name, shape).unwrap().encode(bytemuck::cast_slice(values)).unwrap()
        } else {
            compress(&config, values, dims)
        };
        assert_eq!(encoded, expected, "{name} {shape:?} {mode}");
        let expected = decompress::<T>(&config, &encoded, dims);
        assert_eq!(
            bound.decode(&encoded).unwrap(),
            bytemuck::cast_slice::<T, u8>(&expected),
            "{name} {shape:?} {mode}"
        );
    }

    #[test]
    fn the_c_library_as_backend_gives_its_own_bytes() {
        for_each_case::<i32>(same_backend);
        for_each_case::<i64>(same_backend);
        for_each_case::<f32>(same_backend);
        for_each_case::<f64>(same_backend);
    }

    #[test]
    fn all_modes_give_the_bytes_of_the_c_library() {
        for_each_case::<i32>(same_as_c);
        for_each_case::<i64>(same_as_c);
        for_each_case::<f32>(same_as_c);
        for_each_case::<f64>(same_as_c);
    }

    #[test]
    fn reversible_mode_gives_the_bytes_of_the_c_library_for_every_float() {
        let mode = json!({"mode": "reversible"});
        let singles = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::from_bits(1), f32::MIN_POSITIVE, f32::MAX, 1e-30, 1.5];
        let values: Vec<f32> = (0..1000).map(|i| singles[i * i * 7 % 11 % singles.len()]).collect();
        let doubles: Vec<f64> = values.iter().map(|value| f64::from(*value) * 1e-280).collect();
        for shape in [&[1000_u64][..], &[25, 40], &[10, 10, 10], &[2, 5, 10, 10]] {
            same_as_c(&mode, shape, &values);
            same_as_c(&mode, shape, &doubles);
        }
    }

    #[test]
    fn maxbits_below_the_header_is_no_limit_as_in_the_c_library() {
        for (maxbits, minexp) in [(0, -1074), (1, -1074), (8, -1074), (4, -1075), (0, -1075)] {
            let mode = json!({"mode": "expert", "minbits": 0, "maxbits": maxbits, "maxprec": 64, "minexp": minexp});
            let values: Vec<f32> = (0..90).map(|i| (i as f32 * 0.37).sin()).collect();
            let doubles: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
            for shape in [&[90_u64][..], &[9, 10], &[3, 5, 6]] {
                same_as_c(&mode, shape, &values);
                same_as_c(&mode, shape, &doubles);
                if minexp < -1074 {
                    let integers: Vec<i32> = (0..90).map(|i| i * i * 1001).collect();
                    same_as_c(&mode, shape, &integers);
                }
            }
        }
    }

    #[test]
    fn tiny_blocks_keep_their_values_and_both_decode_both_streams_alike() {
        let config = ZfpConfig::fixed_precision(16);
        let mode = json!({"mode": "fixed_precision", "precision": 16});
        let values: Vec<f32> = (0..16).map(|i| (i as f32 - 7.5) * 1e-31).collect();
        let mut bound = bind(&mode, "float32", &[16]).unwrap();
        let ours = bound.encode(bytemuck::cast_slice(&values)).unwrap();
        let theirs = compress(&config, &values, [16, 0, 0, 0]);
        assert_ne!(ours, theirs);
        let error = |encoded: &[u8]| {
            let decoded = decompress::<f32>(&config, encoded, [16, 0, 0, 0]);
            decoded.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
        };
        assert!(error(&ours) < 1e-34 && error(&theirs) > 1e-31);
        for encoded in [&ours, &theirs] {
            let expected = decompress::<f32>(&config, encoded, [16, 0, 0, 0]);
            assert_eq!(bound.decode(encoded).unwrap(), bytemuck::cast_slice::<f32, u8>(&expected));
        }
    }

    #[test]
    fn reversible_blocks_of_zeros_are_padded_to_minbits() {
        let mode = json!({"mode": "expert", "minbits": 100, "maxbits": 16658, "maxprec": 64, "minexp": -1075});
        let config = ZfpConfig::expert(100, 16658, 64, -1075).unwrap();
        let values: Vec<f64> = (0..16).map(|i| if i < 4 { 0.0 } else { (0.37 * f64::from(i)).sin() }).collect();
        let mut bound = bind(&mode, "float64", &[16]).unwrap();
        let ours = bound.encode(bytemuck::cast_slice(&values)).unwrap();
        let theirs = compress(&config, &values, [16, 0, 0, 0]);
        assert!(ours.len() > theirs.len());
        assert_eq!(decompress::<f64>(&config, &ours, [16, 0, 0, 0]), values);
        assert_ne!(decompress::<f64>(&config, &theirs, [16, 0, 0, 0]), values);
        assert_eq!(bound.decode(&ours).unwrap(), bytemuck::cast_slice::<f64, u8>(&values));
    }
}
