"""From the nodes of a plan to the kernels that compute them, over columns of given names."""
