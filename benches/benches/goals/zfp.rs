//! `zfp` in one to four dimensions compared with the crate `zfp-rs` called directly and, with the feature `zfp-sys`,
//! the C library.

#[cfg(feature = "zfp-sys")]
mod c_library;

use crate::chunk::chain;
use crate::table::{Line, Table};
use std::hint::black_box;
use std::time::Duration;
use zcodec::chain::{CallOptions, Chain};
use zcodec_benches::smooth;
use zcodec_benches::turns::Contestant;
use zfp_rs::{
    ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpConfig, ZfpDimensionality, ZfpField, ZfpFieldMut, ZfpScalar,
    ZfpStreamAlignment,
};

/// A data type of the chain, and its values in the type of zfp that they are coded as.
struct Samples<T> {
    data_type: &'static str,
    /// The element in memory, and the number that zfp gets: that of `promote` for narrow integers.
    element: fn(f64) -> (Vec<u8>, T),
    is_float: bool,
}

pub(crate) fn measure(table: &mut Table) {
    let float32 = |value: f64| ((value as f32).to_ne_bytes().to_vec(), value as f32);
    let float64 = |value: f64| (value.to_ne_bytes().to_vec(), value);
    let int32 = |value: f64| (((value * 1000.0) as i32).to_ne_bytes().to_vec(), (value * 1000.0) as i32);
    // zfp_promote_uint8_to_int32 and zfp_promote_int16_to_int32 of the C library.
    let uint8 = |value: f64| (vec![(value / 2.0) as u8], (i32::from((value / 2.0) as u8) - 128) << 23);
    let int16 = |value: f64| (((value * 50.0) as i16).to_ne_bytes().to_vec(), i32::from((value * 50.0) as i16) << 15);
    for shape in [vec![1 << 18], vec![512, 512], vec![64, 64, 64], vec![24, 24, 24, 20]] {
        for mode in MODES {
            field(table, &Samples { data_type: "float32", element: float32, is_float: true }, &shape, mode);
            field(table, &Samples { data_type: "float64", element: float64, is_float: true }, &shape, mode);
            field(table, &Samples { data_type: "int32", element: int32, is_float: false }, &shape, mode);
            field(table, &Samples { data_type: "uint8", element: uint8, is_float: false }, &shape, mode);
            field(table, &Samples { data_type: "int16", element: int16, is_float: false }, &shape, mode);
        }
    }
}

const MODES: [&str; 4] = ["reversible", "fixed_rate", "fixed_precision", "fixed_accuracy"];

