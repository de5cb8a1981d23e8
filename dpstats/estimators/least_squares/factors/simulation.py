"""Simulate from released sums in indicators other fits that could have been released."""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.elimination import solve
from dpstats.estimators.least_squares.factors.sampling import NoisyScores, Sampling
from dpstats.estimators.least_squares.factors.sums import NoisyBlockSums
from dpstats.estimators.least_squares.factors.system import BlockSystem, Eliminated
from dpstats.evidence import BlockEvidence
from dpstats.inference.bootstrap import SEED


@dataclass(frozen=True)
class BlockSimulation:
    """Hold a substitute for the exact sums: the released ones, with a response that they explain.

    Parameters
    ----------
    basis : BlockBasis
    system : BlockSystem
    left : Eliminated
    sampling : Sampling
        Covariance of the scores.
    """

    basis: BlockBasis
    system: BlockSystem
    left: Eliminated
    sampling: Sampling

    @classmethod
    def of(cls, basis: BlockBasis, evidence: BlockEvidence) -> "BlockSimulation":
        """Read the evidence of a release that has sums in indicators.

        Eigenvalues that the noise could account for stand at the size of that noise.
        """
        sums = NoisyBlockSums.restored(basis, evidence)
        system = BlockSystem.of(sums, basis)
        left = system.eliminated()
        gamma, levels = left.gamma, left.levels
        effects = levels.effects(gamma)
        values = np.maximum(left.values, left.edge)
        schur = (left.vectors * values) @ left.vectors.T
        gram = levels.rest.T @ levels.means + schur
        exact = replace(
            system,
            response=system.rows * levels.of_codes(effects) + system.rest @ gamma,
            gram=gram,
            cross=levels.rest.T @ effects + gram @ gamma,
        )
        sampling = solve(sums, basis, NoisyScores.restored(basis, evidence)).sampling
        return cls(basis, exact, replace(left, schur=schur, values=values), sampling)

    @property
    def params(self) -> np.ndarray:
        """Return the coefficients (S,) that the sums stand for: those of the release."""
        gamma = self.left.gamma
        alpha = self.left.levels.of_codes(self.left.levels.effects(gamma))
        return self.basis.back((alpha, gamma))

    def replicates(self, draws: int, sampling: bool) -> np.ndarray:
        """Simulate coefficients (draws, S) that could have been released.

        Noise is drawn anew and added to all sums, but those that are zero in every row.
        ``sampling`` adds normal errors of the released covariance to the response, so that a
        replicate stands for other rows too.
        """
        generator = np.random.default_rng(SEED)
        rows, p = self.system.rows, len(self.system.cross)
        free = np.nonzero(np.triu(self.basis.free))
        alphas, gammas = np.empty((draws, len(rows))), np.empty((draws, p))
        for t in range(draws):
            system = self._with_errors(generator) if sampling else self.system
            left = self._with_noise(system, free, generator).eliminated()
            gammas[t] = gamma = left.gamma
            alphas[t] = left.levels.of_codes(left.levels.effects(gamma))
        to_alpha, to_gamma, shift = self.basis.to_design
        return (to_alpha @ alphas.T).T + gammas @ to_gamma.T + shift

    def _with_errors(self, generator: np.random.Generator) -> BlockSystem:
        """Add errors of the response to the sums with it."""
        system, levels = self.system, self.left.levels
        normal = (generator.normal(size=len(part)) for part in (levels.rows, system.cross))
        of_sums, own = self.sampling.scores(*normal)
        errors = levels.spread_out(of_sums / levels.codes)
        cross = system.cross + levels.means.T @ of_sums + own
        return replace(system, response=system.response + errors, cross=cross)

    def _with_noise(self, system: BlockSystem, free, generator: np.random.Generator) -> BlockSystem:
        """Add noise as the mechanism does; ``free`` are products that are not structurally zero."""
        W, sd = self.basis.rest, system.sd
        E = np.zeros((len(W), len(W)))
        E[free] = sd * generator.normal(size=len(free[0]))
        E.T[free] = E[free]
        rest = system.rest.shape
        return replace(
            system,
            rows=system.rows + sd * generator.normal(size=len(system.rows)),
            rest=system.rest + sd * generator.normal(size=rest),
            response=system.response + system.cross_sd * generator.normal(size=rest[0]),
            gram=system.gram + W.T @ E @ W,
            cross=system.cross + system.cross_sd * generator.normal(size=rest[1]),
        )
