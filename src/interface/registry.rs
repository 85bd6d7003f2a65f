//! The codecs by name: a value that chains are made with.

use super::Codec;
use crate::error::{Error, Result};
use crate::json::{Configuration, or_close_names, shown};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Reads a configuration.
type Parse = dyn Fn(Configuration, &Context) -> Result<Arc<dyn Codec>> + Send + Sync;

/// Codecs by name.
#[derive(Clone, Default)]
pub struct Registry {
    entries: BTreeMap<Arc<str>, Entry>,
}

#[derive(Clone)]
pub(super) struct Entry {
    /// The name in canonical metadata, which differs for an alias.
    pub(super) canonical_name: Arc<str>,
    pub(super) parse: Arc<Parse>,
}

impl Registry {
    /// Adds a codec.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if the name is empty or taken.
    pub fn add<P>(&mut self, name: &str, parse: P) -> Result<()>
    where
        P: Fn(Configuration, &Context) -> Result<Arc<dyn Codec>> + Send + Sync + 'static,
    {
        self.check_name(name)?;
        let name: Arc<str> = name.into();
        self.entries.insert(Arc::clone(&name), Entry { canonical_name: name, parse: Arc::new(parse) });
        Ok(())
    }

    /// Whether a codec of this name can be added.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn check_name(&self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Err(Error::argument("the name of the codec is empty"));
        }
        if self.entries.contains_key(name) {
            let name = shown(format_args!("{name:?}"));
            return Err(Error::argument(format!("there already is a codec with the name {name}")));
        }
        Ok(())
    }

    /// Whether there is a codec of this name.
    pub fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Adds another name of a codec; canonical metadata has its first name.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument) if there is no such codec, or the alias is empty or
    /// taken.
    pub fn add_alias(&mut self, alias: &str, name: &str) -> Result<()> {
        let Some(entry) = self.entries.get(name).cloned() else {
            return Err(Error::argument(format!("there is no codec with the name {name:?}")));
        };
        self.check_name(alias)?;
        self.entries.insert(alias.into(), entry);
        Ok(())
    }

    /// The names in alphabetical order, each with its aliases.
    pub fn names(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        self.entries.iter().filter(|(name, entry)| **name == entry.canonical_name).map(|(name, _)| {
            let aliases = self.entries.iter().filter(|(alias, entry)| entry.canonical_name == *name && *alias != name);
            (&**name, aliases.map(|(alias, _)| &**alias).collect())
        })
    }

    pub(super) fn find(&self, name: &str) -> Result<&Entry> {
        self.entries.get(name).ok_or_else(|| {
            let close = or_close_names(name, self.entries.keys().map(|known| &**known));
            let name = shown(format_args!("{name:?}"));
            Error::unsupported(format!("no codec with the name {name} is known{close}")).with_code("unknown_codec")
        })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

/// The context for reading a list of codecs. A codec that holds lists reads them with the context that it gets.
#[derive(Debug, Clone)]
pub struct Context {
    registry: Arc<Registry>,
    depth: usize,
}

impl Context {
    /// Lists may be nested this deep.
    const MAX_DEPTH: usize = 8;

    /// The context of a chain's own codecs.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self { registry, depth: 0 }
    }

    /// The codecs by name.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The context of the lists inside a codec.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported): the lists are nested too deeply.
    pub fn inside(&self) -> Result<Self> {
        if self.depth == Self::MAX_DEPTH {
            return Err(Error::unsupported(format!("codecs are nested more than {} levels deep", Self::MAX_DEPTH)));
        }
        Ok(Self { registry: Arc::clone(&self.registry), depth: self.depth + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_keeps_its_codec() {
        let mut registry = Registry::default();
        let parse = |_: Configuration, _: &Context| Err(Error::internal("never parsed"));
        registry.add("first", parse).unwrap();
        registry.add("second", parse).unwrap();
        registry.add_alias("other", "second").unwrap();
        for (alias, name) in [("first", "second"), ("other", "first"), ("", "first"), ("new", "none")] {
            assert!(registry.add_alias(alias, name).is_err(), "{alias:?} of {name:?}");
        }
        assert_eq!(registry.names().collect::<Vec<_>>(), [("first", vec![]), ("second", vec!["other"])]);
    }
}
