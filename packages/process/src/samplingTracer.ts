import { Cause, type Context, Exit, Option, Tracer } from "effect"
import type { SqlError } from "effect/sql"
import { describeCause } from "./describeCause.ts"
import { counter } from "./metrics.ts"

/** Spans of at least this duration are exported even if their trace isn't sampled. */
const SLOW_SPAN_MS = 1000

/** Maximum spans exported per second, so that failures or request floods don't overload the collector. */
const MAX_SPANS_PER_SECOND = 1000

/** Only these kinds start a trace: the statements of a polling loop don't. */
const BEGINNING: ReadonlySet<Tracer.SpanKind> = new Set(["server", "producer", "consumer"])

const dropped = counter("outreach_spans_dropped_total", "Spans that were not exported, because there were too many.")

type Span = { -readonly [Key in keyof Tracer.Span]: Tracer.Span[Key] }

interface State {
  /** A statement outside of a trace. */
  readonly isBackground: boolean
  /** Whether a nested span failed or was slow. */
  isKept: boolean
}

/**
 * Wraps a tracer: exports a share of all traces, and failed or slow spans with their ancestors in this process.
 *
 * Spans inherit their parent's decision. For a trace that starts here or with an external request, the decision depends on its id. Spans end after their
 * children, so none is held back. Statement names replace the driver's, and errors lose their messages, which may contain secrets.
 */
export const samplingTracer = (
  tracer: Tracer.Tracer,
  ratio: number,
  context: Context.Context<never>,
): Tracer.Tracer => {
  const states = new WeakMap<Tracer.AnySpan, State>()
  const mayExport = createBudget()
  return Tracer.make({
    ...tracer,
    span: (options) => {
      const parent = Option.getOrUndefined(options.parent)
      const around = parent && states.get(parent)
      const isAlone = parent === undefined || around?.isBackground === true
      const isBackground = isAlone && !options.root && !BEGINNING.has(options.kind)
      const begins = isAlone && !isBackground
      const span: Span = tracer.span({ ...options, ...(begins && { parent: Option.none() }), sampled: true })
      const isFromOutside = options.kind === "server" && parent?._tag === "ExternalSpan"
      const isWanted = !isBackground && (options.sampled || around?.isBackground === true)
      span.sampled = isWanted && (begins || isFromOutside ? isChosen(span.traceId, ratio) : true)
      const own: State = { isBackground, isKept: false }
      states.set(span, own)

      const end = span.end.bind(span)
      span.end = (endTime, exit) => {
        const isSlow = endTime - span.status.startTime >= BigInt(SLOW_SPAN_MS) * 1_000_000n
        if (isSlow || isFailed(span, exit)) own.isKept = true
        if (own.isKept && around !== undefined) around.isKept = true
        if (!span.sampled && !own.isKept) return end(endTime, exit)
        span.sampled = mayExport(endTime)
        if (!span.sampled) dropped.updateUnsafe(1, context)
        const text = span.attributes.get("db.query.text")
        if (typeof text === "string") span.name = statementName(text)
        const state = sqlState(exit)
        if (state !== undefined) span.attribute("db.response.status_code", state)
        end(endTime, exported(span, exit))
      }
      return span
    },
  })
}

/** Returns whether a trace is sampled, using OpenTelemetry's probability sampling, so that all processes agree. */
export const isChosen = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-14), 16) >= (1 - ratio) * 2 ** 56

const createBudget = () => {
  let second = 0n
  let used = 0
  return (now: bigint): boolean => {
    if (now / 1_000_000_000n !== second) {
      second = now / 1_000_000_000n
      used = 0
    }
    return ++used <= MAX_SPANS_PER_SECOND
  }
}

const isFailed = ({ name, attributes }: Span, exit: Exit.Exit<unknown, unknown>): boolean => {
  if (Exit.isSuccess(exit)) return attributes.has("error.type")
  return exit.cause.reasons.some((reason) =>
    // A domain rejection also ends a transaction.
    Cause.isFailReason(reason) ? name !== "sql.transaction" || isSqlError(reason.error) : Cause.isDieReason(reason),
  )
}

const isSqlError = (error: unknown): error is SqlError.SqlError =>
  (error as { readonly _tag?: unknown } | null)?._tag === "SqlError"

/** Returns the PostgreSQL error code of a failure. */
const sqlState = (exit: Exit.Exit<unknown, unknown>): string | undefined => {
  const error = Exit.isFailure(exit) ? exit.cause.reasons.find(Cause.isFailReason)?.error : undefined
  const code = isSqlError(error) ? (error.reason.cause as { readonly code?: unknown } | null)?.code : undefined
  return typeof code === "string" ? code : undefined
}

/** Returns the exported end of a span: the names and locations of its errors. */
const exported = ({ attributes }: Span, exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) return attributes.has("error.type") ? failure(String(attributes.get("error.type"))) : exit
  return Cause.hasInterruptsOnly(exit.cause) ? exit : failure(describeCause(exit.cause)[0] ?? "unknown")
}

const failure = (description: string): Exit.Exit<never> => {
  const error = new Error(description.split("\n")[0])
  error.stack = description
  return Exit.die(error)
}

const WRITE =
  /\b(insert into|delete from|update)\s+(?:only\s+)?"?([a-z_]\w*)"?(?=\s+(?:as\s|set\b|using\b|where\b|\w+\s+set\b|\()|\s*\(|\s*$)/i
const CALL = /\b(?:from|select)\s+([a-z_]\w*_\w*)\s*\(/i
const READ = /\bfrom\s+"?([a-z_]\w*)"?/i

/** Returns the name of a statement: verb and table, or the called function, such as `insert into inbox` or `take_due`. */
export const statementName = (text: string): string => {
  const [, verb, table] = WRITE.exec(text) ?? []
  if (verb !== undefined) return `${verb.toLowerCase()} ${table}`
  const called = CALL.exec(text)?.[1]
  if (called !== undefined) return called
  const read = READ.exec(text)?.[1]
  return read === undefined ? (/\w+/.exec(text)?.[0].toLowerCase() ?? "statement") : `select from ${read}`
}
