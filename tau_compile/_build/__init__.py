"""What runs when the package is built. Not part of the wheel."""
