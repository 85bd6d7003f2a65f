//! Shards, boxes and plans compared with what they cannot do without: the inner codec on the same inner chunks, or a
//! loop of `memcpy` over the same rows. The volume of nuclei, tiled to 256 x 256 x 256 `uint16`, and a smooth field with
//! noise of 128 x 256 x 256 `float32`, both in inner chunks of 32 x 32 x 32.

use crate::chunk::{BYTES, chain};
use crate::table::{Line, Table};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;
use zcodec::chain::{ByteRange, CallOptions, Chain, ReadPlan, ShardIndex};
use zcodec::strided::{Layout, Source, Target};
use zcodec_benches::{INNER_CODECS, compressor, field_bytes, smooth, two_threads};

const INNER_SIDE: usize = 32;
const SIZE: usize = 32 << 20;

/// What is in a shard.
#[derive(Clone, Copy, Debug)]
struct Volume {
    /// How the names of its groups begin.
    group: &'static str,
    data_type: &'static str,
    element_size: usize,
    shape: [usize; 3],
    bytes: fn(shape: [usize; 3]) -> Vec<u8>,
}

const VOLUMES: [Volume; 2] = [
    Volume { group: "engine", data_type: "uint16", element_size: 2, shape: [256; 3], bytes: |_| field_bytes(SIZE) },
    Volume {
        group: "engine, float32",
        data_type: "float32",
        element_size: 4,
        shape: [128, 256, 256],
        bytes: |shape| smooth(&shape).flat_map(|value| (value as f32).to_ne_bytes()).collect(),
    },
];

pub(crate) fn measure(table: &mut Table) {
    for volume in VOLUMES {
        for inner in INNER_CODECS {
            if table.wants(volume.group, inner) {
                let shard = Shard::new(volume, inner);
                shard.decode(table, inner);
                shard.encode(table, inner);
                shard.boxes(table, inner);
            }
        }
    }
    if table.wants("engine", "views") {
        views(table, "1MiB", 1 << 20);
        views(table, "64MiB", 64 << 20);
        fortran_order(table, "1MiB", [64, 64, 128]);
        fortran_order(table, "64MiB", [256, 256, 512]);
    }
}

struct Shard {
    volume: Volume,
    is_compressed: bool,
    chain: Arc<Chain>,
    inner: Chain,
    decoded: Vec<u8>,
    encoded: Vec<u8>,
    inner_decoded: Vec<Vec<u8>>,
    inner_encoded: Vec<Vec<u8>>,
}

