# What is declared of the survey's columns, as in codebook.toml: public, and known without the rows.
bounds <- list(age = c(18, 66), hours = c(0, 80), wage = c(2, 400), weight = c(20, 200))
levels <- list(
  sex = c("female", "male"),
  education = c("primary", "secondary", "vocational", "tertiary")
)
types <- list(state = "string", unemployed = "boolean")
