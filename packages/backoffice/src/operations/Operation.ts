import type { PreflightCheck } from "@outreach/domain/campaigns/preflight"
import type { Replay } from "@outreach/domain/deliveries/Replays"
import type { Finding } from "@outreach/domain/operators/Finding"
import type { Access } from "@outreach/domain/operators/Operator"
import { Effect, type Scope } from "effect"
import { snakeName } from "../csv/csvTable.ts"
import { type Codec, checkBox, type Fields, type ValuesOf } from "./Field.ts"

/** An error with a message for the operator. The audit log records its tag. A tag that ends in `NotFound` has status 404. */
export interface TaggedFailure {
  readonly _tag: string
  readonly message: string
}

/** A value of a plan: text, a time, or an object with its id. */
export type Fact =
  | string
  | null
  | { readonly at: string | null; readonly none?: string }
  | { readonly id: string; readonly name: string }

/** Returns a value of a plan as a command shows it. */
export const factText = (fact: Fact): string | null => {
  if (fact === null || typeof fact === "string") return fact
  return "at" in fact ? (fact.at ?? fact.none ?? "never") : fact.id
}

/** The effect of an operation, which the operator confirms. */
export interface Plan {
  /** A verb and the object, without a question mark. */
  readonly title: string
  readonly many: string
  /** The number of affected objects, for scripts. */
  readonly count?: number
  readonly affects: { readonly id: string; readonly name: string }
  readonly when: string
  readonly facts?: Readonly<Record<string, Fact>>
  /** Why the operator should think twice, and the word that the console requires if it can't be undone or something is wrong. */
  readonly caution?: { readonly because: string; readonly word?: string } | undefined
  /** The checks of a campaign. */
  readonly checks?: ReadonlyArray<PreflightCheck>
  /** The fields that the operator confirms with the plan, instead of entering them. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Why the operation is impossible, instead of the question. */
  readonly obstacle?: string | undefined
}

export type Cell = string | number | boolean | null | ReadonlyArray<string>

/** Rows in columns, below a title. */
export interface Table {
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
  readonly title?: string | undefined
}

/** The results of checks, optionally with their names. */
export interface Checks {
  readonly checks: ReadonlyArray<Finding & { readonly check?: string }>
}

/** A part of a result as a command shows it: a text, a table, the results of checks, or the fields of an object. */
export type Part = string | { readonly table: Table } | Checks | { readonly fields: object }

/** Returns a table of these fields of rows. */
export const rowsPart = <Row extends object>(
  rows: ReadonlyArray<Row>,
  fields: ReadonlyArray<keyof Row & string>,
  title?: string,
): Part => ({
  table: { head: fields.map(snakeName), rows: rows.map((row) => fields.map((field) => row[field] as Cell)), title },
})

/** The object that an operation changes: its id by the domain's name. */
// biome-ignore lint/suspicious/noExplicitAny: a codec is not covariant.
export type Subject = Readonly<Record<string, Codec<any>>>

type SubjectOf<S> = { readonly [K in keyof S]: S[K] extends Codec<infer A> ? A : never }

export type InputOf<S, F> = SubjectOf<S> & ValuesOf<F>

/** An operation: everything that a command and a form need to run it. */
export interface Operation<S, F, Found, A, R> extends Access {
  /** The command's words. */
  readonly command: string
  /** The description in the help. */
  readonly about: string
  /** Whether it only reads; `reveals` if it shows personal data or searches by it. Default: it changes something. */
  readonly access?: "reads" | "reveals"
  /** The button's label. Default: none, for an operation without a form. */
  readonly label: string
  /** The label of the button that opens the confirmation. Default: `label`. */
  readonly link?: string
  readonly of: S
  readonly input: F
  /** Whether a command requires `--yes` if its plan has a `caution`. */
  readonly isIrreversible?: true
  /** Whether a command has `--dry-run`, which prints its plan. */
  readonly hasDryRun?: true
  /** Whether at least one field must be given. */
  readonly isPartial?: true
  /** The fields that show errors of the domain, by tag. */
  readonly faults?: Readonly<Record<string, (keyof F & string) | ((error: never) => keyof F & string)>>
  /** Reads the object, for the initial values of its form and to reject a form of an earlier version. */
  readonly find?: (subject: SubjectOf<S>) => Effect.Effect<Found, TaggedFailure, R>
  /** Returns the object's texts by field. */
  readonly texts?: (found: Found) => { readonly [K in keyof F]: string | ReadonlyArray<string> | undefined }
  readonly versionOf?: (found: Found) => string
  readonly plan?: (input: InputOf<S, F>) => Effect.Effect<Plan, TaggedFailure, R>
  /** Whether a command shows its progress, unless with `--quiet`. */
  readonly isLong?: true
  /** Whether it may create the audit log, which then records it at its end. */
  readonly createsLog?: true
  /** With a version, fails with `ChangedMeanwhile` if the object has a later one; only for changes that check it atomically. */
  readonly run: (input: InputOf<S, F>, operator: string, version?: string) => Effect.Effect<A, TaggedFailure, R>
  /** Returns the part of the result that can't be read again. */
  readonly shownOnce?: (result: A) => string | undefined
  /** Describes the effect in a sentence. Default: no sentence. */
  readonly done: (result: A, input: InputOf<S, F>) => string
  /** Returns the parts of the result that a command shows to people. Default: its fields. */
  readonly show?: (result: A, input: InputOf<S, F>) => ReadonlyArray<Part>
  /** Returns the failure that the result means. A command shows the result before it fails. */
  readonly failure?: (result: A) => TaggedFailure | undefined
  /** Returns where the next page of a list starts. */
  readonly next?: (result: A) => string | undefined
  /** Returns the replay that the workers run. A command follows it until it ends, unless with `--detach`. */
  readonly replay?: (result: A) => Replay | undefined
  readonly examples?: ReadonlyArray<string>
}

