#include <map>
#include <string>
#include <unordered_map>

struct Entry {
  int key, value;
  Entry *next, *first;
};

Entry* bucket(Entry** table, int size, int key) {
  Entry* entry = table[key % size];
  while (entry != nullptr && entry->key != key) entry = entry->next;
  return entry;
}

int directory(const Entry* folder, const int* path, int depth) {
  for (int d = 0; d < depth; ++d) {
    const Entry* entry = folder->first;
    while (entry != nullptr && entry->key != path[d]) entry = entry->next;
    if (entry == nullptr) return -1;
    folder = entry;
  }
  return folder->value;
}

int merged(const std::unordered_map<std::string, int>& ranks, const std::string& text) {
  auto found = ranks.find(text);
  return found == ranks.end() ? -1 : found->second;
}

int follow(const std::map<int, std::map<int, int>>& automaton, const int* text, int n) {
  int state = 0;
  for (int i = 0; i < n; ++i) {
    auto onward = automaton.at(state).find(text[i]);
    if (onward == automaton.at(state).end()) return i;
    state = onward->second;
  }
  return n;
}
