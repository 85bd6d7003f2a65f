//! A stage of reading: byte ranges of one stored object, and what to do with their bytes.

use crate::error::{Error, Result};
use crate::memory::{collect, push};
use crate::parallel::lock;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A range of bytes in the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteRange {
    /// `size` bytes from `offset` on.
    At {
        /// From the beginning of the object.
        offset: u64,
        /// Not 0.
        size: u64,
    },
    /// All bytes from an offset on.
    From(u64),
    /// The last bytes.
    Last(u64),
}

/// The ranges of a stage: sorted, and merged where consumers share bytes.
#[derive(Debug)]
pub(super) struct Stage<T> {
    requests: Vec<Request<T>>,
}

#[derive(Debug)]
struct Request<T> {
    range: ByteRange,
    /// Taken when the bytes are supplied.
    consumers: Mutex<Option<Vec<Consumer<T>>>>,
}

/// The use of a part of the bytes of a range.
#[derive(Debug)]
pub(in crate::chain) struct Consumer<T> {
    /// The part of the range; an end of `u64::MAX` means the end of the range.
    pub(in crate::chain) bytes: Range<u64>,
    pub(in crate::chain) work: T,
}

/// The consumers of a range whose bytes have been supplied.
#[derive(Debug)]
pub(super) struct Supplied<T> {
    index: usize,
    range: ByteRange,
    consumers: Vec<Consumer<T>>,
}

impl<T> Stage<T> {
    /// A stage without ranges.
    pub(in crate::chain) fn empty() -> Self {
        Self { requests: Vec::new() }
    }

    /// A stage of ranges with their consumers.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(in crate::chain) fn new(mut consumers: Vec<(ByteRange, Consumer<T>)>) -> Result<Self> {
        let start = |range: &ByteRange| match range {
            ByteRange::At { offset, .. } | ByteRange::From(offset) => *offset,
            ByteRange::Last(_) => u64::MAX,
        };
        consumers.sort_unstable_by_key(|(range, _)| start(range)); // in place: there may be no memory
        let mut requests: Vec<(ByteRange, Vec<Consumer<T>>)> = Vec::new();
        for (range, mut consumer) in consumers {
            match (requests.last_mut(), range) {
                (Some((ByteRange::At { offset, size }, joined)), ByteRange::At { offset: at, size: more })
                    if at < offset.saturating_add(*size) =>
                {
                    let shift = at - *offset;
                    consumer.bytes = consumer.bytes.start + shift..consumer.bytes.end.saturating_add(shift);
                    *size = (*size).max(shift.saturating_add(more));
                    push(joined, consumer)?;
                }
                _ => push(&mut requests, (range, vec![consumer]))?,
            }
        }
        let request = |(range, consumers)| Ok(Request { range, consumers: Mutex::new(Some(consumers)) });
        Ok(Self { requests: collect(requests.into_iter().map(request))? })
    }

    pub(in crate::chain) fn ranges(&self) -> impl Iterator<Item = ByteRange> {
        self.requests.iter().map(|request| request.range)
    }

    /// Refuses a stage of which a range is missing.
    pub(super) fn check_supplied(&self) -> Result<()> {
        match self.requests.iter().position(|request| lock(&request.consumers).is_some()) {
            Some(missing) => Err(Error::argument(format!("range {missing} of this stage has not been supplied"))),
            None => Ok(()),
        }
    }

    /// Refuses another number of ranges than the stage has, and a stage of which a range has been supplied.
    pub(super) fn check_untouched(&self, count: usize) -> Result<()> {
        let expected = self.requests.len();
        if count != expected {
            return Err(Error::argument(format!("{count} ranges are supplied, the stage has {expected}")));
        }
        match self.requests.iter().position(|request| lock(&request.consumers).is_none()) {
            Some(index) => Err(has_been_supplied(index)),
            None => Ok(()),
        }
    }

    /// Calls `at` with the work of each range that has not been supplied.
    pub(in crate::chain) fn look(&self, mut at: impl FnMut(&T)) {
        for request in &self.requests {
            lock(&request.consumers).iter().flatten().for_each(|consumer| at(&consumer.work));
        }
    }

    /// The numbers of the ranges, sorted by a key of the first use of each.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub(super) fn sorted_by_key<K: Ord>(&self, key: impl Fn(&T) -> K) -> Result<Vec<usize>> {
        let key_of = |request: &Request<T>| {
            let consumers = lock(&request.consumers);
            consumers.as_ref().and_then(|consumers| consumers.first()).map(|first| key(&first.work))
        };
        let keys = self.requests.iter().enumerate().map(|(number, request)| Ok((key_of(request), number)));
        let mut keys = collect(keys)?;
        keys.sort_unstable();
        collect(keys.into_iter().map(|(_, number)| Ok(number)))
    }

    /// The use of the bytes of a range, once.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): there is no such range, or it has already been
    /// supplied.
    pub(in crate::chain) fn take(&self, index: usize) -> Result<Supplied<T>> {
        let count = self.requests.len();
        let request = self
            .requests
            .get(index)
            .ok_or_else(|| Error::argument(format!("there is no range {index}: the stage has {count}")))?;
        let consumers = lock(&request.consumers).take().ok_or_else(|| has_been_supplied(index))?;
        Ok(Supplied { index, range: request.range, consumers })
    }
}

