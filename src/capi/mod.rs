//! The C face: handles, status codes and the message of the last failure.
//!
//! Every function returns a status; nothing unwinds into C. Handles stay valid
//! addresses for the life of the process, so that a closed one is recognised.
//! `unsafe` is what a C face is made of: pointers come from the caller, who
//! promises what the header says of them.
#![allow(unsafe_code)]

pub mod evaluate;
pub mod table;

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::Error;

/// How a call ended. Anything but `ENDTABLE_STATUS_OK` leaves a message for
/// `endtable_message` and the caller's buffers without meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum EndtableStatus {
    /// Done.
    Ok = 0,
    /// A pointer that must not be null is null.
    Null = 1,
    /// The handle has been closed.
    Closed = 2,
    /// The caller's buffer is too small.
    Small = 3,
    /// An argument is out of range or makes no sense.
    Invalid = 4,
    /// No open table covers the position.
    NotCovered = 5,
    /// Reading failed.
    Io = 6,
    /// The file breaks its format.
    Corrupt = 7,
    /// The file needs something that this version does not know.
    Unsupported = 8,
    /// The file asks for more memory than is allowed.
    Limit = 9,
    /// A fault of the library's own, which was stopped at the border.
    Fault = 10,
}

thread_local! {
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A failure on its way to the caller.
struct Failure {
    status: EndtableStatus,
    message: String,
}

impl Failure {
    #[cold]
    fn new(status: EndtableStatus, message: impl Into<String>) -> Self {
        Failure {
            status,
            message: message.into(),
        }
    }

    #[cold]
    fn null(what: &str) -> Self {
        Self::new(EndtableStatus::Null, format!("{what}: a null pointer"))
    }

    #[cold]
    fn small(found: usize, needed: usize) -> Self {
        let message = format!("the buffer has room for {found} items, {needed} are needed");
        Self::new(EndtableStatus::Small, message)
    }
}

fn status_of(error: &Error) -> EndtableStatus {
    match error {
        Error::Io { .. } => EndtableStatus::Io,
        Error::Corrupt { .. } => EndtableStatus::Corrupt,
        Error::Unsupported { .. } => EndtableStatus::Unsupported,
        Error::Limit { .. } => EndtableStatus::Limit,
        Error::NotCovered(_) => EndtableStatus::NotCovered,
        Error::Invalid { .. } | Error::Interrupted => EndtableStatus::Invalid,
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        Failure::new(status_of(&error), error.to_string())
    }
}

/// Runs a call: no panic leaves it, and a failure leaves its message.
#[inline]
fn call(body: impl FnOnce() -> Result<(), Failure>) -> EndtableStatus {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => EndtableStatus::Ok,
        Ok(Err(failure)) => say(failure),
        Err(_) => say(Failure::new(
            EndtableStatus::Fault,
            "a fault in the library; please report it with what you did",
        )),
    }
}

#[cold]
fn say(failure: Failure) -> EndtableStatus {
    // A thread that is ending has no message any more.
    let _ = MESSAGE.try_with(|message| *message.borrow_mut() = failure.message);
    failure.status
}

/// Copies the message of this thread's last failure to `buffer`, cut off at
/// `size` bytes with its closing zero. Returns the bytes that the whole
/// message needs, zero included; `buffer` may be null if `size` is 0.
///
/// # Safety
/// `buffer` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_message(buffer: *mut c_char, size: usize) -> usize {
    let copied = MESSAGE.try_with(|message| {
        let message = message.borrow();
        if !buffer.is_null() && size > 0 {
            let length = message.len().min(size - 1);
            // SAFETY: the caller's buffer has room for `size` bytes.
            unsafe {
                ptr::copy_nonoverlapping(message.as_ptr(), buffer.cast(), length);
                *buffer.add(length) = 0;
            }
        }
        message.len() + 1
    });
    copied.unwrap_or(1)
}

