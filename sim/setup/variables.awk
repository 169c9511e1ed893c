# SPDX-License-Identifier: Apache-2.0
# Prints why a variable on make's command line is refused, or nothing:
#   awk -v goals='run' -v given='PROGRAM WAVE' -f variables.awk Makefile
# A target takes the variables that its help text in the Makefile names as NAME=, those of the
# targets that it needs, and what set-up takes.

/^[a-z-]+:([^=]|$)/ {
  target = $1
  sub(/:.*/, "", target)
  line = $0
  help = ""
  if (at = index(line, " ## ")) {
    help = substr(line, at + 4)
    line = substr(line, 1, at - 1)
  }
  sub(/^[^:]*: */, "", line)
  needs[target] = needs[target] " " line
  while (match(help, /[A-Z][A-Z_]*=/)) {
    variable = substr(help, RSTART, RLENGTH - 1)
    help = substr(help, RSTART + RLENGTH)
    if (takes[target] !~ "(^| )" variable "( |$)") takes[target] = takes[target] " " variable
    if (users[variable] !~ "(^| )" target "(,|$)") users[variable] = users[variable] (users[variable] ? ", " : "") target
  }
}

# Adds to `legal` what a target and those that it needs take.
function collect(target,    i, n, words) {
  n = split(takes[target], words, " ")
  for (i = 1; i <= n; i++) legal[words[i]] = 1
  n = split(needs[target], words, " ")
  for (i = 1; i <= n; i++) collect(words[i])
}

# Edits that make one word of the other.
function distance(a, b,    i, j, above, best, row, cost) {
  for (j = 0; j <= length(b); j++) row[j] = j
  for (i = 1; i <= length(a); i++) {
    above = row[0]
    row[0] = i
    for (j = 1; j <= length(b); j++) {
      cost = above + (substr(a, i, 1) != substr(b, j, 1))
      best = row[j] < row[j - 1] ? row[j] : row[j - 1]
      above = row[j]
      row[j] = best + 1 < cost ? best + 1 : cost
    }
  }
  return row[length(b)]
}

# The variable that was meant, when one is near enough.
function nearest(name,    best, variable, d, found) {
  best = length(name) > 4 ? 3 : 2
  for (variable in legal) {
    d = distance(toupper(name), variable)
    if (d < best || (d == best && found && variable < found)) {
      best = d
      found = variable
    }
  }
  return found
}

END {
  legal["PYTHON"] = legal["VENV"] = legal["CXX"] = 1
  count = split(goals, wanted, " ")
  for (i = 1; i <= count; i++) collect(wanted[i])
  where = "'make" (goals == "all" ? "" : " " goals) "'"
  count = split(given, names, " ")
  for (i = 1; i <= count; i++) {
    name = names[i]
    if (name in legal) continue
    meant = nearest(name)
    if (name in users) print name "= has no effect on " where \
      (meant && distance(name, meant) == 1 ? "; did you mean " meant "=" : "") "; it is for: " users[name]
    else print name "= is no variable of " where (meant ? "; did you mean " meant "=" : "; 'make help' lists them")
    exit
  }
}
