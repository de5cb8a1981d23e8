# A comparison as text, HTML and LaTeX, in lines.

comparison_title <- "Differentially Private Regressions"

# All cells, with the names of the facts in front of theirs.
cells_of <- function(comparison) {
  rbind(comparison$estimates, cbind(fact_names, unname(comparison$facts)))
}

as_text <- function(x) {
  cells <- rbind(c("", x$names), cells_of(x))
  columns <- lapply(seq_len(ncol(cells)), function(j) {
    formatC(cells[, j], width = max(nchar(cells[, j])), flag = if (j == 1L) "-" else "")
  })
  lines <- do.call(paste, c(columns, sep = "  "))
  rule <- function(mark) strrep(mark, nchar(lines[1L]))
  above <- seq_len(1L + nrow(x$estimates))
  c(formatC(comparison_title, width = -nchar(lines[1L])), rule("="), lines[1L], rule("-"),
    lines[above[-1L]], rule("-"), lines[-above], rule("-"), unlist(lapply(x$notes, strwrap, 78L)))
}

as_html <- function(x) {
  cells <- matrix(escaped(cells_of(x), html_escapes), ncol = length(x$names) + 1L)
  tagged <- function(row, tag) {
    paste0("<tr><th>", row[1L], "</th>",
           paste0("<", tag, ">", row[-1L], "</", tag, ">", collapse = ""), "</tr>")
  }
  c("<table class=\"simpletable\">", paste0("<caption>", comparison_title, "</caption>"),
    tagged(c("", escaped(x$names, html_escapes)), "th"), apply(cells, 1L, tagged, "td"), "</table>",
    paste0("<p>", escaped(x$notes, html_escapes), "</p>"))
}

as_latex <- function(x) {
  cells <- matrix(escaped(cells_of(x), latex_escapes), ncol = length(x$names) + 1L)
  lines <- paste(apply(cells, 1L, paste, collapse = " & "), "\\\\")
  estimates <- seq_len(nrow(x$estimates))
  c(paste0("\\begin{tabular}{l", strrep("r", length(x$names)), "}"), "\\toprule",
    paste(paste(c("", escaped(x$names, latex_escapes)), collapse = " & "), "\\\\"), "\\midrule",
    lines[estimates], "\\midrule", lines[-estimates], "\\bottomrule", "\\end{tabular}",
    "\\par\\noindent\\footnotesize", paste(escaped(x$notes, latex_escapes), "\\\\"))
}

html_escapes <- c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;", "'" = "&#39;")

latex_escapes <- c(
  "\\" = "\\textbackslash{}", "{" = "\\{", "}" = "\\}", "&" = "\\&", "%" = "\\%", "$" = "\\$",
  "#" = "\\#", "_" = "\\_", "~" = "\\textasciitilde{}", "^" = "\\textasciicircum{}",
  "<" = "\\textless{}", ">" = "\\textgreater{}", "|" = "\\textbar{}"
)

# Texts with each of their special characters replaced, once.
escaped <- function(texts, escapes) {
  vapply(strsplit(texts, ""), function(marks) {
    special <- marks %in% names(escapes)
    paste(replace(marks, special, escapes[marks[special]]), collapse = "")
  }, "")
}
