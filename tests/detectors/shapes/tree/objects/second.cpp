struct Twig {
  int slot, word;
  Twig *down, *beside;
};

int climb(const Twig* twig, const int* best, int* path) {
  int taken = 0;
  while (true) {
    const Twig* other = twig->down;
    while (other != nullptr && other->word != best[twig->slot]) other = other->beside;
    if (other == nullptr) break;
    path[taken++] = other->slot;
    twig = other;
  }
  return taken;
}
