//! Where the bytes are that a codec adds to a chunk.

use crate::error::Result;
use crate::json::one_of;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    Start,
    End,
}

impl Location {
    const NAMES: [&str; 2] = ["start", "end"];

    /// The member `location`.
    pub(super) fn from_json(value: &Value) -> Result<Self> {
        one_of("location", value, &Self::NAMES).map(|index| [Self::Start, Self::End][index])
    }

    /// The value of the member.
    pub(super) fn name(self) -> &'static str {
        self.at(Self::NAMES[0], Self::NAMES[1])
    }

    /// The one of the two that is there.
    pub(super) fn at<T>(self, leading: T, trailing: T) -> T {
        match self {
            Self::Start => leading,
            Self::End => trailing,
        }
    }
}
