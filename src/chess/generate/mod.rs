//! Makes chess endings: distance to mate in plies, both sides to move, exact.
//!
//! The 50-move rule and castling are not considered; underpromotion and en
//! passant are.

mod convert;
mod en_passant;
mod layout;
mod moves;
mod waves;
mod working;

use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) use working::Raw;
pub use working::Working;

use crate::Result;
use crate::numbering::kings::men::Material;
use layout::Layout;

/// The endings that a capture or a promotion in `material` leads to, in
/// canonical form; two bare kings are left out.
///
/// # Errors
/// [`crate::Error::Invalid`] for a material that no ending has.
pub fn conversions(material: &Material) -> Result<BTreeSet<Material>> {
    let men = material.numbered_men();
    let mut found = BTreeSet::new();
    for captured in (0..men.len()).map(Some).chain([None]) {
        for promotion in convert::promotions(&men, captured) {
            if captured.is_some() || promotion.is_some() {
                let left = convert::material(&convert::after(&men, captured, promotion))?;
                if left.men() > 2 {
                    found.insert(left.canonical().0);
                }
            }
        }
    }
    Ok(found)
}

/// `materials` and everything that they convert into, each after what it
/// converts into itself.
///
/// # Errors
/// As [`conversions`].
pub fn closure(materials: &[Material]) -> Result<Vec<Material>> {
    fn visit(material: &Material, done: &mut Vec<Material>) -> Result<()> {
        if material.men() > 2 && !done.contains(material) {
            for next in conversions(material)? {
                visit(&next, done)?;
            }
            done.push(material.clone());
        }
        Ok(())
    }
    let mut done = Vec::new();
    for material in materials {
        visit(&material.canonical().0, &mut done)?;
    }
    Ok(done)
}

/// Makes one ending; `find` supplies those that it converts into, and
/// `progress` hears the number of plies of each wave and may stop the work.
/// Runs in the current rayon pool.
///
/// # Errors
/// [`crate::Error::Invalid`] when `find` has not got what is needed; whatever
/// `progress` answers.
pub fn generate(
    material: &Material,
    find: &dyn Fn(&Material) -> Option<Arc<Working>>,
    progress: &dyn Fn(u16) -> Result<()>,
) -> Result<Working> {
    let material = material.canonical().0;
    let layout = Layout::new(&material);
    let conversions = convert::Conversions::new(&layout, find)?;
    let scores = waves::solve(&layout, &conversions, progress)?;
    Ok(Working {
        material,
        layout,
        scores,
    })
}