impl Shard {
    fn new(volume: Volume, inner: &str) -> Self {
        let Volume { data_type, element_size, shape, bytes, .. } = volume;
        let is_compressed = inner != "none";
        let inner = format!("[{BYTES}{}]", compressor(inner, element_size));
        let codecs = format!(
            r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[{INNER_SIDE},{INNER_SIDE},{INNER_SIDE}],
            "codecs":{inner},"index_codecs":[{BYTES},"crc32c"]}}}}]"#
        );
        let shard = chain(&codecs, data_type, &shape);
        let inner = chain(&inner, data_type, &[INNER_SIDE; 3]);
        let (decoded, options) = (bytes(shape), CallOptions::default());
        let encoded = shard.encode_to_vec(&decoded, &options).expect("the shard encodes");
        let cells = 0..volume.cell_count();
        let inner_decoded: Vec<Vec<u8>> = cells.map(|cell| volume.inner_chunk(&decoded, cell)).collect();
        let encode = |decoded: &Vec<u8>| inner.encode_to_vec(decoded, &options).expect("the inner chunk encodes");
        let inner_encoded = inner_decoded.iter().map(encode).collect();
        Self { volume, is_compressed, chain: Arc::new(shard), inner, decoded, encoded, inner_decoded, inner_encoded }
    }

    /// The inner codec alone, or for uncompressed chunks the rows.
    fn decode_alone(&self, target: &mut [u8]) {
        for encoded in &self.inner_encoded {
            self.inner.decode_into(black_box(encoded), target, &CallOptions::default()).expect("it decodes");
        }
    }

    fn decode(&self, table: &mut Table, name: &str) {
        let (mut target, mut rows) = (vec![0; SIZE], vec![0; SIZE]);
        let decode = |target: &mut [u8], options: &CallOptions| {
            self.chain.decode_into(black_box(&self.encoded), target, options).expect("it decodes");
        };
        decode(&mut target, &CallOptions::default());
        assert!(target == self.decoded, "{name}: decoded to something else");
        let line = |group, yardstick, goal| Line {
            group,
            case: name,
            size: "32MiB",
            yardstick,
            goal,
            allowance: Duration::ZERO,
        };
        let target = RefCell::new(target);
        let group = &self.volume.group_of("whole shard: decode");
        if !self.is_compressed {
            table.measure(
                line(group, "memcpy of rows", Some(0.8)),
                || self.volume.scatter(black_box(&self.inner_encoded), black_box(&mut rows)),
                || decode(&mut target.borrow_mut(), &CallOptions::default()),
            );
        } else {
            let mut one = vec![0; self.volume.inner_size()];
            table.measure(
                line(group, "inner codec", Some(0.8)),
                || self.decode_alone(&mut one),
                || decode(&mut target.borrow_mut(), &CallOptions::default()),
            );
        }
        // Compared with what two threads gain that share nothing but the memory of the machine, in the same rounds.
        let other = RefCell::new(vec![0; SIZE]);
        table.measure_gains(
            [
                line(&self.volume.group_of("whole shard: two threads"), "one thread", Some(1.8)),
                line(&self.volume.group_of("two shards: a thread for each"), "one thread", None),
            ],
            [
                Box::new(|| decode(&mut target.borrow_mut(), &CallOptions::default())),
                Box::new(|| decode(&mut target.borrow_mut(), &two_threads())),
            ],
            [
                Box::new(|| {
                    decode(&mut target.borrow_mut(), &CallOptions::default());
                    decode(&mut other.borrow_mut(), &CallOptions::default());
                }),
                Box::new(|| {
                    let (mut target, mut other) = (target.borrow_mut(), other.borrow_mut());
                    let other: &mut [u8] = &mut other;
                    std::thread::scope(|scope| {
                        scope.spawn(|| decode(other, &CallOptions::default()));
                        decode(&mut target, &CallOptions::default());
                    });
                }),
            ],
        );
    }

    fn encode(&self, table: &mut Table, name: &str) {
        let options = CallOptions::default();
        let bound = self.chain.encoded_bound(SIZE as u64).expect("the size is possible") as usize;
        let mut target = vec![0; bound];
        let mut one = vec![0; 2 * self.volume.inner_size()];
        let line = Line {
            group: &self.volume.group_of("whole shard: encode"),
            case: name,
            size: "32MiB",
            yardstick: "inner codec",
            goal: self.is_compressed.then_some(0.9),
            allowance: Duration::ZERO,
        };
        table.measure(
            line,
            || {
                for decoded in &self.inner_decoded {
                    self.inner.encode_into(black_box(decoded), &mut one, &options).expect("it encodes");
                }
            },
            || {
                self.chain.encode_into(black_box(&self.decoded), &mut target, &options).expect("it encodes");
            },
        );
    }

    /// Boxes through a plan, the bytes at hand, compared with their inner chunks alone.
    fn boxes(&self, table: &mut Table, name: &str) {
        let index = Arc::new(self.index());
        let cases: [(&str, [u64; 3], [u64; 3]); 3] = [
            ("one inner chunk", [64, 96, 128], [32, 32, 32]),
            ("a box across 8", [16, 16, 16], [32, 32, 32]),
            ("one plane", [100, 0, 0], [1, 256, 256]),
        ];
        for (what, start, shape) in cases {
            let touched = self.volume.touched(start, shape);
            let mut box_ = vec![0_u8; shape.iter().product::<u64>() as usize * self.volume.element_size];
            let mut one = vec![0; self.volume.inner_size()];
            let case = format!("{name}, {what}");
            let line = Line {
                group: &self.volume.group_of("boxes through a plan"),
                case: &case,
                size: "32MiB",
                yardstick: "inner chunks + 20 us",
                goal: Some(1.0 / 1.1),
                allowance: Duration::from_micros(20),
            };
            table.measure(
                line,
                || {
                    for cell in &touched {
                        let encoded = black_box(&self.inner_encoded[*cell]);
                        self.inner.decode_into(encoded, &mut one, &CallOptions::default()).expect("it decodes");
                    }
                },
                || self.read(&index, start, shape, &mut box_),
            );
        }
        if self.volume.cell_count() == 512 {
            self.plan_and_index(table, name);
        }
    }

    fn plan_and_index(&self, table: &mut Table, name: &str) {
        let mut box_ = vec![0_u8; self.volume.inner_size()];
        let line = Line {
            group: "engine, plan of 1 of 512 inner chunks with its index",
            case: name,
            size: "32MiB",
            yardstick: "20 us",
            goal: Some(1.0),
            allowance: Duration::from_micros(20),
        };
        let range = self.index_bytes();
        table.measure(
            line,
            || {},
            || {
                let mut plan = self.plan(None, [64, 96, 128], [32, 32, 32], &mut box_);
                assert_eq!(plan.next_stage().expect("there is one").count(), 1);
                plan.supply(0, black_box(&self.encoded[range.clone()])).expect("it is an index");
                assert_eq!(plan.next_stage().expect("there is one").count(), 1);
            },
        );
    }

    fn index_bytes(&self) -> std::ops::Range<usize> {
        self.encoded.len() - (16 * self.volume.cell_count() + 4)..self.encoded.len()
    }

    fn index(&self) -> ShardIndex {
        self.chain.decode_index(&self.encoded[self.index_bytes()], Some(self.encoded.len() as u64)).expect("it decodes")
    }

    fn plan(&self, index: Option<&Arc<ShardIndex>>, start: [u64; 3], shape: [u64; 3], to: &mut [u8]) -> ReadPlan {
        // SAFETY: every plan of this file is dropped before the memory that it writes to.
        let to: &'static mut [u8] = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr(), to.len()) };
        let target = Target::contiguous(to, self.volume.element_size, &shape).expect("the box has this size");
        let boxes = vec![(start.to_vec(), target)];
        let size = Some(self.encoded.len() as u64);
        ReadPlan::new(&self.chain, CallOptions::default(), boxes, size, index.cloned()).expect("the plan is valid")
    }

    fn read(&self, index: &Arc<ShardIndex>, start: [u64; 3], shape: [u64; 3], to: &mut [u8]) {
        let mut plan = self.plan(Some(index), start, shape, to);
        loop {
            let ranges: Vec<ByteRange> = plan.next_stage().expect("there is a stage").collect();
            if ranges.is_empty() {
                return;
            }
            for (index, range) in ranges.iter().enumerate() {
                let ByteRange::At { offset, size } = *range else { panic!("the size of the object is known") };
                let bytes = &self.encoded[offset as usize..(offset + size) as usize];
                plan.supply(index, black_box(bytes)).expect("it decodes");
            }
        }
    }
}

