//! Registries: the built-in codecs and those of the host.

use super::caller_struct;
use super::codec::zcodec_codec;
use super::error::{zcodec_error, zcodec_status};
use super::ffi;
use super::host_codec::Host;
use crate::codec;
use crate::interface::Registry;
use std::sync::Arc;

/// The built-in codecs and those that the host added. Opaque. Several threads may create chains with it at once, but
/// not while one of them adds a codec. Since 0.2.
#[derive(Debug)]
pub struct zcodec_registry(Arc<Registry>);

impl zcodec_registry {
    /// The registry itself, for chains that outlive the handle.
    pub(super) fn shared(&self) -> Arc<Registry> {
        Arc::clone(&self.0)
    }
}

/// Creates a registry of the built-in codecs, to which the host can add its own. On success `*registry` is a handle
/// that the caller frees with zcodec_registry_free; on failure it is NULL. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_registry_new(
    registry: *mut *mut zcodec_registry,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what this conversion asks of us.
        let registry = unsafe { ffi::out(registry, std::ptr::null_mut(), "registry") }?;
        *registry = ffi::make_handle(zcodec_registry(codec::built_in()));
        Ok(())
    })
}

/// Adds a codec of the host. The struct is needed for this call only; the registry keeps the functions and `user_data`.
/// If this call fails, `free_user_data` is not called: `user_data` still belongs to the caller.
///
/// No other thread may use the registry during this call. NULL_ARGUMENT: `registry`, `codec` or the name is NULL.
/// INVALID_ARGUMENT: the name is empty, taken or not UTF-8, a function that may not be NULL is, `kind` is not a
/// zcodec_kind, or `reserved` is not 0. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_registry_add(
    registry: *mut zcodec_registry,
    codec: *const zcodec_codec,
    error: *mut *mut zcodec_error,
) -> zcodec_status {
    // SAFETY: NULL or writable, says the header.
    let error = unsafe { ffi::optional_out(error) };
    ffi::guard(error, || {
        // SAFETY: the header asks of the caller what these conversions ask of us.
        let (registry, codec) = unsafe { (ffi::handle_mut(registry, "registry")?, caller_struct::read(codec)?) };
        // SAFETY: NULL or NUL-terminated, says the header.
        let name = unsafe { ffi::text(codec.name, "the name of the codec") }?;
        registry.0.check_name(name)?;
        let host = Host::new(&codec)?;
        // From here on nothing fails: the object that frees `user_data` exists.
        Arc::make_mut(&mut registry.0).add(name, move |configuration, _| Ok(host.codec(configuration)))
    })
}

/// Frees a registry; no thread may be using it. NULL is fine. Chains keep the codecs that they use. Since 0.2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zcodec_registry_free(registry: *mut zcodec_registry) {
    // SAFETY: NULL or a live handle that is not used again, says the header.
    unsafe { ffi::free_handle(registry) }
}
