/** End of the body of a partner's event about an erased clinician. */
export const ERASED_BODY_END = '"data":{},"metadata":{"erased":true}}'

/** Returns a partner's event without its data and metadata. */
export const eraseInboundBody = (body: string): string => {
  const { data, metadata, ...envelope } = JSON.parse(body)
  return `${JSON.stringify(envelope).slice(0, -1)},${ERASED_BODY_END}`
}
