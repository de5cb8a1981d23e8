# A comparison as text, HTML and LaTeX, in lines.

comparison_title <- "Differentially Private Regressions"

# The first choice is the default, as for match.arg(), whose message would not name the argument.
chosen_format <- function(format, known) {
  if (identical(format, known)) return(known[1L])
  if (!is.character(format) || length(format) != 1L || !format %in% known) {
    bad_argument("expected format to be one of ", toString(dQuote(known, FALSE)), ", got ",
                 shown(format))
  }
  format
}

# Cells of estimates by term, below them standard errors where a column has one.
estimate_rows <- function(comparison) {
  rows <- lapply(comparison$terms, function(term) {
    at <- lapply(comparison$columns, function(column) {
      column$quantities[match(term, column$quantities$term), ]
    })
    estimates <- vapply(at, function(row) {
      if (is.na(row$term)) return("")
      paste0(cell(row$estimate, "%#.4g"), symbol_of(row$p.value, comparison$layout))
    }, "")
    errors <- vapply(at, function(row) {
      if (is.na(row$std.error)) "" else cell(row$std.error, "(%#.3g)")
    }, "")
    stub <- label_of(term, comparison$layout)
    rbind(c(stub, unname(estimates)), if (any(nzchar(errors))) c("", unname(errors)))
  })
  do.call(rbind, rows)
}

cell <- function(value, format) if (is.na(value)) "NA" else sprintf(format, value)

# All cells, with the names of the facts in front of theirs, those that any column has.
cells_of <- function(comparison) {
  facts <- vapply(comparison$columns, `[[`, character(length(fact_names)), "facts")
  told <- apply(facts != "", 1L, any)
  rbind(estimate_rows(comparison), cbind(fact_names, unname(facts))[told, , drop = FALSE])
}

title_of <- function(comparison) {
  private <- vapply(comparison$columns, `[[`, TRUE, "private")
  if (all(private)) comparison_title else "Regressions, Private and Not Private"
}

as_text <- function(x) {
  cells <- rbind(c("", x$names), cells_of(x))
  columns <- lapply(seq_len(ncol(cells)), function(j) {
    formatC(cells[, j], width = max(nchar(cells[, j])), flag = if (j == 1L) "-" else "")
  })
  lines <- do.call(paste, c(columns, sep = "  "))
  rule <- function(mark) strrep(mark, nchar(lines[1L]))
  above <- seq_len(1L + nrow(estimate_rows(x)))
  c(formatC(title_of(x), width = -nchar(lines[1L])), rule("="), lines[1L], rule("-"),
    lines[above[-1L]], rule("-"), lines[-above], rule("-"), unlist(lapply(x$notes, strwrap, note_width())))
}

as_html <- function(x) {
  cells <- matrix(escaped(cells_of(x), html_escapes), ncol = length(x$names) + 1L)
  tagged <- function(row, tag) {
    paste0("<tr><th style=\"text-align: left\">", row[1L], "</th>",
           paste0("<", tag, ">", row[-1L], "</", tag, ">", collapse = ""), "</tr>")
  }
  c("<table class=\"simpletable\" style=\"text-align: right\">",
    paste0("<caption>", title_of(x), "</caption>"),
    tagged(c("", escaped(x$names, html_escapes)), "th"), apply(cells, 1L, tagged, "td"), "</table>",
    paste0("<p>", escaped(x$notes, html_escapes), "</p>"))
}

as_latex <- function(x) {
  cells <- matrix(escaped(cells_of(x), latex_escapes), ncol = length(x$names) + 1L)
  cells[, -1L] <- sub("^-(?=[0-9])", "$-$", cells[, -1L], perl = TRUE) # minus and not a hyphen
  lines <- paste(at_start(apply(cells, 1L, paste, collapse = " & ")), "\\\\")
  estimates <- seq_len(nrow(estimate_rows(x)))
  c("\\begin{center}", paste0("\\begin{tabular}{l", strrep("r", length(x$names)), "}"), "\\toprule",
    paste(paste(c("", escaped(x$names, latex_escapes)), collapse = " & "), "\\\\"), "\\midrule",
    lines[estimates], "\\midrule", lines[-estimates], "\\bottomrule", "\\end{tabular}",
    "\\end{center}", "{\\footnotesize\\noindent",
    paste0(at_start(escaped(x$notes, latex_escapes)), c(rep(" \\\\", length(x$notes) - 1L), "")),
    "\\par}")
}

# A star or bracket at the start of a line would belong to the line break before it.
at_start <- function(lines) sub("^([*[])", "{\\1}", lines)

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
