# What install_dpstats() is to install, looked at before anything is built.

# The source as pip takes it: a path, a URL or a name with a version.
checked_source <- function(source) {
  if (is.null(source)) return(own_wheel())
  if (!is.character(source) || length(source) != 1L || is.na(source)) {
    bad_argument("expected source to be a folder, a wheel, a URL or a version, got ",
                 class(source)[1L])
  }
  if (grepl("^(git\\+)?https?://", source)) {
    check_version(version_in(basename(source)), source)
    return(source)
  }
  if (grepl("^dpstats(==.+)?$", source) && !file.exists(source)) {
    check_version(if (grepl("==", source)) sub(".*==", "", source), source)
    return(source)
  }
  if (!file.exists(source)) bad_argument("there is no folder or file ", source, " to install")
  if (dir.exists(source)) check_folder(source) else check_file(source)
  normalizePath(source)
}

# The wheel that was put into this package when it was built.
own_wheel <- function() {
  wheel <- list.files(system.file("python", package = "dpstats"), "[.]whl$", full.names = TRUE)
  if (length(wheel) == 1L) return(wheel)
  bad_argument("this R package was built without the Python package; give as source the folder of ",
               "the sources of dpstats, its wheel, or the URL of its wheel")
}

check_folder <- function(source) {
  file <- file.path(source, "pyproject.toml")
  lines <- if (file.exists(file)) readLines(file, warn = FALSE)
  if (!any(grepl("^name *= *\"dpstats\"", lines))) {
    bad_argument("the folder ", source, " does not hold the sources of the Python package ",
                 "dpstats; name the one with its pyproject.toml")
  }
  version <- grep("^version *= *\"", lines, value = TRUE)[1L]
  check_version(sub("^version *= *\"([^\"]+)\".*", "\\1", version), source)
}

check_file <- function(source) {
  version <- version_in(basename(source))
  if (is.null(version)) {
    bad_argument("expected source to be a wheel such as dpstats-", package_number(),
                 "-py3-none-any.whl, got ", source)
  }
  check_version(version, source)
}

# The version in the name of a wheel or of a source archive of dpstats, or NULL.
version_in <- function(name) {
  pattern <- "^dpstats-([0-9][^-]*?)(-.*[.]whl|[.]tar[.]gz)$"
  if (grepl(pattern, name, perl = TRUE)) sub(pattern, "\\1", name, perl = TRUE)
}

check_version <- function(version, source) {
  if (is.null(version) || three_numbers(version) == package_number()) return(invisible())
  bad_argument(source, " has version ", version, " of the Python package, and this R package ",
               "needs ", package_number(), "; install versions that belong together")
}

package_number <- function() three_numbers(as.character(utils::packageVersion("dpstats")))

three_numbers <- function(version) sub("^([0-9]+[.][0-9]+[.][0-9]+).*", "\\1", version)

# The extra that brings pyarrow.
with_parquet <- function(source) {
  if (grepl("^(git\\+)?https?://", source)) return(paste("dpstats[parquet] @", source))
  if (file.exists(source)) return(paste0(source, "[parquet]"))
  sub("^dpstats", "dpstats[parquet]", source)
}