impl<T> Supplied<T> {
    /// Hands each use its bytes.
    ///
    /// # Errors
    /// [`Status::CorruptData`](crate::Status::CorruptData): the number of bytes is not that of the range; `locate` adds
    /// what the first use is about. The errors of `work`.
    pub(in crate::chain) fn each<'e>(
        self,
        bytes: &'e [u8],
        locate: impl FnOnce(&T, Error) -> Error,
        mut work: impl FnMut(T, &'e [u8]) -> Result<()>,
    ) -> Result<()> {
        let expected = match self.range {
            ByteRange::At { size, .. } | ByteRange::Last(size) => Some(size),
            ByteRange::From(_) => None,
        };
        if let Some(expected) = expected.filter(|expected| *expected != bytes.len() as u64) {
            let (index, size) = (self.index, bytes.len());
            let error = Error::corrupt(format!("range {index} has {expected} bytes, but {size} are supplied"));
            return Err(match self.consumers.first() {
                Some(first) => locate(&first.work, error),
                None => error,
            });
        }
        self.consumers.into_iter().try_for_each(|consumer| {
            let end = consumer.bytes.end.min(bytes.len() as u64);
            work(consumer.work, &bytes[consumer.bytes.start as usize..end as usize])
        })
    }
}

/// Whether an error has ended a plan or a writer.
#[derive(Debug)]
pub(super) struct Poison {
    name: &'static str,
    has_failed: AtomicBool,
}

impl Poison {
    pub(in crate::chain) fn new(name: &'static str) -> Self {
        Self { name, has_failed: AtomicBool::new(false) }
    }

    /// Refuses to go on after an error.
    pub(in crate::chain) fn check(&self) -> Result<()> {
        if self.has_failed.load(Ordering::Acquire) {
            return Err(Error::argument(format!("the {} has ended with an error: it can only be freed", self.name)));
        }
        Ok(())
    }

    /// Does work; if it fails or panics, the plan or writer has ended.
    pub(super) fn end_on_failure<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let guard = EndsOnFailure(self);
        let result = work()?;
        std::mem::forget(guard);
        Ok(result)
    }

    /// Refuses to go on.
    pub(in crate::chain) fn set(&self) {
        self.has_failed.store(true, Ordering::Release);
    }
}

struct EndsOnFailure<'a>(&'a Poison);

impl Drop for EndsOnFailure<'_> {
    fn drop(&mut self) {
        self.0.set();
    }
}

fn has_been_supplied(index: usize) -> Error {
    Error::argument(format!("range {index} of this stage has already been supplied"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn an_error_and_a_panic_end_a_plan() {
        let poison = Poison::new("plan");
        assert_eq!(poison.end_on_failure(|| Ok(3)), Ok(3));
        assert_eq!(poison.check(), Ok(()));
        assert!(poison.end_on_failure(|| Err::<(), _>(Error::out_of_memory())).is_err());
        assert!(poison.check().is_err());
        let poison = Poison::new("plan");
        let panic = || poison.end_on_failure(|| -> Result<()> { std::panic::resume_unwind(Box::new(())) });
        assert!(catch_unwind(AssertUnwindSafe(panic)).is_err());
        assert!(poison.check().is_err());
    }
}
