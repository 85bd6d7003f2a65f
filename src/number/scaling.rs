//! The arithmetic of `scale_offset`: `(x - offset) * scale`, and back by `x / scale + offset`.
//!
//! The formulas are here once, for every type with the operators: floats, integers that note an overflow, vectors.

use std::ops::{Add, Div, Mul, Sub};

/// One of the four operations, with the operand on the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `x + operand`
    Add,
    /// `x - operand`
    Subtract,
    /// `x * operand`
    Multiply,
    /// `x / operand`
    Divide,
}

impl Operation {
    /// The result, rounded as the type rounds.
    pub fn apply<T>(self, x: T, operand: T) -> T
    where
        T: Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T>,
    {
        match self {
            Self::Add => x + operand,
            Self::Subtract => x - operand,
            Self::Multiply => x * operand,
            Self::Divide => x / operand,
        }
    }
}

/// One or two operations known at compile time, for loops.
pub(crate) trait Formula<T>: Copy {
    /// The result for one number.
    fn apply(self, x: T) -> T;
}

/// `x + operand`
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plus<T>(pub T);
/// `x - operand`
#[derive(Debug, Clone, Copy)]
pub(crate) struct Minus<T>(pub T);
/// `x * operand`
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times<T>(pub T);
/// `x / operand`; integers divide by something prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Over<D>(pub D);
/// One formula, then the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Then<A, B>(pub A, pub B);

impl<T: Add<Output = T> + Copy> Formula<T> for Plus<T> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, x: T) -> T {
        x + self.0
    }
}

impl<T: Sub<Output = T> + Copy> Formula<T> for Minus<T> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, x: T) -> T {
        x - self.0
    }
}

impl<T: Mul<Output = T> + Copy> Formula<T> for Times<T> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, x: T) -> T {
        x * self.0
    }
}

impl<T: Div<D, Output = T>, D: Copy> Formula<T> for Over<D> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, x: T) -> T {
        x / self.0
    }
}

impl<T, A: Formula<T>, B: Formula<T>> Formula<T> for Then<A, B> {
    #[inline(always)] // into the vectorised loop
    fn apply(self, x: T) -> T {
        self.1.apply(self.0.apply(x))
    }
}

/// The operands of both directions: numbers, or their bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scaling<T> {
    pub(crate) offset: T,
    pub(crate) scale: T,
}

impl<T> Scaling<T> {
    /// The same operands as another type.
    #[inline(always)] // into vectorised loops
    pub(crate) fn map<U>(self, mut convert: impl FnMut(T) -> U) -> Scaling<U> {
        Scaling { offset: convert(self.offset), scale: convert(self.scale) }
    }

    /// `(x - offset) * scale`
    #[inline(always)] // into vectorised loops
    pub(crate) fn encode(self) -> Then<Minus<T>, Times<T>> {
        Then(Minus(self.offset), Times(self.scale))
    }

    /// `x / scale + offset`
    #[inline(always)] // into vectorised loops
    pub(crate) fn decode(self) -> Then<Over<T>, Plus<T>> {
        Then(Over(self.scale), Plus(self.offset))
    }
}
