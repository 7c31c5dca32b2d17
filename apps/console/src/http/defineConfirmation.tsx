import { field } from "@outreach/backoffice/operations/Field"
import type { Access, StaffRole } from "@outreach/domain/operators/Operator"
import { Effect, Schema } from "effect"
import type { ComponentChildren } from "preact"
import { ActionForm, type Controls } from "../components/forms.tsx"
import { Facts, LinkLine, Page, type PageElement } from "../components/layout.tsx"
import type { CommandWords } from "../components/ops.ts"
import { foreign, visibleText } from "../components/values.tsx"
import type { Inputs, InputsOf } from "../view/inputs.ts"
import { pathTo } from "../view/paths.ts"
import { reject, type TaggedFailure } from "./PageError.ts"
import {
  type Answer,
  defineAction,
  definePage,
  type KnownPath,
  type None,
  type PathValues,
  type RequestContext,
  type Route,
} from "./Route.ts"

interface Question {
  readonly title: ComponentChildren
  readonly commands: ReadonlyArray<CommandWords>
  /** The page that the operator came from. */
  readonly back: string
  /** The content below the form. */
  readonly children?: ComponentChildren
}

/** The question before an action: how many objects, whose, and from when. */
export interface Confirmation extends Question {
  readonly many: ComponentChildren
  readonly whom: ComponentChildren
  readonly when: ComponentChildren
  readonly facts?: Readonly<Record<string, ComponentChildren>>
  /** The word that the operator must type, with the reason: it can't be undone, or something is wrong. Default: none. */
  readonly typed?: { readonly word: string; readonly because: ComponentChildren } | undefined
  /** The button's label. */
  readonly label: string
  /** Fixed values of the action. */
  readonly hidden?: Readonly<Record<string, unknown>>
  readonly controls?: Controls
}

/** The reason why the action is impossible, instead of the question. */
interface Obstacle extends Question {
  readonly obstacle: ComponentChildren
}

const typed = field(Schema.String, "Type the word", { size: 24 })

/**
 * Declares an action that needs a confirmation, as the page and the action of one path. The inputs `chosen` select its objects and
 * are part of the page's URL. The action checks again, so that the typed word matches the current objects.
 */
export const defineConfirmation = <
  const P extends `/${string}`,
  E1 extends TaggedFailure,
  E2 extends TaggedFailure,
  R1,
  R2,
  const C extends Inputs = None,
  const I extends Inputs = None,
>(
  path: KnownPath<P>,
  command: string,
  confirmation: {
    readonly role: StaffRole
    readonly forPartners?: true
    readonly isConsistent?: boolean
    readonly chosen?: C
    readonly inputs?: I
    readonly ask: (
      input: PathValues<P> & InputsOf<C>,
      context: RequestContext,
    ) => Effect.Effect<Confirmation | Obstacle, E1, R1>
    readonly run: (
      input: PathValues<P> & InputsOf<C> & InputsOf<I>,
      context: RequestContext,
    ) => Effect.Effect<Answer, E2, R2>
  },
): readonly [Route<R1, P>, Route<R1 | R2, P>] => {
  const { role, forPartners, isConsistent = true, chosen = {}, inputs = {}, ask, run } = confirmation
  const access = { role, ...(forPartners && { forPartners }) }
  const action = defineAction(path, command, {
    ...access,
    inputs: { ...chosen, ...inputs, typed },
    faults: { NotTyped: "typed" } as never,
    run: Effect.fnUntraced(function* ({ typed = "", ...input }, context) {
      const asked = yield* ask(input as never, context)
      const word = "typed" in asked ? asked.typed?.word.trim() : undefined
      // The page shows invisible characters of the word as escapes, because they can't be typed.
      if (word !== undefined && typed !== word && typed !== visibleText(word)) {
        return yield* reject("NotTyped", `The text doesn't match “${word}”, so nothing was changed. Type it exactly.`)
      }
      return yield* run(input as never, context)
    }),
  }) as Route<R1 | R2, P>
  const page = definePage(path, {
    ...access,
    isConsistent,
    inputs: chosen,
    run: (input, context) =>
      Effect.map(ask(input as never, context), (asked) => contentOf(asked, action, input as never)),
  }) as Route<R1, P>
  return [page, action]
}

type Action = Pick<Route<unknown, string>, "path" | "params" | "inputs" | keyof Access>

const contentOf = (
  asked: Confirmation | Obstacle,
  action: Action,
  input: Readonly<Record<string, string>>,
): PageElement => {
  const { title, commands, back, children } = asked
  return (
    <Page title={title} commands={commands}>
      {"obstacle" in asked ? <p class="empty">{asked.obstacle}</p> : <Asked {...asked} action={action} input={input} />}
      {children}
      <LinkLine to={back}>Back without changes</LinkLine>
    </Page>
  )
}

const Asked = (
  props: Confirmation & {
    readonly action: Action
    readonly input: Readonly<Record<string, string>>
  },
) => {
  const { action, input, typed, label, hidden, controls } = props
  const chosen = Object.entries(input).filter(([name]) => !(name in action.params))
  return (
    <>
      <Facts facts={{ "How many": props.many, Affected: props.whom, When: props.when, ...props.facts }} />
      {typed !== undefined && <p class="problem">{typed.because}</p>}
      <ActionForm
        action={{ ...action, path: pathTo<string>(action, input) }}
        label={label}
        isDangerous={typed !== undefined}
        isPrimary
        hidden={{ ...Object.fromEntries(chosen), ...hidden }}
        controls={{
          ...Object.fromEntries(chosen.map(([name]) => [name, false])),
          ...controls,
          typed: typed !== undefined && { label: foreign`Type ${typed.word}`, required: true },
        }}
      />
    </>
  )
}
