//! The hooks of `pad` and `offset`, in the chain and in the chains inside it.

use super::plan::Step;
use super::{Chain, PathStep};
use crate::error::{Error, Result};
use crate::interface::{BoundCodecs, BoundN5Block, BoundShard, Hooks, PaddingHook, Pass};
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
        let Some(((_, index), inner)) = path.split_first() else { return Ok(None) };
        let chain = match (&self.codecs.codecs()[*index].pass, inner) {
            (Pass::Frame(_) | Pass::Transform(_), _) => {
                return Ok(self.hooks[*index].set(inner.iter().map(|(_, index)| *index), hook));
            }
            (_, [(Some(BoundShard::INDEX_LIST), _), ..]) => self.plan.steps.iter_mut().find_map(Step::index_mut),
            _ => self.plan.steps.iter_mut().find_map(Step::inner_mut),
        };
        let chain = chain.ok_or_else(|| Error::internal("an inner chain is missing from the plan"))?;
        chain.set_padding_hook_at(inner, hook)
    }

    /// Whether there is a `pad` or `offset` codec at this place.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if there is none.
    pub fn check_padding_at(&self, path: &[PathStep]) -> Result<()> {
        check_padding_in(&self.codecs, path)
    }

    /// The same chain without the hooks of its own codecs.
    pub(super) fn without_hooks(&self) -> Self {
        let hooks = vec![Hooks::default(); self.hooks.len()];
        Self { hooks, ..self.clone() }
    }

    /// Takes the hooks of a chain of the same codecs, and of the chains inside it.
    pub(super) fn take_over_hooks(&mut self, other: &Self) {
        self.hooks.clone_from(&other.hooks);
        let (own, others) = (&mut self.plan.steps, &other.plan.steps);
        let inner = own.iter_mut().filter_map(Step::inner_mut).zip(others.iter().filter_map(Step::inner));
        inner.for_each(|(own, other)| own.take_over_hooks(other));
        let indices = own.iter_mut().filter_map(Step::index_mut).zip(others.iter().filter_map(Step::index));
        indices.for_each(|(own, other)| own.take_over_hooks(other));
    }
}

fn check_padding_in(codecs: &BoundCodecs, path: &[PathStep]) -> Result<()> {
    let Some(((_, index), inner)) = path.split_first() else {
        return Err(Error::argument("the path of the codec is empty"));
    };
    let Some(bound) = codecs.codecs().get(*index) else {
        let count = codecs.codecs().len();
        return Err(Error::argument(format!("there is no codec {index}: the list has {count}")));
    };
    let found = match (&bound.pass, inner) {
        (Pass::Frame(frame), []) if frame.takes_hook() => Ok(()),
        (_, []) => Err(Error::argument("this codec has no padding: only pad and offset do")),
        (pass, [(list, _), ..]) => match list.and_then(|list| Some((list, codecs_in(pass, list)?))) {
            Some((list, codecs)) => check_padding_in(codecs, inner).map_err(|error| error.in_list(list)),
            None => Err(Error::argument("there are no codecs inside this codec")),
        },
    };
    found.map_err(|error| codecs.list().codec(*index).blame(error))
}

/// The codecs that this member of a codec's configuration holds.
fn codecs_in<'a>(pass: &'a Pass, list: &str) -> Option<&'a BoundCodecs> {
    match pass {
        Pass::Shard(shard) if list == BoundShard::INDEX_LIST => Some(&shard.index),
        Pass::Shard(shard) if list == BoundShard::INNER_LIST => Some(&shard.inner),
        Pass::N5Block(block) if list == BoundN5Block::INNER_LIST => Some(&block.inner),
        Pass::Transform(transform) => {
            transform.inner_codecs().and_then(|(own, codecs)| (own == list).then_some(codecs))
        }
        _ => None,
    }
}
