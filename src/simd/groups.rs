//! Elements in groups that fill vectors.

/// Converts groups of `N` elements. The last group is filled up with copies of its last element.
#[inline(always)] // so that `convert` is inlined where its instructions are enabled
pub(crate) fn for_each_group<I: Copy, O: Copy, const N: usize>(
    input: &[I],
    output: &mut [O],
    blank: O,
    mut convert: impl FnMut(&[I; N], &mut [O; N]),
) {
    let ((inputs, last_input), (outputs, last_output)) = (input.as_chunks(), output.as_chunks_mut());
    for (input, output) in inputs.iter().zip(outputs) {
        convert(input, output);
    }
    if let Some(last) = last_input.last() {
        let (mut padded_input, mut padded_output) = ([*last; N], [blank; N]);
        padded_input[..last_input.len()].copy_from_slice(last_input);
        convert(&padded_input, &mut padded_output);
        last_output.copy_from_slice(&padded_output[..last_output.len()]);
    }
}
