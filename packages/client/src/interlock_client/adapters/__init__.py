"""Frameworks whose tools a person may allow. Each module needs the framework it is named after, and no other."""
