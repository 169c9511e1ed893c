"""The report: one HTML folder of everything that has run, which opens without a network.

`sources` reads the result files, one module a section makes data of them (`page` names its parts),
`write` puts them into the templates. `make report`, and `make regress` at its end.
"""
