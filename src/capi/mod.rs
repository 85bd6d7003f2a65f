//! The C interface: conversions of the caller's pointers, calls, statuses. cbindgen generates `include/zcodec.h` from this
//! module; the doc comments of what is exported here are the header's text, and the order of the modules is its order.
#![allow(unsafe_code, reason = "the C boundary")]
#![allow(clippy::missing_safety_doc, reason = "the doc comments are the header's: they say it in the words of C")]
#![allow(clippy::too_many_arguments, reason = "the interface is fixed")]
#![allow(non_camel_case_types, reason = "the names of C")]

mod caller_struct;
mod ffi;
mod stage;

// In the order of the header; the blank lines keep rustfmt from sorting them.
mod chain;

mod call;

mod executor;

mod view;

mod range;

mod plan;

mod index;

mod writer;

mod task;

mod buffer;

mod kind;

mod ask;

mod padding;

mod host_codec;
mod registry;

mod codec;

mod error;

mod info;

pub use ask::{
    zcodec_chain_codec_count, zcodec_chain_codecs_json, zcodec_chain_decoded_size, zcodec_chain_encoded_bound,
    zcodec_chain_input_json, zcodec_chain_kind, zcodec_chain_output_json, zcodec_chain_warnings_json,
};
pub use buffer::{zcodec_buffer, zcodec_buffer_data, zcodec_buffer_free, zcodec_buffer_size};
pub use call::{
    ZCODEC_CALL_STORE_EMPTY, zcodec_call_options, zcodec_decode, zcodec_decode_to_buffer, zcodec_decode_to_buffer_with,
    zcodec_decode_with, zcodec_encode, zcodec_encode_to_buffer, zcodec_encode_to_buffer_with, zcodec_encode_with,
};
pub use chain::{
    zcodec_chain, zcodec_chain_free, zcodec_chain_from_zarr_json, zcodec_chain_from_zarr_json_with, zcodec_chain_new,
    zcodec_chain_new_with, zcodec_chain_options, zcodec_chain_with_shape,
};
pub use codec::{ZCODEC_CODEC_TOO_SMALL, zcodec_codec, zcodec_sink, zcodec_sink_write};
pub use error::{
    StatusArgument, zcodec_error, zcodec_error_code, zcodec_error_codec_index, zcodec_error_element_index,
    zcodec_error_free, zcodec_error_message, zcodec_error_path, zcodec_error_status, zcodec_status, zcodec_status_name,
};
pub use executor::{zcodec_executor, zcodec_job_fn};
pub use index::{
    zcodec_chain_index_range, zcodec_chain_inner, zcodec_index, zcodec_index_decode, zcodec_index_entry,
    zcodec_index_free, zcodec_index_memory, zcodec_index_ref,
};
pub use info::{zcodec_supported_json, zcodec_version};
pub use kind::zcodec_kind;
pub use padding::{zcodec_chain_set_padding, zcodec_chain_set_padding_at, zcodec_padding_check_fn, zcodec_padding_fn};
pub use plan::{
    zcodec_plan, zcodec_plan_free, zcodec_plan_index, zcodec_plan_new, zcodec_plan_next, zcodec_plan_supply,
    zcodec_plan_supply_all,
};
pub use range::{ZCODEC_SIZE_UNKNOWN, zcodec_range};
pub use registry::{zcodec_registry, zcodec_registry_add, zcodec_registry_free, zcodec_registry_new};
pub use task::{ZCODEC_TASK_MISSING, zcodec_decode_tasks, zcodec_encode_tasks, zcodec_task};
pub use view::{
    zcodec_box, zcodec_chain_element_size, zcodec_chain_granularity, zcodec_chain_shape, zcodec_decode_view,
    zcodec_encode_view, zcodec_fill_view, zcodec_is_fill_view, zcodec_view,
};
pub use writer::{
    zcodec_layout, zcodec_piece, zcodec_writer, zcodec_writer_finish, zcodec_writer_free, zcodec_writer_new,
    zcodec_writer_next, zcodec_writer_put, zcodec_writer_supply,
};
