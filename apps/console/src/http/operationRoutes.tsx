import { type Fields, fieldName, required, type ValuesOf } from "@outreach/backoffice/operations/Field"
import type { Fact, InputOf, Operation, Plan, Subject } from "@outreach/backoffice/operations/Operation"
import { parseInput } from "@outreach/domain/parseInput"
import { Seconds } from "@outreach/domain/Seconds"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Record, Redacted, Result, Struct } from "effect"
import type { ComponentChildren } from "preact"
import type { Controls } from "../components/forms.tsx"
import { Page } from "../components/layout.tsx"
import { ops } from "../components/ops.ts"
import { IdLink, isolated, OBJECT_PAGES, Time } from "../components/values.tsx"
import { ShownOnce } from "../pages/partners/ShownOnce.tsx"
import { type Inputs, valuesOf } from "../view/inputs.ts"
import type { FormOf } from "../view/View.ts"
import { defineConfirmation } from "./defineConfirmation.tsx"
import { reject } from "./PageError.ts"
import { type Answer, defineAction, type KnownPath, type RequestContext, type Route } from "./Route.ts"

type Values = Record.ReadonlyRecord<string, unknown>

interface Options<F, A, R> {
  /** The inputs that the form doesn't have. */
  readonly omit?: ReadonlyArray<keyof F & string>
  /** The inputs that only the form requires. */
  readonly requires?: ReadonlyArray<keyof F & string>
  readonly maxBytes?: number
  /** Returns the path of the next page. Default: the created object's page, or the form's. */
  readonly to?: (input: ValuesOf<F>) => string
  /** The content below a result that is shown once. */
  readonly below?: (result: A) => Effect.Effect<ComponentChildren, never, R>
}

/** Declares the action of an operation. Ids in the path are inputs of the operation. */
export const operationAction = <
  const P extends `/${string}`,
  S extends Subject,
  F extends Fields,
  Found,
  A extends object,
  R,
  R2 = never,
>(
  path: KnownPath<P>,
  operation: Operation<S, F, Found, A, R>,
  options: Options<F, A, R2> = {},
): Route<R | R2, P> & { readonly form: FormOf<Found> } => {
  const { command, role, forPartners, faults, label, texts, versionOf } = operation
  const route = defineAction(path, command, {
    role,
    ...(forPartners && { forPartners }),
    inputs: inputsOf(path, operation, options),
    ...(faults && { faults: Record.map(faults, faultyInput) }),
    ...(options.maxBytes && { maxBytes: options.maxBytes }),
    run: (input, context) =>
      Effect.flatMap(runOperation(operation, input, context), answerWith(operation, input, options)),
  })
  return {
    ...(route as unknown as Route<R | R2, P>),
    form: {
      label,
      textsOf: (found) => Record.mapKeys(texts?.(found) ?? {}, fieldName),
      versionOf: (found) => versionOf?.(found),
    },
  }
}

/** Declares the confirmation of an operation: the page with its plan, and the action. */
export const operationConfirmation = <
  const P extends `/${string}`,
  S extends Subject,
  F extends Fields,
  Found,
  A extends object,
  R,
