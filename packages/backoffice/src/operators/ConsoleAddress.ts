import { Context } from "effect"

/** The console's address for sign-in links. */
export class ConsoleAddress extends Context.Service<
  ConsoleAddress,
  {
    /** Null if a proxy signs operators in, so that links don't work. */
    readonly linkUrl: string | null
  }
>()("backoffice/operators/ConsoleAddress") {}
