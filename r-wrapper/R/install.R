#' Install the Python package
#'
#' Installs the Python package dpstats, which draws the noise, into a virtual environment named
#' `r-dpstats`, which this package uses when it is there. Restart R afterwards.
#'
#' @param source What pip is to install: the folder of the sources of dpstats, or a name and
#'   version that pip can find.
#' @param python A Python to make the environment with, 3.11 or later; by default the one that
#'   reticulate finds.
#' @param ... Passed to [reticulate::virtualenv_install()].
#' @return Nothing.
#' @examples
#' \dontrun{
#' install_dpstats("path/to/dpstats")
#' }
#' @export
install_dpstats <- function(source, python = NULL, ...) {
  if (missing(source)) {
    bad_argument("source is missing; give the folder of the sources of the Python package")
  }
  if (dir.exists(source)) source <- normalizePath(source)
  if (!environment_name %in% reticulate::virtualenv_list()) {
    reticulate::virtualenv_create(environment_name, python = python)
  }
  reticulate::virtualenv_install(environment_name, packages = source, ...)
  message("installed dpstats into ", environment_name, "; restart R to use it")
  invisible(NULL)
}
