/** Fields without personal data. */
const PLAIN_FIELDS = new Set([
  ...["object", "event_id", "event_type", "type", "livemode", "occurred_at", "emitted_at", "created_at"],
  ...["consumer_program_slug", "program_slug", "attribution", "stage"],
  ...["learner_qualified_at", "completer_qualified_at"],
])

/** Returns an event's content without personal data. Keeps the structure, and replaces values by their type or length. */
export const maskContent = (body: string): unknown => {
  try {
    return mask(JSON.parse(body), "")
  } catch {
    return `not JSON, ${body.length} characters`
  }
}

const mask = (value: unknown, field: string): unknown => {
  if (value === null || typeof value === "boolean") return value
  if (Array.isArray(value)) return value.map((item) => mask(item, field))
  if (typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mask(item, key)]))
  }
  if (typeof value === "number") return "(a number)"
  const text = String(value)
  // A partner may have put an address or an NPI in the wrong field.
  return PLAIN_FIELDS.has(field) && !/@|\d{10}/.test(text) ? text : `(${text.length} characters)`
}
