"""What the papers did, kept as wrong as it is printed."""
