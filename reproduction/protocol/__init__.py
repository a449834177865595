"""The paper's protocol, exactly as printed."""