>(
  path: KnownPath<P>,
  operation: Operation<S, F, Found, A, R>,
  options: {
    readonly omit?: ReadonlyArray<keyof F & string>
    /** The inputs that select the objects, and are part of the page's URL. */
    readonly chosen?: ReadonlyArray<keyof (S & F) & string>
    /** The inputs that only the form requires. */
    readonly requires?: ReadonlyArray<keyof F & string>
    /** Returns the path of the page before the action. Default: of the object or its owner. */
    readonly back?: (input: ValuesOf<F>) => string
    /** The page after the action. Default: the page before it. */
    readonly to?: string
    readonly controls?: (plan: Plan) => Controls
    /** Flags of the equivalent command that aren't inputs. */
    readonly flags?: (input: Values) => Values
    readonly children?: ComponentChildren | ((plan: Plan, input: Values) => ComponentChildren)
    /** Whether the plan is read as of one moment; false if it waits for the network. */
    readonly isConsistent?: boolean
  } = {},
) => {
  const { chosen = [], back, to, controls, flags, children, isConsistent = true } = options
  const { command, role, forPartners, label } = operation
  const inputs = inputsOf(path, operation, options)
  const names = chosen.map(fieldName)
  const chosenFlags = Object.keys(operation.input)
    .filter((key) => chosen.includes(key as never) || path.includes(`:${fieldName(key)}`))
    .map(fieldName)
  const plan = (input: Values) => operation.plan!(givenTo(operation, input))
  const backOf = (input: Values, affected: string) =>
    back?.(givenTo(operation, input)) ?? subjectPage(operation, input, affected)
  return defineConfirmation(path, command, {
    role,
    ...(forPartners && { forPartners }),
    isConsistent,
    chosen: Struct.pick(inputs, names),
    inputs: Struct.omit(inputs, names),
    ask: (input: Values) =>
      Effect.map(plan(input), (planned) => {
        const { title, affects, when, facts = {}, values = {}, caution, obstacle, ...rest } = planned
        const { word, because } = caution ?? {}
        const hidden = Record.mapKeys(values, fieldName)
        return {
          ...rest,
          ...(obstacle !== undefined && { obstacle }),
          hidden,
          when: because !== undefined && word === undefined ? `${when} ${because}` : when,
          typed: word === undefined ? undefined : { word, because: isolated(because) },
          title: isolated(`${title}?`),
          label,
          commands:
            obstacle !== undefined
              ? []
              : [
                  ops(command, ...subjectOf(operation, input), {
                    ...Struct.pick(input, chosenFlags),
                    ...hidden,
                    ...flags?.(input),
                  }),
                ],
          back: backOf(input, affects.id),
          whom: <IdLink id={affects.id}>{affects.name}</IdLink>,
          facts: Record.map(facts, contentOf),
          ...(controls && { controls: controls(planned) }),
          children: typeof children === "function" ? children(planned, input) : children,
        }
      }),
    run: Effect.fnUntraced(function* (input: Values, context) {
      const { affects } = yield* plan(input)
      const result = yield* runOperation(operation, input, context)
      return {
        to: to ?? backOf(input, affects.id),
        notice: typeof result === "string" ? result : operation.done(result, givenTo(operation, input)),
      }
    }),
  })
}

const inputsOf = (
  path: string,
  { of, input }: { readonly of: Subject; readonly input: Fields },
  { omit = [], requires = [] }: { readonly omit?: ReadonlyArray<string>; readonly requires?: ReadonlyArray<string> },
): Inputs =>
  Object.fromEntries(
    Object.entries({ ...Record.map(of, required), ...input })
      .filter(([key]) => !omit.includes(key) && !path.includes(`:${fieldName(key)}`))
      .map(([key, field]) => [fieldName(key), requires.includes(key) ? { ...field, isRequired: true } : field]),
  )

const faultyInput = (fault: string | ((error: never) => string)) =>
  typeof fault === "string" ? fieldName(fault) : (error: never) => fieldName(fault(error))

/** Returns the input of an operation from the values of a form and its path. */
const givenTo = <S extends Subject, F extends Fields>(
  { of, input }: { readonly of: S; readonly input: F },
  values: Values,
): InputOf<S, F> => valuesOf({ ...of, ...input } as never, values) as InputOf<S, F>

const subjectOf = ({ of }: { readonly of: Subject }, values: Values): ReadonlyArray<string> =>
  Object.keys(of).map((key) => String(values[fieldName(key)]))

/** Returns the flags of the equivalent command. */
const flagsOf = ({ input }: { readonly input: Fields }, values: Values): Values =>
  Object.fromEntries(
    Object.entries(input).map(([key, { schema }]) => {
      const value = values[fieldName(key)]
      return [fieldName(key), schema === Seconds && value !== undefined ? `${value}s` : value]
    }),
  )

/** Returns the path of the object that an operation changes if it has a page, otherwise of the affected object. */
const subjectPage = (operation: { readonly of: Subject }, values: Values, affected: string): string =>
  subjectOf(operation, values)
    .map(pageOf)
    .find((page) => page !== undefined) ??
  pageOf(affected) ??
  "/"

