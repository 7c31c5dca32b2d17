import { Context } from "effect"
import type { View } from "../components/values.tsx"
import type { SignedIn } from "../signIn/Sessions.ts"
import type { Faults } from "./inputs.ts"

/** A form that was refused: its page is shown again with what was typed. */
export interface RefusedForm {
  /** The address to which it was sent. */
  readonly action: string
  readonly values: URLSearchParams
  /** What is wrong with single inputs, by their names. */
  readonly faults: Faults
  /** What is wrong beside them. */
  readonly messages: ReadonlyArray<string>
  readonly status: number
  /** Whether the page has shown the form, which says what is wrong. */
  isShown: boolean
}

/** The session and the form of a request that shows a page again; undefined for others. */
export const ShownAgain = Context.Reference<
  { readonly signedIn: SignedIn; readonly view: View & { readonly refused: RefusedForm } } | undefined
>("console/http/ShownAgain", { defaultValue: () => undefined })
