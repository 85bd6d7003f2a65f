//! What the laws are checked on: chains, boxes, memory.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use zcodec::chain::{CallOptions, Chain};
use zcodec::strided::{self, Layout, Source, Target};

/// Numbers that decide what a case is; 0 once they are used up.
#[derive(Debug, Clone)]
pub struct Choices {
    numbers: Vec<u8>,
    next: usize,
}

impl Choices {
    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        let number = self.numbers.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(number) % count
    }

    pub fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    /// These, and then always the first.
    pub fn of(numbers: &[u8]) -> Self {
        Self { numbers: numbers.to_vec(), next: 0 }
    }

    /// Always the first.
    pub fn none() -> Self {
        Self::of(&[])
    }

    fn shape(&mut self, rank: usize, least: usize, most: usize) -> Vec<u64> {
        (0..rank).map(|_| (least + self.below(most + 1 - least)) as u64).collect()
    }

    pub fn order(&mut self, rank: usize) -> Vec<usize> {
        let mut rest: Vec<usize> = (0..rank).collect();
        (0..rank).map(|_| rest.remove(self.below(rest.len()))).collect()
    }
}

pub fn choices() -> impl Strategy<Value = Choices> {
    proptest::collection::vec(any::<u8>(), 0..160).prop_map(|numbers| Choices { numbers, next: 0 })
}

/// A codec of this name.
pub fn named(name: &str, configuration: &Value) -> Value {
    json!({"name": name, "configuration": configuration})
}

/// A shard whose index stands at its end, without a checksum.
pub fn sharding(chunk_shape: &[u64], codecs: &Value) -> Value {
    let little = named("bytes", &json!({"endian": "little"}));
    named("sharding_indexed", &json!({"chunk_shape": chunk_shape, "codecs": codecs, "index_codecs": [little]}))
}

/// A chain and an array that enters it.
#[derive(Debug)]
pub struct Case {
    pub codecs: Value,
    pub chain: Arc<Chain>,
    pub shape: Vec<u64>,
    pub element_size: usize,
    /// If the chain makes a shard and nothing after it.
    pub shard: Option<Cells>,
    pub fill_value: Vec<u8>,
}

/// The inner chunks of a shard.
#[derive(Debug)]
pub struct Cells {
    /// Between two reshapes.
    earlier: Option<Transposed>,
    last: Transposed,
    inner: Vec<u64>,
}

/// An array whose dimensions change places.
#[derive(Debug)]
struct Transposed {
    /// The shape before.
    shape: Vec<u64>,
    /// Dimension i is this one of that shape.
    order: Vec<usize>,
}

impl Transposed {
    /// The array of this order whose shape becomes this one.
    fn to(shape: &[u64], order: Vec<usize>) -> Self {
        let mut before = vec![0; shape.len()];
        order.iter().zip(shape).for_each(|(dimension, size)| before[*dimension] = *size);
        Self { shape: before, order }
    }

    /// Where the element with this index in C order comes to lie.
    fn position_of(&self, mut index: usize) -> Vec<u64> {
        let mut position = vec![0; self.shape.len()];
        for (at, size) in position.iter_mut().zip(&self.shape).rev() {
            *at = index as u64 % size;
            index /= *size as usize;
        }
        self.order.iter().map(|dimension| position[*dimension]).collect()
    }

    /// The index that it gets.
    fn index_of(&self, index: usize) -> usize {
        let place = self.order.iter().zip(self.position_of(index));
        place.fold(0, |index, (dimension, at)| index * self.shape[*dimension] as usize + at as usize)
    }
}

impl Cells {
    /// Whether this many elements are few enough to be found through two reshapes.
    pub fn are_found(&self, count: u64) -> bool {
        self.earlier.is_none() || 256 * count <= self.last.shape.iter().product()
    }

    /// The inner chunk that the element with this index in C order lies in.
    pub fn of(&self, index: usize) -> Vec<u64> {
        let index = self.earlier.as_ref().map_or(index, |earlier| earlier.index_of(index));
        self.last.position_of(index).iter().zip(&self.inner).map(|(position, size)| position / size).collect()
    }
}

const DATA_TYPES: [(&str, usize); 5] = [("uint8", 1), ("uint16", 2), ("int32", 4), ("float32", 4), ("float64", 8)];

/// The codecs of a chunk with this many dimensions that is no shard.
fn chunk_codecs(choices: &mut Choices, data_type: &str, rank: usize) -> Vec<Value> {
    let serializer = match choices.below(5) {
        4 => {
            let transpose = named("transpose", &json!({"order": (0..rank).rev().collect::<Vec<_>>()}));
            let bytes = named("bytes", &json!({"endian": "big"}));
            named("n5_default", &json!({"codecs": [transpose, bytes]}))
        }
        2 => named("packbits", &json!({})),
        3 if !["uint8", "uint16"].contains(&data_type) => named("zfp", &json!({"mode": "reversible"})),
        1 => named("bytes", &json!({"endian": "big"})),
        _ => named("bytes", &json!({"endian": "little"})),
    };
    let mut codecs = vec![serializer];
    match choices.below(5) {
        1 => codecs.push(named("zstd", &json!({"level": 1, "checksum": false}))),
        2 => codecs.push(json!("crc32c")),
        3 => codecs.push(named("pad", &json!({"location": "start", "nbytes": 3}))),
        _ => {}
    }
    codecs
}

