"""Control agent: loads a program, starts it, waits for its end, samples what it left."""
