#' Install the Python package
#'
#' Installs the Python package dpstats, which draws the noise, with pyarrow, which reads files, into
#' a virtual environment named `r-dpstats`, which this package uses when it is there. What is to be
#' installed and the Python that runs it are checked before anything is made.
#'
#' Without `python`, an environment that fits is kept. Otherwise it is made with the first fitting
#' Python among `RETICULATE_PYTHON`, those on the search path, those that pyenv built, and one that
#' the program uv finds or downloads. If none fits, the error lists them and what each lacks. The
#' programs run without the folders that R adds to `LD_LIBRARY_PATH`, where a Python could find
#' another version of a library of its own, such as that of ssl.
#'
#' @param source What to install: the folder of the sources of dpstats, a wheel, the URL of
#'   one, or a version such as `"dpstats==0.1.0"` that pip can find. By default the wheel that this
#'   R package was built with. Its version must be that of this R package.
#' @param python A Python to make the environment with, 3.11 or later. If an environment exists that
#'   was made with another one, it is made anew.
#' @param pip_options Further options of `pip install`, such as `"--no-index"`.
#' @return The folder of the environment, invisibly.
#' @examples
#' \dontrun{
#' install_dpstats()
#' install_dpstats("path/to/dpstats", python = "/usr/bin/python3.12")
#' }
#' @export
install_dpstats <- function(source = NULL, python = NULL, pip_options = character()) {
  source <- checked_source(source)
  place <- environment_path()
  start <- environment_start(place, python)
  if (!is.null(start)) {
    outside(start, c("-m", "venv", "--clear", shQuote(place)), paste("making", place))
  }
  pip_install(place, source, pip_options)
  why <- unusable(environment_python(place))
  if (!is.null(why)) fail("dpstats_python_error", place, " was made but ", why)
  message("installed dpstats ", package_number(), " into ", place, ready(place))
  invisible(place)
}

environment_path <- function() {
  file.path(path.expand(reticulate::virtualenv_root()), environment_name)
}

environment_python <- function(place) {
  windows <- .Platform$OS.type == "windows"
  file.path(place, if (windows) "Scripts/python.exe" else "bin/python")
}

# The Python to make the environment with, or NULL where the one that exists is to be kept.
environment_start <- function(place, python) {
  own <- environment_python(place)
  if (is.null(python)) {
    if (file.exists(own) && is.null(unfit(own))) return(NULL)
    return(fitting_python())
  }
  python <- named_python(python)
  if (file.exists(own) && is.null(unfit(own)) && identical(base_of(own), base_of(python))) {
    return(NULL)
  }
  python
}

pip_install <- function(place, source, options) {
  python <- environment_python(place)
  pip <- function(...) {
    arguments <- c("-I", "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    outside(python, c(arguments, ..., options), paste("pip install of", source))
  }
  pip("--upgrade", shQuote(with_parquet(source)))
  # pip keeps what has this version, which may have been built from other sources
  if (file.exists(source)) pip("--force-reinstall", "--no-deps", shQuote(source))
}

# What stands between the environment and its use.
ready <- function(place) {
  variable <- Sys.getenv("RETICULATE_PYTHON")
  if (nzchar(variable) && variable != environment_python(place)) {
    return(paste0("; RETICULATE_PYTHON makes R use ", variable, " instead, so unset it"))
  }
  if (reticulate::py_available()) return("; restart R to use it")
  reticulate::use_virtualenv(place)
  ""
}