const pageOf = (id: string): string | undefined => OBJECT_PAGES[id.slice(0, 3)]?.(id)

const NO_CHANGE = "No change: these are the current settings."

/** Runs an operation on an object that hasn't changed since its form was shown. Only changed values are given to a partial operation. */
const runOperation = Effect.fnUntraced(function* <S extends Subject, F extends Fields, Found, A, R>(
  operation: Operation<S, F, Found, A, R>,
  values: Values,
  { version, operator }: RequestContext,
) {
  const { find, texts, versionOf, input, isPartial } = operation
  const given = givenTo(operation, values)
  if (find === undefined) return yield* operation.run(given, operator.name)
  const changesOf = (found: Found) => {
    const shown: Values = texts?.(found) ?? {}
    const now = Record.map(Struct.pick(shown, Object.keys(input)), (text, key) =>
      parseInput(input[key]!.schema)(String(text)).pipe(Result.getOrElse(() => undefined)),
    )
    const isChanged = ([key, value]: readonly [string, unknown]) =>
      !(key in now) || JSON.stringify(value) !== JSON.stringify(now[key])
    return { shown, changes: Object.entries(given).filter(isChanged) }
  }
  const rejectStale = (found: Found) => {
    const { shown, changes } = changesOf(found)
    const differences = changes.flatMap(([key]) =>
      key in shown ? ` ${input[key]!.control.label} is now ${[shown[key]].flat().join(", ")}.` : [],
    )
    return reject(
      "StaleForm",
      `Another operator changed this while the page was open, so your change wasn't saved.${differences.join("")} Compare your values with the current ones, and submit the form again.`,
    )
  }
  const found = yield* find(given)
  if (version !== "" && versionOf !== undefined && version !== versionOf(found)) return yield* rejectStale(found)
  if (!isPartial) return yield* operation.run(given, operator.name)
  const { changes } = changesOf(found)
  if (changes.every(([key]) => key in operation.of)) return NO_CHANGE
  return yield* Effect.catchIf(
    operation.run(Object.fromEntries(changes) as InputOf<S, F>, operator.name, version || undefined),
    ({ _tag }) => _tag === "ChangedMeanwhile",
    () => Effect.flatMap(find(given), rejectStale),
  )
})

const answerWith =
  <S extends Subject, F extends Fields, Found, A extends object, R, R2>(
    operation: Operation<S, F, Found, A, R>,
    values: Values,
    { below = () => Effect.succeed(undefined), to }: Options<F, A, R2>,
  ) =>
  (result: A | string): Effect.Effect<Answer, never, R2> =>
    Effect.gen(function* () {
      if (typeof result === "string") return result
      const { command, label, shownOnce, done } = operation
      const once = shownOnce?.(result)
      const notice = done(result, givenTo(operation, values))
      const { id, organizationId } = result as { readonly id?: string; readonly organizationId?: string }
      if (once !== undefined) {
        const { endpoint, organization = organizationId } = values as { endpoint?: string; organization?: string }
        return (
          <Page title={label} commands={[ops(command, ...subjectOf(operation, values), flagsOf(operation, values))]}>
            <ShownOnce
              text={Redacted.make(once)}
              back={[id, endpoint, organization].map((each) => each && pageOf(each)).find(Boolean) ?? "/"}
            >
              <p>{isolated(notice)}</p>
              {yield* below(result)}
            </ShownOnce>
          </Page>
        )
      }
      const created = Object.keys(operation.of).length === 0 && id !== undefined ? pageOf(id) : undefined
      const next = to?.(givenTo(operation, values)) ?? created
      return next === undefined ? notice : { to: next, notice }
    })

const contentOf = (fact: Fact): ComponentChildren => {
  if (fact === null || typeof fact === "string") return fact
  return "at" in fact ? (
    <Time at={fact.at as Timestamp | null} none="never" />
  ) : (
    <IdLink id={fact.id}>{fact.name}</IdLink>
  )
}
