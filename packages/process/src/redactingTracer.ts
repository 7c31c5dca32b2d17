import { Cause, Exit, Tracer } from "effect"
import { describeCause } from "./describeCause.ts"

/** Wraps a tracer so that its spans omit error messages, which may hold an e-mail address or a secret. */
export const redactingTracer = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    ...tracer,
    span: (options) => {
      const span = tracer.span(options)
      const end = span.end.bind(span)
      span.end = (endTime, exit) => end(endTime, Exit.isFailure(exit) ? redact(exit.cause) : exit)
      return span
    },
  })

const redact = (cause: Cause.Cause<unknown>): Exit.Exit<unknown, unknown> => {
  if (Cause.hasInterruptsOnly(cause)) return Exit.failCause(cause)
  const [first = "unknown"] = describeCause(cause)
  const [name, ...frames] = first.split("\n")
  const redacted = new Error(name)
  redacted.stack = [name, ...frames].join("\n")
  return Exit.die(redacted)
}