impl Volume {
    fn group_of(&self, work: &str) -> String {
        format!("{}, {work}", self.group)
    }

    fn grid(&self) -> [usize; 3] {
        self.shape.map(|size| size / INNER_SIDE)
    }

    fn cell_count(&self) -> usize {
        self.grid().iter().product()
    }

    fn row_size(&self) -> usize {
        INNER_SIDE * self.element_size
    }

    fn inner_size(&self) -> usize {
        INNER_SIDE * INNER_SIDE * self.row_size()
    }

    /// The inner chunks that a box touches.
    fn touched(&self, start: [u64; 3], shape: [u64; 3]) -> Vec<usize> {
        let cells = |dimension: usize| {
            let inner = INNER_SIDE as u64;
            (start[dimension] / inner) as usize..(start[dimension] + shape[dimension]).div_ceil(inner) as usize
        };
        let [_, height, width] = self.grid();
        let mut touched = Vec::new();
        for z in cells(0) {
            for y in cells(1) {
                touched.extend(cells(2).map(|x| (z * height + y) * width + x));
            }
        }
        touched
    }

    /// Where a row of an inner chunk begins among the bytes of the volume.
    fn row_start(&self, cell: usize, row: usize) -> usize {
        let ([_, height, width], [_, rows, columns]) = (self.grid(), self.shape);
        let [z, y, x] = [cell / width / height, cell / width % height, cell % width].map(|index| index * INNER_SIDE);
        (((z + row / INNER_SIDE) * rows + y + row % INNER_SIDE) * columns + x) * self.element_size
    }

    fn inner_chunk(&self, decoded: &[u8], cell: usize) -> Vec<u8> {
        let rows = 0..INNER_SIDE * INNER_SIDE;
        rows.flat_map(|row| decoded[self.row_start(cell, row)..][..self.row_size()].to_vec()).collect()
    }

    /// The rows of all inner chunks to their places.
    fn scatter(&self, inner: &[Vec<u8>], target: &mut [u8]) {
        for (cell, rows) in inner.iter().enumerate() {
            for (row, bytes) in rows.chunks_exact(self.row_size()).enumerate() {
                target[self.row_start(cell, row)..][..bytes.len()].copy_from_slice(bytes);
            }
        }
    }
}

