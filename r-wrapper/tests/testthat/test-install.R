# What is checked before anything is built. The Pythons are scripts that answer as Pythons would.
a_python <- function(folder, ..., base = "/base", name = "python3") {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  path <- file.path(folder, name)
  answer <- paste0("'", c(...), "\\n'", collapse = "")
  # the script is the last argument; only one asks for the base
  writeLines(c(
    "#!/bin/sh", "for script; do :; done",
    paste0("if /bin/grep -q base_prefix \"$script\"; then echo ", base, "; exit; fi"),
    paste0("printf ", answer)
  ), path)
  Sys.chmod(path, "755")
  path
}

# Run code with another environment and a folder for virtual environments.
with_variables <- function(variables, code) {
  before <- Sys.getenv(names(variables), NA, names = TRUE)
  on.exit({
    Sys.unsetenv(names(before)[is.na(before)])
    set <- as.list(before[!is.na(before)])
    if (length(set)) do.call(Sys.setenv, set) # which refuses to be called with nothing
  })
  do.call(Sys.setenv, as.list(variables))
  force(code)
}

test_that("variables that were not set are not set again", {
  Sys.unsetenv("DPSTATS_NOWHERE")
  expect_identical(with_variables(c(DPSTATS_NOWHERE = "1"), Sys.getenv("DPSTATS_NOWHERE")), "1")
  expect_identical(Sys.getenv("DPSTATS_NOWHERE", NA), NA_character_)
})

alone <- function(folders, home = tempfile(), code) {
  with_variables(c(PATH = paste(folders, collapse = ":"), WORKON_HOME = home, PYENV_ROOT = home,
                   RETICULATE_PYTHON = ""), code)
}

fits <- c("3.12.1", "venv", "ssl")

test_that("the source and its version are checked before anything is built", {
  expect_refused <- function(source, words) {
    expect_error(checked_source(source), words, class = "dpstats_argument_error")
  }
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  expect_refused(folder, "does not hold the sources")
  project <- file.path(folder, "pyproject.toml")
  writeLines(c("[project]", "name = \"dpstats\"", "version = \"9.1.0\"  # later"), project)
  expect_refused(folder, "has version 9.1.0 .*needs 0\\.[0-9.]+; install versions that belong")
  writeLines(c("name = \"dpstats\"", paste0("version = \"", package_number(), "\"")), project)
  expect_identical(checked_source(folder), normalizePath(folder))
  wheel <- file.path(folder, "dpstats-9.1.0-py3-none-any.whl")
  own <- file.path(folder, paste0("dpstats-", package_number(), "-py3-none-any.whl"))
  file.create(wheel, own, file.path(folder, "other.whl"))
  expect_refused(wheel, "has version 9.1.0")
  expect_refused(file.path(folder, "other.whl"), "a wheel such as dpstats-")
  ours <- checked_source(own)
  expect_identical(with_parquet(ours), paste0(ours, "[parquet]"))
  expect_refused("nowhere", "no folder or file nowhere")
  expect_refused("dpstats==9.1.0", "has version 9.1.0")
  expect_refused("https://host/dpstats-9.1.0.tar.gz", "has version 9.1.0")
  expect_identical(with_parquet(checked_source("dpstats")), "dpstats[parquet]")
  url <- paste0("https://host/dpstats-", package_number(), "-py3-none-any.whl")
  expect_identical(with_parquet(checked_source(url)), paste("dpstats[parquet] @", url))
})

test_that("the wheel in the package is the default, and its absence is said", {
  if (nzchar(system.file("python", package = "dpstats"))) {
    expect_match(checked_source(NULL), "dpstats-.*[.]whl$")
  } else {
    expect_error(checked_source(NULL), "built without the Python package", class = "dpstats_error")
  }
})

test_that("the oldest Python is the one that the Python package needs", {
  expect_match(least_python(), "^3[.][0-9]+$")
  skip_without_python()
  metadata <- reticulate::import("importlib.metadata")$metadata("dpstats")
  expect_identical(metadata[["Requires-Python"]], paste0(">=", least_python()))
})

