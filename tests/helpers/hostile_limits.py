"""What files that would fill the memory have in common."""

MILLION = 10**6
MANY = 200  # millions of bytes: more than the tests leave, little enough to be made in a second
MEMORY = "would take .* of memory; expected at most the .* MB available"
LIMIT = "takes more than .* MB of memory to read"
