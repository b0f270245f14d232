"""A picture of categories: how many items and answers each class has."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from unisono.report.page.figures import short_name, svg

LEFT = 150  # width for names of classes


def class_figure(classes: Sequence[str], items: Sequence[int], answers: Sequence[int], name: str) -> Markup:
    """For each class a bar of its share of the items, and a thinner one of its share of the answers; largest first."""
    order = sorted(range(len(classes)), key=lambda c: -items[c])
    total, given = max(sum(items), 1), max(sum(answers), 1)
    top = max(*(items[c] / total for c in order), *(answers[c] / given for c in order), 1e-9)
    marks = []
    for i, c in enumerate(order):
        y = 4 + 24 * i
        wide, thin = (420 * share / top for share in (items[c] / total, answers[c] / given))
        share = f"{items[c] / total:.0%}", f"{answers[c] / given:.0%}"
        about = f"{classes[c]}: {items[c]:,} items ({share[0]}), {answers[c]:,} answers ({share[1]})"
        marks.append(
            Markup('<text class="name" x="{}" y="{}">{}</text>').format(LEFT - 8, y + 13, short_name(classes[c]))
        )
        marks.append(
            Markup(
                '<g><title>{}</title><rect class="bar" x="{}" y="{}" width="{:.1f}" height="12"/>'
                '<rect class="second" x="{}" y="{}" width="{:.1f}" height="4"/></g>'
            ).format(about, LEFT, y, wide, LEFT, y + 13, thin)
        )
        number = Markup('<text class="after" x="{:.1f}" y="{}">{:,}</text>')
        marks.append(number.format(LEFT + max(wide, thin) + 6, y + 13, items[c]))
    return svg(660, 24 * len(order) + 4, f"{name}: items and answers by class", marks)
