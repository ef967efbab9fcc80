"""Sources and mixtures are what they claim to be: bounds, moments, supports, truth, seeds."""

import inspect

import numpy as np
import pytest

from boundsep import mixing, sources

N = 20_000
MAKERS = [
    sources.uniform,
    sources.nonnegative,
    sources.sparse,
    lambda n, d, random_state: sources.sparse(n, d, kind="ternary", random_state=random_state),
    lambda n, d, random_state: sources.sparse(n, d, kind="laplace", random_state=random_state),
    sources.clipped_gaussian,
    sources.pam,
    sources.sines,
    sources.triangles,
    sources.shared_amplitude,
    sources.l1_ball,
    sources.x_shape,
    sources.copula,
]
each = pytest.mark.parametrize("make", MAKERS)


@each
def test_shape_bounds_and_seed(make):
    S = make(N, 5, random_state=3)
    assert S.shape == (N, 5)
    assert S.dtype == np.float64
    bound = 3.5 if make is sources.uniform else 1.0
    assert np.abs(S).max() <= bound
    np.testing.assert_array_equal(S, make(N, 5, random_state=3))
    assert not np.array_equal(S, make(N, 5, random_state=4))


@each
def test_uncorrelated_and_of_zero_mean(make):
    S = make(N, 5, random_state=0)
    np.testing.assert_allclose(np.corrcoef(S.T), np.eye(5), atol=0.04)
    if make is not sources.nonnegative:
        np.testing.assert_allclose(S.mean(axis=0) / S.std(axis=0), 0.0, atol=0.04)


@pytest.mark.parametrize("make", [sources.shared_amplitude, sources.l1_ball, sources.x_shape, sources.copula])
def test_dependent_sources_depend(make):
    """Uncorrelated, but their squares are not."""
    options = {"corners": 0.0} if make is sources.l1_ball else {}
    squares = np.corrcoef((make(N, 2, random_state=0, **options) ** 2).T)[0, 1]
    assert abs(squares) > 0.1


@pytest.mark.parametrize("make", MAKERS[:9])
def test_independent_sources_do_not(make):
    assert abs(np.corrcoef((make(N, 2, random_state=0) ** 2).T)[0, 1]) < 0.04


def test_uniform_fills_its_width():
    S = sources.uniform(N, 4, widths=(2.0, 7.0), random_state=0)
    widths = np.ptp(S, axis=0)
    assert np.all((widths > 1.99) & (widths <= 7.0))
    np.testing.assert_allclose(S.var(axis=0), widths**2 / 12.0, rtol=0.03)


def test_sparse_sources_are_silent_as_often_as_asked():
    for kind in ("uniform", "ternary"):
        S = sources.sparse(N, 2, kind=kind, active=0.2, random_state=0)
        assert np.mean(S != 0.0) == pytest.approx(0.2, abs=0.01)


def test_truncated_laplace_has_its_distribution():
    S = np.abs(sources.sparse(N, 1, kind="laplace", active=0.3, random_state=0))
    for x in (0.1, 0.3, 0.7):
        expected = (1.0 - np.exp(-x / 0.3)) / (1.0 - np.exp(-1.0 / 0.3))
        assert np.mean(x >= S) == pytest.approx(expected, abs=0.01)


def test_levels_of_pam_and_qam():
    S = sources.pam(N, 2, levels=8, random_state=0)
    np.testing.assert_allclose(np.unique(S), np.linspace(-1.0, 1.0, 8))
    Z = sources.qam(N, 3, order=64, random_state=0)
    assert len(np.unique(Z)) == 64
    np.testing.assert_array_equal(sources.unstack_complex(sources.stack_complex(Z)), Z)


def test_complex_mixing_stacks_to_real_mixing(rng):
    Z = sources.qam(100, 3, random_state=0)
    A = rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3))
    mixed = mixing.mix(sources.stack_complex(Z), mixing.stack_complex(A)).X
    np.testing.assert_allclose(mixed, sources.stack_complex(Z @ A.T))


def test_the_amplitude_is_shared():
    S = sources.shared_amplitude(N, 50, quietest=0.2, random_state=0)
    loudest = np.abs(S).max(axis=1)  # of fifty uniform sources: nearly the amplitude
    assert loudest.min() > 0.1
    assert np.quantile(loudest, 0.5) == pytest.approx(0.6, abs=0.03)


