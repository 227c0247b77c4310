class Walker:
    def stroll(self, links, words, wish):
        at, kept = 0, []
        while True:
            match [kid for kid in links[at] if words[kid] == wish[at]]:
                case [found, *_]:
                    kept.append(found)
                    at = found
                case _:
                    return kept
