#include <map>

struct Branch {
  int row;
  std::map<long, Branch*> onward;
};

int settle(Branch* tip, const long* wish, int* out) {
  int n = 0;
  while (tip->onward.count(wish[tip->row])) {
    tip = tip->onward.at(wish[tip->row]);
    out[n++] = tip->row;
  }
  return n;
}
