import { type Fields, field, fieldName, required, type ValuesOf } from "@outreach/backoffice/operations/Field"
import type { Fact, Operation, Plan, Subject } from "@outreach/backoffice/operations/Operation"
import type { Access } from "@outreach/domain/operators/Operator"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Record, Schema, Struct } from "effect"
import type { ComponentChildren } from "preact"
import { ActionForm, type Controls } from "../components/forms.tsx"
import { Facts, LinkLine, Page } from "../components/layout.tsx"
import { flagsOf, ops } from "../components/ops.ts"
import { ShownOnce } from "../components/ShownOnce.tsx"
import { foreign, IdLink, isolated, OBJECT_PAGES, Time, visibleText } from "../components/values.tsx"
import type { Inputs } from "../view/inputs.ts"
import { pathTo } from "../view/paths.ts"
import type { FormOf } from "../view/View.ts"
import { reject } from "./PageError.ts"
import { defineAction, definePage, type KnownPath, type Route, type RouteResult } from "./Route.ts"
import { givenTo, runOperation, type Values } from "./runOperation.ts"

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
    readonly children?: ComponentChildren | ((plan: Plan, input: Values) => ComponentChildren)
    /** Whether the plan is read as of one moment; false if it waits for the network. */
    readonly isConsistent?: boolean
  } = {},
) => {
  const { chosen = [], back, to, controls, children, isConsistent = true } = options
  const { command, role, forPartners, label, faults = {} } = operation
  const inputs = inputsOf(path, operation, options)
  const names = chosen.map(fieldName)
  const chosenFlags = Object.keys(operation.input)
    .filter((key) => chosen.includes(key as never) || path.includes(`:${fieldName(key)}`))
    .map(fieldName)
  const plan = (input: Values) => operation.plan!(givenTo(operation, input))
  const backOf = (input: Values, affected: string) =>
    back?.(givenTo(operation, input)) ?? subjectPage(operation, input, affected)
  const access = { role, ...(forPartners && { forPartners }) }
  // The plan is made again, so that the typed word is that of the current objects.
  const action = defineAction(path, command, {
    ...access,
    inputs: { ...inputs, typed },
    faults: { ...Record.map(faults, faultyInput), NotTyped: () => "typed" } as never,
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
      const result = yield* runOperation(operation, input, context)
      const notice = typeof result === "string" ? result : operation.done(result, givenTo(operation, input))
      return { to: to ?? backOf(input, affects.id), notice }
    }),
  }) as unknown as Route<R, P>
  const page = definePage(path, {
    ...access,
    isConsistent,
    inputs: Struct.pick(inputs, names),
    run: Effect.fnUntraced(function* (input: Values) {
      const planned = yield* plan(input)
      const { title, affects, obstacle, values = {} } = planned
      const hidden = Record.mapKeys(values, fieldName)
      const given = { ...Struct.pick(input, chosenFlags), ...hidden }
      return (
        <Page
          title={isolated(`${title}?`)}
          commands={obstacle === undefined ? [ops(command, ...subjectOf(operation, input), given)] : []}
        >
          {obstacle === undefined ? (
            <Confirmation
              {...{ planned, action, input, label }}
              hidden={{ ...Struct.pick(input, names), ...hidden }}
              controls={controls?.(planned)}
            />
          ) : (
            <p class="empty">{obstacle}</p>
          )}
          {typeof children === "function" ? children(planned, input) : children}
          <LinkLine to={backOf(input, affects.id)}>Back without changes</LinkLine>
        </Page>
      )
    }),
  }) as unknown as Route<R, P>
  return [page, action] as const
}

const typed = field(Schema.String, "Type the word", { size: 24 })

const Confirmation = (props: {
  readonly planned: Plan
  readonly action: Pick<Route<unknown, string>, "path" | "params" | "inputs" | keyof Access>
  readonly input: Values
  readonly label: string
  readonly hidden: Values
  readonly controls: Controls | undefined
}) => {
  const { planned, action, input, label, hidden, controls } = props
  const { many, affects, when, facts = {}, caution: { word, because } = {} } = planned
  return (
    <>
      <Facts
        facts={{
          "How many": many,
          Affected: <IdLink id={affects.id}>{affects.name}</IdLink>,
          When: because !== undefined && word === undefined ? `${when} ${because}` : when,
          ...Record.map(facts, contentOf),
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
          ...controls,
          typed: word !== undefined && { label: foreign`Type ${word}`, required: true },
        }}
      />
    </>
  )
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

const subjectOf = ({ of }: { readonly of: Subject }, values: Values): ReadonlyArray<string> =>
  Object.keys(of).map((key) => String(values[fieldName(key)]))

/** Returns the path of the object that an operation changes if it has a page, otherwise of the affected object. */
const subjectPage = (operation: { readonly of: Subject }, values: Values, affected: string): string =>
  subjectOf(operation, values)
    .map(pageOf)
    .find((page) => page !== undefined) ??
  pageOf(affected) ??
  "/"

const pageOf = (id: string): string | undefined => OBJECT_PAGES[id.slice(0, 3)]?.(id)

const answerWith =
  <S extends Subject, F extends Fields, Found, A extends object, R, R2>(
    operation: Operation<S, F, Found, A, R>,
    values: Values,
    { below = () => Effect.succeed(undefined), to }: Options<F, A, R2>,
  ) =>
  (result: A | string): Effect.Effect<RouteResult, never, R2> =>
    Effect.gen(function* () {
      if (typeof result === "string") return result
      const { command, label, shownOnce, done } = operation
      const once = shownOnce?.(result)
      const notice = done(result, givenTo(operation, values))
      const { id, organizationId } = result as { readonly id?: string; readonly organizationId?: string }
      if (once !== undefined) {
        const { endpoint, organization = organizationId } = values as { endpoint?: string; organization?: string }
        return (
          <Page
            title={label}
            commands={[ops(command, ...subjectOf(operation, values), flagsOf(operation.input, values))]}
          >
            <ShownOnce
              text={once}
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
