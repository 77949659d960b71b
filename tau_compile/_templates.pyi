from tau_compile.render.packaged import Template

TEXTS: dict[str, str]
TEMPLATES: dict[str, Template]
