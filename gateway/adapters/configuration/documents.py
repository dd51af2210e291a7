"""`documents:`, read into its value."""

from gateway.adapters.configuration import keys, values
from gateway.adapters.configuration.fields import Fields
from gateway.domain.configuration import Documents, InvokeTarget
from policy.vocabulary import Risk


def documents_of(top: Fields) -> Documents:
    """How large documents may be, how many are kept, and what their actions may ask for."""
    section, default = top.within("documents", keys.DOCUMENTS), Documents()
    if section is None:
        return default
    bounded = {
        name: section.number(name, getattr(default, name), *bounds) for name, bounds in keys.DOCUMENT_BOUNDS.items()
    }
    invoke = {name: _target(entry) for name, entry in section.named("invoke", keys.INVOKE, values.invoke_name)}
    if len(invoke) > keys.INVOKE_ENTRIES:
        message = f"`documents.invoke` has {len(invoke)} entries; {keys.INVOKE_ENTRIES} are the most"
        section.refuse(section.where("invoke"), "documents.invoke", message)
    return Documents(invoke=invoke, **bounded)


def _target(entry: Fields) -> InvokeTarget:
    fields = entry.texts("result_fields", values.result_field)
    if len(fields) > keys.RESULT_FIELDS:
        at = f"{entry.at}.result_fields"
        message = f"`{at}` names {len(fields)} fields; {keys.RESULT_FIELDS} are the most"
        entry.refuse(entry.where("result_fields"), at, message)
    return InvokeTarget(
        target=entry.text("target", values.target, required=True),
        # A word that cannot be read closes the door; the file is refused anyway.
        risk=entry.word("risk", Risk, required=True) or Risk.RESTRICTED,
        result_fields=fields,
    )
