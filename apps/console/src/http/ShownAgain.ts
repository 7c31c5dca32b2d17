import { Context } from "effect"
import type { SignedIn } from "../signIn/Sessions.ts"
import type { RejectedForm, View } from "../view/View.ts"

/** The session and form of a request that shows a page again, otherwise undefined. */
export const ShownAgain = Context.Reference<
  { readonly signedIn: SignedIn; readonly view: View & { readonly rejected: RejectedForm } } | undefined
>("console/http/ShownAgain", { defaultValue: () => undefined })
