//! The fast paths against the definitions: the same chain with all that the processor has, with AVX2, with portable
//! loops, and with the scalar reference, in both directions; and every tier of packbits. Bytes are the same, and so are
//! errors, to the element and the message.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use zcodec::Result;
use zcodec::chain::CallOptions;
use zcodec::codec::{Level, packbits_kernels, set_limit};
use zcodec::data_type::DataType;
use zcodec::interface::Elementwise;
use zcodec_fuzz::LEVELS;
use zcodec_fuzz::structured::{ChainSpec, DATA_TYPES, pick};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    chain: ChainSpec,
    first_bit: u8,
    last_bit: u8,
    alignment: u8,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let expected = chain_results(&input, Some(Level::Reference));
    for level in LEVELS.iter().rev().skip(1) {
        assert_eq!(chain_results(&input, *level), expected, "the loops of {level:?} differ from the definition");
    }
    compare_packbits(&input);
});

/// What encodes, what comes back of it, and what the bytes decode to; none for a chain that cannot be.
fn chain_results(input: &Input<'_>, limit: Option<Level>) -> Option<[Result<Vec<u8>>; 3]> {
    // A chain chooses some of its loops when it is made.
    set_limit(limit);
    let chain = input.chain.without_bytes_steps().build()?;
    let options = CallOptions::default();
    let decoded = input.chain.elements(&chain, input.bytes);
    let encoded = chain.encode_to_vec(&decoded, &options);
    let again = encoded.clone().and_then(|encoded| chain.decode_to_vec(&encoded, &options));
    let size = chain.encoded_bound(decoded.len() as u64).unwrap_or_default() as usize;
    let any: Vec<u8> = input.bytes.iter().copied().chain([7]).cycle().take(size).collect();
    let from_any = chain.decode_to_vec(&any, &options);
    let compared = if input.chain.is_deterministic() { encoded } else { encoded.map(|_| Vec::new()) };
    Some([compared, again, from_any])
}

fn compare_packbits(input: &Input<'_>) {
    let name = pick(&DATA_TYPES, input.first_bit ^ input.last_bit.rotate_left(4));
    let component = DataType::from_name(name).expect("it is known").component();
    let bits = component.bits();
    let mut range = [u32::from(input.first_bit) % bits, u32::from(input.last_bit) % bits];
    range.sort_unstable();
    let kernels = packbits_kernels(name, range[0], range[1]).expect("it is known");
    let aligned = input.bytes.get(usize::from(input.alignment % 32)..).unwrap_or_default();
    let count = aligned.len() / component.size();
    let packed_size = (count * (range[1] - range[0] + 1) as usize).div_ceil(8);
    let (decoded, encoded) = (&aligned[..count * component.size()], &aligned[..packed_size]);
    let place = |tier: &Level| format!("{tier:?}: bits {range:?} of {count} {name}");
    let of = |kernel: &dyn Elementwise| {
        let (mut packed, mut unpacked) = (vec![0xA5; packed_size], vec![0xA5; decoded.len()]);
        let results = [kernel.encode(decoded, &mut packed), kernel.decode(encoded, &mut unpacked)];
        (results, packed, unpacked)
    };
    let ((_, reference), others) = kernels.split_last().expect("the last tier has a kernel for every field");
    let expected = of(reference.as_ref());
    for (tier, kernel) in others {
        assert_eq!(of(kernel.as_ref()), expected, "{}", place(tier));
    }
}
