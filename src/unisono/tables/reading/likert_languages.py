"""Verbal rating scales in German, French, Spanish and Chinese, each from low to high, as `likert_scales` has them."""

from __future__ import annotations

Level = tuple[str, ...]
Scales = tuple[tuple[Level, ...], ...]

_ZU: Level = ("teils teils", "neutral", "weder noch", "unentschieden", "weiß nicht", "stimme teilweise zu")
_ZU_LOWEST: Level = ("stimme überhaupt nicht zu", "stimme gar nicht zu", "stimme absolut nicht zu")
_ZU_HIGHEST: Level = ("stimme voll und ganz zu", "stimme völlig zu", "stimme voll zu", "stimme vollkommen zu")
_TRIFFT_LOWEST: Level = ("trifft überhaupt nicht zu", "trifft gar nicht zu")
_TRIFFT_HIGHEST: Level = ("trifft voll und ganz zu", "trifft völlig zu", "trifft voll zu", "trifft genau zu")
_TRIFFT_NO, _TRIFFT_YES = ("trifft eher nicht zu", "trifft weniger zu"), ("trifft eher zu",)
_ACCORD: Level = ("ni d'accord ni pas d'accord", "ni en accord ni en désaccord", "neutre", "sans opinion")
_ACUERDO: Level = ("ni de acuerdo ni en desacuerdo", "neutral", "indiferente", "neutro")
_TONGYI: Level = ("一般", "中立", "不确定", "既不同意也不反对", "普通", "没意见", "無意見")

