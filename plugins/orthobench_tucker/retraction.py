"""The QR retraction onto the matrices with orthonormal columns, of matrices of any rank."""

from __future__ import annotations

import numpy as np

from orthobench.arrays import Array


def retract(A: Array) -> Array:
    """Return the Q factor of a matrix, with a positive diagonal of R.

    By repeated CholeskyQR: A <- A L'^{-1} with LL' = A'A, until A'A = I to rounding. One or two
    rounds do where A is a step away from a point of the manifold, also a long one. Where a column
    depends on those before it, to 1e-5 of its length, Householder's QR takes over (LAPACK's geqrf
    and orgqr), whose Q is orthonormal whatever the rank; what A leaves open is then arbitrary.

    Parameters
    ----------
    A : ndarray, shape (n, r), r <= n
        It is not changed. Fortran order is read fastest.

    Returns
    -------
    ndarray, shape (n, r)
        A fresh array in Fortran order; no entry of Q'Q - I is larger than 1e-14. Columns that
        are orthonormal already, to 2e-15, keep their bits.

    Raises
    ------
    numpy.linalg.LinAlgError
        Where `A` holds NaN or infinity.

    Notes
    -----
    4nr² flops a round and 2nr² to see that no other is needed, all of them in matrix products;
    memory 2nr. Householder's 4nr² - 4r³/3 (`orthobench.flops.qr`) take several times as long.

    References
    ----------
    Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015, "Roundoff error analysis of the
    CholeskyQR2 algorithm".
    """
    from orthobench_tucker.orthonormal_rows import orthonormalize

    rows = np.array(A.T, dtype=np.float64, order="C")
    found = np.empty_like(rows)
    if not orthonormalize(rows, found):
        raise np.linalg.LinAlgError("a matrix that is not finite has no QR factorization")
    return found.T
