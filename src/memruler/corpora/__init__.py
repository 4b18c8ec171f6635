"""One file a data set: found, verified, and turned into Instances."""