/// The library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn endtable_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// What a handle points to: it outlives its content, so that a call with a
/// closed handle finds it empty instead of reading freed memory.
struct Handle<T> {
    content: AtomicPtr<T>,
}

/// Handles ever made, kept reachable for leak checkers.
static HANDLES: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl<T> Handle<T> {
    fn open(content: T) -> *mut Self {
        let handle = Box::into_raw(Box::new(Handle {
            content: AtomicPtr::new(Box::into_raw(Box::new(content))),
        }));
        let mut handles = HANDLES.lock().unwrap_or_else(|e| e.into_inner());
        handles.push(handle as usize);
        handle
    }

    /// The content of a handle that came from `open`.
    ///
    /// # Safety
    /// `handle` is null or came from `open`; nobody closes it meanwhile.
    #[inline]
    unsafe fn get<'a>(handle: *const Self) -> Result<&'a T, Failure> {
        // SAFETY: handles are never freed, their content only on closing,
        // which the caller does not do during a call.
        let content = match unsafe { handle.as_ref() } {
            Some(handle) => handle.content.load(Ordering::Acquire),
            None => return Err(Failure::null("the handle")),
        };
        // SAFETY: as above.
        unsafe { content.as_ref() }
            .ok_or_else(|| Failure::new(EndtableStatus::Closed, "the handle has been closed"))
    }

    /// Closes a handle; its address stays what it was.
    ///
    /// # Safety
    /// As [`Handle::get`], and no call with the handle is running.
    unsafe fn close(handle: *const Self) -> Result<(), Failure> {
        // SAFETY: as above.
        let handle = unsafe { handle.as_ref() }.ok_or_else(|| Failure::null("the handle"))?;
        let content = handle.content.swap(ptr::null_mut(), Ordering::AcqRel);
        if content.is_null() {
            return Err(Failure::new(
                EndtableStatus::Closed,
                "the handle has been closed already",
            ));
        }
        // SAFETY: it came from a box, and the swap gave it to us alone.
        drop(unsafe { Box::from_raw(content) });
        Ok(())
    }
}

/// A caller's array for reading.
///
/// # Safety
/// `data` is null or has `len` items, which stay as they are during the call.
#[inline]
unsafe fn input<'a, T>(data: *const T, len: usize, what: &str) -> Result<&'a [T], Failure> {
    match (data.is_null(), len) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(Failure::null(what)),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data, len) }),
    }
}

/// A caller's array for writing, cut to `needed` items.
///
/// # Safety
/// `data` is null or has room for `len` initialised items that nobody else uses.
#[inline]
unsafe fn output<'a, T>(
    data: *mut T,
    len: usize,
    needed: usize,
    what: &str,
) -> Result<&'a mut [T], Failure> {
    if data.is_null() {
        return match needed {
            0 => Ok(&mut []),
            _ => Err(Failure::null(what)),
        };
    }
    if len < needed {
        return Err(Failure::small(len, needed));
    }
    // SAFETY: the caller's promise, and `needed` is no more than `len`.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, needed) })
}

/// A caller's place for one result.
///
/// # Safety
/// `place` is null or points to room for a `T`.
#[inline]
unsafe fn put<T>(place: *mut T, value: T, what: &str) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: the caller's promise.
    unsafe { place.write(value) };
    Ok(())
}

/// A caller's file name.
///
/// # Safety
/// `text` is null or ends with a zero.
unsafe fn path<'a>(text: *const c_char) -> Result<&'a Path, Failure> {
    if text.is_null() {
        return Err(Failure::null("the file name"));
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(text) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(Path::new(std::ffi::OsStr::from_bytes(bytes.to_bytes())))
    }
    #[cfg(not(unix))]
    match bytes.to_str() {
        Ok(text) => Ok(Path::new(text)),
        Err(_) => Err(Failure::new(
            EndtableStatus::Invalid,
            "the file name is not UTF-8",
        )),
    }
}
