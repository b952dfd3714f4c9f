//! Student's t distribution.

use crate::beta_cdf;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::ln_gamma;
use std::f64::consts::{PI, SQRT_2};

/// From this value on, Wallace's normal approximation (1959) is more accurate than the beta function.
const LARGE_FREEDOM: f64 = 1e6;
/// Largest start of Newton's method; its square is finite.
const LARGEST_START: f64 = 1e150;
const MAX_STEPS: usize = 200;
/// Newton's method ends when the logarithm of t changes less.
const SMALLEST_STEP: f64 = 1e-15;

/// P(T <= t).
pub fn t_cdf(freedom: f64, t: f64) -> f64 {
    if freedom.is_nan() || freedom <= 0.0 || t.is_nan() {
        return f64::NAN;
    }
    if t > 0.0 {
        1.0 - tail(freedom, t)
    } else {
        tail(freedom, -t)
    }
}

/// The t with P(T <= t) = `area`.
pub fn t_quantile(freedom: f64, area: f64) -> f64 {
    if freedom.is_nan() || freedom <= 0.0 || !(0.0..=1.0).contains(&area) {
        return f64::NAN;
    }
    if area > 0.5 {
        upper_quantile(freedom, 1.0 - area)
    } else {
        -upper_quantile(freedom, area)
    }
}

/// P(T > t) for t >= 0.
fn tail(freedom: f64, t: f64) -> f64 {
    let square = t * t;
    if square.is_infinite() {
        return 0.0;
    }
    if freedom >= LARGE_FREEDOM {
        let z = (freedom * (square / freedom).ln_1p()).sqrt();
        let scale = 8.0f64.mul_add(freedom, 1.0) / 8.0f64.mul_add(freedom, 3.0);
        return 0.5 * erfc(scale * z / SQRT_2);
    }
    // Near 0 the first form keeps the digits of its argument; in the tail the second avoids
    // cancellation.
    if square < 1.0 {
        0.5 - 0.5 * beta_cdf(0.5, freedom / 2.0, square / (freedom + square))
    } else {
        0.5 * beta_cdf(freedom / 2.0, 0.5, freedom / (freedom + square))
    }
}

/// The density of T.
fn density(freedom: f64, t: f64) -> f64 {
    if freedom >= LARGE_FREEDOM {
        return (-0.5 * (freedom + 1.0) * (t * t / freedom).ln_1p()).exp() / (2.0 * PI).sqrt();
    }
    let half = freedom / 2.0;
    let scale = ln_gamma(half + 0.5) - ln_gamma(half) - 0.5 * (freedom * PI).ln();
    (scale - (half + 0.5) * (t * t / freedom).ln_1p()).exp()
}

/// The t >= 0 with P(T > t) = `area` up to one half.
///
/// Newton's method on ln P as a function of ln t, which decreases and is concave: from above it
/// converges without overshooting.
fn upper_quantile(freedom: f64, area: f64) -> f64 {
    if area <= 0.0 {
        return f64::INFINITY;
    }
    if area >= 0.5 {
        return 0.0;
    }
    let mut t = start(freedom, area);
    for _ in 0..MAX_STEPS {
        let beyond = tail(freedom, t);
        let slope = t * density(freedom, t) / beyond;
        let step = (beyond / area).ln() / slope;
        if !step.is_finite() {
            break;
        }
        t *= step.exp();
        if step.abs() < SMALLEST_STEP {
            break;
        }
    }
    t
}

/// Wallace's approximation solved for t.
fn start(freedom: f64, area: f64) -> f64 {
    let z = SQRT_2 * erfc_inv(2.0 * area);
    let scaled = z * 8.0f64.mul_add(freedom, 3.0) / 8.0f64.mul_add(freedom, 1.0);
    let t = (freedom * (scaled * scaled / freedom).exp_m1()).sqrt();
    t.min(LARGEST_START)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_degree_of_freedom_is_cauchys_distribution() {
        for area in [1e-9, 1e-3, 0.025, 0.3, 0.49999] {
            let expected = -1.0 / (PI * area).tan();
            assert!((t_quantile(1.0, area) / expected - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn arguments_outside_the_domain_are_nan() {
        assert!(t_quantile(0.0, 0.1).is_nan());
        assert!(t_quantile(3.0, 1.1).is_nan());
        assert!(t_cdf(-1.0, 0.0).is_nan());
        assert!(t_cdf(3.0, f64::NAN).is_nan());
    }
}
