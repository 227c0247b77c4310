"""Products of a mixture of experts: each token with the weights of the experts that it is sent to."""
