"""States that a recurrence carries, by the steps that its parts stand in."""

from recon.detectors.testing import indexed

BRANCHES = """
template <bool PACKED>
__global__ void update(float* cell, const float* in, const float* gate, float decay, float* out, int width) {
  float fresh[16];
  float total = 0.f;
  if constexpr (PACKED) {
    for (int e = 0; e < width; e++) {
      float was = cell[e];
      auto const now = was * decay + in[e] * gate[e];
      fresh[e] = now;
      cell[e] = now;
      total += now * in[e];
    }
  } else {
    for (int e = 0; e < width; e++) {
      float was = cell[2 * e];
      auto const now = was * decay + in[e] * gate[e];
      fresh[e] = now;
      cell[2 * e] = now;
      total += now * in[e];
    }
  }
  out[0] = total;
}
"""
CARRIED = """
__global__ void scan(const float* first, const float* in, const float* gate, float* kept, int n) {
  float now = first[0];
  for (int t = 0; t < n; t++) {
    now = now * gate[t] + in[t];
    kept[t] = now;
  }
}
"""


def test_a_name_of_another_branch_is_not_carried_into_a_loop() -> None:
    """Elements of one state are updated side by side: nothing is kept for each token."""
    assert [] == list(indexed({"update.cuh": BRANCHES}).seen("stepped"))


def test_what_a_loop_carries_on_and_keeps_is_seen() -> None:
    """The state after each token lies at a place of its own."""
    (seen,) = indexed({"scan.cuh": CARRIED}).seen("stepped")

    assert ("scan", "kept") == (seen[0].symbol, seen[1].detail)
