//! Macro for classes that only show values.

/// Getters of a class of results, in a line each: name, type and value.
macro_rules! getters {
    ($class:ident, $this:ident { $($name:ident: $type:ty = $value:expr;)* }) => {
        #[pyo3::pymethods]
        impl $class {
            $(
                #[getter]
                fn $name(&self) -> $type {
                    let $this = self;
                    $value
                }
            )*
        }
    };
}
pub(crate) use getters;
