import type { PreflightCheck } from "@outreach/domain/campaigns/preflight"
import type { Access } from "@outreach/domain/operators/Operator"
import type { Effect } from "effect"
import type { Codec, Fields, ValuesOf } from "./Field.ts"

/** An error with a message for the operator. The audit log records its tag. A tag that ends in `NotFound` has status 404. */
export interface TaggedFailure {
  readonly _tag: string
  readonly message: string
}

/** A value of a plan: text, a time, or an object with its id. */
export type Fact = string | null | { readonly at: string | null } | { readonly id: string; readonly name: string }

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
  /** Whether the result may be a replay, which a command follows until it ends, unless with `--detach`. */
  readonly isReplay?: true
  /** Whether a command shows its progress, unless with `--quiet`. */
  readonly isLong?: true
  /** With a version, fails with `ChangedMeanwhile` if the object has a later one; only for changes that check it atomically. */
  readonly run: (input: InputOf<S, F>, operator: string, version?: string) => Effect.Effect<A, TaggedFailure, R>
  /** Returns the part of the result that can't be read again. */
  readonly shownOnce?: (result: A) => string | undefined
  /** Describes the effect in a sentence. Default: no sentence. */
  readonly done: (result: A, input: InputOf<S, F>) => string
  readonly examples?: ReadonlyArray<string>
}

interface Declaration<S, F, Found, A, R1, R2, R3, R4>
  extends Partial<Access>,
    Pick<Operation<S, F, Found, A, never>, Plain> {
  readonly label?: string
  readonly of?: S
  readonly input?: F
  readonly find?: (subject: SubjectOf<S>) => Effect.Effect<Found, TaggedFailure, R1>
  readonly plan?: (input: InputOf<S, F>) => Effect.Effect<Plan, TaggedFailure, R2>
  readonly preview?: (input: InputOf<S, F>) => Effect.Effect<Preview, TaggedFailure, R4>
  readonly run: (input: InputOf<S, F>, operator: string, version?: string) => Effect.Effect<A, TaggedFailure, R3>
  // The type of the result is inferred only from `run`.
  readonly shownOnce?: (result: NoInfer<A>) => string | undefined
  readonly done?: (result: NoInfer<A>, input: InputOf<S, F>) => string
}

type Plain =
  | "about"
  | "access"
  | "isPartial"
  | "isIrreversible"
  | "isReplay"
  | "isLong"
  | "faults"
  | "texts"
  | "versionOf"
  | "examples"

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
