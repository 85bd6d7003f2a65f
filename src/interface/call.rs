//! What a pass gets from its call.

use crate::error::{Error, Result};
use crate::parallel::{Executor, Workers};
use std::any::Any;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::os::raw::c_void;
use std::sync::Arc;

/// What a call may do differently.
#[derive(Debug, Clone)]
pub struct CallOptions {
    /// Passed to the padding hooks and the codecs of the host.
    pub call_data: CallData,
    /// How many threads may work, the calling one included.
    pub max_threads: NonZeroUsize,
    /// Threads of the host, in the place of the library's own; `max_threads` does not count then.
    pub executor: Option<Arc<dyn Executor>>,
    /// Whether inner chunks that are only the fill value are stored all the same.
    pub stores_empty: bool,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self { call_data: CallData::default(), max_threads: NonZeroUsize::MIN, executor: None, stores_empty: false }
    }
}

impl CallOptions {
    /// The same options for work that is one part of many.
    pub(crate) fn alone(&self) -> Self {
        Self { max_threads: NonZeroUsize::MIN, executor: None, ..self.clone() }
    }

    /// Who may work on the call.
    pub(crate) fn workers(&self) -> Workers<'_> {
        Workers::new(self.max_threads, self.executor.as_deref())
    }
}

/// A pointer of the caller, passed to the hooks of a call and never followed.
#[derive(Debug, Clone, Copy)]
pub struct CallData(pub *mut c_void);

// SAFETY: nobody here follows the pointer. It is handed to callbacks, which the header says may run on other threads.
#[expect(unsafe_code, reason = "a pointer that is only handed on")]
unsafe impl Send for CallData {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "a pointer that is only handed on")]
unsafe impl Sync for CallData {}

impl Default for CallData {
    fn default() -> Self {
        Self(std::ptr::null_mut())
    }
}

/// What a pass gets from its call.
#[derive(Debug)]
pub struct Call<'a> {
    /// What the caller asked for.
    pub options: &'a CallOptions,
    /// The hook that was set for this codec.
    pub hook: Option<&'a dyn PaddingHook>,
    /// What codecs keep from call to call.
    pub contexts: &'a mut Contexts,
}

/// What codecs keep from call to call: contexts of compressors, scratch memory.
///
/// All codecs of a chain, and of the chains that were made of it for other shapes, share one context of each type. So
/// the type says all that a context is: it carries no parameter of the codec that made it, or sets them at each call.
#[derive(Debug, Default)]
pub struct Contexts {
    kept: Vec<Box<dyn Any + Send>>,
}

impl Contexts {
    /// The context of this type. Makes it if it does not exist.
    ///
    /// # Errors
    /// What `make` says.
    pub fn get<T: Send + 'static>(&mut self, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
        let position = match self.kept.iter().position(|context| context.is::<T>()) {
            Some(position) => position,
            None => {
                self.kept.push(Box::new(make()?));
                self.kept.len() - 1
            }
        };
        self.kept[position].downcast_mut().ok_or_else(|| Error::internal("a context has another type"))
    }
}

/// Computes or looks at the bytes of a padding, chunk by chunk. Called on the thread of the call.
pub trait PaddingHook: Debug + Send + Sync {
    /// Whether [`generate`](Self::generate) is to be asked, and not the configured bytes taken.
    fn generates(&self) -> bool;
    /// Whether [`check`](Self::check) looks at anything.
    fn checks(&self) -> bool;
    /// Fills `padding`, which is all zeros, for this chunk.
    ///
    /// # Errors
    /// The number that the callback returned.
    fn generate(&self, call_data: CallData, chunk: &[u8], padding: &mut [u8]) -> std::result::Result<(), i32>;
    /// Looks at a padding that is about to be removed.
    ///
    /// # Errors
    /// The number that the callback returned.
    fn check(&self, call_data: CallData, chunk: &[u8], padding: &[u8]) -> std::result::Result<(), i32>;
}