/** An effect that a generator yields. */
export type Step = Effect.Effect<unknown, TaggedFailure, unknown>

/** A function that returns an effect, or the generator of one. */
export type Steps<Input extends ReadonlyArray<unknown>, A, R, Y extends Step> = (
  ...input: Input
) => Effect.Effect<A, TaggedFailure, R> | Generator<Y, A, never>

/** Returns the effect of a function or a generator, in a scope of its own. */
export const toEffect =
  <Input extends ReadonlyArray<unknown>, A, R = never, Y extends Step = never>(create: Steps<Input, A, R, Y>) =>
  (...input: Input): Effect.Effect<A, TaggedFailure, Exclude<R | Effect.Services<Y>, Scope.Scope>> =>
    Effect.suspend((): Effect.Effect<unknown, unknown, unknown> => {
      const created = create(...input)
      return Effect.isEffect(created) ? created : Effect.gen(() => created)
    }).pipe(Effect.scoped) as never

/** The members of an operation; `role`, `label`, `of`, `input` and `done` have defaults. */
type Declaration<S, F, Found, A, R, RFind, Run extends Step, Planned extends Step> =
  // The type of the result is inferred only from `run`.
  Omit<Partial<Operation<S, F, Found, NoInfer<A>, never>>, "command" | "find" | "plan" | "run"> & {
    readonly about: string
    readonly find?: (subject: SubjectOf<S>) => Effect.Effect<Found, TaggedFailure, RFind>
    readonly plan?: (input: InputOf<S, F>) => Generator<Planned, Plan, never>
    readonly run: Steps<[input: InputOf<S, F>, operator: string, version?: string], A, R, Run>
  }

/** Declares an operation by its command's words. It requires the role `admin` unless it declares another or only reads. */
export const operation = <
  A,
  R = never,
  RFind = never,
  Run extends Step = never,
  Planned extends Step = never,
  Found = never,
  const S extends Subject = Record<never, never>,
  const F extends Fields = Record<never, never>,
>(
  command: string,
  { run, plan, ...declaration }: Declaration<S, F, Found, A, R, RFind, Run, Planned>,
): Operation<S, F, Found, A, RFind | Exclude<R | Effect.Services<Run | Planned>, Scope.Scope>> => ({
  role: declaration.access === undefined ? "admin" : "viewer",
  label: "",
  of: {} as S,
  input: {} as F,
  done: () => "",
  ...declaration,
  ...(plan && { plan: toEffect(plan) as never }),
  run: toEffect(run) as never,
  command,
})

const flags = {
  dryRun: checkBox("Only show what would be affected"),
  detach: checkBox("Don't wait for the workers to finish"),
  quiet: checkBox("Hide the progress"),
  yes: checkBox("Skip the confirmation; required without a terminal, and with --output json or csv"),
}

/** The values of these flags. */
export type FlagValues = ValuesOf<typeof flags>

type Flagged = { readonly [K in "hasDryRun" | "replay" | "isLong" | "isIrreversible"]?: unknown }

/** Returns the flags that the command of an operation has in addition to its fields. */
export const flagsOf = ({ hasDryRun, replay, isLong, isIrreversible }: Flagged): Partial<typeof flags> => ({
  ...(hasDryRun === true && { dryRun: flags.dryRun }),
  ...(replay !== undefined && { detach: flags.detach }),
  ...(isLong === true && { quiet: flags.quiet }),
  ...(isIrreversible === true && { yes: flags.yes }),
})

// biome-ignore lint/suspicious/noExplicitAny: inputs and rows are not covariant.
type AnyRun<R> = (...given: any) => Effect.Effect<unknown, unknown, R>

/** An operation or a list of any input and result. */
export type Declared<R> =
  | { readonly command: string; readonly run: AnyRun<R>; readonly plan?: AnyRun<R> }
  | { readonly command: string; readonly read: AnyRun<R> }

/** The services that the operations and lists among these values need. */
export type ServicesOf<Values> = Values extends Declared<infer R> ? R : never
