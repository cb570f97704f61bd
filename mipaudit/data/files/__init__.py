"""The bytes of inputs: paths, archives, hashes, how much may be unpacked."""