LANGUAGES: dict[str, Scales] = {
    "agreement in German": (
        (("stimme nicht zu",), ("stimme zu",)),
        (("stimme nicht zu",), _ZU, ("stimme zu",)),
        (("stimme nicht zu",), ("stimme eher nicht zu",), ("stimme eher zu",), ("stimme zu",)),
        (_ZU_LOWEST, ("stimme eher nicht zu",), ("stimme eher zu",), _ZU_HIGHEST),
        (("stimme nicht zu",), ("stimme eher nicht zu",), _ZU, ("stimme eher zu",), ("stimme zu",)),
        (_ZU_LOWEST, ("stimme eher nicht zu", "stimme nicht zu"), _ZU, ("stimme eher zu", "stimme zu"), _ZU_HIGHEST),
        (("trifft nicht zu",), _TRIFFT_NO, _TRIFFT_YES, ("trifft zu",)),
        (_TRIFFT_LOWEST, _TRIFFT_NO, _TRIFFT_YES, _TRIFFT_HIGHEST),
        (("trifft nicht zu",), _TRIFFT_NO, _ZU, _TRIFFT_YES, ("trifft zu",)),
        (_TRIFFT_LOWEST, (*_TRIFFT_NO, "trifft nicht zu"), _ZU, (*_TRIFFT_YES, "trifft zu"), _TRIFFT_HIGHEST),
    ),
    "frequency in German": (
        (("nie", "niemals"), ("selten",), ("manchmal", "gelegentlich"), ("oft", "häufig"), ("immer", "sehr oft")),
    ),
    "satisfaction in German": (
        (
            ("sehr unzufrieden",),
            ("unzufrieden", "eher unzufrieden"),
            ("neutral", "weder noch", "teils teils", "weder zufrieden noch unzufrieden"),
            ("zufrieden", "eher zufrieden"),
            ("sehr zufrieden",),
        ),
    ),
    "quality in German": (
        (("schlecht",), ("mittel", "mittelmäßig"), ("gut",)),
        (("sehr schlecht",), ("schlecht",), ("mittel", "mittelmäßig", "durchschnittlich"), ("gut",), ("sehr gut",)),
    ),
    "degree in German": (
        (("niedrig",), ("mittel",), ("hoch",)),
        (("gar nicht", "überhaupt nicht"), ("wenig", "ein wenig"), ("mittelmäßig", "mäßig"), ("ziemlich",), ("sehr",)),
        (("gar nicht",), ("ein bisschen",), ("einigermaßen",), ("erheblich",), ("äußerst",)),
    ),
    "yes and no in German": ((("nein",), ("ja",)),),
    "true and false in German": ((("falsch",), ("wahr", "richtig")),),
    "agreement in French": (
        (("pas d'accord",), ("d'accord",)),
        (("pas d'accord",), _ACCORD, ("d'accord",)),
        (("pas du tout d'accord",), ("plutôt pas d'accord",), ("plutôt d'accord",), ("tout à fait d'accord",)),
        (
            ("pas du tout d'accord", "fortement en désaccord", "tout à fait en désaccord"),
            ("plutôt pas d'accord", "pas d'accord", "pas vraiment d'accord", "en désaccord", "plutôt en désaccord"),
            _ACCORD,
            ("plutôt d'accord", "d'accord", "en accord"),
            ("tout à fait d'accord", "fortement d'accord", "totalement d'accord"),
        ),
    ),
    "frequency in French": (
        (
            ("jamais",),
            ("rarement",),
            ("parfois", "quelquefois", "de temps en temps"),
            ("souvent",),
            ("toujours", "très souvent"),
        ),
    ),
    "satisfaction in French": (
        (
            ("très insatisfait", "très insatisfaite"),
            ("insatisfait", "insatisfaite", "plutôt insatisfait"),
            ("ni satisfait ni insatisfait", "neutre"),
            ("satisfait", "satisfaite", "plutôt satisfait"),
            ("très satisfait", "très satisfaite"),
        ),
    ),
    "quality in French": (
        (("mauvais",), ("moyen", "passable"), ("bon",)),
        (("très mauvais",), ("mauvais",), ("moyen", "passable"), ("bon",), ("très bon", "excellent")),
    ),
    "degree in French": (
        (("faible",), ("moyen",), ("élevé",)),
        (("pas du tout",), ("un peu",), ("modérément", "moyennement"), ("beaucoup",), ("énormément", "extrêmement")),
    ),
    "yes and no in French": ((("non",), ("oui",)),),
    "true and false in French": ((("faux",), ("vrai",)),),
    "agreement in Spanish": (
        (("en desacuerdo",), ("de acuerdo",)),
        (("en desacuerdo",), _ACUERDO, ("de acuerdo",)),
        (
            ("totalmente en desacuerdo", "muy en desacuerdo", "completamente en desacuerdo"),
            ("en desacuerdo", "algo en desacuerdo"),
            ("de acuerdo", "algo de acuerdo"),
            ("totalmente de acuerdo", "muy de acuerdo", "completamente de acuerdo"),
        ),
        (
            ("totalmente en desacuerdo", "muy en desacuerdo", "completamente en desacuerdo"),
            ("en desacuerdo", "algo en desacuerdo"),
            _ACUERDO,
            ("de acuerdo", "algo de acuerdo"),
            ("totalmente de acuerdo", "muy de acuerdo", "completamente de acuerdo"),
        ),
    ),
    "frequency in Spanish": (
        (
            ("nunca",),
            ("rara vez", "raramente", "casi nunca"),
            ("a veces", "algunas veces"),
            ("a menudo", "frecuentemente", "casi siempre"),
            ("siempre", "muy a menudo"),
        ),
    ),
    "satisfaction in Spanish": (
        (
            ("muy insatisfecho", "muy insatisfecha"),
            ("insatisfecho", "insatisfecha"),
            ("ni satisfecho ni insatisfecho", "neutral", "indiferente"),
            ("satisfecho", "satisfecha"),
            ("muy satisfecho", "muy satisfecha"),
        ),
    ),
    "quality in Spanish": (
        (("malo",), ("regular", "aceptable"), ("bueno",)),
        (("muy malo",), ("malo",), ("regular", "aceptable"), ("bueno",), ("muy bueno", "excelente")),
    ),
    "degree in Spanish": (
        (("bajo",), ("medio",), ("alto",)),
        (("nada",), ("poco", "un poco"), ("algo", "moderadamente"), ("bastante",), ("mucho", "muchísimo")),
    ),
    "yes and no in Spanish": ((("no",), ("sí", "si")),),
    "true and false in Spanish": ((("falso",), ("verdadero",)),),
    "agreement in Chinese": (
        (("不同意",), ("同意",)),
        (("不同意",), _TONGYI, ("同意",)),
        (
            ("非常不同意", "强烈不同意", "完全不同意", "強烈不同意"),
            ("不同意", "比较不同意", "不太同意", "比較不同意"),
            _TONGYI,
            ("同意", "比较同意", "比較同意"),
            ("非常同意", "强烈同意", "完全同意", "強烈同意"),
        ),
    ),
    "frequency in Chinese": (
        (
            ("从不", "从来不", "從不"),
            ("很少", "極少"),
            ("有时", "偶尔", "有時", "偶爾"),
            ("经常", "常常", "經常"),
            ("总是", "一直", "總是"),
        ),
    ),
    "satisfaction in Chinese": (
        (
            ("非常不满意", "很不满意", "非常不滿意"),
            ("不满意", "不滿意"),
            ("一般", "普通"),
            ("满意", "滿意"),
            ("非常满意", "很满意", "非常滿意"),
        ),
    ),
    "quality in Chinese": ((("很差", "非常差"), ("差", "较差"), ("一般", "中等"), ("好", "较好"), ("很好", "非常好")),),
    "degree in Chinese": ((("低",), ("中",), ("高",)), (("很低",), ("低",), ("中等",), ("高",), ("很高",))),
    "yes and no in Chinese": ((("否", "不是"), ("是",)),),
    "true and false in Chinese": ((("错", "假", "錯"), ("对", "真", "對")),),
}
