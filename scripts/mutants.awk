# Lists what can be changed in C++ sources formatted by clang-format, one change a line:
# FILE, line number, the line, the changed line (tabs between). Input: the files.
# Comments, texts and preprocessor lines are left as they are.

BEGIN {
  OFS = "\t"
  split("+ - * / % < <= > >= == != && || += -= *= /=", from, " ")
  split("- + / * * <= < >= > != == || && -= += /= *=", to, " ")
  for (i in from) swapped[from[i]] = to[i]
}

FNR == 1 { in_comment = 0; depth_at = 0 }

# The line with what is not code blanked out, of the same length.
function code_of(line,    code, i, c, quote) {
  code = ""
  quote = ""
  for (i = 1; i <= length(line); ++i) {
    c = substr(line, i, 1)
    if (quote != "") {
      if (c == "\\") { code = code "  "; ++i; continue }
      if (c == quote) quote = ""
      code = code " "
    } else if (substr(line, i, 2) == "//") {
      while (length(code) < length(line)) code = code " "
      return code
    } else if (c == "\"" || (c == "'" && substr(line, i - 1, 1) !~ /[0-9]/)) {
      quote = c
      code = code " "
    } else {
      code = code c
    }
  }
  return code
}

function emit(at, size, text) {
  print FILENAME, FNR, $0, substr($0, 1, at - 1) text substr($0, at + size)
}

/^#/ || /^using / || /^template/ || /^namespace/ || /static_assert/ || /std::length_error/ { next }
index($0, "\t") { next }

{
  code = code_of($0)
  # Operators stand between spaces.
  for (i = 2; i < length(code); ++i) {
    if (substr(code, i, 1) != " ") continue
    token = substr(code, i + 1)
    if (match(token, /^[-+*\/%<>=!&|]+ /) == 0) continue
    token = substr(token, 1, RLENGTH - 1)
    if (token in swapped) emit(i + 1, length(token), swapped[token])
  }
  # The same at the end of a line.
  if (match(code, / [-+*\/%<>=!&|]+ *$/)) {
    token = substr(code, RSTART + 1, RLENGTH - 1)
    sub(/ +$/, "", token)
    if (token in swapped && length(code) == RSTART + length(token)) {
      emit(RSTART + 1, length(token), swapped[token])
    }
  }
  # Calls.
  names["std::min"] = "std::max"; names["std::max"] = "std::min"
  names["std::ceil"] = "std::floor"; names["std::floor"] = "std::ceil"
  names["std::all_of"] = "std::any_of"; names["std::any_of"] = "std::all_of"
  for (n in names) {
    at = index(code, n "(")
    if (at == 0) at = index(code, n "<")
    if (at > 0) emit(at, length(n), names[n])
  }
  # Numbers: doubled, 0 becomes 1. Not those inside names, array bounds of types and versions.
  rest = code
  skipped = 0
  while (match(rest, /[0-9][0-9.']*(e-?[0-9]+)?/)) {
    at = skipped + RSTART
    size = RLENGTH
    before = substr(code, at - 1, 1)
    after = substr(code, at + size, 1)
    value = substr(code, at, size)
    skipped += RSTART + RLENGTH - 1
    rest = substr(code, skipped + 1)
    if (before ~ /[A-Za-z0-9_.]/ || after ~ /[A-Za-z_]/ || after == ">" || value ~ /'|\.$/) continue
    if (value == 0) emit(at, size, "1")
    else emit(at, size, value ~ /e/ ? "2 * " value : value * 2)
  }
  # A statement that sets something, left out.
  if (code ~ /^ +[a-z_][A-Za-z_.]*(\[[^]]*\])? [-+*\/]?= .*; *$/ || code ~ /^ +(set|add|emit|lower|spend)\(.*; *$/) {
    print FILENAME, FNR, $0, "  ;"
  }
}
