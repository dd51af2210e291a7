"""What tests share: builders, fakes, rigs."""
