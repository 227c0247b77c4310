"""The definition of compaction. Pure torch and plain loops: it runs anywhere and hides nothing."""

import torch


def reference(buffers: list[torch.Tensor], source: torch.Tensor, target: torch.Tensor, count: torch.Tensor) -> None:
    """Move accepted rows to where the next step looks for them, in place; all rows of a request leave at once.

    Args:
        buffers: Keys and values of each layer, [pages, page, words] each, any stride between pages.
        source: int32 [B, W]. Slots of the accepted nodes, along the path; a slot counts through all pages.
        target: int32 [B, W]. Slots that they go to: no slot twice, none of another request's.
        count: int32 [B]. How many of the W hold; the rest is arbitrary.
    """
    page, place = buffers[0].shape[1], torch.arange(source.shape[1], device=source.device)
    holds = place < count[:, None]
    here, there = source[holds].long(), target[holds].long()
    for buffer in buffers:
        held = buffer[here // page, here % page]  # a copy
        buffer[there // page, there % page] = held