/// A shard of inner chunks of this shape; they may be shards, too.
fn shard(choices: &mut Choices, shape: &[u64], data_type: &str) -> Value {
    let codecs = if choices.below(4) == 1 {
        let inner: Vec<u64> = shape.iter().map(|size| if size % 2 == 0 { size / 2 } else { *size }).collect();
        vec![shard(&mut Choices::none(), &inner, data_type)]
    } else {
        chunk_codecs(choices, data_type, shape.len())
    };
    named(
        "sharding_indexed",
        &json!({
            "chunk_shape": shape,
            "codecs": codecs,
            "index_codecs": [named("bytes", &json!({"endian": "little"})), "crc32c"],
            "index_location": choices.pick(&["end", "start"]),
        }),
    )
}

/// A chain that makes a shard, of which a writer can be made.
pub fn shard_case(choices: &mut Choices) -> Case {
    case(choices, true)
}

/// Any chain.
pub fn any_case(choices: &mut Choices) -> Case {
    case(choices, false)
}

fn case(choices: &mut Choices, is_shard: bool) -> Case {
    let (data_type, element_size) = choices.pick(&DATA_TYPES);
    let rank = 1 + choices.below(3);
    let (inner, grid) = (choices.shape(rank, 1, 4), choices.shape(rank, 1, 3));
    let mut shape: Vec<u64> = inner.iter().zip(&grid).map(|(size, count)| size * count).collect();
    let mut codecs = Vec::new();
    let mut inner_type = data_type;
    let mut last = Transposed::to(&shape, (0..rank).collect());
    if choices.below(3) == 1 {
        last = Transposed::to(&shape, choices.order(rank));
        codecs.push(named("transpose", &json!({"order": last.order})));
        shape.clone_from(&last.shape);
    }
    let (mut before, mut earlier) = (shape.clone(), None);
    if !is_shard && choices.below(4) == 1 {
        // The same elements in other shapes; the codecs stand before the others.
        before = choices.pick(&[
            vec![shape.iter().product()],
            [&[1], shape.as_slice()].concat(),
            shape.iter().rev().copied().collect(),
        ]);
        codecs.insert(0, named("reshape", &json!({"shape": shape})));
        if choices.below(2) == 1 {
            let between = Transposed::to(&before, choices.order(before.len()));
            before = choices.pick(&[vec![shape.iter().product()], shape.clone()]);
            let transpose = named("transpose", &json!({"order": between.order}));
            codecs.splice(0..0, [named("reshape", &json!({"shape": between.shape})), transpose]);
            earlier = Some(between);
        }
    }
    if choices.below(3) == 1 && data_type == "uint8" {
        inner_type = "uint16";
        codecs.push(named("cast_value", &json!({"data_type": inner_type})));
    }
    match choices.below(4) {
        1 if data_type == "int32" => codecs.push(named("scale_offset", &json!({"offset": 3}))),
        // The product is exact, and so is what it came from.
        1 if data_type.starts_with("float") => codecs.push(named("scale_offset", &json!({"scale": 2}))),
        _ => {}
    }
    let has_shard = is_shard || choices.below(3) > 0;
    codecs.extend(match has_shard {
        true => vec![shard(choices, &inner, inner_type)],
        false => chunk_codecs(choices, inner_type, rank),
    });
    let is_alone = is_shard || choices.below(4) > 0;
    if !is_alone {
        codecs.push(choices.pick(&[json!("crc32c"), named("pad", &json!({"location": "start", "nbytes": 5}))]));
    }
    let codecs = Value::from(codecs);
    let cells = Cells { earlier, last, inner };
    let shape = before;
    let input = json!({"data_type": data_type, "shape": shape, "fill_value": 3});
    let chain = Chain::new(codecs.to_string().as_bytes(), Some(input.to_string().as_bytes())).unwrap();
    let shard = (has_shard && is_alone).then_some(cells);
    Case { codecs, chain: Arc::new(chain), shape, element_size, shard, fill_value: fill_value(data_type) }
}

/// The bytes of 3.
fn fill_value(data_type: &str) -> Vec<u8> {
    match data_type {
        "uint8" => vec![3],
        "uint16" => 3_u16.to_ne_bytes().to_vec(),
        "int32" => 3_i32.to_ne_bytes().to_vec(),
        "float32" => 3_f32.to_ne_bytes().to_vec(),
        _ => 3_f64.to_ne_bytes().to_vec(),
    }
}

