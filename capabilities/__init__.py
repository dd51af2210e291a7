"""What agents may be given: the contract authors import, the built-ins, and the linter of declarations."""
