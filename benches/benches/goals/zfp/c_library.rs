//! The C library on one field and one stream, both its own.

use zfp_rs::{ZfpConfig, ZfpScalar, ZfpScalarType};

pub(super) struct Field<T> {
    bits: *mut zfp_sys::bitstream,
    stream: *mut zfp_sys::zfp_stream,
    field: *mut zfp_sys::zfp_field,
    // What the pointers point into.
    _values: Vec<T>,
    _words: Vec<u64>,
}

impl<T: ZfpScalar> Field<T> {
    /// `extents` are fastest dimension first, 0 where there is none.
    pub(super) fn new(config: &ZfpConfig, values: &[T], extents: [usize; 4], mut words: Vec<u64>) -> Self {
        let mut values = values.to_vec();
        let scalar_type = match T::SCALAR_TYPE {
            ZfpScalarType::I32 => zfp_sys::zfp_type_zfp_type_int32,
            ZfpScalarType::I64 => zfp_sys::zfp_type_zfp_type_int64,
            ZfpScalarType::F32 => zfp_sys::zfp_type_zfp_type_float,
            ZfpScalarType::F64 => zfp_sys::zfp_type_zfp_type_double,
        };
        let [x, y, z, w] = extents;
        assert_eq!(values.len(), extents.iter().map(|extent| (*extent).max(1)).product::<usize>());
        // SAFETY: the pointers are those of buffers of these sizes, which live as long as what is made of them.
        unsafe {
            let bits = zfp_sys::stream_open(words.as_mut_ptr().cast(), size_of_val(words.as_slice()));
            let stream = zfp_sys::zfp_stream_open(bits);
            let (minbits, maxbits) = (config.min_bits(), config.max_bits());
            zfp_sys::zfp_stream_set_params(stream, minbits, maxbits, config.max_prec(), config.min_exp());
            let field = zfp_sys::zfp_field_4d(values.as_mut_ptr().cast(), scalar_type, x, y, z, w);
            Self { bits, stream, field, _values: values, _words: words }
        }
    }

    pub(super) fn compress(&mut self) {
        // SAFETY: the buffers are alive, and hold the field and its largest stream.
        let size = unsafe {
            zfp_sys::zfp_stream_rewind(self.stream);
            zfp_sys::zfp_compress(self.stream, self.field)
        };
        assert!(size > 0, "the C library does not encode");
    }

    pub(super) fn decompress(&mut self) {
        // SAFETY: as in `compress`; the stream is one that was made of a field of these sizes.
        let size = unsafe {
            zfp_sys::zfp_stream_rewind(self.stream);
            zfp_sys::zfp_decompress(self.stream, self.field)
        };
        assert!(size > 0, "the C library does not decode");
    }
}

impl<T> Drop for Field<T> {
    fn drop(&mut self) {
        // SAFETY: each was made by `new` and is freed once.
        unsafe {
            zfp_sys::zfp_field_free(self.field);
            zfp_sys::zfp_stream_close(self.stream);
            zfp_sys::stream_close(self.bits);
        }
    }
}
