import type { PreflightCheck } from "@outreach/domain/campaigns/preflight"
import type { Replay } from "@outreach/domain/deliveries/ReplayJobQueue"
import type { Access } from "@outreach/domain/operators/Operator"
import type { Effect } from "effect"
import { type Codec, checkBox, type Fields, type ValuesOf } from "./Field.ts"
import type { Part } from "./Part.ts"

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

/** What an operation would affect: fields for scripts, and a text. */
export interface Preview {
  readonly data: { readonly count: number }
  readonly text: string
}

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
  readonly of: S
  readonly input: F
  /** Whether a command requires `--yes` if its plan has a `caution`. */
  readonly isIrreversible?: true
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
  /** Counts the objects that it would affect, for `--dry-run`. */
  readonly preview?: (input: InputOf<S, F>) => Effect.Effect<Preview, TaggedFailure, R>
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

type Run<I, A, R> = (input: I) => Effect.Effect<A, TaggedFailure, R>

/** The members of an operation; `role`, `label`, `of`, `input` and `done` have defaults. */
type Declaration<S, F, Found, A, R1, R2, R3, R4> = Pick<Operation<S, F, Found, A, R3>, "about" | "run"> &
  // The type of the result is inferred only from `run`.
  Omit<
    Partial<Operation<S, F, Found, NoInfer<A>, never>>,
    "about" | "run" | "command" | "find" | "plan" | "preview"
  > & {
    readonly find?: Run<SubjectOf<S>, Found, R1>
    readonly plan?: Run<InputOf<S, F>, Plan, R2>
    readonly preview?: Run<InputOf<S, F>, Preview, R4>
  }

/** Declares an operation by its command's words. It requires the role `admin` unless it declares another or only reads. */
export const operation = <
  A,
  R3,
  R1 = never,
  R2 = never,
  R4 = never,
  Found = never,
  const S extends Subject = Record<never, never>,
  const F extends Fields = Record<never, never>,
>(
  command: string,
  declaration: Declaration<S, F, Found, A, R1, R2, R3, R4>,
): Operation<S, F, Found, A, R1 | R2 | R3 | R4> => ({
  role: declaration.access === undefined ? "admin" : "viewer",
  label: "",
  of: {} as S,
  input: {} as F,
  done: () => "",
  ...declaration,
  command,
})

const flags = {
  dryRun: checkBox("Only count what would be affected"),
  detach: checkBox("Don't wait for the workers to finish"),
  quiet: checkBox("Hide the progress"),
  yes: checkBox("Skip the confirmation; required without a terminal, and with --output json or csv"),
}

type Flagged = { readonly [K in "preview" | "replay" | "isLong" | "isIrreversible"]?: unknown }

/** Returns the flags that the command of an operation has in addition to its fields. */
export const flagsOf = ({ preview, replay, isLong, isIrreversible }: Flagged): Partial<typeof flags> => ({
  ...(preview !== undefined && { dryRun: flags.dryRun }),
  ...(replay !== undefined && { detach: flags.detach }),
  ...(isLong === true && { quiet: flags.quiet }),
  ...(isIrreversible === true && { yes: flags.yes }),
})

// biome-ignore lint/suspicious/noExplicitAny: inputs and rows are not covariant.
type AnyRun<R> = (...given: any) => Effect.Effect<unknown, unknown, R>

/** An operation or a list of any input and result. */
export type Declared<R> =
  | { readonly command: string; readonly run: AnyRun<R>; readonly plan?: AnyRun<R>; readonly preview?: AnyRun<R> }
  | { readonly command: string; readonly read: AnyRun<R> }

/** The services that the operations and lists among these values need. */
export type ServicesOf<Values> = Values extends Declared<infer R> ? R : never
