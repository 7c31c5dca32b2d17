import { Effect, Option, Tracer } from "effect"

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** Parses a W3C `traceparent`; returns undefined if it is missing or invalid. */
export const parseTraceparent = (text: string | null | undefined): Tracer.ExternalSpan | undefined => {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text ?? "") ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 })
}

/** Formats a span as `traceparent`; null unless it is sampled, so that only exported traces are stored. */
export const toTraceparent = ({ traceId, spanId, sampled }: Tracer.AnySpan): string | null =>
  sampled ? `00-${traceId}-${spanId}-01` : null

/** `traceparent` of the current span; null without one. */
export const currentTraceparent: Effect.Effect<string | null> = Effect.map(
  Effect.serviceOption(Tracer.ParentSpan),
  Option.match({ onNone: () => null, onSome: toTraceparent }),
)
