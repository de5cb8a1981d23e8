r"""Perturb an objective by a random linear term and minimise it over a ball.

The setting (Kifer, Smith and Thakurta 2012, Algorithm 1, Gaussian version): F(theta) = sum over
rows of (v - u'theta)^2 / 2 + ridge ||theta||^2 / 2, b ~ N(0, sigma^2 I), and the release is the
minimiser of F(theta) + b'theta over ||theta|| <= B. Within the ball let a row's gradient
(u'theta - v) u have norm at most G, and let ||u||^2 <= C. Table 1 has one row (u, v) more than
table 0.

1. *Without the ball.* Where |u'theta| is larger than anywhere in the ball continue a row's loss
   by straight lines in u'theta: within the ball nothing changes, and now everywhere its gradient
   is g = f u for a function f of u'theta, ||g|| <= G, and its Hessian is f' u u' with
   0 <= f' <= 1 (after smoothing f' over an interval as short as one likes). b = -grad F(theta)
   and theta determine one another, so theta has the density phi(b(theta)) det(Hess F(theta)) with
   phi that of b. Let b_0 and b_1 = b_0 - g be the two tables' b for the same theta.
   - Determinants: that of table 1 is 1 + f' u'(Hess F_0)^-1 u times that of table 0, a factor
     between 1 and 1 + C / ridge = e^J.
   - Densities: log phi(b_0) - log phi(b_1) = (||g||^2 - 2 <b_0, g>) / (2 sigma^2). Whatever
     theta, g has the direction of u, so with mu = G / sigma and Z = <u, b_0> / (sigma ||u||), a
     standard normal variable under table 0, this is at most mu^2 / 2 + mu |Z|. Likewise
     log phi(b_1) - log phi(b_0) = (||g||^2 + 2 <b_1, g>) / (2 sigma^2) under table 1.
2. So in either direction the privacy loss is at most J + mu^2 / 2 + mu |Z|. The delta that goes
   with epsilon is the mean of (1 - e^(epsilon - loss))_+, which grows with the loss, so it is
   at most the sum over both signs of Z of the mean of
   (1 - e^(epsilon - J - mu^2 / 2 - mu Z))_+: twice the delta of mu-GDP at epsilon - J.
3. *With the ball.* Add k times the squared distance from the ball (smoothed) to both objectives:
   a convex function, the same for both tables, which changes neither bound of step 1. As k grows
   the minimisers tend to those over the ball for every b, and (epsilon, delta)-DP holds in the
   limit (Kifer et al., Theorem 1).

So it is (epsilon, delta)-DP if mu-GDP is (epsilon - J, delta / 2)-DP. That is for the exact
minimiser; :meth:`~dpstats.noise.multiprecision.Objective.minimiser_in_ball` finds it to 2^-250.

Where it differs from Kifer et al. They bound |Z| by its quantile, ask for ridge >= 2 C / epsilon
and take sigma^2 = G^2 (8 log(2 / delta) + 4 epsilon) / epsilon^2. Here any ridge does, and at
epsilon 1 and delta 1e-6 the noise is about half.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpstats.noise.multiprecision import Objective, normals, on_grid
from dpstats.privacy import GDP


def deviation(
    gradient: float, curvature: float, ridge: float, epsilon: float, delta: float
) -> float:
    """Return the smallest sigma that the derivation above allows; epsilon must exceed J.

    >>> round(deviation(1.0, 1.0, 10.0, epsilon=1.0, delta=1e-6), 2)
    4.79
    """
    remaining = epsilon - math.log1p(curvature / ridge)
    return gradient / GDP.of(remaining, delta / 2).mu


def perturbed_minimiser(
    objective: Objective, sigma: float, radius: float, randbelow: Callable[[int], int]
) -> np.ndarray:
    """Minimise objective + b'theta over the ball, b ~ N(0, sigma^2 I), on the grid."""
    noise = sigma * normals(len(objective.linear), randbelow)
    perturbed = replace(objective, linear=objective.linear - noise)
    return on_grid(perturbed.minimiser_in_ball(radius)[0])
