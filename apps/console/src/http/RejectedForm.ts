import { Context } from "effect"
import type { View } from "../components/values.tsx"
import type { SignedIn } from "../signIn/Sessions.ts"
import type { Faults } from "./inputs.ts"

/** A rejected form: its page is shown again with the entered values. */
export interface RejectedForm {
  /** The submitted URL. */
  readonly action: string
  readonly values: URLSearchParams
  /** The errors of single inputs by name. */
  readonly faults: Faults
  /** Any other error. */
  readonly messages: ReadonlyArray<string>
  readonly status: number
  /** Whether the page has shown the form with its errors. */
  isShown: boolean
}

/** The session and form of a request that shows a page again, otherwise undefined. */
export const ShownAgain = Context.Reference<
  { readonly signedIn: SignedIn; readonly view: View & { readonly rejected: RejectedForm } } | undefined
>("console/http/ShownAgain", { defaultValue: () => undefined })
