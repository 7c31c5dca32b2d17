import { Cause, Exit, Tracer } from "effect"
import { describeCause } from "./describeCause.ts"

/** Lets a tracer tell of a failure what a log may: an error's own words may hold an e-mail address or a secret. */
export const discreetTracer = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    ...tracer,
    span: (options) => {
      const span = tracer.span(options)
      const end = span.end.bind(span)
      span.end = (endTime, exit) => end(endTime, Exit.isFailure(exit) ? discreet(exit.cause) : exit)
      return span
    },
  })

const discreet = (cause: Cause.Cause<unknown>): Exit.Exit<unknown, unknown> => {
  if (Cause.hasInterruptsOnly(cause)) return Exit.failCause(cause)
  const [first = "unknown"] = describeCause(cause)
  const [name, ...frames] = first.split("\n")
  const told = new Error(name)
  told.stack = [name, ...frames].join("\n")
  return Exit.die(told)
}
