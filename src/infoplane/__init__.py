"""infoplane: how much may a released or learned Z say about X and about Y?"""

__version__ = "0.1.0"
