import cutlass
from cutlass import cute


class Rows:
    """Softmax in pieces: of each piece the places that a list names, what came before rescaled, empty rows left out."""

    @cute.kernel
    def kernel(self, scores, out, lse, listed, lanes, scale):
        thread, _, _ = cute.arch.thread_idx()
        kept = cute.make_fragment(lanes, cutlass.Float32)
        rows = cute.size(kept.shape[0])
        top = cute.make_fragment((rows,), cutlass.Float32)
        total = cute.make_fragment((rows,), cutlass.Float32)
        top.fill(-cutlass.Float32.inf)
        total.fill(0.0)
        for piece in range(listed.shape[0]):
            base = listed[piece] * 8
            for r in cutlass.range_constexpr(rows):
                row = scores[base + thread, r, None].load()
                highest = row.reduce(cute.ReductionOp.MAX, -cutlass.Float32.inf, 0)
                before = top[r]
                highest = cute.arch.fmax(before, highest)
                safe = 0.0 if highest == -cutlass.Float32.inf else highest
                share = cute.math.exp2(row * scale - safe * scale)
                again = cute.math.exp2(before * scale - safe * scale)
                total[r] = share.reduce(cute.ReductionOp.ADD, cutlass.Float32.zero, 0) + total[r] * again
                kept[r, None] = kept[r, None].load() * again
                top[r] = highest
        for r in cutlass.range_constexpr(rows):
            last = top[r]
            safe = 0.0 if last == -cutlass.Float32.inf else last
            whole = 0.0 if (total[r] == 0.0 or total[r] != total[r]) else cute.arch.rcp_approx(total[r])
            for c in cutlass.range_constexpr(8):
                place = listed[c]
                out[place, r] = (kept[r, c] * whole).to(out.element_type)
            lse[r] = safe * scale + cute.math.log2(total[r])
