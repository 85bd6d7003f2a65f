//! Laws of boxes, plans and writers, for random chains, boxes and strides. A case is a list of choices, so that a failure
//! shrinks to the smallest of them.
#![expect(unsafe_code, reason = "plans hold the memory of their views")]

mod before;
mod case;
mod encode;
mod large;
mod n5;
mod read;
mod slabs;
mod threads;
mod write;