impl Case {
    /// Elements of a box, of which some are the fill value.
    pub fn elements(&self, choices: &mut Choices, shape: &[u64]) -> Vec<u8> {
        let (step, kind) = (1 + choices.below(200), choices.below(4));
        let is_filled = |index: usize| kind == 3 || kind > 0 && (index / 7 + step).is_multiple_of(4);
        // Bytes that make no NaN of a float, and are no byte of a memory that nobody has written.
        let byte = |index: usize, byte: usize| ((index * step + byte * 5) % 120) as u8;
        let count = shape.iter().product::<u64>() as usize;
        let element = |index| match is_filled(index) {
            true => self.fill_value.clone(),
            false => (0..self.element_size).map(|at| byte(index, at)).collect(),
        };
        (0..count).flat_map(element).collect()
    }

    /// An array that nobody has written.
    pub fn empty(&self) -> Vec<u8> {
        self.fill_value.repeat(self.shape.iter().product::<u64>() as usize)
    }
}

pub fn options() -> CallOptions {
    CallOptions::default()
}

/// A box: where it begins, and its shape.
pub type Area = (Vec<u64>, Vec<u64>);

pub fn area(choices: &mut Choices, shape: &[u64]) -> Area {
    let ends = shape.iter().map(|size| {
        let (a, b) = (choices.below(*size as usize + 1) as u64, choices.below(*size as usize + 1) as u64);
        (a.min(b), a.max(b) - a.min(b))
    });
    ends.unzip()
}

/// The indices of the elements of a box, in C order.
pub fn indices(shape: &[u64], (start, part): &Area) -> Vec<usize> {
    let mut indices = vec![0];
    for (size, (start, part)) in shape.iter().zip(start.iter().zip(part)) {
        let row = |index: usize| (*start..start + part).map(move |at| index * *size as usize + at as usize);
        indices = indices.into_iter().flat_map(row).collect();
    }
    indices
}

/// The elements of a box, back to back.
pub fn cut(whole: &[u8], shape: &[u64], area: &Area, element_size: usize) -> Vec<u8> {
    let element = |index: usize| &whole[index * element_size..(index + 1) * element_size];
    indices(shape, area).into_iter().flat_map(element).copied().collect()
}

/// What memory holds at first.
const UNWRITTEN: u8 = 0xA5;

/// Memory in which a box lies with its dimensions in any order, with gaps, and backwards.
pub struct Memory {
    pub bytes: Vec<u8>,
    pub layout: Layout,
}

pub fn memory(choices: &mut Choices, shape: &[u64], element_size: usize) -> Memory {
    let mut stride = (element_size + choices.below(3)) as i64;
    let (mut strides, mut offset) = (vec![0; shape.len()], 0);
    for dimension in choices.order(shape.len()) {
        let is_backwards = choices.below(3) == 1;
        strides[dimension] = if is_backwards { -stride } else { stride };
        if is_backwards {
            offset += stride * (shape[dimension] as i64 - 1).max(0);
        }
        stride = stride * shape[dimension].max(1) as i64 + choices.below(3) as i64;
    }
    let size = stride as usize + element_size;
    let layout = Layout::new(element_size, shape, Some(&strides), offset as usize, size).unwrap();
    Memory { bytes: vec![UNWRITTEN; size], layout }
}

impl Memory {
    /// Puts elements in C order to their places.
    pub fn scatter(&mut self, elements: &[u8]) {
        let layout = self.layout.clone();
        let source = Source::contiguous(elements, layout.element_size(), layout.shape()).unwrap();
        strided::copy(&source, &mut Target::new(&mut self.bytes, layout).unwrap()).unwrap();
    }

    pub fn source(&self) -> Source<'_> {
        Source::new(&self.bytes, self.layout.clone()).unwrap()
    }

    /// The elements, for as long as somebody writes them.
    pub fn target(&mut self) -> Target<'static> {
        let (memory, size) = (self.bytes.as_mut_ptr(), self.bytes.len());
        // SAFETY: the tests do not use the memory as long as they have the target.
        unsafe { Target::from_raw(memory, size, self.layout.clone()) }.unwrap()
    }

    /// The elements, back to back in C order.
    pub fn elements(&self) -> Vec<u8> {
        let (element_size, shape) = (self.layout.element_size(), self.layout.shape());
        let mut gathered = vec![0; shape.iter().product::<u64>() as usize * element_size];
        let mut target = Target::contiguous(&mut gathered, element_size, shape).unwrap();
        strided::copy(&self.source(), &mut target).unwrap();
        gathered
    }

    /// Checks that these are the elements, and that nothing else has been written.
    pub fn check(&self, expected: &[u8]) -> Result<(), TestCaseError> {
        prop_assert_eq!(&self.elements(), expected);
        let untouched = self.bytes.iter().filter(|byte| **byte == UNWRITTEN).count();
        prop_assert_eq!(untouched, self.bytes.len() - expected.len(), "bytes between the elements");
        Ok(())
    }
}
