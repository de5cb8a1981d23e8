# Builds the site of the R package in build/docs-r. Usage: Rscript docs/site/pkgdown.R, from the root
# of the sources, with RETICULATE_PYTHON naming a Python that has dpstats, as the articles fit.
if (!requireNamespace("pkgdown", quietly = TRUE)) {
  stop("the site needs pkgdown: install.packages(\"pkgdown\"), or apt-get install r-cran-pkgdown",
    call. = FALSE
  )
}
options(pkgdown.internet = FALSE) # nothing is looked up, so that the site is the same everywhere
unlink("build/docs-r", recursive = TRUE)
pkg <- pkgdown::as_pkgdown("r-wrapper", override = list(destination = "../build/docs-r"))
pkgdown::build_site(pkg, preview = FALSE, new_process = FALSE, install = TRUE)

# Debian's pkgdown adds the MathJax of the machine it runs on, which is nowhere else.
for (page in list.files("build/docs-r", "\\.html$", recursive = TRUE, full.names = TRUE)) {
  lines <- readLines(page, encoding = "UTF-8")
  local <- "<script src=\"file://[^>]*></script>"
  writeLines(gsub(local, "", lines), page, useBytes = TRUE)
}
