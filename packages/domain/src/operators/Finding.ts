/** Result of a check, with advice. */
export interface Finding {
  readonly status: "ok" | "warning" | "failed" | "skipped"
  /** The facts, in sentences without secrets or personal data. */
  readonly found: string
  readonly advice: string | null
  /** Words of the command that follows the advice. The command line shows it; the console links to the corresponding page. */
  readonly command?: ReadonlyArray<string>
}

export const ok = (found: string): Finding => ({ status: "ok", found, advice: null })
export const warning = (found: string, advice: string, command?: ReadonlyArray<string>): Finding => ({
  ...{ status: "warning", found, advice },
  ...(command && { command }),
})
export const failed = (found: string, advice: string, command?: ReadonlyArray<string>): Finding => ({
  ...warning(found, advice, command),
  status: "failed",
})
export const skipped = (found: string): Finding => ({ status: "skipped", found, advice: null })