def test_the_l1_ball_has_the_corners_asked_for():
    S = sources.l1_ball(N, 4, corners=0.05, random_state=0)
    at_corner = np.all(np.abs(S) == 1.0, axis=1)
    assert at_corner.mean() == pytest.approx(0.05, abs=0.006)
    assert np.abs(S[~at_corner]).sum(axis=1).max() <= 1.0


def test_x_shape_pairs_magnitudes():
    S = np.abs(sources.x_shape(100, 5, random_state=0))
    np.testing.assert_array_equal(S[:, 0], S[:, 1])
    np.testing.assert_array_equal(S[:, 2], S[:, 3])
    assert not np.array_equal(S[:, 3], S[:, 4])


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8])
def test_copula_has_uniform_margins_and_its_correlation(rho):
    S = sources.copula(N, 3, rho=rho, random_state=0)
    np.testing.assert_allclose(np.quantile(S, [0.25, 0.5, 0.75], axis=0).T, [[-0.5, 0.0, 0.5]] * 3, atol=0.03)
    # Rank correlation of a normal copula is 6/pi asin(rho/2); Student's with few degrees of freedom is close to it.
    expected = 6.0 / np.pi * np.arcsin(rho / 2.0)
    assert np.corrcoef(S.T)[0, 1] == pytest.approx(expected, abs=0.05)


def test_photographs_are_pictures_in_columns():
    S = sources.photographs(["camera", "astronaut", "china"], height=120, width=100)
    assert S.shape == (12_000, 3)
    np.testing.assert_allclose([S.min(axis=0), S.max(axis=0)], [[-1.0] * 3, [1.0] * 3])
    picture = S[:, 0].reshape(120, 100)
    neighbours = np.corrcoef(picture[:, 1:].ravel(), picture[:, :-1].ravel())[0, 1]
    assert neighbours > 0.8  # scrambled columns would not


def test_each_public_source_takes_a_seed():
    for name in sources.__all__:
        function = getattr(sources, name)
        if name not in ("photographs", "stack_complex", "unstack_complex"):
            assert "random_state" in inspect.signature(function).parameters, name


# --- mixing -----------------------------------------------------------------------------------------------------


def test_orthogonal_matrices_are_uniformly_distributed():
    first = np.array([mixing.orthogonal(3, random_state=seed)[0, 0] for seed in range(2000)])
    # The entries of a uniform rotation in three dimensions are uniform in [-1, 1].
    assert first.mean() == pytest.approx(0.0, abs=0.05)
    assert first.var() == pytest.approx(1.0 / 3.0, abs=0.03)


@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (3, 5)])
def test_condition_is_as_asked(shape):
    A = mixing.ill_conditioned(*shape, condition=1e5, random_state=0)
    assert A.shape == shape
    assert np.linalg.cond(A) == pytest.approx(1e5, rel=1e-6)


@pytest.mark.parametrize("snr", [0.0, 20.0, 60.0])
def test_noise_has_the_power_asked_for(snr):
    S = sources.uniform(1000, 3, random_state=0)
    mixture = mixing.mix(S, mixing.gaussian(5, 3, random_state=1), snr=snr, random_state=2)
    clean = mixture.X - mixture.noise
    np.testing.assert_allclose(clean, S @ mixture.A.T)
    ratio = 10.0 * np.log10(clean.var(axis=0).sum() / mixture.noise.var(axis=0).sum())
    assert ratio == pytest.approx(snr, abs=1e-9)
    np.testing.assert_array_equal(mixing.mix(S, mixture.A).noise, 0.0)
    np.testing.assert_array_equal(mixture.matrix_at(500), mixture.A)
    np.testing.assert_allclose(mixture.power, S.var(axis=0))


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_a_drifting_matrix_is_known_at_any_time(d):
    S = sources.uniform(200, d, random_state=0)
    A = mixing.gaussian(d + 1, d, random_state=1)
    mixture = mixing.mix_drifting(S, A, angle=1.3, random_state=2)
    for t in (0, 1, 77, 199):
        np.testing.assert_allclose(mixture.X[t], mixture.matrix_at(t) @ S[t])
    np.testing.assert_allclose(mixture.matrix_at(0), A, atol=1e-12)
    np.testing.assert_allclose(mixture.matrix_at(199), mixture.A, atol=1e-12)
    np.testing.assert_allclose(np.linalg.svd(mixture.A)[1], np.linalg.svd(A)[1])
    if d > 1:
        steps = [np.linalg.norm(mixture.matrix_at(t + 1) - mixture.matrix_at(t)) for t in (0, 50, 150)]
        np.testing.assert_allclose(steps, steps[0])  # it turns steadily
