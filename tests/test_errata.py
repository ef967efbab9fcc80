"""What docs/errata.md says of the paper's model, checked by closed forms and by the network's own constraint."""

import numpy as np
import pytest

from benchmarks import errata

UNEQUAL = np.array([-1.0, -8.0]), np.array([1.0, 8.0])
PAPER, LINEAR, LOGARITHMIC = errata.COSTS


def test_the_gain_is_the_square_of_the_row_norm(rng):
    """The appendix says D_ii >= ||Phi_i||_1; over all corners of the box it is the square."""
    b = rng.uniform(1.0, 3.0, 4)
    G = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T * b
    needed = np.abs(corners @ G.T).max(axis=0) ** 2
    np.testing.assert_allclose(errata.gains(G, -b, b), needed)
    np.testing.assert_allclose(needed, np.abs(G * b).sum(axis=1) ** 2)


def test_unequal_bounds_are_mixed_by_the_papers_cost():
    angle, least, separated = errata.best_angle(PAPER, *UNEQUAL)
    assert angle == pytest.approx(45.0)
    assert least == pytest.approx(2.0 * (9.0**2 / 2.0) ** 2)  # 3280.5
    assert separated == pytest.approx(1.0 + 8.0**4)  # 4097


@pytest.mark.parametrize("cost", [LINEAR, LOGARITHMIC])
def test_and_separated_by_the_others(cost):
    angle, least, separated = errata.best_angle(cost, *UNEQUAL)
    assert least == separated
    assert angle in (0.0, 90.0)


def test_what_the_appendix_does_prove(rng):
    """With the square kept, its chain of inequalities bounds the sum of D by the sum of b^2: over many rotations."""
    for d in (2, 3, 5):
        for _ in range(300):
            b = rng.uniform(1.0, 10.0, d)
            G = np.linalg.qr(rng.normal(size=(d, d)))[0]
            D = errata.gains(G, -b, b)
            assert D.sum() >= np.sum(b**2) - 1e-9
            assert np.log(D).sum() >= 2.0 * np.log(b).sum() - 1e-9


def test_skew_alone_flips_neither_of_the_others(rng):
    """The sum of D by proof, the sum of log D as far as 2000 cases go."""
    for _ in range(2000):
        d = rng.integers(2, 6)
        low, high = -rng.uniform(0.1, 8.0, d), rng.uniform(0.1, 8.0, d)
        largest = np.maximum(-low, high)
        D = errata.gains(np.linalg.qr(rng.normal(size=(d, d)))[0], low, high)
        assert D.sum() >= np.sum(largest**2) - 1e-9
        assert np.log(D).sum() >= 2.0 * np.log(largest).sum() - 1e-9


def test_the_ratio_at_which_the_cost_flips():
    r = errata.ratio_that_flips()
    assert (1.0 + r) ** 4 == pytest.approx(2.0 * (1.0 + r**4))
    assert r == pytest.approx(5.2745, abs=1e-4)
    for ratio, angle in ((0.99 * r, 0.0), (1.01 * r, 45.0)):
        b = np.array([1.0, ratio])
        assert errata.best_angle(PAPER, -b, b)[0] % 90.0 == pytest.approx(angle)


def test_a_skewed_source_exceeds_its_bound(rng):
    """Ninety-nine zeros and a one, of zero mean and unit variance, is not within half its range."""
    s = np.array([0.0] * 99 + [1.0])
    s = (s - s.mean()) / s.std()
    claimed, true = errata.skewed(s.min(), s.max())
    assert true == np.abs(s).max() > 1.9 * claimed


def test_skew_flips_the_papers_cost_and_the_middle_mends_it():
    low, high = np.array([-np.sqrt(3.0), -0.1]), np.array([np.sqrt(3.0), 10.0])
    assert 20.0 < errata.best_angle(PAPER, low, high)[0] < 70.0
    assert errata.best_angle(PAPER, low, high, centred=True)[0] % 90.0 == 0.0
