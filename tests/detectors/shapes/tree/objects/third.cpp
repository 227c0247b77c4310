#include <vector>

struct Leaf {
  int place;
  long letter;
  std::vector<Leaf*> below;
};

std::vector<int> walk(Leaf* here, const std::vector<long>& wish) {
  std::vector<int> seen;
  for (bool goes = true; goes;) {
    goes = false;
    for (Leaf* each : here->below) {
      if (each->letter == wish[here->place]) {
        seen.push_back(each->place);
        here = each;
        goes = true;
        break;
      }
    }
  }
  return seen;
}
