//! The options of a call, and what a pass sees of them.

use crate::error::{Error, Result};
use crate::parallel::{Executor, Workers};
use std::any::Any;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::os::raw::c_void;
use std::sync::Arc;

/// The options of a call.
#[derive(Debug, Clone)]
pub struct CallOptions {
    /// Passed to the padding hooks and the codecs of the host.
    pub call_data: CallData,
    /// The number of threads that may work, including the calling one.
    pub max_threads: NonZeroUsize,
    /// Threads of the host, used instead of the library's own; `max_threads` is then ignored.
    pub executor: Option<Arc<dyn Executor>>,
    /// Whether to store inner chunks even if every element is the fill value.
    pub stores_empty: bool,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self { call_data: CallData::default(), max_threads: NonZeroUsize::MIN, executor: None, stores_empty: false }
    }
}

impl CallOptions {
    /// The same options for work that is one part of many.
    pub(crate) fn single_threaded(&self) -> Self {
        Self { max_threads: NonZeroUsize::MIN, executor: None, ..self.clone() }
    }

    /// The threads that may work on the call.
    pub(crate) fn workers(&self) -> Workers<'_> {
        Workers::new(self.max_threads, self.executor.as_deref())
    }
}

/// A pointer of the caller, passed to the hooks of a call and never dereferenced.
#[derive(Debug, Clone, Copy)]
pub struct CallData(pub *mut c_void);

// SAFETY: the library never follows the pointer. It is handed to callbacks, which the header says may run on other
// threads.
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

/// The call as a pass sees it.
#[derive(Debug)]
pub struct Call<'a> {
    /// The options that the caller passed.
    pub options: &'a CallOptions,
    /// The hooks that were set for this codec.
    pub hooks: Option<&'a Hooks>,
    /// The contexts that codecs keep from call to call.
    pub contexts: &'a mut Contexts,
}

impl<'a> Call<'a> {
    /// The hook that computes or checks the bytes of this codec.
    pub fn hook(&self) -> Option<&'a dyn PaddingHook> {
        self.hooks?.own.as_deref()
    }

    /// The same call as the codec of this index inside this one sees it.
    pub fn inside(&mut self, index: usize) -> Call<'_> {
        let hooks = self.hooks.and_then(|hooks| hooks.inside.get(index));
        Call { options: self.options, hooks, contexts: self.contexts }
    }
}

/// The hooks of a codec.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    own: Option<Arc<dyn PaddingHook>>,
    /// Those of the codecs that it applies itself, see
    /// [`Transform::inner_codecs`](super::Transform::inner_codecs). It may be shorter than that list.
    inside: Vec<Hooks>,
}

impl Hooks {
    /// Sets the hook of the codec that these indices lead to, or removes it; returns the one that was there.
    pub(crate) fn set(
        &mut self,
        indices: impl IntoIterator<Item = usize>,
        hook: Option<Arc<dyn PaddingHook>>,
    ) -> Option<Arc<dyn PaddingHook>> {
        let mut hooks = self;
        for index in indices {
            if hooks.inside.len() <= index {
                hooks.inside.resize_with(index + 1, Self::default);
            }
            hooks = &mut hooks.inside[index];
        }
        std::mem::replace(&mut hooks.own, hook)
    }

    /// Whether any of them checks anything.
    pub(crate) fn checks(&self) -> bool {
        self.own.as_ref().is_some_and(|hook| hook.checks()) || self.inside.iter().any(Self::checks)
    }
}

/// State that codecs keep from call to call: contexts of compressors, scratch memory.
///
/// All codecs of a chain, and of the chains that were made from it for other shapes, share one context of each type. So
/// a context must not remember a parameter of the codec that made it, or must set it again in each call.
#[derive(Debug, Default)]
pub struct Contexts {
    kept: Vec<Box<dyn Any + Send>>,
}

impl Contexts {
    /// The context of this type, which is made if it does not exist.
    ///
    /// # Errors
    /// Those of `make`.
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

/// Computes or checks the bytes of a padding, chunk by chunk, on the thread of the call.
pub trait PaddingHook: Debug + Send + Sync {
    /// Whether [`generate`](Self::generate) computes the bytes, instead of the configured ones.
    fn generates(&self) -> bool;
    /// Whether [`check`](Self::check) checks anything.
    fn checks(&self) -> bool;
    /// Fills `padding`, which is all zeros, for this chunk.
    ///
    /// # Errors
    /// The number that the callback returned.
    fn generate(&self, call_data: CallData, chunk: &[u8], padding: &mut [u8]) -> std::result::Result<(), i32>;
    /// Checks a padding that is about to be removed.
    ///
    /// # Errors
    /// The number that the callback returned.
    fn check(&self, call_data: CallData, chunk: &[u8], padding: &[u8]) -> std::result::Result<(), i32>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_share_the_context_of_a_type() {
        let mut contexts = Contexts::default();
        for made in 0..10_000_u64 {
            assert_eq!(contexts.get(|| Ok(made)), Ok(&mut 0));
        }
        assert_eq!(contexts.get(|| Ok("of another type")), Ok(&mut "of another type"));
        assert_eq!(contexts.kept.len(), 2);
    }
}
