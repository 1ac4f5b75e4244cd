//! Which records of a block resemble each other under `flat`: none is named.

use super::Flat;
use crate::codec::Plan;

impl Plan for Flat {}
