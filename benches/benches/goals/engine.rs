//! Shards, boxes and plans compared with what they cannot do without: the inner codec on the same inner chunks, or a
//! loop of `memcpy` over the same rows. The volume of nuclei, tiled to 256 x 256 x 256 `uint16` in inner chunks of
//! 32 x 32 x 32.

use crate::chunk::{BYTES, chain};
use crate::table::{Line, Table};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;
use zcodec::chain::{ByteRange, CallOptions, Chain, ReadPlan, ShardIndex};
use zcodec::strided::{Layout, Source, Target};
use zcodec_benches::{field_bytes, two_threads};

const SIDE: usize = 256;
const INNER_SIDE: usize = 32;
const ROW: usize = INNER_SIDE * 2;
const INNER_SIZE: usize = INNER_SIDE * INNER_SIDE * ROW;
const GRID: usize = SIDE / INNER_SIDE;
const SIZE: usize = SIDE * SIDE * SIDE * 2;

/// Name, codecs after `bytes`, and the goals of decode and encode compared with the inner codec alone.
const INNER: [(&str, &str); 3] = [
    ("zstd-3", r#",{"name":"zstd","configuration":{"level":3,"checksum":false}}"#),
    (
        "blosc-zstd-3",
        r#",{"name":"blosc","configuration":{"cname":"zstd","clevel":3,"shuffle":"shuffle","typesize":2,"blocksize":0}}"#,
    ),
    ("none", ""),
];

pub(crate) fn measure(table: &mut Table) {
    for (name, compressor) in INNER {
        if table.wants("engine", name) {
            let shard = Shard::new(compressor);
            shard.decode(table, name);
            shard.encode(table, name);
            shard.boxes(table, name);
        }
    }
    if table.wants("engine", "views") {
        views(table, "1MiB", 1 << 20);
        views(table, "64MiB", 64 << 20);
    }
}

struct Shard {
    chain: Arc<Chain>,
    inner: Chain,
    decoded: Vec<u8>,
    encoded: Vec<u8>,
    inner_decoded: Vec<Vec<u8>>,
    inner_encoded: Vec<Vec<u8>>,
}

impl Shard {
    fn new(compressor: &str) -> Self {
        let inner = format!("[{BYTES}{compressor}]");
        let codecs = format!(
            r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[{INNER_SIDE},{INNER_SIDE},{INNER_SIDE}],
            "codecs":{inner},"index_codecs":[{BYTES},"crc32c"]}}}}]"#
        );
        let shard = chain(&codecs, "uint16", &[SIDE; 3]);
        let inner = chain(&inner, "uint16", &[INNER_SIDE; 3]);
        let (decoded, options) = (field_bytes(SIZE), CallOptions::default());
        let encoded = shard.encode_to_vec(&decoded, &options).expect("the shard encodes");
        let cells = (0..GRID.pow(3)).map(|cell| [cell / GRID / GRID, cell / GRID % GRID, cell % GRID]);
        let inner_decoded: Vec<Vec<u8>> = cells.map(|cell| inner_chunk(&decoded, cell)).collect();
        let encode = |decoded: &Vec<u8>| inner.encode_to_vec(decoded, &options).expect("the inner chunk encodes");
        let inner_encoded = inner_decoded.iter().map(encode).collect();
        Self { chain: Arc::new(shard), inner, decoded, encoded, inner_decoded, inner_encoded }
    }

    /// The inner codec alone, or for uncompressed chunks the rows.
    fn decode_alone(&self, target: &mut [u8]) {
        for encoded in &self.inner_encoded {
            self.inner
                .decode_into(black_box(encoded), &mut target[..INNER_SIZE], &CallOptions::default())
                .expect("it decodes");
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
        let group = "engine, whole shard: decode";
        if name == "none" {
            table.measure(
                line(group, "memcpy of rows", Some(0.8)),
                || scatter(black_box(&self.inner_encoded), black_box(&mut rows)),
                || decode(&mut target.borrow_mut(), &CallOptions::default()),
            );
        } else {
            let mut one = vec![0; INNER_SIZE];
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
                line("engine, whole shard: two threads", "one thread", Some(1.8)),
                line("engine, two shards: a thread for each", "one thread", None),
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
        let mut one = vec![0; 2 * INNER_SIZE];
        let line = Line {
            group: "engine, whole shard: encode",
            case: name,
            size: "32MiB",
            yardstick: "inner codec",
            goal: Some(0.9).filter(|_| name != "none"),
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
            let touched = touched(start, shape);
            let mut box_ = vec![0_u8; shape.iter().product::<u64>() as usize * 2];
            let mut one = vec![0; INNER_SIZE];
            let case = format!("{name}, {what}");
            let line = Line {
                group: "engine, boxes through a plan",
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
        let mut box_ = vec![0_u8; INNER_SIZE];
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
        self.encoded.len() - (16 * GRID.pow(3) + 4)..self.encoded.len()
    }

    fn index(&self) -> ShardIndex {
        self.chain.decode_index(&self.encoded[self.index_bytes()], Some(self.encoded.len() as u64)).expect("it decodes")
    }

    fn plan(&self, index: Option<&Arc<ShardIndex>>, start: [u64; 3], shape: [u64; 3], to: &mut [u8]) -> ReadPlan {
        // SAFETY: every plan of this file is dropped before the memory that it writes to.
        let to: &'static mut [u8] = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr(), to.len()) };
        let target = Target::contiguous(to, 2, &shape).expect("the box has this size");
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

fn touched(start: [u64; 3], shape: [u64; 3]) -> Vec<usize> {
    let cells = |dimension: usize| {
        let inner = INNER_SIDE as u64;
        start[dimension] / inner..(start[dimension] + shape[dimension]).div_ceil(inner)
    };
    let mut touched = Vec::new();
    for z in cells(0) {
        for y in cells(1) {
            touched.extend(cells(2).map(|x| (z as usize * GRID + y as usize) * GRID + x as usize));
        }
    }
    touched
}

fn row_of([z, y, x]: [usize; 3], row: usize) -> usize {
    let (dz, dy) = (row / INNER_SIDE, row % INNER_SIDE);
    (((z * INNER_SIDE + dz) * SIDE + y * INNER_SIDE + dy) * SIDE + x * INNER_SIDE) * 2
}

fn inner_chunk(decoded: &[u8], cell: [usize; 3]) -> Vec<u8> {
    (0..INNER_SIDE * INNER_SIDE).flat_map(|row| decoded[row_of(cell, row)..][..ROW].to_vec()).collect()
}

/// The rows of all inner chunks to their places.
fn scatter(inner: &[Vec<u8>], target: &mut [u8]) {
    for (cell, rows) in inner.iter().enumerate() {
        let cell = [cell / GRID / GRID, cell / GRID % GRID, cell % GRID];
        for (row, bytes) in rows.chunks_exact(ROW).enumerate() {
            target[row_of(cell, row)..][..ROW].copy_from_slice(bytes);
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
