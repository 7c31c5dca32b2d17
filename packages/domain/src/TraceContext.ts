import { Effect, Option, Tracer } from "effect"

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** Reads a `traceparent` of W3C Trace Context; undefined if it is missing or not valid. */
export const parseTraceparent = (text: string | null | undefined): Tracer.ExternalSpan | undefined => {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text ?? "") ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 })
}

/** Writes a span as a `traceparent`; null unless it is sampled, so that what is stored costs only what is exported. */
export const toTraceparent = ({ traceId, spanId, sampled }: Tracer.AnySpan): string | null =>
  sampled ? `00-${traceId}-${spanId}-01` : null

/** The `traceparent` of what runs now; null when nobody traces it. */
export const currentTraceparent: Effect.Effect<string | null> = Effect.map(
  Effect.serviceOption(Tracer.ParentSpan),
  Option.match({ onNone: () => null, onSome: toTraceparent }),
)
