"""The calculator: a page in the browser that answers with this package's own bounds.

`tightshuffle calculator` starts it; `answers` computes and `page` shows. It needs the extra ``calculator``.
"""
