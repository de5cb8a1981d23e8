#' List the methods
#'
#' @return A tibble with one row for each method: its name; its guarantee (`"pure"`: delta is 0);
#'   the relations between neighbouring tables it is proven for, the default first; whether it fits
#'   one regressor only; whether it needs bounds; what its standard errors are; and its source.
#' @examplesIf dpstats_available()
#' dp_methods()
#' @export
dp_methods <- function() tibble::as_tibble(ask("methods"))

#' Repeat the noise, for tests and teaching
#'
#' Whoever knows the seed can subtract the noise: what is made with it is not private, and says
#' so wherever it prints. `set.seed()` has no effect on private noise.
#'
#' The noise of all calls in `code` comes from one stream, so that calls after one another draw
#' different noise, and the same block run again draws the same.
#'
#' @param seed A whole number.
#' @param code Calls of [dp_ols()].
#' @return The value of `code`.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = 1:100 / 100, y = 1:100 / 100)
#' b <- list(x = c(0, 1), y = c(0, 1))
#' with_insecure_seed(1, dp_ols(y ~ x, d, method = "noisy_stats", epsilon = 4, bounds = b))
#' @export
with_insecure_seed <- function(seed, code) {
  if (!is.numeric(seed) || length(seed) != 1L || !is.finite(seed) || seed < 0 || seed %% 1 != 0) {
    bad_argument("expected seed to be a whole number >= 0")
  }
  before <- state$block
  block <- ask("open_seed", list(seed = seed))
  on.exit({
    state$block <- before
    ask("close_seed", list(block = block))
  })
  state$block <- block
  force(code)
}