test_that("the first Python that fits is taken, and of the others it is said what they lack", {
  skip_on_os("windows")
  root <- tempfile()
  on.exit(unlink(root, recursive = TRUE))
  places <- file.path(root, 1:5)
  wrong <- c(a_python(places[1L], "3.9.2", "venv", "ssl"), a_python(places[2L], "3.11.2"),
             a_python(places[3L], "3.13.0", "venv"), a_python(places[4L], "install me first"))
  error <- tryCatch(alone(places[1:4], code = fitting_python()), error = identity)
  expect_s3_class(error, "dpstats_python_error")
  reasons <- c("is Python 3.9.2, older than 3.11", "python3-venv", "no working module ssl",
               "does not run")
  for (i in 1:4) {
    expect_match(conditionMessage(error), paste0(wrong[i], " [^;]*", reasons[i], "[^;]*[;)]"))
  }
  good <- a_python(places[5L], fits)
  expect_identical(alone(places, code = fitting_python()), good)
  expect_error(alone(file.path(root, "empty"), code = fitting_python()), "none is on the search")
  expect_error(named_python(wrong[1L]), "older than 3.11; name another one", class = "dpstats_error")
  expect_error(named_python(file.path(root, "no")), "there is no program", class = "dpstats_error")
  expect_identical(named_python(good), good)
})

test_that("a Python that this reticulate cannot start does not fit", {
  skip_on_os("windows")
  root <- tempfile()
  on.exit(unlink(root, recursive = TRUE))
  path <- a_python(root, fits)
  expect_null(unfit(path))
  lines <- readLines(path)
  writeLines(append(lines, "case \"$script\" in */config.py) exit 1;; esac", 2L), path)
  expect_match(unfit(path), "is Python 3.12.1, which reticulate [0-9.]+ cannot start")
})

test_that("uv is asked for a Python where none fits", {
  skip_on_os("windows")
  root <- tempfile()
  on.exit(unlink(root, recursive = TRUE))
  downloaded <- a_python(file.path(root, "uv-python"), fits)
  uv <- a_python(file.path(root, "bin"), downloaded, name = "uv")
  expect_message(found <- alone(file.path(root, "bin"), code = fitting_python()), "asking uv")
  expect_identical(found, downloaded)
  writeLines(c("#!/bin/sh", "echo no network >&2", "exit 2"), uv)
  expect_error(suppressMessages(alone(file.path(root, "bin"), code = fitting_python())),
               "uv python install ended with an error: no network", class = "dpstats_python_error")
})

test_that("an environment is kept while it fits, and python is obeyed", {
  skip_on_os("windows")
  root <- tempfile()
  on.exit(unlink(root, recursive = TRUE))
  place <- file.path(root, "r-dpstats")
  named <- a_python(file.path(root, "one"), fits, base = "/one")
  other <- a_python(file.path(root, "two"), fits, base = "/two")
  start <- function(python = NULL) {
    alone(file.path(root, "one"), code = environment_start(place, python))
  }
  expect_identical(start(), named)
  a_python(file.path(place, "bin"), fits, base = "/one", name = "python")
  expect_null(start())
  expect_null(start(named))
  expect_identical(start(other), other)
  a_python(file.path(place, "bin"), "3.9.1", "venv", "ssl", name = "python")
  expect_identical(start(), named)
})

test_that("programs run without the libraries of R, and with those of the user", {
  skip_on_os("windows")
  variable <- "LD_LIBRARY_PATH"
  of_r <- system2("/bin/sh", c("-c", shQuote(". \"$R_HOME/etc/ldpaths\"; echo $R_LD_LIBRARY_PATH")),
                  stdout = TRUE)
  seen <- function(value) {
    with_variables(c(LD_LIBRARY_PATH = value), {
      inside <- without_r_libraries(Sys.getenv(variable))
      expect_identical(Sys.getenv(variable), value)
      inside
    })
  }
  expect_identical(seen(of_r), "")
  expect_identical(seen(paste0(of_r, ":/opt/lib")), "/opt/lib")
  expect_identical(seen("/opt/lib"), "/opt/lib")
})

test_that("where Python is missing it is said which were tried, and what makes one", {
  skip_on_os("windows")
  root <- tempfile()
  on.exit(unlink(root, recursive = TRUE))
  own <- file.path(root, "r-dpstats", "bin")
  old <- a_python(file.path(root, "old"), "3.8.1")
  missing <- function(python) {
    with_variables(c(WORKON_HOME = root, RETICULATE_PYTHON = python), why_not_loaded())
  }
  skip_without_python() # so that this session runs one, which is among those tried
  expect_match(missing(old), "does not load in this session, which runs")
  expect_identical(unusable(old), "is Python 3.8.1, older than 3.11")
  expect_identical(unusable(file.path(own, "python")), "is not there")
  expect_identical(unusable(a_python(own, "3.12.0", name = "python")), "has no package dpstats")
  a_python(own, "3.12.0", "there", "No module named pandas", name = "python")
  expect_identical(unusable(file.path(own, "python")),
                   "has a package dpstats that does not load: No module named pandas")
  a_python(own, "3.12.0", "there", name = "python")
  expect_null(unusable(file.path(own, "python")))
})
