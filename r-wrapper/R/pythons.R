# Pythons on this computer: which fit, and what the others lack.

# The oldest Python that will do, as DESCRIPTION says.
least_python <- function() {
  needed <- utils::packageDescription("dpstats")$SystemRequirements
  sub(".*Python \\(>= ([0-9.]+)\\).*", "\\1", needed)
}

# The first Python that can make the environment; if there is none, the error says why of each.
fitting_python <- function() {
  reasons <- character()
  for (python in candidates()) {
    why <- unfit(python)
    if (is.null(why)) return(python)
    reasons <- c(reasons, paste(python, why))
  }
  downloaded <- python_of_uv()
  if (!is.null(downloaded)) return(downloaded)
  fail("dpstats_python_error", "no Python fits (",
       if (length(reasons)) paste(reasons, collapse = "; ") else "none is on the search path",
       "): install Python ", least_python(), " or later, on Debian and Ubuntu by apt-get install ",
       "python3 python3-venv, or give the path of one as python")
}

# The Python that a user named, if it fits.
named_python <- function(python) {
  if (!is.character(python) || length(python) != 1L || is.na(python)) {
    bad_argument("expected python to be the path of a Python, got ", class(python)[1L])
  }
  found <- Sys.which(path.expand(python))
  if (!nzchar(found)) bad_argument("there is no program ", python)
  why <- unfit(found)
  if (!is.null(why)) fail("dpstats_python_error", python, " ", why, "; name another one")
  unname(found)
}

# RETICULATE_PYTHON, those on the search path, and those that pyenv built.
candidates <- function() {
  folders <- strsplit(Sys.getenv("PATH"), .Platform$path.sep, fixed = TRUE)[[1L]]
  name <- "^python(3([.][0-9]+)?)?([.]exe)?$"
  on_path <- unlist(lapply(folders, list.files, name, full.names = TRUE))
  pyenv <- path.expand(Sys.getenv("PYENV_ROOT", "~/.pyenv"))
  built <- Sys.glob(file.path(pyenv, "versions", "*", "bin", "python"))
  found <- c(Filter(nzchar, Sys.getenv("RETICULATE_PYTHON")), on_path, rev(built))
  found[!duplicated(normalizePath(found, mustWork = FALSE))]
}

# The path of a Python that uv has or downloads, or NULL without uv.
python_of_uv <- function() {
  uv <- Sys.which("uv")
  if (!nzchar(uv)) return(NULL)
  version <- shQuote(paste0(">=", least_python()))
  message("asking uv for a Python ", least_python(), " or later")
  outside(uv, c("python", "install", version), "uv python install")
  found <- utils::tail(outside(uv, c("python", "find", version), "uv python find"), 1L)
  if (is.null(unfit(found))) found
}

# How far a Python gets towards making an environment into which pip can download.
steps_of_making <- c(
  "import sys; print('%d.%d.%d' % sys.version_info[:3])", "import venv, ensurepip; print('venv')",
  "import ssl; print('ssl')"
)

# Why a Python cannot make the environment, or NULL.
unfit <- function(python) {
  lines <- quietly(python, steps_of_making)
  too_old <- wrong_version(lines)
  if (!is.null(too_old)) return(too_old)
  if (length(lines) < 2L) {
    return("cannot make virtual environments, for which Debian has the package python3-venv")
  }
  if (length(lines) < 3L) return("has no working module ssl, without which pip cannot download")
  if (!started_by_reticulate(python)) {
    paste0("is Python ", lines[1L], ", which reticulate ", utils::packageVersion("reticulate"),
           " cannot start; a later reticulate may")
  }
}

# Whether reticulate's own questions about a Python are answered; those of 1.28 fail from 3.12 on.
started_by_reticulate <- function(python) {
  script <- system.file("config", "config.py", package = "reticulate")
  !nzchar(script) || length(lines_of(python, script)) > 0L
}

wrong_version <- function(lines) {
  if (!length(lines) || !grepl("^[0-9.]+$", lines[1L])) return("does not run")
  if (numeric_version(lines[1L]) < least_python()) {
    paste0("is Python ", lines[1L], ", older than ", least_python())
  }
}

# How far a Python gets towards being used.
steps_of_use <- c(
  steps_of_making[1L],
  "import importlib.util; assert importlib.util.find_spec('dpstats'); print('there')",
  "try: import dpstats.r", "except Exception as error: print(error)"
)

# Why a Python cannot be used by this package as R would start it, or NULL.
unusable <- function(python) {
  if (!file.exists(python)) return("is not there")
  lines <- quietly(python, steps_of_use, as_r = TRUE)
  too_old <- wrong_version(lines)
  if (!is.null(too_old)) return(too_old)
  if (length(lines) < 2L) return("has no package dpstats")
  problem <- paste(lines[-(1:2)], collapse = " ")
  if (nzchar(problem)) paste0("has a package dpstats that does not load: ", problem)
}

# The folder of the Python that an environment was made with.
base_of <- function(python) quietly(python, "import sys; print(sys.base_prefix)")

# The lines that steps of Python print until one fails; `as_r` starts it as R itself would, with R's
# libraries and PYTHONPATH.
quietly <- function(python, steps, as_r = FALSE) {
  script <- tempfile(fileext = ".py")
  on.exit(unlink(script))
  writeLines(steps, script)
  if (as_r) return(lines_of(python, script))
  without_r_libraries(lines_of(python, c("-E", "-s", script)))
}

# The lines that a Python prints; none where it fails at once.
lines_of <- function(python, arguments) {
  tryCatch(
    trimws(suppressWarnings(system2(python, shQuote(arguments), stdout = TRUE, stderr = FALSE))),
    error = function(e) character()
  )
}

# Run a program and return what it prints; if it fails, the error ends with its last lines.
outside <- function(program, arguments, doing) {
  file <- tempfile()
  on.exit(unlink(file))
  status <- without_r_libraries(
    suppressWarnings(system2(program, arguments, stdout = file, stderr = file))
  )
  lines <- readLines(file, warn = FALSE)
  if (status == 0L) return(invisible(lines))
  fail("dpstats_python_error", doing, " ended with an error: ",
       paste(utils::tail(lines, 3L), collapse = " "))
}

# R's start puts folders before those in LD_LIBRARY_PATH, from which another Python would load
# other versions of its libraries.
without_r_libraries <- function(code) {
  before <- Sys.getenv("LD_LIBRARY_PATH")
  if (!nzchar(before)) return(code)
  on.exit(Sys.setenv(LD_LIBRARY_PATH = before))
  script <- ". \"$R_HOME/etc/ldpaths\"; printf %s \"$R_LD_LIBRARY_PATH\""
  added <- system2("/bin/sh", c("-c", shQuote(script)), stdout = TRUE)
  rest <- if (startsWith(before, added)) substring(before, nchar(added) + 1L) else before
  rest <- sub("^:", "", rest)
  if (nzchar(rest)) Sys.setenv(LD_LIBRARY_PATH = rest) else Sys.unsetenv("LD_LIBRARY_PATH")
  force(code)
}
