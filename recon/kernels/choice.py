"""What a row of logits chooses: the definition that every kernel here must match."""

import torch


def choose(logits: torch.Tensor) -> torch.Tensor:
    """Greedy choice of each row, as `torch.argmax` documents it.

    The largest value wins and, among equals, the lowest index; -0.0 equals +0.0; a NaN is larger than every number,
    and the first NaN wins. Written without argmax, so that argmax and the kernels are both compared with it.

    Args:
        logits: float [B, N, V], any strides, V >= 1.

    Returns:
        int64 [B, N].
    """
    vocab = torch.arange(logits.shape[-1], device=logits.device)
    chosen = torch.empty(logits.shape[:-1], dtype=torch.int64, device=logits.device)
    for request in range(logits.shape[0]):  # one request at a time bounds the int64 temporary
        rows = logits[request]  # [N, V]
        nan = rows.isnan()
        largest = torch.where(nan, float("-inf"), rows).amax(-1, keepdim=True)
        wins = torch.where(nan.any(-1, keepdim=True), nan, rows == largest)
        chosen[request] = torch.where(wins, vocab, logits.shape[-1]).amin(-1)
    return chosen
