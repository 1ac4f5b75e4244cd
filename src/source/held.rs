//! A source that is held, and its bytes at hand.

use std::ops::Deref;
use std::sync::Arc;

use super::Source;

/// A source whose bytes, where they lie in memory, were asked for once: asking is a call,
/// and a look-up that waits for memory is the quicker the fewer instructions it has.
pub(crate) struct Held {
    source: Arc<dyn Source>,
    /// Borrowed from `source`.
    bytes: Option<&'static [u8]>,
}

impl Held {
    pub(crate) fn new(source: Arc<dyn Source>) -> Self {
        let bytes: Option<&[u8]> = source.bytes();
        // SAFETY: as long as this value exists, so does the source, where it is and
        // borrowed by nobody for a change, since an `Arc` to it is kept. `bytes` is
        // handed out for no longer than that.
        #[allow(unsafe_code)]
        let bytes = unsafe { std::mem::transmute::<Option<&[u8]>, Option<&'static [u8]>>(bytes) };
        Held { source, bytes }
    }

    /// As [`Source::bytes`].
    #[inline(always)]
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.bytes
    }
}

impl Deref for Held {
    type Target = dyn Source;

    fn deref(&self) -> &Self::Target {
        &*self.source
    }
}
