//! The copy between strides, on several threads.

use crate::error::Result;
use crate::interface::CallOptions;
use crate::representation::element_count;
use crate::strided::{self, Source, Target};
use std::num::NonZeroUsize;

/// Fewer bytes between strides are one thread's work: starting others takes as long as copying a part of them.
const MIN_SIZE_TO_DIVIDE: usize = 1 << 20;

/// The number of threads for work on this many bytes that lie in strides.
pub(super) fn workers_for(size: usize, options: &CallOptions) -> NonZeroUsize {
    if size < MIN_SIZE_TO_DIVIDE { NonZeroUsize::MIN } else { options.workers().count_for(size) }
}

/// Copies every element to its place, on as many threads as are worth it.
pub(super) fn copy_strided(source: &Source<'_>, target: &mut Target<'_>, options: &CallOptions) -> Result<()> {
    let size = element_count(target.shape()) as usize * target.element_size();
    let workers = workers_for(size, options);
    if workers.get() == 1 {
        return strided::copy(source, target);
    }
    let parts = strided::split(source, target.reborrow(), workers.get())?;
    let work = |(source, mut target): (Source<'_>, Target<'_>)| strided::copy(&source, &mut target);
    options.workers().for_each(workers, parts.into_iter(), work)
}
