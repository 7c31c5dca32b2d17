import { type Fields, field, fieldName, required, type ValuesOf } from "@outreach/backoffice/operations/Field"
import type { InputOf, Operation, Plan, Subject } from "@outreach/backoffice/operations/Operation"
import { checkIds } from "@outreach/backoffice/operators/ObjectFinder"
import { parseInput } from "@outreach/domain/textSchema"
import { Effect, Record, Result, Schema, Struct } from "effect"
import type { ComponentChildren } from "preact"
import { ActionForm, type Controls, type FormOf } from "../components/forms.tsx"
import { Facts, LinkLine, Page } from "../components/layout.tsx"
import { type Command, flagsOf } from "../components/ops.ts"
import { CopyButton, ForeignBlock, foreign, isolated, pageOf, visibleText } from "../components/values.tsx"
import { type Inputs, type Values, valuesOf } from "../view/inputs.ts"
import { pathTo } from "../view/paths.ts"
import { reject } from "./PageError.ts"
import { defineAction, definePage, type KnownPath, type RequestContext, type Route } from "./Route.ts"

interface FormOptions<Key = string> {
  /** The inputs that the form doesn't have. */
  readonly omit?: ReadonlyArray<Key>
  /** The inputs that only the form requires. */
  readonly requires?: ReadonlyArray<Key>
}

interface ActionOptions<S, F, A, R> extends FormOptions<keyof F & string> {
  readonly maxBytes?: number
  /** Returns the path of the page after a change. Default: the created object's page, or the form's. */
  readonly to?: (input: InputOf<S, F>, result: A) => string | undefined
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
  options: ActionOptions<S, F, A, R2> = {},
): Route<R | R2, P> & { readonly form: FormOf<Found> } => {
  const { command, label, of, shownOnce } = operation
  const { below = () => Effect.succeed(undefined), to } = options
  const route = defineAction(path, operation, {
    ...Struct.pick(options, ["maxBytes"]),
    inputs: inputsOf(path, operation, options),
    faults: faultsOf(operation),
    run: Effect.fnUntraced(function* (input: Values, context) {
      const { result, notice, given } = yield* runOperation(operation, input, context)
      const once = result && shownOnce?.(result)
      const { id, organizationId } = (result ?? {}) as { readonly id?: string; readonly organizationId?: string }
      const next = result && to?.(given, result)
      if (result === undefined || once === undefined) {
        const isNew = Object.keys(of).length === 0 && id !== undefined
        return { to: next ?? (isNew ? pageOf(id) : undefined), notice }
      }
      const owners = [id, input["endpoint"], input["organization"] ?? organizationId]
      const [back = "/"] = owners.flatMap((owner) => (typeof owner === "string" ? (pageOf(owner) ?? []) : []))
      return (
        <Page title={label} commands={[[command, ...subjectOf(operation, input), flagsOf(operation.input, input)]]}>
          <p class="problem">This is shown only once. Save it now.</p>
          <ForeignBlock>{once}</ForeignBlock>
          <CopyButton>{once}</CopyButton>
          <p>{isolated(notice)}</p>
          {yield* below(result)}
          <LinkLine to={next ?? back}>I have saved it</LinkLine>
        </Page>
      )
    }),
  })
  return { ...(route as unknown as Route<R | R2, P>), form: operation }
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
  options: FormOptions<keyof F & string> & {
    /** The inputs that select the objects, and are part of the page's URL. */
    readonly chosen?: ReadonlyArray<keyof (S & F) & string>
    /** Returns the path of the page before the action. Default: of the object or its owner. */
    readonly back?: (input: ValuesOf<F>) => string
    /** The page after the action. Default: the page before it. */
    readonly to?: string
    readonly controls?: (plan: Plan) => Controls
    readonly children?: (plan: Plan, input: Values) => ComponentChildren
    /** Whether the plan is read as of one moment; false if it waits for the network. */
    readonly isConsistent?: boolean
  } = {},
) => {
  const { chosen = [], back, to, controls, children, isConsistent = true } = options
  const { command, label } = operation
  const inputs = inputsOf(path, operation, options)
  const names = chosen.map(fieldName)
  const plan = (input: Values) => operation.plan!(givenTo(operation, input))
  const backOf = (input: Values, affected: string) =>
    back?.(givenTo(operation, input)) ?? subjectPage(operation, input, affected)
  // The plan is made again, so that the typed word is that of the current objects.
  const action = defineAction(path, operation, {
    inputs: { ...inputs, typed },
    faults: { ...faultsOf(operation), NotTyped: "typed" } as never,
    run: Effect.fnUntraced(function* (
      { typed = "", ...input }: Values & { readonly typed?: string | undefined },
      context,
    ) {
      const { affects, caution } = yield* plan(input)
      const word = caution?.word?.trim()
      // The page shows invisible characters of the word as escapes, because they can't be typed.
      if (word !== undefined && typed !== word && typed !== visibleText(word)) {
        return yield* reject("NotTyped", `The text doesn't match “${word}”, so nothing was changed. Type it exactly.`)
      }
      const { notice } = yield* runOperation(operation, input, context)
      return { to: to ?? backOf(input, affects.id), notice }
    }),
  }) as unknown as Route<R, P>
  const page = definePage(path, {
    ...Struct.pick(operation, ["role", "forPartners"]),
    isConsistent,
    inputs: Struct.pick(inputs, names),
    run: Effect.fnUntraced(function* (input: Values) {
      yield* checkIds(Struct.pick(input, names))
      const planned = yield* plan(input)
      const { find, versionOf } = operation
      const version = find && versionOf?.(yield* find(givenTo(operation, input)))
      const { title, many, affects, when, facts, obstacle, caution: { word, because } = {} } = planned
      const values = Record.mapKeys(planned.values ?? {}, fieldName)
      const flags = { ...flagsOf(operation.input, input), ...values }
      const equivalent: Command = [command, ...subjectOf(operation, input), flags]
      const hidden = { ...Struct.pick(input, names), ...values, version }
      const question = (
        <>
          <Facts
            facts={{
              "How many": many,
              Affected: affects,
              When: because !== undefined && word === undefined ? `${when} ${because}` : when,
              ...facts,
            }}
          />
          {word !== undefined && <p class="problem">{isolated(because)}</p>}
          <ActionForm
            action={{ ...action, path: pathTo<string>(action, input as Readonly<Record<string, string>>) }}
            label={label}
            isDangerous={word !== undefined}
            isPrimary
            hidden={hidden}
            controls={{
              ...Record.map(hidden, () => false as const),
              ...controls?.(planned),
              typed: word !== undefined && { label: foreign`Type ${word}`, required: true },
            }}
          />
        </>
      )
      return (
        <Page title={isolated(`${title}?`)} commands={[obstacle === undefined && equivalent]}>
          {obstacle === undefined ? question : <p class="empty">{obstacle}</p>}
          {children?.(planned, input)}
          <LinkLine to={backOf(input, affects.id)}>Back without changes</LinkLine>
        </Page>
      )
    }),
  }) as unknown as Route<R, P>
  return [{ ...page, label: operation.link ?? label }, action] as const
}

