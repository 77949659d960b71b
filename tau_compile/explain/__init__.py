"""Where values come from: resolved fields with what lost, and rendered leaves with the inputs that decide them."""
