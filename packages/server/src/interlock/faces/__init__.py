"""Wire protocols over the core: parse, call one service, translate. Faces do not know each other."""