fn config<T: ZfpScalar>(mode: &str, dimensions: usize, is_float: bool) -> Option<(&'static str, ZfpConfig)> {
    let dimensionality = match dimensions {
        1 => ZfpDimensionality::D1,
        2 => ZfpDimensionality::D2,
        3 => ZfpDimensionality::D3,
        _ => ZfpDimensionality::D4,
    };
    let rate = ZfpConfig::fixed_rate(8.0, T::SCALAR_TYPE, dimensionality, ZfpStreamAlignment::Unaligned);
    match mode {
        "reversible" => Some((r#"{"mode":"reversible"}"#, ZfpConfig::reversible())),
        "fixed_rate" => Some((r#"{"mode":"fixed_rate","rate":8}"#, rate.expect("a rate of 8 is possible"))),
        "fixed_precision" => Some((r#"{"mode":"fixed_precision","precision":16}"#, ZfpConfig::fixed_precision(16))),
        _ => is_float.then(|| (r#"{"mode":"fixed_accuracy","tolerance":0.001}"#, ZfpConfig::fixed_accuracy(0.001))),
    }
}

fn field<T: ZfpScalar>(table: &mut Table, samples: &Samples<T>, shape: &[usize], mode: &str) {
    let group = format!("zfp, {}-D", shape.len());
    let case = format!("{}-{mode}", samples.data_type);
    let Some((json, config)) = config::<T>(mode, shape.len(), samples.is_float) else { return };
    if !table.wants(&group, &case) {
        return;
    }
    let (decoded, values): (Vec<Vec<u8>>, Vec<T>) = smooth(shape).map(samples.element).unzip();
    let decoded = decoded.concat();
    let chain = chain(&format!(r#"[{{"name":"zfp","configuration":{json}}}]"#), samples.data_type, shape);
    let field = Field { group: &group, case: &case, chain, config, shape, decoded, values };
    field.encode(table);
    field.decode(table);
}

/// What all contestants work on.
struct Field<'a, T> {
    group: &'a str,
    case: &'a str,
    chain: Chain,
    config: ZfpConfig,
    shape: &'a [usize],
    decoded: Vec<u8>,
    values: Vec<T>,
}

impl<T: ZfpScalar> Field<'_, T> {
    /// Fastest dimension first, as zfp counts them; 0 where there is none.
    fn extents(&self) -> [usize; 4] {
        let mut extents = [0; 4];
        for (extent, size) in extents.iter_mut().zip(self.shape.iter().rev()) {
            *extent = *size;
        }
        extents
    }

    fn encoded(&self) -> Vec<u8> {
        self.chain.encode_to_vec(&self.decoded, &CallOptions::default()).expect("the field encodes")
    }

    fn line<'a>(&'a self, case: &'a str, yardstick: &'a str, goal: f64) -> Line<'a> {
        Line { group: self.group, case, size: "1MiB", yardstick, goal: Some(goal), allowance: Duration::ZERO }
    }

    /// What is fast enough compared with `zfp-rs`.
    fn crate_goal(&self) -> f64 {
        if self.shape.len() == 3 { 0.97 } else { 1.5 }
    }

    fn encode(&self, table: &mut Table) {
        let case = format!("{}-encode", self.case);
        let bound = self.chain.encoded_bound(self.decoded.len() as u64).expect("the size is possible") as usize;
        let (mut target, mut words) = (vec![0; bound], vec![0_u64; bound / 8 + 1]);
        let field = ZfpField::new(&self.values, self.extents()).expect("the field is valid");
        let written = ZfpBitStreamRefMut::from_words(&mut words).compress(&self.config, &field).expect("it fits");
        let written: Vec<u8> = words[..written / 8].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(written == self.encoded(), "{case}: zfp-rs writes another stream");
        let by_crate: Contestant<'_> = Box::new(|| {
            ZfpBitStreamRefMut::from_words(&mut words).compress(&self.config, black_box(&field)).expect("it fits");
        });
        let by_crate = [(self.line(&case, "zfp-rs", self.crate_goal()), by_crate)];
        table.measure_all(by_crate.into_iter().chain(self.encode_in_c(&case, bound)).collect(), || {
            let options = CallOptions::default();
            self.chain.encode_into(black_box(&self.decoded), black_box(&mut target), &options).expect("it encodes");
        });
    }

    fn decode(&self, table: &mut Table) {
        let case = format!("{}-decode", self.case);
        let encoded = self.encoded();
        let words: Vec<u64> = encoded.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let (mut target, mut values) = (vec![0; self.decoded.len()], self.values.clone());
        let by_crate: Contestant<'_> = Box::new(|| {
            let mut field = ZfpFieldMut::new(&mut values, self.extents()).expect("the field is valid");
            ZfpBitStreamRef::from_words(black_box(&words)).decompress(&self.config, &mut field).expect("it decodes");
        });
        let by_crate = [(self.line(&case, "zfp-rs", self.crate_goal()), by_crate)];
        table.measure_all(by_crate.into_iter().chain(self.decode_in_c(&case, &words)).collect(), || {
            let options = CallOptions::default();
            self.chain.decode_into(black_box(&encoded), black_box(&mut target), &options).expect("it decodes");
        });
    }
}

type Yardstick<'a> = (Line<'a>, Contestant<'a>);

#[cfg(feature = "zfp-sys")]
impl<T: ZfpScalar> Field<'_, T> {
    fn encode_in_c<'a>(&'a self, case: &'a str, bound: usize) -> Option<Yardstick<'a>> {
        let goal = if self.shape.len() == 3 { 3.5 } else { 5.0 };
        let mut field = c_library::Field::new(&self.config, &self.values, self.extents(), vec![0; bound / 8 + 1]);
        Some((self.line(case, "C library", goal), Box::new(move || field.compress())))
    }

    fn decode_in_c<'a>(&'a self, case: &'a str, words: &[u64]) -> Option<Yardstick<'a>> {
        let goal = if self.shape.len() == 3 { 1.25 } else { 2.0 };
        let mut field = c_library::Field::new(&self.config, &self.values, self.extents(), words.to_vec());
        Some((self.line(case, "C library", goal), Box::new(move || field.decompress())))
    }
}

#[cfg(not(feature = "zfp-sys"))]
impl<T: ZfpScalar> Field<'_, T> {
    fn encode_in_c<'a>(&'a self, _: &'a str, _: usize) -> Option<Yardstick<'a>> {
        None
    }

    fn decode_in_c<'a>(&'a self, _: &'a str, _: &[u64]) -> Option<Yardstick<'a>> {
        None
    }
}
