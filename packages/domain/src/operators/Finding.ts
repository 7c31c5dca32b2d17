/** What a check came to, and what to do about it. */
export interface Finding {
  readonly status: "ok" | "warning" | "failed" | "skipped"
  /** What was looked at, and what was found: whole sentences without secrets or personal data. */
  readonly found: string
  readonly advice: string | null
}

export const ok = (found: string): Finding => ({ status: "ok", found, advice: null })
export const warning = (found: string, advice: string): Finding => ({ status: "warning", found, advice })
export const failed = (found: string, advice: string): Finding => ({ status: "failed", found, advice })
export const skipped = (found: string): Finding => ({ status: "skipped", found, advice: null })