const typed = field(Schema.String, "Type the word", { size: 24 })

const inputsOf = (
  path: string,
  { of, input }: { readonly of: Subject; readonly input: Fields },
  { omit = [], requires = [] }: FormOptions,
): Inputs =>
  Object.fromEntries(
    Object.entries({ ...Record.map(of, required), ...input })
      .filter(([key]) => !omit.includes(key) && !path.includes(`:${fieldName(key)}`))
      .map(([key, field]) => [fieldName(key), requires.includes(key) ? { ...field, isRequired: true } : field]),
  )

const faultsOf = ({ faults = {} }: { readonly faults?: Route<never>["faults"] }) =>
  Record.map(faults, (fault) =>
    typeof fault === "string" ? fieldName(fault) : (error: never) => fieldName(fault(error)),
  )

const subjectOf = ({ of }: { readonly of: Subject }, values: Values): ReadonlyArray<string> =>
  Object.keys(of).map((key) => String(values[fieldName(key)]))

/** Returns the path of the object that an operation changes if it has a page, otherwise of the affected object. */
const subjectPage = (operation: { readonly of: Subject }, values: Values, affected: string): string =>
  subjectOf(operation, values)
    .map(pageOf)
    .find((page) => page !== undefined) ??
  pageOf(affected) ??
  "/"

/** Returns the input of an operation from the values of a form and its path. */
const givenTo = <S extends Subject, F extends Fields>(
  { of, input }: { readonly of: S; readonly input: F },
  values: Values,
): InputOf<S, F> => valuesOf({ ...of, ...input } as never, values) as InputOf<S, F>

const NO_CHANGE = "No change: these are the current settings."

/** Runs an operation. Returns its result and the sentence about it; without a change, no result. */
const runOperation = Effect.fnUntraced(function* <S extends Subject, F extends Fields, Found, A, R>(
  operation: Operation<S, F, Found, A, R>,
  values: Values,
  context: RequestContext,
) {
  const given = givenTo(operation, values)
  const result = yield* runChanges(operation, given, context)
  return { given, result, notice: result === undefined ? NO_CHANGE : operation.done(result, given) }
})

/** Runs an operation on an object that hasn't changed since its form was shown. Only changed values are given to a partial operation. */
const runChanges = Effect.fnUntraced(function* <S extends Subject, F extends Fields, Found, A, R>(
  { find, run, texts, versionOf, of, input, isPartial }: Operation<S, F, Found, A, R>,
  given: InputOf<S, F>,
  { version, operator }: RequestContext,
) {
  if (find === undefined) return yield* run(given, operator.name)
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
    const differences = changes.flatMap(([key]) => {
      const { label, kind } = input[key]?.control ?? {}
      if (!(key in shown)) return []
      return kind === "lines" ? ` ${label} differs.` : ` ${label} is now ${[shown[key]].flat().join(", ")}.`
    })
    return reject(
      "StaleForm",
      `Another operator changed this while the page was open, so your change wasn't saved.${differences.join("")} Compare your values with the current ones, and submit the form again.`,
    )
  }
  const found = yield* find(given)
  if (version !== "" && versionOf !== undefined && version !== versionOf(found)) return yield* rejectStale(found)
  if (!isPartial) return yield* run(given, operator.name, version || undefined)
  const { changes } = changesOf(found)
  if (changes.every(([key]) => key in of)) return undefined
  return yield* Effect.catchIf(
    run(Object.fromEntries(changes) as InputOf<S, F>, operator.name, version || undefined),
    ({ _tag }) => _tag === "ChangedMeanwhile",
    () => Effect.flatMap(find(given), rejectStale),
  )
})