/// Uncompressed chunks into a part of a larger array, compared with a loop of `memcpy` over the same rows.
fn views(table: &mut Table, size: &str, bytes: usize) {
    let row = 1024_usize;
    let (rows, pitch) = (bytes / row, 3 * row);
    let chain = chain(&format!("[{BYTES}]"), "uint16", &[rows, row / 2]);
    let encoded = field_bytes(bytes);
    let (mut ours, mut theirs) = (vec![0_u8; rows * pitch], vec![0_u8; rows * pitch]);
    let layout = Layout::new(2, &[rows as u64, row as u64 / 2], Some(&[pitch as i64, 2]), 0, ours.len());
    let layout = layout.expect("the part is within the array");
    let line = |case| Line {
        group: "engine, views",
        case,
        size,
        yardstick: "memcpy of rows",
        goal: Some(0.9),
        allowance: Duration::ZERO,
    };
    let options = CallOptions::default();
    table.measure(
        line("views, decode into a part"),
        || {
            for (target, source) in theirs.chunks_exact_mut(pitch).zip(black_box(&encoded).chunks_exact(row)) {
                target[..row].copy_from_slice(source);
            }
        },
        || {
            let target = Target::new(&mut ours, layout.clone()).expect("the layout fits");
            chain.decode_view(black_box(&encoded), &[0, 0], target, &options).expect("it decodes");
        },
    );
    assert!(ours == theirs, "the view has other elements");
    let (mut gathered, mut written) = (vec![0_u8; bytes], vec![0_u8; bytes]);
    table.measure(
        line("views, encode a part"),
        || {
            for (target, source) in gathered.chunks_exact_mut(row).zip(black_box(&theirs).chunks_exact(pitch)) {
                target.copy_from_slice(&source[..row]);
            }
        },
        || {
            let source = Source::new(&ours, layout.clone()).expect("the layout fits");
            chain.encode_view(&[0, 0], source, black_box(&mut written), &options).expect("it encodes");
        },
    );
}

/// A chunk in C order to and from a view in Fortran order, compared with `transpose` that does the same between the same
/// memory.
fn fortran_order(table: &mut Table, size: &str, shape: [usize; 3]) {
    let plain = chain(&format!("[{BYTES}]"), "uint16", &shape);
    let transpose = format!(r#"[{{"name":"transpose","configuration":{{"order":[2,1,0]}}}},{BYTES}]"#);
    let transposing = chain(&transpose, "uint16", &[shape[2], shape[1], shape[0]]);
    let encoded = field_bytes(shape.iter().product::<usize>() * 2);
    let strides = [2, 2 * shape[0] as i64, 2 * (shape[0] * shape[1]) as i64];
    let layout = Layout::new(2, &shape.map(|size| size as u64), Some(&strides), 0, encoded.len());
    let layout = layout.expect("the view is the whole array");
    let line = |case| Line {
        group: "engine, views in Fortran order",
        case,
        size,
        yardstick: "transpose",
        goal: Some(1.0),
        allowance: Duration::ZERO,
    };
    let options = CallOptions::default();
    let decode = |memory: &mut [u8]| {
        let target = Target::new(memory, layout.clone()).expect("the layout fits");
        plain.decode_view(black_box(&encoded), &[0; 3], target, &options).expect("it decodes");
    };
    let transpose = |memory: &mut [u8]| {
        transposing.decode_into(black_box(&encoded), memory, &options).expect("it decodes");
    };
    let memory = RefCell::new(vec![0_u8; encoded.len()]);
    decode(&mut memory.borrow_mut());
    let array = memory.borrow().clone();
    transpose(&mut memory.borrow_mut());
    assert!(array == *memory.borrow(), "the view has other elements");
    table.measure(
        line("views, decode to Fortran order"),
        || transpose(black_box(&mut memory.borrow_mut())),
        || decode(black_box(&mut memory.borrow_mut())),
    );
    table.measure(
        line("views, encode from Fortran order"),
        || {
            let mut memory = memory.borrow_mut();
            transposing.encode_into(black_box(&array), black_box(&mut memory), &options).expect("it encodes");
        },
        || {
            let (source, mut memory) = (Source::new(&array, layout.clone()).expect("it fits"), memory.borrow_mut());
            plain.encode_view(&[0; 3], source, black_box(&mut memory), &options).expect("it encodes");
        },
    );
    assert!(encoded == *memory.borrow(), "the chunk has other elements");
}
