//! Numbers and placements are each other's inverse, under every reflection.

use super::board::{Reflection, bit};
use super::men::Material;
use super::*;
use proptest::prelude::*;

/// The placement with all squares reflected and like men exchanged.
fn image(men: &[Man], p: &Placement, reflection: Reflection) -> Placement {
    let mut out = Placement {
        kings: p.kings.map(|k| reflection.square(k)),
        men: [0; MAX_OTHERS],
    };
    for i in 0..men.len() {
        out.men[i] = reflection.square(p.men[i]);
    }
    for i in 1..men.len() {
        if men[i] == men[i - 1] {
            out.men.swap(i, i - 1);
        }
    }
    out
}

fn distinct(men: &[Man], p: &Placement) -> bool {
    let mut taken = bit(p.kings[0]) | bit(p.kings[1]);
    p.kings[0] != p.kings[1]
        && p.men[..men.len()].iter().all(|&s| {
            let free = taken & bit(s) == 0;
            taken |= bit(s);
            free
        })
}

/// Checks one placement under all reflections that the material allows.
fn check(plain: &Kings, narrow: &Kings, tight: &Tight, p: &Placement) {
    let men = plain.men();
    if !distinct(men, p) {
        return;
    }
    let numbers = (plain.number(p), narrow.number(p), tight.number(p));
    let pawns = men.iter().any(|m| m.squares() == 48);
    for r in 0..if pawns { 2 } else { 8 } {
        let q = image(men, p, Reflection(r));
        assert_eq!(
            (plain.number(&q), narrow.number(&q), tight.number(&q)),
            numbers,
            "{p:?} {r}"
        );
    }
    let canonical = super::canonical(men, p);
    assert_eq!(numbers.0.is_some(), canonical.is_some());
    if let (Some(a), Some(b), Some(c)) = numbers {
        assert!(a < plain.len() && b < narrow.len() && c < tight.len());
        assert_eq!(plain.placement(a), canonical);
        assert_eq!(narrow.placement(b), canonical);
        assert_eq!(tight.placement(c), canonical);
    }
}

fn numberings(material: &Material) -> (Kings, Kings, Tight) {
    (
        Kings::new(material, Sides::Both, false).unwrap(),
        Kings::new(material, Sides::Both, true).unwrap(),
        Tight::new(material, Sides::Both).unwrap(),
    )
}

#[test]
fn all_placements_of_three_men() {
    for material in Material::all(3) {
        let (plain, narrow, tight) = numberings(&material);
        let squares = if material.has_pawns() { 8..56 } else { 0..64 };
        for white in 0..64 {
            for black in 0..64 {
                for man in squares.clone() {
                    let p = Placement {
                        kings: [white, black],
                        men: [man, 0, 0, 0, 0],
                    };
                    check(&plain, &narrow, &tight, &p);
                }
            }
        }
    }
}

/// The sizes of the plan: 564 or 1806 segments, 64 or 48 squares a man.
#[test]
fn there_are_as_many_numbers_as_planned() {
    let len = |name: &str| numberings(&Material::parse(name).unwrap());
    assert_eq!(len("KQvK").0.len(), 36_096);
    assert_eq!(len("KPvK").0.len(), 1806 * 48);
    assert_eq!(len("KQvKR").0.len(), 2_310_144);
    assert_eq!(len("KRBvKR").0.len(), 147_849_216);
    assert_eq!(len("KRBvKRB").0.len(), 9_462_349_824);
    assert_eq!(len("KRBNvKRB").0.len(), 9_462_349_824 * 64);
    assert_eq!(len("KPPPvKPP").0.len(), 1806 * 48u64.pow(5));
}

/// Numbers over all endings, as computed beforehand; both sides to move, but one
/// where the two have the same men.
#[test]
fn the_tight_numbering_has_no_more_numbers_than_computed() {
    let total = |men| -> u64 {
        let all = Material::all(men);
        let sides = |m: &Material| if m.is_symmetric() { 1 } else { 2 };
        all.iter()
            .map(|m| sides(m) * Tight::new(m, Sides::Both).unwrap().len())
            .sum()
    };
    assert_eq!(total(3), 402_528);
    // 148.7 million, rounded.
    assert_eq!((total(4) + 50_000) / 100_000, 1_487);
}

proptest! {
    #[test]
    fn samples_of_four_to_seven_men(
        which in 0usize..1000, men in 4usize..=7, kings: [u8; 2], squares: [u8; MAX_OTHERS],
    ) {
        let all = Material::all(men);
        let material = &all[which % all.len()];
        let (plain, narrow, tight) = numberings(material);
        let mut p = Placement { kings: kings.map(|k| k % 64), men: [0; MAX_OTHERS] };
        for (i, man) in plain.men().iter().enumerate() {
            p.men[i] = if man.squares() == 48 { 8 + squares[i] % 48 } else { squares[i] % 64 };
        }
        check(&plain, &narrow, &tight, &p);
    }

    #[test]
    fn every_number_has_a_placement(which in 0usize..1000, men in 3usize..=7, number: u64) {
        let all = Material::all(men);
        let material = &all[which % all.len()];
        let (plain, _, tight) = numberings(material);
        let p = plain.placement(number % plain.len()).unwrap();
        prop_assert!(plain.number(&p).is_some());
        prop_assert!(tight.placement(number % tight.len()).is_some());
        prop_assert_eq!(plain.placement(plain.len()), None);
        prop_assert_eq!(tight.placement(tight.len()), None);
    }

    #[test]
    fn parameters_name_the_numbering(which in 0usize..1000, men in 3usize..=7, narrow: bool) {
        let all = Material::all(men);
        let material = &all[which % all.len()];
        let plain = Kings::new(material, Sides::Black, narrow).unwrap();
        let tight = Tight::new(material, Sides::White).unwrap();
        for n in [&plain as &dyn Numbering, &tight] {
            let opened = crate::numbering::open(n.name(), n.version(), &n.params()).unwrap();
            prop_assert_eq!(opened.len(), n.len());
            prop_assert_eq!(opened.params(), n.params());
        }
    }
}
