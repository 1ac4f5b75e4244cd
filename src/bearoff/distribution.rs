//! What a one-sided distribution says: mean, deviation, effective pip count.

/// Pips of an average roll: 294 pips over the 36 rolls.
pub const PIPS_PER_ROLL: f64 = 49.0 / 6.0;

/// Mean and standard deviation of the number of rolls, from the chances of
/// each in any unit: `chances[i]` is that of `i` rolls. Both are 0 where no
/// chance is.
pub fn mean_and_deviation(chances: &[u32]) -> (f64, f64) {
    let (mut total, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (roll, &chance) in chances.iter().enumerate() {
        let (roll, chance) = (roll as f64, f64::from(chance));
        total += chance;
        sum += roll * chance;
        squares += roll * roll * chance;
    }
    if total == 0.0 {
        return (0.0, 0.0);
    }
    let mean = sum / total;
    (mean, (squares / total - mean * mean).max(0.0).sqrt())
}

/// Effective pip count of a mean number of rolls : EPC = mean × 49/6, the mean
/// times the pips of an average roll.
pub fn effective_pips(mean_rolls: f64) -> f64 {
    mean_rolls * PIPS_PER_ROLL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_equal_chances() {
        let (mean, deviation) = mean_and_deviation(&[0, 1, 0, 1]);
        assert_eq!((mean, deviation), (2.0, 1.0));
        assert_eq!(mean_and_deviation(&[0, 0]), (0.0, 0.0));
        // Seven chequers on the ace-point: 3.5509259259 rolls, EPC 28.999228.
        assert!((effective_pips(3.550_925_925_9) - 28.999_228).abs() < 1e-6);
    }
}
