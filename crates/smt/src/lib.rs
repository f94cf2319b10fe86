//! Terms and solvers.
