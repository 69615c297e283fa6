# The release script writes _version.py; a checkout has only this declaration.
__version__: str
