//! The chi-squared distribution.

use statrs::function::gamma::checked_gamma_ur;

const HALVINGS: usize = 200;

/// The x with P(X > x) = `upper_area`, by bisection.
#[must_use]
pub fn chi_squared_quantile(freedom: f64, upper_area: f64) -> f64 {
    if freedom.is_nan() || freedom <= 0.0 || !(0.0..=1.0).contains(&upper_area) {
        return f64::NAN;
    }
    let beyond = |x: f64| checked_gamma_ur(freedom / 2.0, x / 2.0).unwrap_or(f64::NAN);
    let mut high = freedom;
    while beyond(high) > upper_area && high.is_finite() {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > upper_area {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_degrees_of_freedom_are_an_exponential_distribution() {
        for area in [1e-6f64, 0.025, 0.5, 0.975] {
            let expected = -2.0 * area.ln();
            assert!((chi_squared_quantile(2.0, area) / expected - 1.0).abs() < 1e-11);
        }
    }
}
