"""recon: does this vLLM or SGLang tree verify draft trees, and would that pay on this GPU?"""

__version__ = "0.1.0"
