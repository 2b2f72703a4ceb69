"""Closed formulae for floating-point operations (flops).

A real addition, subtraction, multiplication, division or square root counts one. A matrix product
counts in full, even if its result is symmetric. Factorizations of LAPACK count by their leading
terms (Golub and Van Loan 2013, *Matrix Computations*, 4th edition).
"""

from __future__ import annotations

# products in place of powers: numba compiles a function for a power


def gemm(m: int, n: int, k: int) -> int:
    """Return the flops of the product of an (m, k) and a (k, n) matrix: 2mnk."""
    return 2 * m * n * k


def qr(m: int, n: int) -> int:
    """Return the flops of a Householder QR of an (m, n) matrix with Q, m >= n: 4mn² - 4n³/3."""
    return 4 * m * n * n - (4 * n * n * n) // 3


def eigh(n: int) -> int:
    """Return the flops of a symmetric eigendecomposition with vectors, by tridiagonal QR: 9n³."""
    return 9 * n * n * n


def svd(m: int, n: int) -> int:
    """Return the flops of a thin SVD of an (m, n) matrix (R-SVD), m >= n: 6mn² + 20n³."""
    m, n = max(m, n), min(m, n)
    return 6 * m * n * n + 20 * n * n * n


def polar(m: int, n: int) -> int:
    """Return the flops of the polar factor of an (m, n) matrix, m >= n: `svd` and a product."""
    return svd(m, n) + gemm(m, n, n)


def givens(n: int) -> int:
    """Return the flops of a Givens rotation of two columns of length n: 6n."""
    return 6 * n
