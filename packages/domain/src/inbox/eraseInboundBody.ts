/** What the body of a partner's event about an erased clinician ends with. */
export const ERASED_BODY_END = '"data":{},"metadata":{"erased":true}}'

/** Returns the body of a partner's event without its data and metadata. */
export const eraseInboundBody = (body: string): string => {
  const { data, metadata, ...envelope } = JSON.parse(body)
  return `${JSON.stringify(envelope).slice(0, -1)},${ERASED_BODY_END}`
}
