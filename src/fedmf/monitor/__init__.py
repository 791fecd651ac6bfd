"""Watching a federation: what the server tells its coordinator, in a terminal or on a page.

    scene     what there is to see: sites, runs, and the course of one of them
    chart     its figures, as SVG that fits every width
    page      the page, as text
    web       the page, served on this machine and to nobody else

Everything comes from the server's `status` and `history`. No sample, no H and no W is in them.
"""
