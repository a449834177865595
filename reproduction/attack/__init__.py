"""An attack on the real protocol, simulated, and the lower bounds on delta that it gives."""
