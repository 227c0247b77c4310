def head(guess, wish):
    match guess, wish:
        case [first, *rest], [told, *later] if first == told:
            return [first, *head(rest, later)]
        case _, [told, *_]:
            return [told]
        case _:
            return []
