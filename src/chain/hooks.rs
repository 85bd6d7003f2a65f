//! The hooks of `pad` and `offset`, in the chain and in the chains inside it.

use super::plan::Step;
use super::{Chain, PathStep};
use crate::error::{Error, Result};
use crate::interface::{BoundN5Block, BoundShard, PaddingHook, Pass};
use std::sync::Arc;

/// The hook of a codec, if it has one.
type Hook = Option<Arc<dyn PaddingHook>>;

impl Chain {
    /// Sets the hook that computes or checks the bytes of a `pad` or `offset` codec; `None` removes it. Returns the one
    /// that was there.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if there is no such codec at this index.
    pub fn set_padding_hook(&mut self, codec_index: usize, hook: Hook) -> Result<Hook> {
        self.set_padding_hook_at(&[(None, codec_index)], hook)
    }

    /// As [`set_padding_hook`](Self::set_padding_hook), for any `pad` or `offset` codec, also inside others. Each step
    /// of the path names a list, by the member of the outer codec that holds it, and a codec in that list.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if there is no `pad` or `offset` codec there.
    pub fn set_padding_hook_at(&mut self, path: &[PathStep], hook: Hook) -> Result<Hook> {
        self.check_padding_at(path)?;
        match path {
            [(_, index)] => Ok(std::mem::replace(&mut self.hooks[*index], hook)),
            [_, inner @ ..] => {
                let chain = self.plan.steps.iter_mut().find_map(Step::inner_mut);
                let chain = chain.ok_or_else(|| Error::internal("an inner chain is missing from the plan"))?;
                chain.set_padding_hook_at(inner, hook)
            }
            [] => Ok(None),
        }
    }

    /// Whether there is a `pad` or `offset` codec at this place.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if there is none.
    pub fn check_padding_at(&self, path: &[PathStep]) -> Result<()> {
        let Some(((_, index), inner)) = path.split_first() else {
            return Err(Error::argument("the path of the codec is empty"));
        };
        let Some(bound) = self.codecs.codecs().get(*index) else {
            let count = self.codec_count();
            return Err(Error::argument(format!("there is no codec {index}: the list has {count}")));
        };
        let found = match (&bound.pass, inner) {
            (Pass::Frame(frame), []) if frame.takes_hook() => Ok(()),
            (Pass::Shard(_), [(Some(list @ BoundShard::INNER_LIST), _), ..])
            | (Pass::N5Block(_), [(Some(list @ BoundN5Block::INNER_LIST), _), ..]) => {
                let chain = self.plan.steps.iter().find_map(Step::inner);
                chain.map_or(Ok(()), |chain| chain.check_padding_at(inner)).map_err(|error| error.in_list(list))
            }
            (Pass::Shard(_), [(Some(BoundShard::INDEX_LIST), _), ..]) => {
                Err(Error::argument("the codecs of an index take no callbacks"))
            }
            (_, []) => Err(Error::argument("this codec has no padding: only pad and offset do")),
            _ => Err(Error::argument("no codecs inside this codec take callbacks")),
        };
        found.map_err(|error| self.codecs.list().codec(*index).blame(error))
    }

    /// Takes the hooks of a chain of the same codecs, and of the chains inside it.
    pub(super) fn take_over_hooks(&mut self, other: &Self) {
        self.hooks.clone_from(&other.hooks);
        let others = other.plan.steps.iter().filter_map(Step::inner);
        let own = self.plan.steps.iter_mut().filter_map(Step::inner_mut);
        own.zip(others).for_each(|(own, other)| own.take_over_hooks(other));
    }
}
